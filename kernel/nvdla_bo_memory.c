// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of buffers: a region of the device's own when there is one (SRAM
 * always is), else memory of the system: scattered pages that an IOMMU makes
 * one range, or contiguous pages, whose size the page allocator limits. Either
 * way it is contiguous for the device, mapped in the kernel and zeroed before
 * anybody, the device included, sees it.
 *
 * Pages are mapped cached, and BO_SYNC is for the device that does not see
 * caches; write-combined buffers and regions need nothing. The kernel maps a
 * buffer as user space does.
 */
#include <linux/dma-mapping.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include <drm/drm_prime.h>

#include "../uapi/drm/nvdla_accel.h"
#include "nvdla_device.h"
#include "nvdla_gem.h"

/* A large request that fails is an answer, not an event. */
#define NVDLA_BO_GFP \
	(GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN)

/**
 * nvdla_bo_region() - where a buffer's memory will be from
 * @ndev: device
 * @memory: enum nvdla_memory
 *
 * Return: memory of the device's own, or NULL for pages of the system.
 */
struct nvdla_region *nvdla_bo_region(struct nvdla_device *ndev, u32 memory)
{
	if (memory == NVDLA_MEMORY_SRAM)
		return &ndev->sram;
	return ndev->carveout.pool ? &ndev->carveout : NULL;
}

static int nvdla_bo_back_by_region(struct nvdla_bo *bo, size_t size)
{
	bo->vaddr = nvdla_region_alloc(bo->region, size);
	if (!bo->vaddr)
		return -ENOMEM;
	bo->backing = NVDLA_BACKING_REGION;
	bo->write_combined = bo->region->write_combined;
	/* nvdla_region_init() made sure of that. */
	bo->dma = nvdla_region_phys(bo->region, bo->vaddr);
	return 0;
}

static void *nvdla_vmap_write_combined(struct sg_table *sgt, size_t size)
{
	unsigned int count = size >> PAGE_SHIFT, i = 0;
	struct sg_page_iter iter;
	struct page **pages;
	void *vaddr;

	pages = kvmalloc_array(count, sizeof(*pages), GFP_KERNEL);
	if (!pages)
		return NULL;
	for_each_sgtable_page(sgt, &iter, 0)
		pages[i++] = sg_page_iter_page(&iter);
	vaddr = vmap(pages, count, VM_MAP, pgprot_writecombine(PAGE_KERNEL));
	kvfree(pages);
	return vaddr;
}

static int nvdla_bo_back_by_pages(struct nvdla_device *ndev,
				  struct nvdla_bo *bo, size_t size, u32 flags)
{
	struct device *dev = ndev->drm.dev;
	struct sg_table *sgt;

	sgt = dma_alloc_noncontiguous(dev, size, DMA_BIDIRECTIONAL,
				      NVDLA_BO_GFP, 0);
	if (!sgt)
		return -ENOMEM;
	bo->write_combined = flags & DRM_NVDLA_BO_WRITE_COMBINED &&
			     !ndev->gem.coherent;
	/* The zeros may be in the cache only: out with them. */
	dma_sync_sgtable_for_device(dev, sgt, DMA_BIDIRECTIONAL);
	if (bo->write_combined) {
		/* ... and nothing stays there that nobody would look for. */
		dma_sync_sgtable_for_cpu(dev, sgt, DMA_BIDIRECTIONAL);
		bo->vaddr = nvdla_vmap_write_combined(sgt, size);
	} else {
		bo->vaddr = dma_vmap_noncontiguous(dev, size, sgt);
	}
	if (!bo->vaddr) {
		dma_free_noncontiguous(dev, size, sgt, DMA_BIDIRECTIONAL);
		return -ENOMEM;
	}
	bo->backing = NVDLA_BACKING_PAGES;
	bo->sgt = sgt;
	bo->dma = sg_dma_address(sgt->sgl);
	return 0;
}

/**
 * nvdla_bo_back() - put zeroed memory behind a buffer
 * @ndev: device, in drm_dev_enter()
 * @bo: buffer whose @region is set
 * @size: bytes, whole pages
 * @flags: DRM_NVDLA_BO_*
 *
 * Return: 0, or an errno and nothing is behind it.
 */
int nvdla_bo_back(struct nvdla_device *ndev, struct nvdla_bo *bo, size_t size,
		  u32 flags)
{
	if (bo->region)
		return nvdla_bo_back_by_region(bo, size);
	return nvdla_bo_back_by_pages(ndev, bo, size, flags);
}

/**
 * nvdla_bo_release() - give back what is behind a buffer
 * @bo: buffer that the caller took, see nvdla_gem.c
 */
void nvdla_bo_release(struct nvdla_bo *bo)
{
	struct device *dev = bo->base.dev->dev;

	switch (bo->backing) {
	case NVDLA_BACKING_NONE:
		break;
	case NVDLA_BACKING_PAGES:
		if (bo->write_combined)
			vunmap(bo->vaddr);
		else if (bo->vaddr)
			dma_vunmap_noncontiguous(dev, bo->vaddr);
		dma_free_noncontiguous(dev, bo->base.size, bo->sgt,
				       DMA_BIDIRECTIONAL);
		bo->sgt = NULL;
		break;
	case NVDLA_BACKING_REGION:
		nvdla_region_free(bo->region, bo->vaddr, bo->base.size);
		break;
	case NVDLA_BACKING_IMPORT:
		drm_prime_gem_destroy(&bo->base, bo->sgt);
		bo->base.import_attach = NULL;
		break;
	}
	bo->vaddr = NULL;
	bo->backing = NVDLA_BACKING_NONE;
}
