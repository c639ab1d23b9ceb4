// SPDX-License-Identifier: GPL-2.0
/*
 * Buffers.
 *
 * Debian's amd64 kernels have neither CMA nor the GEM DMA helper, so the
 * object is our own. Memory comes from a region reserved for the device when
 * there is one, else from contiguous pages, whose size the page allocator
 * limits. Either way it is contiguous for the device, mapped in the kernel
 * and zeroed before anybody sees it.
 */
#include <linux/dma-direct.h>
#include <linux/dma-map-ops.h>
#include <linux/dma-mapping.h>
#include <linux/genalloc.h>
#include <linux/io.h>
#include <linux/iommu.h>
#include <linux/module.h>

#include <drm/drm_managed.h>
#include <drm/drm_print.h>

#include "nvdla_device.h"
#include "nvdla_drv.h"
#include "nvdla_gem.h"

static char *carveout;
module_param(carveout, charp, 0444);
MODULE_PARM_DESC(carveout,
		 "Reserved memory for buffers, SIZE@ADDRESS (kept free by memmap=SIZE$ADDRESS)");

/* Only one device can own what the parameter names. */
static atomic_t carveout_taken;

struct nvdla_carveout {
	struct gen_pool *pool;
	void *vaddr;
};

static void nvdla_gem_fini_pool(struct drm_device *drm, void *data)
{
	struct nvdla_carveout *region = data;

	gen_pool_destroy(region->pool);
	memunmap(region->vaddr);
	atomic_set(&carveout_taken, 0);
}

/**
 * nvdla_gem_init_pool() - take the memory that carveout= names
 * @ndev: device
 *
 * Return: 0 also without the parameter, or an errno.
 */
int nvdla_gem_init_pool(struct nvdla_device *ndev)
{
	struct drm_device *drm = &ndev->drm;
	struct nvdla_carveout *region;
	u64 address, size;
	char *end;
	int ret;

	if (!carveout)
		return 0;
	size = memparse(carveout, &end);
	if (*end != '@')
		goto malformed;
	address = memparse(end + 1, &end);
	if (*end || !size || !PAGE_ALIGNED(size) || !PAGE_ALIGNED(address) ||
	    address + size < address)
		goto malformed;
	if (device_iommu_mapped(drm->dev)) {
		drm_err(drm, "carveout: not usable behind an IOMMU\n");
		return -EINVAL;
	}
	if (region_intersects(address, size, IORESOURCE_SYSTEM_RAM,
			      IORES_DESC_NONE) != REGION_DISJOINT) {
		drm_err(drm, "carveout: %s is memory of the kernel, reserve it with memmap=\n",
			carveout);
		return -EBUSY;
	}
	if (phys_to_dma(drm->dev, address + size - 1) >
	    dma_get_mask(drm->dev)) {
		drm_err(drm, "carveout: %s is beyond the device's %u address bits\n",
			carveout, ndev->hw->address_bits);
		return -ERANGE;
	}
	if (atomic_cmpxchg(&carveout_taken, 0, 1))
		return 0;

	region = drmm_kzalloc(drm, sizeof(*region), GFP_KERNEL);
	if (!region) {
		ret = -ENOMEM;
		goto untake;
	}
	region->vaddr = memremap(address, size, MEMREMAP_WB);
	if (!region->vaddr) {
		ret = -ENOMEM;
		goto untake;
	}
	region->pool = gen_pool_create(PAGE_SHIFT, NUMA_NO_NODE);
	if (!region->pool) {
		ret = -ENOMEM;
		goto unmap;
	}
	ret = gen_pool_add_virt(region->pool, (unsigned long)region->vaddr,
				address, size, NUMA_NO_NODE);
	if (ret)
		goto destroy;
	ret = drmm_add_action_or_reset(drm, nvdla_gem_fini_pool, region);
	if (ret)
		return ret;
	ndev->pool = region->pool;
	return 0;

destroy:
	gen_pool_destroy(region->pool);
unmap:
	memunmap(region->vaddr);
untake:
	atomic_set(&carveout_taken, 0);
	return ret;
malformed:
	drm_err(drm, "carveout: \"%s\" is not SIZE@ADDRESS in whole pages\n",
		carveout);
	return -EINVAL;
}

bool nvdla_gem_coherent(struct nvdla_device *ndev)
{
	return dev_is_dma_coherent(ndev->drm.dev);
}

static void nvdla_gem_free(struct drm_gem_object *obj)
{
	struct nvdla_device *ndev = to_nvdla_device(obj->dev);
	struct nvdla_bo *bo = to_nvdla_bo(obj);

	drm_gem_object_release(obj);
	switch (bo->backing) {
	case NVDLA_BACKING_PAGES:
		dma_free_pages(obj->dev->dev, obj->size,
			       virt_to_page(bo->vaddr), bo->dma,
			       DMA_BIDIRECTIONAL);
		break;
	case NVDLA_BACKING_WC:
		dma_free_wc(obj->dev->dev, obj->size, bo->vaddr, bo->dma);
		break;
	case NVDLA_BACKING_POOL:
		gen_pool_free(ndev->pool, (unsigned long)bo->vaddr, obj->size);
		break;
	}
	kfree(bo);
}

static int nvdla_gem_mmap(struct drm_gem_object *obj,
			  struct vm_area_struct *vma)
{
	struct nvdla_device *ndev = to_nvdla_device(obj->dev);
	struct nvdla_bo *bo = to_nvdla_bo(obj);
	unsigned long pfn;

	/* The fake offset named the buffer; from here on it starts at 0. */
	vma->vm_pgoff = 0;

	if (bo->backing == NVDLA_BACKING_WC)
		return dma_mmap_wc(obj->dev->dev, vma, bo->vaddr, bo->dma,
				   obj->size);

	if (bo->backing == NVDLA_BACKING_POOL)
		pfn = PHYS_PFN(gen_pool_virt_to_phys(ndev->pool,
						     (unsigned long)bo->vaddr));
	else
		pfn = page_to_pfn(virt_to_page(bo->vaddr));
	vma->vm_page_prot = vm_get_page_prot(vma->vm_flags);
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

static int nvdla_bo_back(struct nvdla_device *ndev, struct nvdla_bo *bo,
			 size_t size, u32 flags)
{
	/* A large request that fails is an answer, not an event. */
	const gfp_t gfp = GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN;
	struct device *dev = ndev->drm.dev;
	struct page *page;

	if (flags & DRM_NVDLA_BO_WRITE_COMBINED) {
		bo->backing = NVDLA_BACKING_WC;
		bo->vaddr = dma_alloc_wc(dev, size, &bo->dma, gfp);
		return bo->vaddr ? 0 : -ENOMEM;
	}
	if (ndev->pool) {
		phys_addr_t phys;

		bo->vaddr = (void *)gen_pool_alloc(ndev->pool, size);
		if (bo->vaddr) {
			phys = gen_pool_virt_to_phys(ndev->pool,
						     (unsigned long)bo->vaddr);
			bo->backing = NVDLA_BACKING_POOL;
			bo->dma = phys_to_dma(dev, phys);
			memset(bo->vaddr, 0, size);
			return 0;
		}
		return -ENOMEM;
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
	if (memory == NVDLA_MEMORY_SRAM)
		return ERR_PTR(-EOPNOTSUPP);
	if (memory != NVDLA_MEMORY_DRAM)
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
