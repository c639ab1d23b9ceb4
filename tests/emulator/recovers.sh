#!/bin/sh
# SPDX-License-Identifier: MIT
#
# In the guest: a platform device hangs, is reset and works again.
#
#   recovers.sh PROGRAM ARGUMENT...       what has layers, and fails when one hangs
fault block 1
if "$@"; then
	echo "recovers.sh: nothing hung"
	exit 1
fi
"$@"
