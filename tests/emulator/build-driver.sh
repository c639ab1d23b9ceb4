#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Builds drivers for user space that Debian's kernels leave out, of Debian's source, for a
# kernel of get-kernel.sh.
#
#   build-driver.sh SERIES BUILD-DIRECTORY DRIVER
#
# A DRIVER is one of
#   vfio    VFIO that goes without an IOMMU: vfio.ko, pci/vfio-pci-core.ko, pci/vfio-pci.ko
#   uio     uio_pdrv_genirq.ko
# and is left in BUILD-DIRECTORY/modules/SERIES/DRIVER.
set -eu

series=$1
build=$(cd "$2" && pwd)
driver=$3
version=${series%-arm64}
archive=/usr/src/linux-source-$version.tar.xz
root=$build/modules/$series/$driver
case $series in
*-arm64) set -- ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu- ;;
*) set -- ;;
esac
case $driver in
# Drivers of single devices are not for this.
vfio)
	set -- "$@" CONFIG_VFIO_NOIOMMU=y KCFLAGS=-DCONFIG_VFIO_NOIOMMU=1 CONFIG_VFIO_MDEV= \
		CONFIG_MLX5_VFIO_PCI= CONFIG_PDS_VFIO_PCI= CONFIG_VIRTIO_VFIO_PCI= CONFIG_QAT_VFIO_PCI= \
		CONFIG_NVGRACE_GPU_VFIO_PCI=
	;;
uio) set -- "$@" CONFIG_UIO_PDRV_GENIRQ=m ;;
*)
	echo "build-driver.sh: '$driver' is not vfio or uio" >&2
	exit 1
	;;
esac
[ -f "$archive" ] || {
	echo "build-driver.sh: no $archive: install linux-source-$version" >&2
	exit 1
}
if [ -z "$(find "$root/Makefile" -newer "$archive" 2>/dev/null)" ]; then
	rm -rf "$root"
	mkdir -p "$root"
	# As new as it is here, so that the next call finds it.
	tar -xJmf "$archive" -C "$root" --strip-components=3 "linux-source-$version/drivers/$driver"
fi
make -C "$build/kernels/$series/headers" M="$root" CONFIG_DEBUG_INFO_BTF_MODULES= "$@" modules
