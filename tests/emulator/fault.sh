#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# shellcheck shell=dash
#
# Reads or writes a register of the emulated device's fault capability, see
# runtime/emulator/device/fault_capability.h.
#
#   fault NAME [VALUE]      for example: fault block 1
set -eu

base=0x60
case ${1-} in
swallow-interrupts) offset=0x04 ;;
swallow-completions) offset=0x08 ;;
block) offset=0x0c ;;
late-ms) offset=0x10 ;;
delay-us) offset=0x14 ;;
gone) offset=0x18 ;;
pattern) offset=0x1c ;;
completions) offset=0x20 ;;
interrupts) offset=0x24 ;;
dma-refused) offset=0x28 ;;
state) offset=0x2c ;;
ones-reads) offset=0x30 ;;
ones-ms) offset=0x34 ;;
garbage-reads) offset=0x38 ;;
garbage-seed) offset=0x3c ;;
raise) offset=0x40 ;;
storm-hz) offset=0x44 ;;
reset) offset=0x48 ;;
reset-ms) offset=0x4c ;;
unreached) offset=0x60 ;;
*)
	echo "usage: fault NAME [VALUE]; NAME is swallow-interrupts, swallow-completions, block, late-ms, delay-us, gone, pattern, ones-reads, ones-ms, garbage-reads, garbage-seed, raise, storm-hz, reset, reset-ms, or, to read only, completions, interrupts, dma-refused, state, unreached" >&2
	exit 2
	;;
esac
position=$(((base + offset) / 4))

config=
for device in /sys/bus/pci/devices/*; do
	case $(cat "$device/vendor"):$(cat "$device/device") in
	0x1234:0xd1a*) config=$device/config ;;
	esac
done
# Without PCI its configuration space is in memory: runtime/emulator/device/platform.hpp.
if [ -z "$config" ]; then
	case $(uname -m) in
	aarch64) window=0xc000000 ;;
	*) window=0xfed20000 ;;
	esac
	register=$((window + 0x21000 + base + offset))
	if [ $# -eq 1 ]; then
		printf '%u\n' "$(devmem $register 32)"
	else
		devmem $register 32 $(($2))
	fi
	exit
fi

if [ $# -eq 1 ]; then
	dd if="$config" bs=4 skip=$position count=1 2>/dev/null | od -An -tu4 | tr -d ' '
else
	value=$(($2))
	# One write of four bytes, least significant first.
	# shellcheck disable=SC2059
	printf "$(printf '\\%03o\\%03o\\%03o\\%03o' $((value & 255)) $((value >> 8 & 255)) \
		$((value >> 16 & 255)) $((value >> 24 & 255)))" |
		dd of="$config" bs=4 seek=$position count=1 conv=notrunc 2>/dev/null
fi
