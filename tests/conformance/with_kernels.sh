#!/bin/sh
# SPDX-License-Identifier: MIT
#
# with_kernels.sh SET NVDLA COMMAND... - run COMMAND with this set of the model's
# kernels. Exits with 77, skipped, where `NVDLA info` says that this processor
# does not run it.
set -u
kernels=$1
nvdla=$2
shift 2
sets=$(unset NVDLA_KERNELS && "$nvdla" info |
	sed -n 's/^kernels of the model: \([^;]*\);.*/\1/p')
if [ -z "$sets" ]; then
	echo "$nvdla info names no kernels of the model"
	exit 1
fi
case ", $sets," in
*", $kernels,"*) ;;
*)
	echo "skipped: this processor runs $sets, not $kernels"
	exit 77
	;;
esac
NVDLA_KERNELS=$kernels exec "$@"
