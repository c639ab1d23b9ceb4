#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Builds nvdla.ko from nothing with W=1 and sparse; any message of either fails.
#
#   check-module.sh SERIES BUILD-DIRECTORY
set -eu

here=$(cd "$(dirname "$0")" && pwd)
series=$1
build=$2
log=$build/modules/$series.log

rm -rf "$build/modules/$series"
mkdir -p "$build/modules"
sh "$here/build-module.sh" "$series" "$build" C=1 >"$log" 2>&1 || {
	cat "$log"
	exit 1
}
# What the compiler, sparse and modpost complain about.
if grep -E '(warning|error):|^(WARNING|ERROR):' "$log"; then
	exit 1
fi
# Makefiles go on without sparse where they do not find it.
for tool in CC CHECK; do
	grep -q "^ *$tool .*nvdla_drv\.[co]$" "$log" || {
		echo "check-module.sh: no $tool in $log"
		exit 1
	}
done
modinfo -F vermagic "$build/modules/$series/nvdla.ko"
wc -l "$here"/../../kernel/*.[ch]
