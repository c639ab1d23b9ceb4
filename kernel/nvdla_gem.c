// SPDX-License-Identifier: GPL-2.0
/*
 * Buffers.
 *
 * Debian's amd64 kernels have neither CMA nor the GEM DMA helper, so the
 * object is our own. Memory comes from a region of the device's own when there
 * is one (SRAM always does), else from contiguous pages, whose size the page
 * allocator limits. Either way it is contiguous for the device, mapped in the
 * kernel and zeroed before anybody sees it.
 */
#include <linux/dma-direct.h>
#include <linux/dma-map-ops.h>
#include <linux/dma-mapping.h>
#include <linux/mm.h>

#include "nvdla_device.h"
#include "nvdla_drv.h"
#include "nvdla_gem.h"
#include "nvdla_region.h"

bool nvdla_gem_coherent(struct nvdla_device *ndev)
{
	return dev_is_dma_coherent(ndev->drm.dev);
}

/**
 * nvdla_bo_abandon() - the memory of a buffer is never to be used again
 * @bo: buffer that a device may still write, which was not reset
 */
void nvdla_bo_abandon(struct nvdla_bo *bo)
{
	bo->abandoned = true;
}

static void nvdla_gem_free(struct drm_gem_object *obj)
{
	struct nvdla_bo *bo = to_nvdla_bo(obj);

	drm_gem_object_release(obj);
	if (bo->abandoned) {
		kfree(bo);
		return;
	}
	switch (bo->backing) {
	case NVDLA_BACKING_PAGES:
		dma_free_pages(obj->dev->dev, obj->size,
			       virt_to_page(bo->vaddr), bo->dma,
			       DMA_BIDIRECTIONAL);
		break;
	case NVDLA_BACKING_WC:
		dma_free_wc(obj->dev->dev, obj->size, bo->vaddr, bo->dma);
		break;
	case NVDLA_BACKING_REGION:
		nvdla_region_free(bo->region, bo->vaddr, obj->size);
		break;
	}
	kfree(bo);
}

static int nvdla_gem_mmap(struct drm_gem_object *obj,
			  struct vm_area_struct *vma)
{
	struct nvdla_bo *bo = to_nvdla_bo(obj);
	unsigned long pfn;

	/* The fake offset named the buffer; from here on it starts at 0. */
	vma->vm_pgoff = 0;

	if (bo->backing == NVDLA_BACKING_WC)
		return dma_mmap_wc(obj->dev->dev, vma, bo->vaddr, bo->dma,
				   obj->size);

	vma->vm_page_prot = vm_get_page_prot(vma->vm_flags);
	if (bo->backing == NVDLA_BACKING_REGION) {
		pfn = PHYS_PFN(nvdla_region_phys(bo->region, bo->vaddr));
		if (bo->region->write_combined)
			vma->vm_page_prot =
				pgprot_writecombine(vma->vm_page_prot);
	} else {
		pfn = page_to_pfn(virt_to_page(bo->vaddr));
	}
	return remap_pfn_range(vma, vma->vm_start, pfn,
			       vma->vm_end - vma->vm_start, vma->vm_page_prot);
}

static const struct vm_operations_struct nvdla_gem_vm_ops = {
	.open = drm_gem_vm_open,
	.close = drm_gem_vm_close,
};

static const struct drm_gem_object_funcs nvdla_gem_funcs = {
	.free = nvdla_gem_free,
	.mmap = nvdla_gem_mmap,
	.vm_ops = &nvdla_gem_vm_ops,
};

static int nvdla_bo_back_by_region(struct nvdla_region *region,
				   struct nvdla_bo *bo, size_t size)
{
	bo->backing = NVDLA_BACKING_REGION;
	bo->region = region;
	bo->vaddr = nvdla_region_alloc(region, size);
	return bo->vaddr ? 0 : -ENOMEM;
}

static int nvdla_bo_back(struct nvdla_device *ndev, struct nvdla_bo *bo,
			 size_t size, u32 flags)
{
	/* A large request that fails is an answer, not an event. */
	const gfp_t gfp = GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN;
	struct device *dev = ndev->drm.dev;
	struct page *page;

	if (bo->memory == NVDLA_MEMORY_SRAM) {
		if (nvdla_bo_back_by_region(&ndev->sram, bo, size))
			return -ENOMEM;
		/* A bus of its own, with the addresses that the CPU uses. */
		bo->dma = nvdla_region_phys(&ndev->sram, bo->vaddr);
		return 0;
	}
	if (flags & DRM_NVDLA_BO_WRITE_COMBINED) {
		bo->backing = NVDLA_BACKING_WC;
		bo->vaddr = dma_alloc_wc(dev, size, &bo->dma, gfp);
		return bo->vaddr ? 0 : -ENOMEM;
	}
	if (ndev->carveout.pool) {
		if (nvdla_bo_back_by_region(&ndev->carveout, bo, size))
			return -ENOMEM;
		bo->dma = phys_to_dma(dev, nvdla_region_phys(&ndev->carveout,
							     bo->vaddr));
		return 0;
	}
	bo->backing = NVDLA_BACKING_PAGES;
	page = dma_alloc_pages(dev, size, &bo->dma, DMA_BIDIRECTIONAL, gfp);
	if (!page)
		return -ENOMEM;
	bo->vaddr = page_address(page);
	return 0;
}

/**
 * nvdla_bo_create() - a zeroed buffer
 * @ndev: device
 * @size: bytes, rounded up to pages
 * @memory: enum nvdla_memory
 * @flags: DRM_NVDLA_BO_*
 *
 * Return: the buffer with one reference, or an ERR_PTR.
 */
