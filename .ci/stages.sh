#!/bin/bash
# SPDX-License-Identifier: MIT
#
# stages.sh [--all] [--changed COMMIT] [STAGE...]: checks and tests, quick ones first, up to the
# first stage that fails; those that are named, all without any. --all adds what is
# labelled slow, --changed leaves out what the changes since a commit cannot affect
# (affected.py). All checks are ctest tests; summary.py adds up their results. What
# the stages say is in build/results/STAGE.log; here is a line for each.
#
# stages.sh --packages [OPTION...] [STAGE...]: the sections of packages.txt that these stages need.
set -uo pipefail
cd "$(dirname "$0")/.."

: "${JOBS:=$(nproc)}" "${NVDLA_WERROR:=OFF}"
# What ccache keeps of one checkout serves others, also where objects name their folder for debuggers.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
all=(static freestanding release asan tsan fuzz modules emulate)
slow=(-LE slow)
# How much is drawn where a test draws.
thorough=(-DNVDLA_THOROUGH=OFF -DNVDLA_FUZZ_SECONDS=10)
kernels=(6.12)
packages=
changed=
while [[ ${1:-} == --* ]]; do
	case $1 in
	--packages) packages=1 ;;
	--all)
		slow=()
		thorough=(-DNVDLA_THOROUGH=ON -DNVDLA_FUZZ_SECONDS=60)
		kernels+=(6.1 newest)
		all+=(arm64 alone)
		# summary.py asks for more of them.
		export NVDLA_ALL_TESTS=1
		;;
	--changed)
		changed=${2:-}
		[[ -n $changed ]] || { echo 'stages.sh: --changed needs a commit' >&2; exit 2; }
		shift
		;;
	*)
		echo "stages.sh: no option is called '$1'; there are --packages, --all, --changed COMMIT" >&2
		exit 2
		;;
	esac
	shift
done
results=build/results

for name in "$@"; do
	[[ " ${all[*]} " == *" $name "* ]] || {
		echo "stages.sh: no stage is called '$name'; there are ${all[*]}" >&2
		exit 2
	}
done
chosen=("$@")
[[ $# -gt 0 ]] || chosen=("${all[@]}")

# With --changed the labels of each stage's tests that are to run; empty means all.
declare -A labels=()
if [[ -n $changed ]]; then
	affected=$(mktemp)
	said=$(.ci/affected.py "$changed" "$affected" "${chosen[@]}") || { rm -f "$affected"; exit 2; }
	[[ -n $packages ]] || printf '%s\n' "$said"
	chosen=()
	while read -r name expression; do
		chosen+=("$name")
		labels[$name]=$expression
	done < "$affected"
	rm -f "$affected"
	# Fewer tests than least.txt has are what was asked for.
	export NVDLA_SOME_TESTS=1
fi

# sections STAGE: what a stage needs of packages.txt. Its slow tests need more.
sections() {
	case $1 in
	static) echo build test static docs ;;
	freestanding | fuzz) echo build test clang ;;
	# The commands of the README are tests of this stage.
	release) echo build test release static docs ;;
	asan) echo build test release clang ;;
	tsan) echo build test ;;
	modules) echo build test static emulate ;;
	emulate) echo build test emulate ;;
	arm64) echo build test emulate test-all ;;
	alone) echo build test release ;;
	esac
	[[ -n ${slow[1]+x} ]] || echo release static clang docs emulate packages test-all
}
if [[ -n $packages ]]; then
	for name in "${chosen[@]}"; do sections "$name"; done | tr ' ' '\n' | sort -u | xargs
	exit
fi

# configure PRESET [OPTION...]
configure() {
	cmake --preset "$1" -DNVDLA_WERROR="$NVDLA_WERROR" "${thorough[@]}" "${@:2}"
}

# build DIRECTORY TARGET
build() {
	cmake --build "$1" --parallel "$JOBS" --target "$2"
}

# check STAGE DIRECTORY CTEST-OPTION...
check() {
	local status some=(--no-tests=error)
	[[ -z ${labels[$1]:-} ]] || some=(--no-tests=ignore -L "${labels[$1]}")
	rm -rf "$2/gtest"
	ctest --test-dir "$2" --output-junit "$PWD/$results/$1.xml" "${some[@]}" \
		--output-on-failure --parallel "$JOBS" "${@:3}"
	status=$?
	# What executables with many tests say of each goes beside the stage's file.
	[[ ! -d $2/gtest ]] || mv "$2/gtest" "$results/$1"
	return $status
}

# Format, licences, kernel style, static analysis.
static() {
	configure release && check static build -L static "${slow[@]}"
}

# Firmware for five architectures without libc.
freestanding() {
	configure release && check freestanding build -L freestanding "${slow[@]}" || return
	cat build/tests/firmware/sizes.txt
}

