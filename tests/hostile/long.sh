#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The long form of the hostile tests in a guest, for one series of kernels.
#
#   long.sh SERIES BUILD-DIRECTORY [OPTION...]      OPTION: of emulate.sh, such as
#                                                   --append NVDLA_HOSTILE_SEED=5
set -eu

here=$(cd "$(dirname "$0")" && pwd)
series=$1
build=$2
shift 2

mkdir -p "$build/emulate"
sh "$here/../emulator/build-module.sh" "$series" "$build" >"$build/emulate/$series-module.log" 2>&1 || {
	cat "$build/emulate/$series-module.log"
	exit 1
}
# What the kernel does not know of its command line becomes the environment of
# the first process, and of all others.
append="preempt=full oops=panic NVDLA_HOSTILE_LONG=1"
# The tests of thousands of contexts need these limits.
append="$append nvdla.user_contexts=4096 nvdla.user_jobs=8192"
if [ "${1-}" = --append ]; then
	append="$append $2"
	shift 2
fi
name=$series-hostile-long
"$here/../emulator/emulate.sh" "$series" --build "$build" --name "$name" \
	--append "$append" --time-out 2300 --with fuse --with vgem \
	--module "$build/modules/$series/machine/nvdla_waits.ko" \
	--module "$build/modules/$series/nvdla.ko" "$@" \
	-- "$build/tests/test_hostile" --gtest_filter=-FairnessTable.*
"$here/../emulator/skipped.sh" "$build/emulate/$name.log" "$build/kernels/$series/headers/.config"
