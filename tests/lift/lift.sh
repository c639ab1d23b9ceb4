#!/bin/sh
# SPDX-License-Identifier: MIT
#
# lift.sh LIFT SHARED PLACE MINIMUM - lift SHARED/PLACE with the command LIFT and
# run it on the model: nothing may fail, and at least MINIMUM files must be
# lifted, so that what is accepted today is not quietly refused tomorrow.
# NVDLA_SHARED overrides SHARED. Exits with 77, skipped, if it is absent.
set -u
folder="${NVDLA_SHARED:-$2}/$3"
if [ ! -d "$folder" ]; then
	echo "skipped: no folder $folder; set NVDLA_SHARED to where vectors and traces are"
	exit 77
fi
output=$("$1" "$folder")
status=$?
printf '%s\n' "$output"
[ $status -eq 0 ] || exit $status
lifted=$(printf '%s\n' "$output" | sed -n 's/^\([0-9]*\) lifted, .*/\1/p')
if [ "${lifted:-0}" -lt "$4" ]; then
	echo "only ${lifted:-0} lifted; expected at least $4"
	exit 1
fi
