#!/bin/sh
# SPDX-License-Identifier: MIT
#
# In the guest: runs a command and prints which memory its layers were allowed.
#
#   traced.sh PROGRAM ARGUMENT...
tracing=/sys/kernel/tracing
echo 16384 >$tracing/buffer_size_kb
echo 1 >$tracing/events/nvdla/nvdla_layer_start/enable || exit 1
"$@"
status=$?
echo 0 >$tracing/events/nvdla/nvdla_layer_start/enable
grep -o 'nvdla_layer_start: .*' $tracing/trace
if grep -v '^overrun: 0$' $tracing/per_cpu/cpu0/stats | grep '^overrun'; then
	echo "traced.sh: the trace has lost its beginning"
	exit 1
fi
exit $status
