#!/bin/sh
# SPDX-License-Identifier: MIT
#
# In the guest: it has so many processors, and the interrupt of the driver is a level.
#
#   processors.sh NUMBER
[ "$(grep -c '^processor' /proc/cpuinfo)" = "$1" ] || exit 1
grep 'Level.*nvdla\|fasteoi.*nvdla' /proc/interrupts
