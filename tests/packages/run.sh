#!/bin/bash
# SPDX-License-Identifier: MIT
#
# run.sh BUILD SOURCE: Debian packages of the tree, of its version and of a higher one, which
# lintian has nothing to say against; installed, used, upgraded, removed and purged in a bare
# root, made of what the machine's own apt has.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source=$2
build=$(cd "$1" && pwd)
work=$build/packages-test
mkdir -p "$work"
# Where `make packages` builds, too: ccache knows what was compiled there.
packages=$build/packages
fail() {
	echo "run.sh: $*" >&2
	exit 1
}
[[ $(id -u) == 0 ]] || fail "this test needs root: it makes a root directory and changes into it"

version=$(sed -n 's/^project(nvdla VERSION \([0-9.]*\).*/\1/p' "$source/CMakeLists.txt")
higher=${version%.*}.$((${version##*.} + 1))
rm -rf "$work/old" "$work/new"
for each in "$version old" "$higher new"; do
	echo "== packages of ${each% *}"
	"$source/debian/build.sh" "$packages" "${each% *}"
	mkdir "$work/${each#* }"
	mv "$packages"/*.{deb,changes,buildinfo} "$work/${each#* }"
done
"$source/debian/build.sh" "$packages" 1.2 > "$work/refused" 2>&1 && fail "1.2 was taken for a version"
grep -q "expected three numbers such as $version" "$work/refused" || fail "$(cat "$work/refused")"

# Tags of the Debian project itself need no look: this is no upload to it.
echo "== lintian"
lintian --allow-root --profile debian --fail-on error,warning --tag-display-limit 0 \
	"$work"/old/*.changes

echo "== a bare root"
root=$work/root
remove_root() {
	mountpoint -q "$root/proc" && fail "$root/proc is still mounted"
	rm -rf "$root"
}
remove_root
. /etc/os-release
apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' \
	'Created-By: Packages' 'Origin: Debian' | sort -u > "$work/sources.list"
[[ -s $work/sources.list ]] || fail "the machine's apt knows no mirror of Debian: run apt-get update"
apt-config dump Acquire::Check-Valid-Until Acquire::Check-Date > "$work/apt.conf"
mmdebstrap --mode=root --variant=apt --skip=cleanup/apt --aptopt="$work/apt.conf" \
	"$VERSION_CODENAME" "$root" - < "$work/sources.list" > "$work/mmdebstrap.log" 2>&1 ||
	{ tail -n 20 "$work/mmdebstrap.log"; fail "no bare root"; }
mkdir "$root/test"
cp -r "$work/old" "$work/new" "$here/inside.sh" "$source/tests/examples/package" "$root/test"
# Mounts and processes end with it.
unshare --mount --pid --fork --kill-child bash -c '
	mount --make-rprivate / && mount -t proc proc "$0/proc" &&
	mount -t sysfs -o ro sysfs "$0/sys" &&
	exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 chroot "$0" \
		bash /test/inside.sh "$1" "$2"' "$root" "$version" "$higher" < /dev/null
remove_root
