#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Unpacks the newest Debian kernel of a series (6.1, 6.12) and its headers below
# a directory, without installing either: module builds and the emulator need
# their files only, not their maintainer scripts.
#
#   get-kernel.sh SERIES DIRECTORY      prints nothing, leaves DIRECTORY/SERIES:
#     release        the kernel release, as in uname -r
#     headers        what to pass to make -C
#     vmlinuz        the kernel image
#     modules        lib/modules/RELEASE of the image
#
# Packages are kept in DIRECTORY/archives, so a second call is quick.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../../.ci/apt.sh
. "$here/../../.ci/apt.sh"

series=$1
directory=$2
arch=amd64

fail() {
	echo "get-kernel.sh: $*" >&2
	exit 1
}

newest() {
	apt-cache search --names-only "^linux-image-$(echo "$series" | sed 's/\./\\./')\.[0-9]+(-[0-9]+|\+deb[0-9]+)-$arch\$" |
		cut -d' ' -f1 | sed 's/^linux-image-//' | sort -V | tail -n 1
}

# What was unpacked before will do where no registry answers.
release=$(newest)
if [ -z "$release" ] && [ ! -f "$directory/$series/release" ]; then
	update_lists "linux-image-$series.*-$arch and its headers" || fail "no kernel of the series $series"
	release=$(newest)
fi
[ -n "$release" ] || release=$(cat "$directory/$series/release" 2>/dev/null) ||
	fail "no Debian package linux-image-$series.*-$arch"

mkdir -p "$directory/archives"
directory=$(cd "$directory" && pwd)
root=$directory/$series
if [ -f "$root/release" ] && [ "$(cat "$root/release")" = "$release" ]; then
	exit 0
fi

common=$(echo "$release" | sed "s/-$arch\$/-common/")
depends=$(apt-cache depends "linux-headers-$release" | sed -n 's/^ *Depends: \(linux-kbuild-.*\)/\1/p')
[ -n "$depends" ] || fail "linux-headers-$release names no linux-kbuild package"

rm -rf "$root"
mkdir -p "$root/tree"
for package in "linux-image-$release" "linux-headers-$release" "linux-headers-$common" $depends; do
	set -- "$directory/archives/$package"_*.deb
	if [ ! -f "$1" ]; then
		said=$(cd "$directory/archives" && apt-get download -qq -o Acquire::http::Timeout=10 \
			-o Acquire::https::Timeout=10 -o Acquire::Retries=1 "$package" 2>&1) || {
			echo "$said" >&2
			fail "cannot download $package (offline?); it can be put into $directory/archives by hand"
		}
		set -- "$directory/archives/$package"_*.deb
	fi
	dpkg -x "$1" "$root/tree"
done

# The headers' makefile names its parts by absolute paths.
grep -rlI --include=Makefile --include=.kernelvariables -e /usr/src/ -e /usr/lib/linux-kbuild "$root/tree/usr/src" |
	while read -r file; do
		sed -i "s#/usr/src/#$root/tree/usr/src/#g; s#/usr/lib/linux-kbuild#$root/tree/usr/lib/linux-kbuild#g" "$file"
	done
for link in scripts tools; do
	for headers in "$root/tree/usr/src/linux-headers-$common" "$root/tree/usr/src/linux-headers-$release"; do
		if [ -L "$headers/$link" ]; then
			target=$(readlink "$headers/$link")
			case $target in
			/*) ln -sfn "$root/tree$target" "$headers/$link" ;;
			esac
		fi
	done
done

ln -sfn "tree/usr/src/linux-headers-$release" "$root/headers"
ln -sfn "tree/boot/vmlinuz-$release" "$root/vmlinuz"
ln -sfn "tree/lib/modules/$release" "$root/modules"
echo "$release" >"$root/release"
