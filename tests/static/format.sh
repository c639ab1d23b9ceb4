#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Checks that the C++ is formatted as .clang-format requires; `format.sh --fix` formats it. The
# optional FILES restrict either to these files.
#
# One process takes many files: to start one for each takes most of the time, and minutes on a
# machine that is busy.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/static/sources.sh

fix=
if [[ ${1:-} == --fix ]]; then
	fix=1
	shift
fi
files() {
	if [[ $# -gt 0 ]]; then
		printf '%s\n' "$@"
	else
		sources '*.cpp' '*.hpp' '*.ipp'
	fi
}
format() {
	files "${@:2}" | tr '\n' '\0' | xargs -0 -r -n 64 -P "$(nproc)" clang-format-14 $1
}

if [[ -n $fix ]]; then
	format -i "$@"
	exit
fi
complaints=$(format '--dry-run --Werror --ferror-limit=1' "$@" 2>&1) || failed=1
[[ -n ${failed:-} || -n $complaints ]] || exit 0
bad=$(sed -n 's/^\(.*\):[0-9]*:[0-9]*: error: code should be clang-formatted.*/\1/p' \
	<<< "$complaints" | sort -u)
if [[ -z $bad ]]; then
	echo "$complaints"
	exit 1
fi
sed 's/$/: not formatted/' <<< "$bad"
echo "tests/static/format.sh --fix does it"
exit 1
