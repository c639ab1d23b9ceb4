#!/bin/bash
# SPDX-License-Identifier: MIT
#
# run.sh BUILD CXX: install BUILD into a prefix, move that, build a consumer
# with find_package and with pkg-config against it, and run both. Also: what
# libnvdla.so exports is versioned and of namespace nvdla.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$1 cxx=$2
work=$build/package-test
rm -rf "$work"

cmake --install "$build" --prefix "$work/first" > "$work.log"
mv "$work/first" "$work/prefix"
lib=$(dirname "$(find "$work/prefix" -name libnvdla.so)")

echo "== find_package"
cmake -G Ninja -S "$here" -B "$work/cmake" -DCMAKE_CXX_COMPILER="$cxx" \
	-DCMAKE_PREFIX_PATH="$work/prefix" > "$work/cmake.log"
cmake --build "$work/cmake"
"$work/cmake/consumer"

echo "== pkg-config"
export PKG_CONFIG_PATH=$lib/pkgconfig
flags=$(pkg-config --cflags --libs libnvdla)
"$cxx" -std=c++20 "$here/main.cpp" -o "$work/consumer" $flags
LD_LIBRARY_PATH=$lib "$work/consumer"

echo "== symbols"
readelf -d "$lib/libnvdla.so" | grep -q 'SONAME.*\[libnvdla.so.0\]'
foreign=$(nm -D --defined-only -C "$lib/libnvdla.so" |
	grep -Ev ' A NVDLA_0$| (typeinfo (name )?for |vtable for |VTT for )?nvdla::.*@@NVDLA_0$' || true)
[[ -z $foreign ]] || { echo "exported, but not ours or without version:"; echo "$foreign"; exit 1; }

echo "== command"
[[ ! -e $work/prefix/bin/nvdla ]] || "$work/prefix/bin/nvdla" --help > /dev/null
