#!/bin/bash
# SPDX-License-Identifier: MIT
#
# pieces.sh BUILD: the module outside of a kernel, as `make modules` builds it, for kernels that
# are built without this or that: no word of the compiler (W=1), of sparse and, but for the
# kernel's own symbols, of modpost; and the module asks for nothing that is not there.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$(mkdir -p "$1" && cd "$1" && pwd)/upstream

. "$here/tree.sh"
unpack

# What a kernel without it has no symbols of.
declare -A symbols=(
	[GENERIC_ALLOCATOR]='gen_pool_' [PCI]='_?pci_' [DEBUG_FS]='(drm_)?debugfs_'
	[PM]='(__)?pm_runtime_' [DRM_ACCEL]='accel_' [FTRACE]='trace_event_' [COMMON_CLK]='(devm_)?clk_(get|put|notifier)'
	[RESET_CONTROLLER]='(__)?(devm_)?reset_control_' [OF]='of_'
)

# without PIECE...: the driver in a kernel without them.
without() {
	local out=pieces work=$build/pieces-driver piece lines=()
	for piece in "$@"; do
		lines+=("CONFIG_$piece=n")
	done
	configure $out "${lines[@]}"
	kernel_make $out modules_prepare
	rm -rf "$work"
	mkdir "$work"
	cp -rs "$root"/{Kbuild,kernel,firmware,uapi} "$work/"
	kernel_make $out M="$work" W=1 C=1 KBUILD_MODPOST_WARN=1 modules
	! grep -E '(warning|error):|MODULE_|"nvdla' "$build/command.log" || fail "without $*"
	grep -q '^ *CHECK ' "$build/command.log" || fail "no sparse"
	for piece in "$@"; do
		! nm -u "$work/nvdla.ko" | grep -E " ${symbols[$piece]}" || fail "needs $piece"
	done
	echo "without $*"
}

for piece in GENERIC_ALLOCATOR PCI PM DEBUG_FS DRM_ACCEL; do
	without $piece
done
without "${!symbols[@]}"
