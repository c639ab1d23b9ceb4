#!/bin/sh
# SPDX-License-Identifier: MIT
#
# lifted.sh MINIMUM COMMAND... - run COMMAND, nvdla-lift, in a guest. It may not fail, and its last
# line, "N lifted, ...", must tell of at least MINIMUM files.
set -u
minimum=$1
shift
output=$("$@")
status=$?
printf '%s\n' "$output"
[ $status -eq 0 ] || exit $status
lifted=$(printf '%s\n' "$output" | sed -n 's/^\([0-9]*\) lifted, .*/\1/p')
[ "${lifted:-0}" -ge "$minimum" ] || {
	echo "lifted.sh: only ${lifted:-0} were lifted; expected at least $minimum"
	exit 1
}
