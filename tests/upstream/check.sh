#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check.sh BUILD: write the series against the newest kernel source that is installed, and hold
# each patch to what upstream asks: it applies, checkpatch --strict has nothing to say, all that
# it has compiles without a warning (W=1). The binding passes dt_binding_check, the whole driver
# is a module whose symbols are all there, also in a kernel without PCI and without device trees.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$(mkdir -p "$1" && cd "$1" && pwd)/upstream

. "$here/tree.sh"
unpack

# What the last call left, the last patch first.
for patch in $(ls -r "$tree/.applied"); do
	quietly patch -d "$tree" -p1 -R -f -i "$tree/.applied/$patch"
	rm "$tree/.applied/$patch"
done
"$root/kernel/upstream/series.py" "$tree" "$build/series"

# compile OUT TARGET...: the driver's part, without a word.
compile() {
	kernel_make "$1" W=1 "${@:2}"
	! grep -E '(warning|error):' "$build/command.log" || fail "warnings"
}

declare -i patches=0
for patch in "$build"/series/0*.patch; do
	name=$(basename "$patch")
	[[ $name != 0000-* ]] || continue
	quietly patch -d "$tree" -p1 -f -i "$patch"
	cp "$patch" "$tree/.applied/"
	# MAINTAINERS come last. The headers live outside of the kernel, too, where there is no
	# BIT(); one of them is generated.
	said=$(cd "$tree" && perl scripts/checkpatch.pl --strict --terse --quiet --show-types \
		--no-summary --ignore FILE_PATH_CHANGES,BIT_MACRO,NEW_TYPEDEFS,PREFER_KERNEL_TYPES \
		"$patch") || fail "$said"
	case $name in
	0001-*)
		# It changes the core, and the driver does not depend on it.
		configure out
		compile out drivers/gpu/drm/drm_auth.o drivers/gpu/drm/drm_ioctl.o
		;;
	*-dt-bindings-*)
		binding=$(sed -n 's,^+++ b/Documentation/devicetree/bindings/,,p' "$patch")
		configure out
		# Debian 12 has a version that is older than some other bindings ask for.
		kernel_make out DT_SCHEMA_FILES="${binding##*/}" DT_SCHEMA_MIN_VERSION=2022.8 dt_binding_check
		! grep -F "${binding##*/}" "$build/command.log" | grep -v '^ *\(LINT\|CHKDT\|DTEX\|DTC\|DTC_CHK\|SCHEMA\) ' ||
			fail "dt_binding_check"
		;;
	*-uapi-*)
		kernel_make out headers
		sed -n 's,^+++ b/include/uapi/\(.*\.h\)$,#include <\1>,p' "$patch" >"$build/headers.c"
		[[ -s $build/headers.c ]] || fail "no header"
		cc -Wall -Werror -std=c90 -fsyntax-only -I "$build/out/usr/include" "$build/headers.c" ||
			fail "headers"
		;;
	esac
	[[ ! -e $tree/drivers/accel/nvdla ]] ||
		compile out CONFIG_DRM_ACCEL_NVDLA=m drivers/accel/nvdla/
	echo "$name"
	patches+=1
done

# link OUT: a module, to whose symbols modpost has nothing to say but that the kernel was not built.
link() {
	kernel_make "$1" W=1 KBUILD_MODPOST_WARN=1 drivers/accel/nvdla/nvdla.ko
	! grep -E '(warning|error):|MODULE_|"nvdla' "$build/command.log" || fail "the module"
}
configure out CONFIG_DRM_ACCEL_NVDLA=m
link out
configure small CONFIG_DRM_ACCEL_NVDLA=m CONFIG_COMPILE_TEST=y CONFIG_PCI=n CONFIG_OF=n \
	CONFIG_PM=n CONFIG_DEBUG_FS=n CONFIG_FTRACE=n
link small
echo "$patches patches: each applies, compiles and has no complaint of checkpatch"
