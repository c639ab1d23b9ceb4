#!/bin/sh
# SPDX-License-Identifier: MIT
#
# In the guest: powers off while a layer runs that never ends, with the driver loaded, as a system
# goes down or starts another kernel. Whoever reads the log finds out whether the driver has stopped
# the device before.
test_misbehaviour --gtest_filter=LeftRunning.* &
tries=100
until [ -e /tmp/left-running ]; do
	tries=$((tries - 1))
	[ $tries -gt 0 ] || {
		echo "shutdown.sh: no layer runs"
		exit 1
	}
	sleep 0.1
done
echo "NVDLA-GUEST-STATUS 0"
poweroff -f
