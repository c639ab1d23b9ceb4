#!/bin/bash
# SPDX-License-Identifier: MIT
#
# sparse prints and returns 0, so any output is a failure.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/static/sources.sh
include=$(gcc -print-file-name=include)
complaints=$(sources 'firmware/*.c' | while read -r file; do
	sparse -std=gnu11 -ffreestanding -nostdinc -I "$include" -I firmware/include -I uapi -I . "$file" 2>&1
done)
[[ -z $complaints ]] || { echo "$complaints"; exit 1; }
