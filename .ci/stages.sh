#!/bin/bash
# SPDX-License-Identifier: MIT
#
# stages.sh [--all]: every check and test, quick ones first, up to the first
# stage that fails. --all adds what is labelled slow. All checks are ctest
# tests; summary.py adds up their results.
set -uo pipefail
cd "$(dirname "$0")/.."

: "${JOBS:=$(nproc)}" "${NVDLA_WERROR:=OFF}"
slow=(-LE slow)
unity=ON
[[ ${1:-} != --all ]] || { slow=(); unity=OFF; }
results=build/results
rm -rf $results
mkdir -p $results

# configure PRESET [OPTION...]
configure() {
	cmake --preset "$1" "${@:2}" > $results/configure-$1.log 2>&1 ||
		{ cat $results/configure-$1.log; return 1; }
}

# build DIRECTORY TARGET
build() {
	cmake --build "$1" --parallel "$JOBS" --target "$2"
}

# check STAGE DIRECTORY CTEST-OPTION...
check() {
	local status
	rm -rf "$2/gtest"
	ctest --test-dir "$2" --output-junit "$PWD/$results/$1.xml" --no-tests=error \
		--output-on-failure --parallel "$JOBS" "${@:3}"
	status=$?
	# What executables with many tests say of each goes beside the stage's file.
	[[ ! -d $2/gtest ]] || mv "$2/gtest" "$results/$1"
	return $status
}

static() {
	configure release -DNVDLA_WERROR="$NVDLA_WERROR" -DCMAKE_UNITY_BUILD=$unity &&
		check static build -L static "${slow[@]}"
}

freestanding() {
	check freestanding build -L freestanding "${slow[@]}" || return
	cat build/tests/firmware/sizes.txt
}

release() {
	build build all &&
		check release build -LE "static|freestanding|modules|emulator${slow[1]+|slow}"
}

asan() {
	configure asan -DNVDLA_WERROR="$NVDLA_WERROR" && build build/asan all &&
		check asan build/asan -LE "fuzz${slow[1]+|slow}"
}

tsan() {
	configure tsan && build build/tsan thread_tests &&
		check tsan build/tsan -L threads "${slow[@]}"
}

# Five minutes of fuzzing: in two rounds on two cores, not in three.
fuzz() {
	check fuzz build/asan -L fuzz --parallel $((JOBS + 1)) "${slow[@]}" || return
	grep -aE '^[0-9]+: Done|^Done' build/asan/Testing/Temporary/LastTest.log
}

modules() {
	check modules build -L modules "${slow[@]}"
}

emulate() {
	build build guest_tests && check emulate build -L emulator "${slow[@]}"
}

# stage NAME WHAT
stage() {
	local begin=$SECONDS status
	printf '\n=== %s: %s\n' "$1" "$2"
	"$1"
	status=$?
	printf '=== %s: %s, %d s\n' "$1" "$( ((status)) && echo FAILED || echo passed)" \
		$((SECONDS - begin))
	((status == 0)) || finish "$1"
}

# finish [FAILED-STAGE]
finish() {
	printf '\n=== summary, %d s\n' $SECONDS
	/usr/bin/python3 .ci/summary.py $results "$@"
	exit
}

stage static 'format, licences, kernel style, static analysis'
stage freestanding 'firmware for five architectures without libc'
stage release 'optimised build, unit and conformance tests'
stage asan 'the same under ASan and UBSan'
stage tsan 'threaded tests under TSan'
stage fuzz 'libFuzzer, one minute for each target'
stage modules 'kernel module for each supported kernel, W=1, sparse'
stage emulate 'Debian kernels in QEMU with the driver on the emulated device'
finish
