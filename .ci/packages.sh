#!/bin/bash
# SPDX-License-Identifier: MIT
#
# packages.sh SECTION...: install what packages.txt lists there and is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

# Lines are "[section]" or "package  # what for".
wanted() {
	local section package
	while read -r package _; do
		case $package in
		'[build]' | '[test]' | '[emulate]' | '[test-all]') section=$package ;;
		'['*) echo "packages.txt: unknown section $package" >&2; return 1 ;;
		'' | '#'*) ;;
		*) [[ " $* " != *" ${section:1:-1} "* ]] || echo "$package" ;;
		esac
	done < packages.txt
}

list=$(wanted "$@")
installed=$(dpkg-query -W -f='${db:Status-Abbrev}${Package}\n' $list 2>/dev/null |
	sed -n 's/^ii *//p' || true)
missing=$(comm -23 <(sort -u <<< "$list") <(sort -u <<< "$installed"))
[[ -n $missing ]] || exit 0

echo "Installing" $missing
as_root=()
if [[ $(id -u) != 0 ]]; then
	command -v sudo > /dev/null || {
		echo "Neither root nor sudo: install these packages first." >&2
		exit 1
	}
	as_root=(sudo)
fi
apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -y -q)
"${apt[@]}" update
"${apt[@]}" install --no-install-recommends $missing
