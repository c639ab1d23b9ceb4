#!/bin/sh
# SPDX-License-Identifier: MIT
#
# In the guest: records what a test does on the driver and then on the model, runs both
# again on the model, and compares them.
#
#   recorded.sh PROGRAM ARGUMENT...
NVDLA_RECORD=/tmp/guest.record "$@" || exit 1
nvdla replay -v /tmp/guest.record /tmp/guest.2.record || exit 1
nvdla diff /tmp/guest.record /tmp/guest.2.record
