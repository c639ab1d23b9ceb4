#!/bin/sh
# SPDX-License-Identifier: MIT
#
# All that is tested in a guest, for one series of kernels: builds the driver,
# boots once for each machine that it has to work on.
#
#   suite.sh SERIES [BUILD-DIRECTORY]
set -eu

here=$(cd "$(dirname "$0")" && pwd)
series=$1
build=${2:-$here/../../build}
tests=$build/tests
failed=

mkdir -p "$build/emulate"
sh "$here/build-module.sh" "$series" "$build" >"$build/emulate/$series-module.log" 2>&1 || {
	cat "$build/emulate/$series-module.log"
	exit 1
}

# boot NAME OPTION...
boot() {
	name=$series-$1
	shift
	echo "=== $name"
	"$here/emulate.sh" "$series" --build "$build" --name "$name" "$@" || failed="$failed $name"
}

digits=$here/../../runtime/examples/digits
# A second-generation device with MSI and a function that can be reset.
boot msi --device nv_small --time-out 180 --file "$digits:/digits" \
	--run "$tests/test_ioctl" --run "$tests/test_backend" --run "$tests/test_misbehaviour --gtest_filter=WithReset.*"
# The first generation with INTx, on a function that cannot be reset.
boot intx --device nv_full --append pci=nomsi --server --no-reset --time-out 180 \
	--file "$digits:/digits" --run "$tests/test_ioctl" --run "$tests/test_backend" --run "$tests/test_misbehaviour --gtest_filter=WithoutReset.*"
# Buffers from memory that was kept free for them.
boot carveout --device nv_small --append 'memmap=64M$0x10000000 nvdla.carveout=64M@0x10000000' \
	--time-out 180 --run "$tests/test_ioctl"
# An nv_small that says it is an nv_large: the driver must find out and leave it alone.
boot wrong --device nv_small --server --claim --server nv_large --time-out 60 \
	--run "$here/refused.sh"

[ -z "$failed" ] || {
	echo "suite.sh: failed:$failed; logs are in $build/emulate" >&2
	exit 1
}
