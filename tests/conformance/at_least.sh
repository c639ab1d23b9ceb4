#!/bin/sh
# SPDX-License-Identifier: MIT
#
# at_least.sh MINIMUM WORD SHARED PLACE COMMAND... - run COMMAND on SHARED/PLACE.
# It may not fail, and its last line, "N WORD, ...", must tell of at least
# MINIMUM files, so that what runs today is not quietly skipped tomorrow.
# NVDLA_SHARED overrides SHARED. Exits with 77, skipped, if it is absent and may be.
set -u
. "$(dirname "$0")/../common/shared.sh"
minimum=$1
word=$2
needs_shared "${NVDLA_SHARED:-$3}" "$4"
folder="${NVDLA_SHARED:-$3}/$4"
shift 4
output=$("$@" "$folder")
status=$?
printf '%s\n' "$output"
[ $status -eq 0 ] || exit $status
found=$(printf '%s\n' "$output" | sed -n "s/^\([0-9]*\) $word, .*/\1/p")
if [ "${found:-0}" -lt "$minimum" ]; then
	echo "only ${found:-0} $word; expected at least $minimum"
	exit 1
fi
