#!/bin/sh
# SPDX-License-Identifier: MIT
#
# In the guest: what the driver says where it refuses a device.
#
#   refusals.sh tree TEXT...            devices of a tree, for these reasons
#   refusals.sh parameter NAME TOO-HIGH...
#                                       a good device with wrong values of the module's
#                                       parameter NAME, and with parameters TOO-HIGH
failed=0

# expect TEXT: among what was said.
expect() {
	grep -F -- "$1" /tmp/said || {
		echo "refusals.sh: nothing said \"$1\":"
		cat /tmp/said
		failed=1
	}
}

# The nodes of the driver; others, as vgem, have theirs.
nodes() {
	for node in /sys/class/accel/accel* /sys/class/drm/renderD*; do
		driver=$(readlink "$node/device/driver") && [ "${driver##*/}" = nvdla ] && echo "$node"
	done
}

no_device() {
	[ -z "$(nodes)" ] || {
		echo "refusals.sh: there is a $(nodes)"
		failed=1
	}
}

# refuses PARAMETER TEXT: the driver is loaded with it, says that and makes no device.
refuses() {
	rmmod nvdla
	dmesg -c >/dev/null
	insmod /modules/nvdla.ko "$1"
	dmesg >/tmp/said
	expect "$2"
	no_device
}

mode=$1
shift
case $mode in
tree)
	{
		dmesg
		cat /sys/kernel/debug/devices_deferred
	} >/tmp/said
	for text in "$@"; do
		expect "$text"
	done
	no_device
	;;
parameter)
	for text in 1M 1M@ 1M@0x14000000x @0x14000000 0@0x14000000 1000@0x14000000 1M@0x14000100 \
		0x1000@0xfffffffffffff000; do
		refuses "$1=$text" "$1: \"$text\" is not SIZE@ADDRESS in whole pages"
	done
	refuses "$1=1M@0x44000000" "is the kernel's"
	shift
	# Beyond what the device can address, where the kernel has nothing.
	for parameter in "$@"; do
		refuses "$parameter" "is beyond the device's"
	done
	# Nothing of it stays.
	rmmod nvdla
	insmod /modules/nvdla.ko || exit 1
	[ -n "$(nodes)" ] || {
		echo "refusals.sh: no device without parameters"
		failed=1
	}
	;;
*)
	echo "refusals.sh: tree or parameter?"
	failed=1
	;;
esac
exit $failed
