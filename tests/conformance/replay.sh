#!/bin/sh
# SPDX-License-Identifier: MIT
#
# replay.sh NVDLA SHARED PLACE MINIMUM - replay SHARED/PLACE with the command
# NVDLA: nothing may fail, and at least MINIMUM files must pass, so that what
# runs today is not quietly skipped tomorrow.
# NVDLA_SHARED overrides SHARED. Exits with 77, skipped, if it is absent.
set -u
folder="${NVDLA_SHARED:-$2}/$3"
if [ ! -d "$folder" ]; then
	echo "skipped: no folder $folder; set NVDLA_SHARED to where vectors and traces are"
	exit 77
fi
output=$("$1" replay "$folder")
status=$?
printf '%s\n' "$output"
[ $status -eq 0 ] || exit $status
passed=$(printf '%s\n' "$output" | sed -n 's/^\([0-9]*\) passed, .*/\1/p')
if [ "${passed:-0}" -lt "$4" ]; then
	echo "only ${passed:-0} passed; expected at least $4"
	exit 1
fi
