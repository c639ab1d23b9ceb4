#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Builds nvdla.ko for a kernel of get-kernel.sh, outside of the source tree.
#
#   build-module.sh SERIES BUILD-DIRECTORY [make-argument...]
#
# leaves BUILD-DIRECTORY/modules/SERIES/nvdla.ko, and machine/*.ko beside it,
# which is test equipment. The module is built in a tree
# of links, because kbuild writes beside its sources, and its `clean` would
# delete every module below them, the unpacked kernels' too.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
series=$1
build=$2
shift 2

[ -f "$source/Kbuild" ] || {
	echo "build-module.sh: no Kbuild in $source: the driver is not part of this tree" >&2
	exit 1
}
mkdir -p "$build/modules"
build=$(cd "$build" && pwd)
# Suites that run at a time build the same; the second finds what the first has built.
exec 9>"$build/modules/$series.lock"
flock 9
sh "$here/get-kernel.sh" "$series" "$build/kernels"

tree=$build/modules/$series
mkdir -p "$tree"
for part in Kbuild kernel firmware uapi; do
	cp -rsf "$source/$part" "$tree/"
done
# What is gone from the source.
find "$tree" -xtype l -delete

# The kernel's own compiler, where it came along.
tools=$build/kernels/$series/tools
[ ! -d "$tools" ] || PATH=$tools:$PATH
case $series in
*-arm64) set -- ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu- "$@" ;;
# The only kernels with KUnit.
sanitizer) set -- CONFIG_DRM_ACCEL_NVDLA_KUNIT_TEST=y "$@" ;;
uml) set -- ARCH=um CONFIG_DRM_ACCEL_NVDLA_KUNIT_TEST=y "$@" ;;
esac

# kbuild compiles everything again for other options: W=1, which check-module.sh needs, is always
# there. Kernels for which no compiler came along are the machine's own.
if [ ! -d "$tools" ] && command -v ccache >/dev/null; then
	case $series in
	*-arm64) set -- "CC=ccache aarch64-linux-gnu-gcc" "$@" ;;
	*) set -- "CC=ccache gcc" "$@" ;;
	esac
fi

# Type information for BPF needs pahole and vmlinux, which headers do not have.
modules() {
	tree=$1
	shift
	make -C "$build/kernels/$series/headers" M="$tree" CONFIG_DEBUG_INFO_BTF_MODULES= W=1 "$@" modules
}
modules "$tree" "$@"

mkdir -p "$tree/machine"
cp -sf "$here"/machine/* "$source/runtime/emulator/device/fault_capability.h" "$tree/machine/"
modules "$tree/machine" "$@"
