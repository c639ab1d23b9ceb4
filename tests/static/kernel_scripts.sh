#!/bin/bash
# SPDX-License-Identifier: MIT
#
# kernel_scripts.sh checkpatch|kernel-doc: the kernel's own checks of kernel/, firmware/ and
# uapi/.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/static/sources.sh

archive=/usr/src/linux-source-6.1.tar.xz
scripts=build/linux-source-6.1/scripts
[[ -e $archive ]] || { echo "$archive: missing (package linux-source-6.1)"; exit 1; }
if [[ ! -e $scripts/.complete ]]; then
	mkdir -p build
	tar -C build -xf $archive --wildcards 'linux-source-6.1/scripts/checkpatch.pl' \
		'linux-source-6.1/scripts/spelling.txt' \
		'linux-source-6.1/scripts/const_structs.checkpatch' \
		'linux-source-6.1/scripts/kernel-doc'
	touch $scripts/.complete
fi

case $1 in
checkpatch)
	# The generated header is as its generator writes it. These headers live
	# outside the kernel too, where there is no BIT() and no u32 but ours.
	sources 'kernel/*.[ch]' 'firmware/*.[ch]' 'uapi/*.h' |
		grep -v firmware/registers/nvdla_regs.h |
		xargs perl $scripts/checkpatch.pl --no-tree --strict --terse --quiet \
			--show-types --no-summary \
			--ignore BIT_MACRO,NEW_TYPEDEFS,PREFER_KERNEL_TYPES --file
	;;
kernel-doc)
	# The name of an enumerator is its description where it has no comment.
	complaints=$(sources 'uapi/*.h' | xargs perl $scripts/kernel-doc -none 2>&1 |
		grep -v 'Enum value' || true)
	[[ -z $complaints ]] || { echo "$complaints"; exit 1; }
	;;
*)
	echo "usage: $0 checkpatch|kernel-doc"
	exit 1
	;;
esac
