#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# shellcheck shell=dash
#
# In the guest: did the KUnit suites of the driver, which run when it is loaded
# (kunit.enable=1), pass?
#
#   kunit.sh SUITE...
set -eu

results=$(dmesg | sed -n 's/^\[ *[0-9.]*\] \(.*\)$/\1/p')
failed=$(echo "$results" | grep -c '^ *not ok ') || true
[ "$failed" -eq 0 ] || {
	echo "kunit.sh: $failed failures, see above" >&2
	exit 1
}
for suite in "$@"; do
	echo "$results" | grep -q "^ok [0-9]* $suite\$" || {
		echo "kunit.sh: the suite $suite did not run" >&2
		exit 1
	}
done
echo "kunit.sh: $(echo "$results" | grep -c '^    ok ') cases passed"
