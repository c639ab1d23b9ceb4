#!/bin/sh
# SPDX-License-Identifier: MIT
#
# In the guest: runs a command and prints which memory its layers were allowed.
#
#   traced.sh PROGRAM ARGUMENT...
tracing=/sys/kernel/tracing
raw=/tmp/traced.raw
echo 16384 >$tracing/buffer_size_kb
echo 1 >$tracing/events/nvdla/nvdla_layer_start/enable || exit 1
cat $tracing/trace_pipe >$raw &
reader=$!
"$@"
status=$?
echo 0 >$tracing/events/nvdla/nvdla_layer_start/enable
# Reading a pipe that is empty waits for ever.
while grep -q nvdla_layer_start $tracing/trace; do
	sleep 1
done
kill $reader
grep -o 'nvdla_layer_start: .*' $raw
rm $raw
if cat $tracing/per_cpu/cpu*/stats | grep '^overrun' | grep -v '^overrun: 0$'; then
	echo "traced.sh: the trace has lost its beginning"
	exit 1
fi
exit $status
