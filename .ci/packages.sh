#!/bin/bash
# SPDX-License-Identifier: MIT
#
# packages.sh SECTION...: install what packages.txt lists there and is missing.
# packages.sh --list SECTION...: print what it lists there.
set -euo pipefail
cd "$(dirname "$0")/.."
. .ci/apt.sh

# Lines are "[section]" or "package  # what for".
wanted() {
	local section package
	while read -r package _; do
		case $package in
		'[build]' | '[test]' | '[release]' | '[static]' | '[clang]' | '[bench]' | '[emulate]' | \
			'[docs]' | '[packages]' | '[test-all]') section=$package ;;
		'['*) echo "packages.txt: unknown section $package" >&2; return 1 ;;
		'' | '#'*) ;;
		*) [[ " $* " != *" ${section:1:-1} "* ]] || echo "$package" ;;
		esac
	done < packages.txt
}

if [[ ${1:-} == --list ]]; then
	wanted "${@:2}" | sort -u
	exit
fi
list=$(wanted "$@")
installed=$(dpkg-query -W -f='${db:Status-Abbrev}${Package}\n' $list 2>/dev/null |
	sed -n 's/^ii *//p' || true)
missing=$(comm -23 <(sort -u <<< "$list") <(sort -u <<< "$installed"))
# Other builds of Node.js bring npm, and conflict with Debian's.
if [[ " $* " == *" test-all "* || " $* " == *" bench "* ]]; then
	command -v node > /dev/null || missing+=" nodejs"
	command -v npm > /dev/null || missing+=" npm"
fi
[[ -n ${missing// /} ]] || exit 0

echo "Installing" $missing
update_lists "$(echo $missing)"
mkdir -p build
as_root env DEBIAN_FRONTEND=noninteractive apt-get -y -q install --no-install-recommends \
	$missing > build/packages.log 2>&1 || {
	echo "Not installed:" $missing >&2
	grep '^E:' build/packages.log >&2 || tail -n 5 build/packages.log >&2
	exit 1
}
