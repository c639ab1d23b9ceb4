/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Buffers: contiguous for the device, mapped in the kernel, zeroed.
 */
#ifndef NVDLA_GEM_H
#define NVDLA_GEM_H

#include <linux/sizes.h>

#include <drm/drm_gem.h>

struct nvdla_device;
struct nvdla_region;

#define NVDLA_BO_BYTES_MAX	SZ_1G

/** enum nvdla_backing - where the memory of a buffer comes from */
enum nvdla_backing {
	NVDLA_BACKING_PAGES,	/* contiguous pages, cached */
	NVDLA_BACKING_WC,	/* contiguous pages, write-combined */
	NVDLA_BACKING_REGION,	/* memory of the device's own */
};

/** struct nvdla_bo - a buffer */
struct nvdla_bo {
	/** @base: GEM object */
	struct drm_gem_object base;
	/** @vaddr: mapping of the kernel */
	void *vaddr;
	/** @dma: address of the first byte for the device */
	dma_addr_t dma;
	/** @memory: enum nvdla_memory */
	u32 memory;
	/** @backing: where the memory comes from */
	enum nvdla_backing backing;
	/** @abandoned: a device may write it for ever: never free the memory */
	bool abandoned;
	/** @region: which, with NVDLA_BACKING_REGION */
	struct nvdla_region *region;
};

static inline struct nvdla_bo *to_nvdla_bo(struct drm_gem_object *obj)
{
	return container_of(obj, struct nvdla_bo, base);
}

void nvdla_bo_abandon(struct nvdla_bo *bo);
bool nvdla_gem_coherent(struct nvdla_device *ndev);
void nvdla_bo_sync_for_device(struct nvdla_bo *bo);
void nvdla_bo_sync_for_cpu(struct nvdla_bo *bo);
struct nvdla_bo *nvdla_bo_create(struct nvdla_device *ndev, u64 size,
				 u32 memory, u32 flags);

#endif /* NVDLA_GEM_H */
