#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Unpacks what an arm64 guest and programs for it need from Debian's packages.
#
#   get-arm64.sh DIRECTORY      prints nothing, leaves DIRECTORY/root:
#     bin/busybox      user space of the guest
#     usr              headers and libraries for the preset `arm64`
#
# Packages are kept in DIRECTORY/archives, so a second call is quick.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
. "$here/arm64-apt.sh"
packages="busybox-static libdrm-dev libdrm2 libfmt-dev libfmt9 libgtest-dev googletest
	libbenchmark-dev libbenchmark1debian librapidcheck-dev libpng-dev libpng16-16 libjpeg62-turbo-dev
	libjpeg62-turbo zlib1g-dev zlib1g
	libflatbuffers-dev libflatbuffers2 nlohmann-json3-dev libcli11-dev
	libfdt-dev libfdt1 libhwy-dev"

mkdir -p "$1/archives"
directory=$(cd "$1" && pwd)
root=$directory/root
# What was unpacked, in one line.
wanted=$(echo "$packages" | tr -s '\n\t' '  ')
[ "$(cat "$root/packages" 2>/dev/null)" != "$wanted" ] || exit 0

arm64_apt "$directory/apt"
rm -rf "$root"
mkdir -p "$root"
for package in $packages; do
	arm64_download "$directory/archives" "$package"
	dpkg -x "$directory/archives/$package"_*.deb "$root"
done
# Links from one package to another are absolute.
find "$root" -type l -lname '/*' | while IFS= read -r link; do
	ln -sfn "$root$(readlink "$link")" "$link"
done
echo "$wanted" >"$root/packages"
