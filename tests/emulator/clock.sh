#!/bin/sh
# SPDX-License-Identifier: MIT
#
# In the guest: the driver knows the core's clock.
#
#   clock.sh TEXT       as in `nvdla info`, such as "600 MHz"
nvdla info | grep "^/dev.* $1\$"
