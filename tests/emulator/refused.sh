#!/bin/sh
# SPDX-License-Identifier: MIT
#
# In the guest: the driver was loaded, found the device to be another
# configuration than its id says, and made no device file.
dmesg | grep 'writes atoms of 8 bytes, nv_large has 32' || exit 1
[ ! -e /dev/accel ] && [ ! -e /dev/dri/renderD128 ]
