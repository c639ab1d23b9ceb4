#!/bin/sh
# SPDX-License-Identifier: MIT
#
# processors.sh NVDLA... - which kernels NVDLA, run by qemu-user, takes on processors with the dot
# product of bytes and without, and what it says of those that a processor lacks.
set -u
failed=0

# info PROCESSOR KERNELS STATUS LINE NVDLA...: `nvdla info` where NVDLA_KERNELS is KERNELS.
info() {
	processor=$1 kernels=$2 expected=$3 line=$4
	shift 4
	said=$(QEMU_CPU=$processor NVDLA_KERNELS=$kernels "$@" info 2>&1)
	status=$?
	if [ $status -ne "$expected" ] || ! printf '%s\n' "$said" | grep -Fxq "$line"; then
		echo "on $processor with kernels '$kernels': status $status, expected $expected and"
		echo "    $line"
		printf '%s\n' "$said" | tail -n 4
		failed=1
	fi
}

with="kernels of the model: portable, neon, neondot;"
without="kernels of the model: portable, neon;"
lacking="ASIMDDP (dot product)"
info neoverse-n1 "" 0 "$with neondot in use" "$@"
info neoverse-n1 neon 0 "$with neon in use" "$@"
info cortex-a72 "" 0 "$without neon in use" "$@"
info cortex-a72 portable 0 "$without portable in use" "$@"
info cortex-a72 "" 0 "  not neondot: this processor lacks some of $lacking" "$@"
info cortex-a72 neondot 2 "nvdla: NVDLA_KERNELS: kernels 'neondot' need $lacking, which this \
processor lacks; it runs portable, neon" "$@"
info neoverse-n1 avx2 2 "nvdla: NVDLA_KERNELS: no set of kernels is called 'avx2'; there are \
portable, neon, neondot" "$@"
exit $failed
