#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Which tests the programs of a boot skipped: what its kernel, by its configuration, is not built
# for. Others are an error: suites run what there is for them.
#
#   skipped.sh LOG KERNEL-CONFIGURATION
# shellcheck disable=SC2086 # names of tests, in one line
set -eu

skipped=$(sed -n 's/^\[  SKIPPED \] \([^ ]*\) ([0-9]* ms)$/\1/p' "$1")
[ -n "$skipped" ] || exit 0
may_skip='$'
grep -q '^CONFIG_FAULT_INJECTION=y' "$2" || may_skip='FailNth\.'
unknown=$(echo "$skipped" | grep -vE "^($may_skip)" || true)
[ -z "$unknown" ] || {
	echo "skipped.sh: skipped, though they are to run here:" $unknown >&2
	exit 1
}
echo "skipped, as the kernel is not built for them:" $skipped
