#!/bin/bash
# SPDX-License-Identifier: MIT
#
# dkms.sh SERIES BUILD: DKMS builds the driver for a kernel that is only unpacked, in trees of
# its own.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
series=$1
build=$(mkdir -p "$2" && cd "$2" && pwd)
sh "$root/tests/emulator/get-kernel.sh" "$series" "$build/kernels"
release=$(cat "$build/kernels/$series/release")

tree=$build/dkms
rm -rf "$tree"
mkdir -p "$tree/state"
make -s -C "$root" dkms DESTDIR="$tree"
version=$(sed -n 's/^project(nvdla VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
dkms() {
	command dkms --dkmstree "$tree/state" --sourcetree "$tree/usr/src" -m nvdla -v "$version" "$@"
}
dkms add
dkms build -k "$release/x86_64" --kernelsourcedir "$build/kernels/$series/headers" ||
	{ cat "$tree/state/nvdla/$version/build/make.log"; exit 1; }
module=$(find "$tree/state/nvdla/$version/$release" -name 'nvdla.ko*')
[[ -n $module ]] || { echo "dkms.sh: no module was built"; exit 1; }
vermagic=$(modinfo -F vermagic "$module")
[[ $vermagic == "$release "* ]] || { echo "dkms.sh: a module for $vermagic"; exit 1; }
dkms remove --all
echo "nvdla/$version: built for $release"
