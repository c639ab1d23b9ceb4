#!/bin/bash
# SPDX-License-Identifier: MIT
#
# shared_test.sh SOURCE BUILD: everything that looks at NVDLA_SHARED is skipped, or
# content, where the folder is absent, and fails with NVDLA_REQUIRE_SHARED=1.
set -uo pipefail
source=$1 build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export NVDLA_SHARED=$work/none
failed=0

# looks SKIPPED COMMAND...: SKIPPED is what the command's status and words are without
# the folder, "STATUS WORDS".
looks() {
	local status said
	said=$(NVDLA_REQUIRE_SHARED= "${@:2}" 2>&1)
	status=$?
	[[ "$status $said" == ${1%% *}*"${1#* }"* ]] ||
		{ echo "${*:2}: expected '$1', got $status: $said"; failed=1; }
	said=$(NVDLA_REQUIRE_SHARED=1 "${@:2}" 2>&1)
	status=$?
	[[ $status != 0 && $status != 77 && $said == *"no folder $NVDLA_SHARED"* ]] ||
		{ echo "${*:2}: it is required, but the status is $status: $said"; failed=1; }
}

# having FILTER PROGRAM...: the program with these tests.
having() {
	local program
	for program in "${@:2}"; do
		if "$program" --gtest_filter="$1" --gtest_list_tests | grep -q '^  '; then
			basename "$program"
		fi
	done
}

words="skipped: no folder $NVDLA_SHARED: data from outside; docs/testing.md says"
looks "77 $words" "$source/tests/conformance/at_least.sh" 1 passed /none vectors/nv_small false
looks "77 $words" "$source/tests/emulator/golden.sh" 6.12 "$build" /none 1 nv_small 1
looks "0 0 complaints" "$source/tests/static/tree.py"

# Each of them, so that all their tests are.
programs=0
while read -r file; do
	filter=$(sed -nE '/^TEST(_[FP])?\(/{N;N;/NVDLA_NEEDS_SHARED/{
		s/^TEST(_F)?\((\w+), (\w+)\).*/\2.\3/;s/^TEST_P\((\w+), (\w+)\).*/*\/\1.\2\/*/;s/\n.*//;p}}' \
		"$source/$file" | paste -sd:)
	[[ -n $filter ]] || { echo "$file: no test begins with NVDLA_NEEDS_SHARED"; failed=1; continue; }
	case $file in
	*/model/*) program=$(having "$filter" "$build"/tests/model*) ;;
	*/unit/*) program=$(sed -E 's#tests/unit/([a-z]+)/.*#test_\1#' <<< "$file") ;;
	*) echo "$file: which program is it of?"; failed=1; continue ;;
	esac
	programs=$((programs + 1))
	looks "0 no folder $NVDLA_SHARED: data from outside; docs/testing.md says" \
		"$build/tests/$program" --gtest_filter="$filter"
	passed=$("$build/tests/$program" --gtest_filter="$filter" | grep -c '^\[       OK')
	[[ $passed == 0 ]] || { echo "$file: $passed tests pass without what they need"; failed=1; }
done < <(cd "$source" && grep -rl NVDLA_NEEDS_SHARED --include='*.cpp' tests)
[[ $programs -ge 4 ]] || { echo "only $programs programs look at NVDLA_SHARED?"; failed=1; }

# Nobody else looks at it in a way of his own.
own=$(cd "$source" && grep -rlE 'getenv\("NVDLA_SHARED|\$\{?NVDLA_SHARED' tests | grep -vxE \
	'tests/(common/shared\.hpp|conformance/at_least\.sh|emulator/golden\.sh|frontdoor/shared_test\.sh)')
[[ -z $own ]] || { echo "look at NVDLA_SHARED by themselves: $own"; failed=1; }

exit $failed