struct nvdla_bo *nvdla_bo_create(struct nvdla_device *ndev, u64 size,
				 u32 memory, u32 flags)
{
	struct nvdla_bo *bo;
	int ret;

	if (!size || flags & ~DRM_NVDLA_BO_WRITE_COMBINED)
		return ERR_PTR(-EINVAL);
	if (memory != NVDLA_MEMORY_DRAM && memory != NVDLA_MEMORY_SRAM)
		return ERR_PTR(-EINVAL);
	if (memory == NVDLA_MEMORY_SRAM && !ndev->sram.pool)
		return ERR_PTR(-EOPNOTSUPP);
	/* How SRAM is mapped is not the user's choice. */
	if (memory == NVDLA_MEMORY_SRAM && flags)
		return ERR_PTR(-EINVAL);
	if (size > NVDLA_BO_BYTES_MAX)
		return ERR_PTR(-E2BIG);
	size = PAGE_ALIGN(size);

	bo = kzalloc(sizeof(*bo), GFP_KERNEL);
	if (!bo)
		return ERR_PTR(-ENOMEM);
	bo->memory = memory;
	ret = nvdla_bo_back(ndev, bo, size, flags);
	if (ret) {
		kfree(bo);
		return ERR_PTR(ret);
	}
	bo->base.funcs = &nvdla_gem_funcs;
	drm_gem_private_object_init(&ndev->drm, &bo->base, size);
	ret = drm_gem_create_mmap_offset(&bo->base);
	if (ret) {
		drm_gem_object_put(&bo->base);
		return ERR_PTR(ret);
	}
	return bo;
}

void nvdla_bo_sync_for_device(struct nvdla_bo *bo)
{
	if (bo->backing == NVDLA_BACKING_PAGES)
		dma_sync_single_for_device(bo->base.dev->dev, bo->dma,
					   bo->base.size, DMA_BIDIRECTIONAL);
}

void nvdla_bo_sync_for_cpu(struct nvdla_bo *bo)
{
	if (bo->backing == NVDLA_BACKING_PAGES)
		dma_sync_single_for_cpu(bo->base.dev->dev, bo->dma,
					bo->base.size, DMA_BIDIRECTIONAL);
}

int nvdla_ioctl_bo_create(struct drm_device *drm, void *data,
			  struct drm_file *file)
{
	struct drm_nvdla_bo_create *args = data;
	struct nvdla_bo *bo;
	int ret;

	if (args->pad || args->handle)
		return -EINVAL;
	bo = nvdla_bo_create(to_nvdla_device(drm), args->size, args->memory,
			     args->flags);
	if (IS_ERR(bo))
		return PTR_ERR(bo);
	ret = drm_gem_handle_create(file, &bo->base, &args->handle);
	/* The handle holds its own reference. */
	drm_gem_object_put(&bo->base);
	return ret;
}

int nvdla_ioctl_bo_mmap_offset(struct drm_device *drm, void *data,
			       struct drm_file *file)
{
	struct drm_nvdla_bo_mmap_offset *args = data;
	struct drm_gem_object *obj;

	if (args->pad || args->offset)
		return -EINVAL;
	obj = drm_gem_object_lookup(file, args->handle);
	if (!obj)
		return -ENOENT;
	args->offset = drm_vma_node_offset_addr(&obj->vma_node);
	drm_gem_object_put(obj);
	return 0;
}

int nvdla_ioctl_bo_sync(struct drm_device *drm, void *data,
			struct drm_file *file)
{
	struct drm_nvdla_bo_sync *args = data;
	struct drm_gem_object *obj;
	struct nvdla_bo *bo;
	int ret = 0;

	if (args->flags != DRM_NVDLA_BO_SYNC_TO_DEVICE &&
	    args->flags != DRM_NVDLA_BO_SYNC_FROM_DEVICE)
		return -EINVAL;
	obj = drm_gem_object_lookup(file, args->handle);
	if (!obj)
		return -ENOENT;
	bo = to_nvdla_bo(obj);
	if (!args->size || args->offset > obj->size ||
	    args->size > obj->size - args->offset)
		ret = -EINVAL;
	else if (bo->backing != NVDLA_BACKING_PAGES)
		; /* coherent by the way it is mapped */
	else if (args->flags == DRM_NVDLA_BO_SYNC_TO_DEVICE)
		dma_sync_single_for_device(drm->dev, bo->dma + args->offset,
					   args->size, DMA_BIDIRECTIONAL);
	else
		dma_sync_single_for_cpu(drm->dev, bo->dma + args->offset,
					args->size, DMA_BIDIRECTIONAL);
	drm_gem_object_put(obj);
	return ret;
}

int nvdla_ioctl_bo_wait(struct drm_device *drm, void *data,
			struct drm_file *file)
{
	struct drm_nvdla_bo_wait *args = data;
	unsigned long timeout;
	s64 left;
	long ret;

	if (args->flags & ~DRM_NVDLA_BO_WAIT_READ)
		return -EINVAL;
	left = ktime_sub(args->timeout_ns, ktime_get());
	timeout = left > 0 ? min_t(u64, nsecs_to_jiffies64(left) + 1,
				   MAX_SCHEDULE_TIMEOUT) : 0;
	ret = drm_gem_dma_resv_wait(file, args->handle,
				    !(args->flags & DRM_NVDLA_BO_WAIT_READ),
				    timeout);
	if (ret == -ETIME)
		return -ETIMEDOUT;
	if (ret == -EINVAL)
		return -ENOENT;
	return ret;
}
