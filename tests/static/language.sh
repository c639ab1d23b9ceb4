#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Of every public header alone the first complaint of an older C++ is that it needs C++20.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/static/sources.sh
failed=0
for header in $(sources 'runtime/include/nvdla/*.hpp'); do
	said=$(g++ -std=c++17 -fsyntax-only -fmax-errors=1 -x c++ -I uapi -I runtime/include \
		"$header" 2>&1) && said='no error'
	[[ $said == *'#error "the headers of nvdla need C++20'* ]] && continue
	echo "$header: with C++17: $said"
	failed=1
done
exit $failed
