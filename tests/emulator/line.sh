#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# shellcheck shell=dash
#
# In the guest: fails unless the driver's interrupt is a line that has been raised. Where a
# kernel does not find out how lines are wired, as without ACPI, none arrives, and the driver
# only ever finds lost interrupts.
set -eu

lines=$(grep nvdla /proc/interrupts) || {
	echo "line.sh: the driver has no interrupt"
	exit 1
}
echo "$lines"
case $lines in
*MSI*) echo "line.sh: messages, not a line: pci=nomsi is missing" && exit 1 ;;
esac
# The count of each processor stands between the number and the name of the controller.
raised=$(echo "$lines" | awk '{ sum = 0; for (i = 2; $i ~ /^[0-9]+$/; i++) sum += $i; print sum; exit }')
lost=$(sed -n 's/^lost interrupts: //p' /sys/kernel/debug/accel/*/status /sys/kernel/debug/dri/*/status 2>/dev/null | head -n 1)
echo "line.sh: raised $raised times, lost interrupts: $lost"
[ "$raised" -gt 0 ] && [ "$lost" = 0 ]
