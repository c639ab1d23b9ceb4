#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What the scripts say to wrong arguments. Needs neither QEMU nor a kernel.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# refuses MESSAGE COMMAND...: it fails and says exactly that.
refuses() {
	message=$1
	shift
	if said=$("$@" 2>&1); then
		echo "accepted: $*"
		failed=1
	elif [ "$said" != "$message" ]; then
		echo "$*"
		echo "  said:     $said"
		echo "  expected: $message"
		failed=1
	fi
}

emulate=$here/emulate.sh
refuses "emulate.sh: which series of kernels? For example: emulate.sh 6.12" "$emulate"
refuses "emulate.sh: 'new' is not a series of kernels such as 6.12" "$emulate" new
refuses "emulate.sh: unknown option --fast" "$emulate" 6.12 --fast yes
refuses "emulate.sh: --device: value missing, or unknown option" "$emulate" 6.12 --device
refuses "emulate.sh: no $work/bin/nvdla-device-server: build it first" \
	"$emulate" 6.12 --build "$work"

initrd=$here/make-initrd.sh
kernel=$work/kernel
mkdir -p "$kernel/modules/kernel"
: >"$work/data"
refuses "make-initrd.sh: --kernel is missing" "$initrd"
refuses "make-initrd.sh: --output is missing" "$initrd" --kernel "$kernel"
refuses "make-initrd.sh: --output: value missing" "$initrd" --output
refuses "make-initrd.sh: unknown option --fast" "$initrd" --fast yes
refuses "make-initrd.sh: --kernel comes before modules" "$initrd" --module a.ko
refuses "make-initrd.sh: $kernel holds no kernel: run get-kernel.sh" \
	"$initrd" --kernel "$kernel" --module a.ko
echo 6.12.0 >"$kernel/release"
refuses "make-initrd.sh: $kernel has lost its modules: remove it and run get-kernel.sh again" \
	"$initrd" --kernel "$kernel" --module a.ko
: >"$kernel/modules/kernel/drm.ko"
: >"$kernel/modules/modules.builtin"
refuses "make-initrd.sh: no module a.ko" "$initrd" --kernel "$kernel" --module a.ko
refuses "make-initrd.sh: the kernel in $kernel has no module gpu-sched" \
	"$initrd" --kernel "$kernel" --with gpu-sched
refuses "make-initrd.sh: no program $work/none" "$initrd" --run "$work/none -v"
refuses "make-initrd.sh: $work/data is not executable" "$initrd" --run "$work/data"
refuses "make-initrd.sh: no file $work/none" "$initrd" --file "$work/none:/tmp/none"

exit $failed
