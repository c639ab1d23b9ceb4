#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Builds a kernel with sanitizers from Debian's source of a series, configured by
# kernel.config and the file for its machine; leaves it as get-kernel.sh, which calls
# this, leaves others.
#
#   build-kernel.sh NAME DIRECTORY      prints nothing, leaves DIRECTORY/NAME
#
# NAME is sanitizer, for x86-64, or uml, which is User-mode Linux: its kernel is a program,
# and virt-pci.patch lets no access of its PCI get lost. It is built again if the version
# of the source, the configuration, the patch or the compiler has changed; ccache keeps that
# short. What make says is in DIRECTORY/NAME.log.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
name=$1
directory=$2
package=linux-source-6.12

fail() {
	echo "build-kernel.sh: $*" >&2
	exit 1
}

set -- "$here/kernel.config" "$here/$name.config"
case $name in
sanitizer)
	arch=x86
	image=arch/x86/boot/bzImage
	patch=
	;;
uml)
	arch=um
	image=linux
	patch=$here/virt-pci.patch
	;;
*) fail "'$name' is not a kernel that is built here: sanitizer, uml" ;;
esac

mkdir -p "$directory/archives"
directory=$(cd "$directory" && pwd)
root=$directory/$name
log=$directory/$name.log

# Two at once would remove each other's files; the second finds what the first has built.
exec 9>"$directory/$name.lock"
flock 9

# What was built before will do where apt knows of no source.
version=$(apt-cache show --no-all-versions "$package" 2>/dev/null | sed -n 's/^Version: //p')
if [ -z "$version" ]; then
	[ ! -f "$root/release" ] || exit 0
	fail "no Debian package $package: run apt-get update"
fi
key="$version $(cat "$@" ${patch:+"$patch"} | sha256sum | cut -d' ' -f1) $(gcc -dumpfullversion)"
if [ -f "$root/release" ] && [ "$(cat "$root/key")" = "$key" ]; then
	exit 0
fi
for program in bc bison flex ccache patch; do
	command -v $program >/dev/null || fail "no $program: install what packages.txt lists"
done
[ -f /usr/include/gelf.h ] || fail "no gelf.h: install what packages.txt lists"

# The version as in the archive's name, which has no epoch.
archive=$directory/archives/${package}_${version#*:}_all.deb
if [ ! -f "$archive" ]; then
	said=$(cd "$directory/archives" && apt-get download -qq -o Acquire::http::Timeout=10 \
		-o Acquire::https::Timeout=10 -o Acquire::Retries=1 "$package=$version" 2>&1) || {
		echo "$said" >&2
		fail "cannot download $package (offline?); it can be put into $directory/archives by hand"
	}
fi

rm -rf "$root"
mkdir -p "$root/tree"
dpkg --fsys-tarfile "$archive" | tar -xO "./usr/src/$package.tar.xz" | tar -xJ -C "$root"
mv "$root/$package" "$root/headers"
cat "$@" >"$root/config"

# In its own tree, where all paths are relative, and silent on who builds, when and where:
# ccache knows it again wherever DIRECTORY is.
kernel_make() {
	make -s -C "$root/headers" CC='ccache gcc' HOSTCC='ccache gcc' ARCH=$arch \
		LOCALVERSION="-$name" KBUILD_BUILD_TIMESTAMP=@0 KBUILD_BUILD_USER=nvdla KBUILD_BUILD_HOST=nvdla "$@"
}

# logged COMMAND...
logged() {
	"$@" >>"$log" 2>&1 || {
		tail -n 20 "$log" >&2
		fail "$* failed, see $log"
	}
}

: >"$log"
[ -z "$patch" ] || logged patch -d "$root/headers" -p1 --input="$patch"
logged kernel_make KCONFIG_ALLCONFIG="$root/config" allnoconfig
# Kconfig drops what does not fit together without a word.
grep '^CONFIG_' "$root/config" | grep -vxFf "$root/headers/.config" >"$root/dropped" || true
[ ! -s "$root/dropped" ] || fail "the kernel does not take $(paste -sd' ' "$root/dropped")"
logged kernel_make --jobs="$(nproc)" "${image##*/}" modules
logged kernel_make INSTALL_MOD_PATH="$root/tree" modules_install
release=$(kernel_make kernelrelease)

# Modules need headers, makefiles and scripts only.
rm -rf "$root/headers/Documentation"
find "$root/headers" -path "$root/headers/scripts" -prune -o -type f -name '*.[acoS]' -exec rm {} +

ln -sfn headers/$image "$root/vmlinuz"
ln -sfn "tree/lib/modules/$release" "$root/modules"
echo "$key" >"$root/key"
echo "$release" >"$root/release"
