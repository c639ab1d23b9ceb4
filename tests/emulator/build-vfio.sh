#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Builds VFIO that goes without an IOMMU, which Debian's kernels leave out, of Debian's
# source for a kernel of get-kernel.sh.
#
#   build-vfio.sh SERIES BUILD-DIRECTORY
#
# leaves BUILD-DIRECTORY/modules/SERIES/vfio/vfio.ko, pci/vfio-pci-core.ko and pci/vfio-pci.ko.
set -eu

series=$1
build=$(cd "$2" && pwd)
archive=/usr/src/linux-source-$series.tar.xz
[ -f "$archive" ] || {
	echo "build-vfio.sh: no $archive: install linux-source-$series" >&2
	exit 1
}
root=$build/modules/$series
if [ -z "$(find "$root/vfio/Makefile" -newer "$archive" 2>/dev/null)" ]; then
	rm -rf "$root/vfio"
	mkdir -p "$root/vfio"
	# As new as it is here, so that the next call finds it.
	tar -xJmf "$archive" -C "$root/vfio" --strip-components=3 "linux-source-$series/drivers/vfio"
fi
# Drivers of single devices are not for this.
make -C "$build/kernels/$series/headers" M="$root/vfio" CONFIG_DEBUG_INFO_BTF_MODULES= \
	CONFIG_VFIO_NOIOMMU=y KCFLAGS=-DCONFIG_VFIO_NOIOMMU=1 CONFIG_VFIO_MDEV= \
	CONFIG_MLX5_VFIO_PCI= CONFIG_PDS_VFIO_PCI= CONFIG_VIRTIO_VFIO_PCI= CONFIG_QAT_VFIO_PCI= \
	CONFIG_NVGRACE_GPU_VFIO_PCI= modules
