#!/bin/sh
# SPDX-License-Identifier: MIT
#
# All that is tested in a guest, for one series of kernels: builds the driver,
# boots once for each machine that it has to work on. With a CONFIGURATION only
# what is to be right on any: one boot with that device.
#
#   suite.sh SERIES [BUILD-DIRECTORY [CONFIGURATION]]
set -eu

here=$(cd "$(dirname "$0")" && pwd)
series=$1
build=${2:-$here/../../build}
configuration=${3-}
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
# Memory of the machine as on-chip SRAM: kept free, named to the driver, and put
# behind the second memory interface by the device server.
sram=1M@0x14000000
sram_append="memmap=${sram%@*}\$${sram#*@} nvdla.cvsram=$sram"
# Not what the configuration, the kernel or the machine has to have for it.
udmabuf=
grep -q '^CONFIG_UDMABUF=y' "$build/kernels/$series/headers/.config" || udmabuf=:WithUdmabuf.*
others=$udmabuf:WithoutExport.*
without_sram="--gtest_filter=-WithSram.*:WithBdma.*$others"
without_bdma="--gtest_filter=-WithoutSram.*:WithBdma.*$others"
with_all="--gtest_filter=-WithoutSram.*$others"
without_pages="--gtest_filter=-WithSram.*:WithBdma.*$udmabuf:Export.*:Pages.*"

machines() {
	# A second-generation device with MSI and a function that can be reset.
	boot msi --device nv_small --time-out 180 --with vgem --file "$digits:/digits" --run "$build/bin/nvdla info" \
		--run "$tests/test_ioctl $without_sram" --run "$tests/test_backend $without_sram" \
		--run "$tests/test_misbehaviour --gtest_filter=WithReset.*"
	# The first generation with INTx, with SRAM, on a function that cannot be reset. The
	# trace goes first: before it the device has done nothing but be confirmed. What
	# it runs is a file here; the other programs bring its libraries.
	boot intx --device nv_full --append "pci=nomsi $sram_append" --server --no-reset \
		--server --sram --server "$sram" --time-out 180 --with vgem \
		--server --dma-log --server "$build/emulate/$series-intx.dma" \
		--file "$digits:/digits" --run "$here/traced.sh test_backend $with_all" \
		--run "$build/bin/nvdla info" --run "$tests/test_ioctl $with_all" \
		--run "$tests/test_misbehaviour --gtest_filter=WithoutReset.*" \
		--file "$tests/test_backend:/bin/test_backend"
	"$here/join_dma_log.py" --skip 1 "$build/emulate/$series-intx.dma" \
		"$build/emulate/$series-intx.log" || failed="$failed $series-dma"
	# Buffers from memory that was kept free for them.
	boot carveout --device nv_small --append 'memmap=64M$0x10000000 nvdla.carveout=64M@0x10000000' \
		--time-out 180 --with vgem --run "$tests/test_ioctl $without_pages"
	# An nv_small that says it is an nv_large: the driver must find out and leave it alone.
	boot wrong --device nv_small --server --claim --server nv_large --time-out 60 \
		--run "$here/refused.sh"
}

# The tests find out by what they are told whether the driver sees the SRAM.
one_configuration() {
	case $1 in
	nv_full) tested=$with_all ;;
	nv_large | nv_medium_1024_full | nv_small_256_full) tested=$without_bdma ;;
	*) tested=$without_sram ;;
	esac
	boot "$1" --device "$1" --append "$sram_append" --server --sram --server "$sram" \
		--time-out 180 --with vgem --file "$digits:/digits" --run "$build/bin/nvdla info" \
		--run "$tests/test_ioctl $tested" --run "$tests/test_backend $tested"
}

if [ -n "$configuration" ]; then
	one_configuration "$configuration"
else
	machines
fi

[ -z "$failed" ] || {
	echo "suite.sh: failed:$failed; logs are in $build/emulate" >&2
	exit 1
}
