#!/bin/sh
# SPDX-License-Identifier: MIT
#
# on_simulator.sh SERVER "OPTIONS" COMMAND... - start the device server as a simulator with these
# options, run COMMAND with NVDLA_DEVICE naming it, and end with its status.
set -u
server=$1
options=$2
shift 2
folder=$(mktemp -d)
# The options are words.
# shellcheck disable=SC2086
"$server" --simulator "$folder/s" $options 2> "$folder/log" &
pid=$!
trap 'kill $pid 2> /dev/null; wait $pid 2> /dev/null; rm -rf "$folder"' EXIT
until [ -S "$folder/s" ]; do
	if ! kill -0 $pid 2> /dev/null; then
		echo "the simulator does not listen:"
		cat "$folder/log"
		exit 1
	fi
	sleep 0.1
done
NVDLA_DEVICE=sim:$folder/s "$@"
status=$?
cat "$folder/log"
exit $status