# Optimised build, unit and conformance tests.
release() {
	configure release && build build all &&
		check release build -LE "static|freestanding|modules|emulator${slow[1]+|slow}"
}

# The importer of models takes a minute to compile with sanitizers, which only --all has time for.
configure_asan() {
	local importer=OFF
	[[ -n ${slow[1]+x} ]] || importer=ON
	configure asan -DNVDLA_ONNX=$importer
}

# What users, files and devices reach, under ASan and UBSan; with --all everything.
asan() {
	configure_asan && build build/asan all || return
	[[ -n ${slow[1]+x} ]] || build build/asan slow_tests || return
	check asan build/asan -LE "fuzz${slow[1]+|slow}"
}

# Threaded tests under TSan; warnings are for the other stages.
tsan() {
	configure tsan -DNVDLA_WERROR=OFF && build build/tsan thread_tests &&
		check tsan build/tsan -L threads "${slow[@]}"
}

# libFuzzer, some seconds for each target: four at a time on two cores, which wait for each other
# little.
fuzz() {
	configure_asan && build build/asan fuzzers &&
		check fuzz build/asan -L fuzz --parallel $((JOBS + 2)) "${slow[@]}" || return
	grep -aE '^[0-9]+: Done|^Done' build/asan/Testing/Temporary/LastTest.log
}

# Kernels come over the network, for which the processors need not wait: they are fetched
# while the stages before run. What goes wrong here the stage meets again, and tells.
fetch_kernels() {
	local series
	for series in "${kernels[@]}"; do
		sh tests/emulator/get-kernel.sh "$series" build/kernels
	done
}

# The kernel module for one kernel, with --all for each supported one, W=1, sparse.
modules() {
	[[ -z $fetching ]] || wait "$fetching"
	configure release && check modules build -L modules "${slow[@]}"
}

# Debian kernels in QEMU with the driver on the emulated device.
emulate() {
	configure release && build build guest_tests && check emulate build -L emulator "${slow[@]}"
}

# The model and the runtime for arm64, on each of its sets of kernels, under qemu-user.
arm64() {
	sh tests/emulator/get-arm64.sh build/arm64 && configure arm64 &&
		build build/arm64/build arm64_tests && check arm64 build/arm64/build -L arm64 "${slow[@]}"
}

# Every file compiled alone. What it makes is tested as `release`.
alone() {
	configure alone && build build/alone all && ctest --test-dir build/alone \
		--output-junit "$PWD/$results/alone.xml" --no-tests=error -R '^examples\.convolution\.'
}

# On a terminal the last line of a log until the stage is done, or this script gone.
watch_log() {
	[[ -t 1 ]] || return
	local width
	width=$(($(tput cols 2> /dev/null || echo 80) - 16))
	while sleep 1 && kill -0 $$ 2> /dev/null; do
		printf '\r\033[K%-14s %.*s' "$1" "$width" \
			"$(tail -n 1 "$results/$1.log" | tr -d '\r\033')"
	done
}

# stage NAME
stage() {
	local begin=$SECONDS status watcher
	watch_log "$1" &
	watcher=$!
	"$1" > "$results/$1.log" 2>&1
	status=$?
	kill $watcher 2> /dev/null
	wait $watcher 2> /dev/null
	[[ ! -t 1 ]] || printf '\r\033[K'
	/usr/bin/python3 .ci/summary.py stage $results "$1" $status $((SECONDS - begin))
}

rm -rf $results
mkdir -p $results
if [[ ${#chosen[@]} -eq 0 ]]; then
	echo 'no stage is left'
	exit 0
fi
# The seed of random layers is one for all processes. It is the commit's, so that a commit is judged
# alike each time; with --all the layers are ones that no run before had.
commit=$(git rev-parse --short=8 HEAD 2> /dev/null)
if [[ -z ${NVDLA_SEED:-} && -n $commit && -n ${slow[0]+x} ]]; then
	NVDLA_SEED=$((16#$commit))
fi
export NVDLA_SEED=${NVDLA_SEED:-$((RANDOM << 30 | RANDOM << 15 | RANDOM))}
failed=
fetching=
if [[ " ${chosen[*]} " == *" modules "* ]]; then
	fetch_kernels > $results/kernels.log 2>&1 &
	fetching=$!
fi
for name in "${all[@]}"; do
	[[ " ${chosen[*]} " == *" $name "* ]] || continue
	stage "$name" || { failed=$name; break; }
done
[[ -z $fetching ]] || wait "$fetching"
echo "NVDLA_SEED=$NVDLA_SEED drew the random layers that were new in this run"
/usr/bin/python3 .ci/summary.py total $results $SECONDS $failed
