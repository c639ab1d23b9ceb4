#!/bin/bash
# SPDX-License-Identifier: MIT
#
# build.sh DIRECTORY [VERSION]: Debian packages of this tree, in DIRECTORY. Their version is the
# tree's, from CMakeLists.txt, unless another is given: then the copy that is built says so, too.
set -euo pipefail
source=$(cd "$(dirname "$0")/.." && pwd)
out=$(mkdir -p "$1" && cd "$1" && pwd)
own=$(sed -n 's/^project(nvdla VERSION \([0-9.]*\).*/\1/p' "$source/CMakeLists.txt")
version=${2:-$own}
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || {
	echo "build.sh: '$version' is no version; expected three numbers such as $own" >&2
	exit 2
}

# Always at the same place, so that ccache knows what it compiled.
copy=$out/source
rm -rf "$copy" "$out"/*.{deb,changes,buildinfo}
mkdir "$copy"
tar -C "$source" --exclude=./build --exclude=./.git --exclude=__pycache__ -c . | tar -C "$copy" -x
sed -i "s/^project(nvdla VERSION [0-9.]*/project(nvdla VERSION $version/" "$copy/CMakeLists.txt"
sed -i "s/^PACKAGE_VERSION=.*/PACKAGE_VERSION=\"$version\"/" "$copy/dkms.conf"

# The texts that LICENSES has. A paragraph is indented, and a dot stands for an empty line.
licence() {
	printf '\nLicense: %s\n' "$1"
	sed 's/^[[:space:]]*$/./; s/^/ /'
}
{
	sed '1,/^Copyright/d' "$source/LICENSES/MIT" | sed '1{/^$/d}' | licence Expat
	{
		echo 'The GNU General Public License version 2, which on Debian systems is in'
		echo '/usr/share/common-licenses/GPL-2, with this note:'
		echo
		sed '1,/^$/d; s/^[[:space:]]*//' "$source/LICENSES/Linux-syscall-note"
	} | licence 'GPL-2 with Linux-syscall-note'
} >> "$copy/debian/copyright"

# Of the last commit where git knows it, so that who builds it again gets the same.
: "${SOURCE_DATE_EPOCH:=$(git -C "$source" log -1 --format=%ct 2> /dev/null || date +%s)}"
export SOURCE_DATE_EPOCH
cat > "$copy/debian/changelog" << END
nvdla ($version) unstable; urgency=medium

  * Packages of the tree as it is.

 -- $(sed -n 's/^Maintainer: //p' "$copy/debian/control")  $(date -uRd "@$SOURCE_DATE_EPOCH")
END

# debhelper has a HOME of its own, and a cache there would be gone.
if command -v ccache > /dev/null; then
	CCACHE_DIR=$(ccache --get-config cache_dir)
	export CCACHE_DIR
fi
: "${DEB_BUILD_OPTIONS:=parallel=${JOBS:-$(nproc)}}"
export DEB_BUILD_OPTIONS
cd "$copy"
dpkg-buildpackage --build=binary --no-sign > "$out/build.log" 2>&1 || {
	tail -n 20 "$out/build.log" >&2
	echo "build.sh: dpkg-buildpackage failed; $out/build.log has all that it said" >&2
	exit 1
}
cd "$out"
printf '%s\n' *.deb
