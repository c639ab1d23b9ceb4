#!/bin/bash
# SPDX-License-Identifier: MIT
#
# use.sh WORK CXX: build the consumer with find_package and with pkg-config, shared and static,
# and a simulator with libnvdla-sim, in WORK, and run all of them. The library is where CMAKE_PREFIX_PATH and PKG_CONFIG_PATH of
# the environment say, or where the system has libraries.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$1 cxx=$2
mkdir -p "$work"

# shared PROGRAM yes|no: whether it loads libnvdla.so.
shared() {
	local loads=no
	if readelf -d "$1" | grep -q 'NEEDED.*libnvdla'; then
		loads=yes
	fi
	[[ $loads == "$2" ]] || { echo "$1 loads libnvdla.so: $loads, expected $2"; exit 1; }
}

echo "== find_package"
cmake -G Ninja -S "$here" -B "$work/cmake" -DCMAKE_CXX_COMPILER="$cxx" > "$work/cmake.log"
cmake --build "$work/cmake"
"$work/cmake/consumer"
shared "$work/cmake/consumer" yes
"$work/cmake/consumer_static"
shared "$work/cmake/consumer_static" no

echo "== pkg-config"
flags=$(pkg-config --cflags --libs libnvdla)
"$cxx" -std=c++20 "$here/main.cpp" -o "$work/consumer" $flags
LD_LIBRARY_PATH=$(pkg-config --variable=libdir libnvdla) "$work/consumer"
shared "$work/consumer" yes
# Where both libraries are, the linker has to be told which.
flags=$(pkg-config --cflags --libs --static libnvdla | sed 's/-lnvdla\b/-l:libnvdla.a/')
"$cxx" -std=c++20 "$here/main.cpp" -o "$work/consumer_static" $flags
"$work/consumer_static"
shared "$work/consumer_static" no

echo "== ioctls, from C; drm.h is libdrm's"
echo '#include <drm/nvdla_accel.h>' | cc -std=c11 -Wall -Werror -fsyntax-only -x c \
	$(pkg-config --cflags libnvdla libdrm) -

echo "== a simulator, from C; the runtime is elsewhere"
flags=$(pkg-config --cflags --libs libnvdla-sim)
cc -std=c11 -Wall -Werror "$here/simulator.c" -o "$work/simulator" $flags
"$work/simulator" "$work/socket"
