#!/bin/bash
# SPDX-License-Identifier: MIT
#
# C++ is formatted as .clang-format says; `format.sh --fix` makes it so.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/static/sources.sh

bad=()
while read -r file; do
	if [[ ${1:-} == --fix ]]; then
		clang-format-14 -i "$file"
	elif ! clang-format-14 "$file" | cmp -s "$file" -; then
		bad+=("$file")
	fi
done < <(sources '*.cpp' '*.hpp' '*.ipp')
[[ ${#bad[@]} -gt 0 ]] || exit 0
printf '%s: not formatted\n' "${bad[@]}"
echo "tests/static/format.sh --fix does it"
exit 1
