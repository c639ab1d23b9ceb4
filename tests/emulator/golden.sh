#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Golden cases and traces on the driver: lifted to layer descriptors, which run
# through the kernel on the emulated device of their configuration.
#
#   golden.sh [--mmio] SERIES BUILD SHARED LIMIT CONFIGURATION MINIMUM [CONFIGURATION MINIMUM]...
#
# With --mmio from user space, beside uio_pci_generic, in the place of the driver.
# Of SHARED/vectors and SHARED/traces the guest gets every folder of at most
# LIMIT KiB; at least MINIMUM files must be lifted and none may fail.
# NVDLA_SHARED overrides SHARED. Exits with 77, skipped, if it is absent and may be.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
road=
if [ "$1" = --mmio ]; then
	road=-mmio
	shift
fi
series=$1
build=$2
shared=${NVDLA_SHARED:-$3}
limit=$4
shift 4

. "$here/../common/shared.sh"
needs_shared "$shared" vectors
needs_shared "$shared" traces

mkdir -p "$build/emulate"
sh "$here/build-module.sh" "$series" "$build" >"$build/emulate/$series-module.log" 2>&1 || {
	cat "$build/emulate/$series-module.log"
	exit 1
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The folders of a configuration, at the same place below $work/CONFIGURATION.
choose() {
	(
		cd "$shared"
		find "vectors/$1" "traces/$1" -type f \
			\( -name case.json -o -name '*.cfg' -o -name '*.txn' \) 2>/dev/null
	) | sed 's#/[^/]*$##' | sort -u | while IFS= read -r folder; do
		[ "$(du -skL "$shared/$folder" | cut -f1)" -le "$limit" ] || continue
		mkdir -p "$work/$1/$folder"
		cp -L "$shared/$folder"/* "$work/$1/$folder"
	done
}

# Memory of the machine as on-chip SRAM where the configuration has an interface
# to it, as in suite.sh.
sram=4M@0x14000000
boot() {
	features=$("$build/bin/nvdla" info --device "model:$1")
	lift="$build/tests/nvdla-lift --device kernel /golden"
	[ -z "$road" ] || lift="$here/mmio.sh golden $1"
	set -- --device "$1" --name "$series-golden$road-$1" --file "$work/$1:/golden"
	case $features in
	*'secondary memory'*)
		set -- "$@" --append "memmap=${sram%@*}\$${sram#*@} nvdla.cvsram=$sram" \
			--server --sram --server "$sram"
		[ -z "$road" ] || lift="$lift sram=$sram"
		;;
	esac
	[ -z "$road" ] || set -- "$@" --with uio_pci_generic \
		--file "$build/tests/nvdla-lift:/bin/nvdla-lift"
	"$here/emulate.sh" "$series" --build "$build" --time-out 900 "$@" --run "$lift"
}

failed=
while [ $# -gt 1 ]; do
	configuration=$1
	minimum=$2
	shift 2
	echo "=== $series-golden$road-$configuration"
	choose "$configuration"
	boot "$configuration" || failed="$failed $configuration"
	lifted=$(sed -n 's/^\([0-9]*\) lifted, .*/\1/p' "$build/emulate/$series-golden$road-$configuration.log")
	if [ "${lifted:-0}" -lt "$minimum" ]; then
		echo "golden.sh: only ${lifted:-0} of $configuration were lifted; expected at least $minimum"
		failed="$failed $configuration"
	fi
done

[ -z "$failed" ] || {
	echo "golden.sh: failed:$failed; logs are in $build/emulate" >&2
	exit 1
}
