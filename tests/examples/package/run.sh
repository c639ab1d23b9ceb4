#!/bin/bash
# SPDX-License-Identifier: MIT
#
# run.sh BUILD SOURCE CXX: install BUILD into a prefix, move that, build a consumer with
# find_package and with pkg-config against it, shared and static, and run all of them.
# Also: what libnvdla.so exports is versioned and of namespace nvdla, the licences are
# there, an example network runs, guides are there, and libraries go where Debian has them if the prefix is /usr.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$1 source=$2 cxx=$3
work=$build/package-test
rm -rf "$work"

cmake --install "$build" --prefix "$work/first" > "$work.log"
mv "$work/first" "$work/prefix"
lib=$(dirname "$(find "$work/prefix" -name libnvdla.so)")

CMAKE_PREFIX_PATH=$work/prefix PKG_CONFIG_PATH=$lib/pkgconfig "$here/use.sh" "$work" "$cxx"

echo "== symbols"
readelf -d "$lib/libnvdla.so" | grep -q 'SONAME.*\[libnvdla.so.0\]'
foreign=$(nm -D --defined-only -C "$lib/libnvdla.so" |
	grep -Ev ' A NVDLA_0$| (typeinfo (name )?for |vtable for |VTT for )?nvdla::.*@@NVDLA_0$' || true)
[[ -z $foreign ]] || { echo "exported, but not ours or without version:"; echo "$foreign"; exit 1; }

echo "== licences"
for licence in "$source"/LICENSES/*; do
	cmp "$licence" "$work/prefix/share/doc/nvdla/LICENSES/$(basename "$licence")"
done

cmp "$source/LICENSE" "$work/prefix/share/doc/nvdla/LICENSE"

echo "== guides"
for page in README.md ARCHITECTURE.md; do
	cmp "$source/$page" "$work/prefix/share/doc/nvdla/$page"
done
for guide in "$source"/docs/*.md; do
	cmp "$guide" "$work/prefix/share/doc/nvdla/docs/$(basename "$guide")"
done

echo "== command"
[[ ! -e $work/prefix/bin/nvdla ]] || "$work/prefix/bin/nvdla" --help > /dev/null

# The network, its classes and a picture are all that a first run takes.
echo "== example network"
examples=$work/prefix/share/doc/nvdla/examples
if [[ -e $work/prefix/bin/nvdla && -e $build/bin/digits ]]; then
	for configuration in nv_full nv_small; do
		said=$("$work/prefix/bin/nvdla" run "$examples/digits-$configuration.nvdla" \
			--input "$examples/images/five-dejavu-serif-sheared.png" --labels "$examples/digits.txt")
		[[ $(sed -n 2p <<< "$said") == *" five" ]] || {
			echo "the example network takes a five for another digit:"
			echo "$said"
			exit 1
		}
	done
	[[ -e $examples/convolution.cpp ]]
fi

# Only configured: where things would go is known then.
echo "== /usr"
multiarch=$("$cxx" -print-multiarch)
cmake -G Ninja -S "$source" -B "$work/usr" -DCMAKE_CXX_COMPILER="$cxx" \
	-DCMAKE_INSTALL_PREFIX=/usr -DNVDLA_TESTS=OFF > "$work/usr.log"
grep -q "^libdir=.*/lib/$multiarch\$" "$work/usr/package/libnvdla.pc" || {
	echo "for the prefix /usr, libraries are not in lib/$multiarch:"
	cat "$work/usr/package/libnvdla.pc"
	exit 1
}
# The prefix has to be known when it is configured.
commands=$(make -C "$source" -n install PREFIX=/usr)
[[ $commands == *"-DCMAKE_INSTALL_PREFIX:PATH='/usr'"* ]] || {
	echo "make install PREFIX=/usr does not configure for it:"
	echo "$commands"
	exit 1
}
