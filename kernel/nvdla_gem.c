// SPDX-License-Identifier: GPL-2.0
/*
 * Buffers.
 *
 * The object is our own: the DMA helper of GEM needs CMA for what is larger
 * than the page allocator gives, which not all kernels have, and the shmem
 * helper does not give one range to the device. Memory comes from a region of
 * the device's own when there is one (SRAM always does), else from the system:
 * scattered pages that an IOMMU makes one range, or contiguous pages, whose
 * size the page allocator limits. Either way it is contiguous for the device,
 * mapped in the kernel and zeroed before anybody, the device included, sees it.
 *
 * Caches: pages are mapped cached, and BO_SYNC is for the device that does not
 * see caches; write-combined buffers and regions need nothing. The kernel maps
 * a buffer as user space does.
 *
 * Pages are mapped into a process when it touches them, never before: a fault
 * holds drm_dev_enter(), so after drm_dev_unplug(), which takes all mappings
 * away, there can be no new ones, and memory can be given back.
 */
#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/highmem.h>
#include <linux/io.h>
#include <linux/iosys-map.h>
#include <linux/mm.h>
#include <linux/property.h>
#include <linux/sched/signal.h>
#include <linux/vmalloc.h>

#include <drm/drm_drv.h>
#include <drm/drm_managed.h>
#include <drm/drm_prime.h>
#include <drm/drm_print.h>
#include <drm/drm_utils.h>

#include "nvdla_compat.h"
#include "nvdla_device.h"
#include "nvdla_drv.h"
#include "nvdla_gem.h"
#include "nvdla_prime.h"
#include "nvdla_region.h"
#include "nvdla_user.h"

/* Mapped at one fault. */
#define NVDLA_FAULT_PAGES	64
/* What the CPU cleans or clears between two looks at the scheduler. */
#define NVDLA_STEP_BYTES	SZ_4M
/* A large request that fails is an answer, not an event. */
#define NVDLA_BO_GFP \
	(GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN)

/**
 * nvdla_gem_coherent() - does the device see the caches of the CPU?
 * @ndev: device
 *
 * Return: whether BO_SYNC has nothing to do.
 */
bool nvdla_gem_coherent(struct nvdla_device *ndev)
{
	return ndev->gem.coherent;
}

#ifndef NVDLA_HAVE_REGIONS
/* Module parameters that name some are not there either. */
static int nvdla_region_init(struct nvdla_device *ndev)
{
	struct device *dev = ndev->drm.dev;

	if (!device_property_present(dev, "memory-region") &&
	    !device_property_present(dev, "sram"))
		return 0;
	return dev_err_probe(dev, -EOPNOTSUPP,
			     "memory of its own needs CONFIG_GENERIC_ALLOCATOR\n");
}
#endif

/**
 * nvdla_gem_init() - ask how the device reaches memory, take what is its own
 * @ndev: device, its DMA mask set
 *
 * Return: 0, or an errno after a message.
 */
int nvdla_gem_init(struct nvdla_device *ndev)
{
	struct device *dev = ndev->drm.dev;
	struct sg_table *probe;
	dma_addr_t dma;
	int ret;

	INIT_LIST_HEAD(&ndev->gem.bos);
	INIT_LIST_HEAD(&ndev->gem.lost);
	ret = drmm_mutex_init(&ndev->drm, &ndev->gem.lock);
	if (ret)
		return ret;
	/* An imported buffer may be one segment of any length. */
	dma_set_max_seg_size(dev, NVDLA_BO_BYTES_MAX);

	probe = dma_alloc_noncontiguous(dev, PAGE_SIZE, DMA_BIDIRECTIONAL,
					GFP_KERNEL, 0);
	if (!probe)
		return -ENOMEM;
	dma = sg_dma_address(probe->sgl);
	/* Whatever firmware says: this is how buffers will be. */
	ndev->gem.coherent = !dma_need_sync(dev, dma);
	ndev->gem.physical = dma == sg_phys(probe->sgl);
	dma_free_noncontiguous(dev, PAGE_SIZE, probe, DMA_BIDIRECTIONAL);

	return nvdla_region_init(ndev);
}

static int nvdla_bo_charge(struct nvdla_bo *bo, struct nvdla_user *user,
			   size_t size)
{
	int ret = nvdla_charge(user, NVDLA_RESOURCE_BUFFER_BYTES, size);

	if (!ret)
		bo->user = nvdla_user_get(user);
	return ret;
}

static void nvdla_bo_uncharge(struct nvdla_bo *bo, size_t size)
{
	if (!bo->user)
		return;
	nvdla_uncharge(bo->user, NVDLA_RESOURCE_BUFFER_BYTES, size);
	nvdla_user_put(bo->user);
}

/* Gives back what is behind a buffer; with the lock of the list. */
static void nvdla_bo_release(struct nvdla_bo *bo)
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

/**
 * nvdla_bo_abandon() - the memory of a buffer is not to be used again
 * @bo: buffer that a device may still write, which was not reset
 *
 * Neither with the buffer nor with the device, but for nvdla_gem_reclaim().
 */
void nvdla_bo_abandon(struct nvdla_bo *bo)
{
	bo->abandoned = true;
}

static void nvdla_bo_destroy(struct nvdla_bo *bo)
{
	if (bo->dma_buf)
		dma_buf_put(bo->dma_buf);
	kfree(bo);
}

static void nvdla_gem_free(struct drm_gem_object *obj)
{
	struct nvdla_device *ndev = to_nvdla_device(obj->dev);
	struct nvdla_bo *bo = to_nvdla_bo(obj);

	drm_gem_object_release(obj);
	nvdla_bo_uncharge(bo, obj->size);
	mutex_lock(&ndev->gem.lock);
	if (bo->abandoned) {
		list_move(&bo->node, &ndev->gem.lost);
	} else {
		list_del(&bo->node);
		nvdla_bo_release(bo);
		nvdla_bo_destroy(bo);
	}
	mutex_unlock(&ndev->gem.lock);
}

/**
 * nvdla_gem_reclaim() - the device was reset after all
 * @ndev: device, which writes to no buffer any more
 */
void nvdla_gem_reclaim(struct nvdla_device *ndev)
{
	struct nvdla_bo *bo, *next;

	mutex_lock(&ndev->gem.lock);
	list_for_each_entry(bo, &ndev->gem.bos, node)
		bo->abandoned = false;
	list_for_each_entry_safe(bo, next, &ndev->gem.lost, node) {
		list_del(&bo->node);
		nvdla_bo_release(bo);
		nvdla_bo_destroy(bo);
	}
	mutex_unlock(&ndev->gem.lock);
}

/* Whose memory it is maps it. */
static int nvdla_gem_mmap_imported(struct drm_gem_object *obj,
				   struct vm_area_struct *vma)
{
	int ret;

	/* What was meant for buffers of ours; the exporter may set its own. */
	vma->vm_private_data = NULL;
	vma->vm_ops = NULL;
	/* Expected of all that GEM maps, but not of all exporters. */
	vm_flags_set(vma, VM_DONTEXPAND);
	ret = dma_buf_mmap(to_nvdla_bo(obj)->dma_buf, vma, 0);
	/* The exporter's file is referenced now instead of the object. */
	if (!ret)
		drm_gem_object_put(obj);
	return ret;
}

static int nvdla_gem_mmap(struct drm_gem_object *obj,
			  struct vm_area_struct *vma)
{
	struct nvdla_bo *bo = to_nvdla_bo(obj);
	unsigned long first = vma->vm_pgoff -
			      drm_vma_node_start(&obj->vma_node);
	unsigned long pages = obj->size >> PAGE_SHIFT;

	if (drm_dev_is_unplugged(obj->dev))
		return -ENODEV;
	if (bo->dma_buf)
		return nvdla_gem_mmap_imported(obj, vma);
	/* A copy on write would be memory that the device does not see. */
	if (is_cow_mapping(vma->vm_flags))
		return -EINVAL;
	/* Through a dma-buf any part of it may be mapped. */
	if (first >= pages || vma_pages(vma) > pages - first)
		return -EINVAL;

	vm_flags_set(vma, VM_IO | VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP);
	vma->vm_page_prot = vm_get_page_prot(vma->vm_flags);
	if (bo->write_combined)
		vma->vm_page_prot = pgprot_writecombine(vma->vm_page_prot);
	return 0;
}

static vm_fault_t nvdla_bo_map_pages(struct nvdla_bo *bo, struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	unsigned long first = vmf->pgoff -
			      drm_vma_node_start(&bo->base.vma_node);
	unsigned long address = vmf->address & PAGE_MASK;
	unsigned long pfn = 0, i;
	struct sg_page_iter iter;

	if (first >= bo->base.size >> PAGE_SHIFT)
		return VM_FAULT_SIGBUS;
	if (bo->sgt)
		__sg_page_iter_start(&iter, bo->sgt->sgl, bo->sgt->orig_nents,
				     first);
	else
		pfn = PHYS_PFN(nvdla_region_phys(bo->region, bo->vaddr)) +
		      first;

	for (i = 0; i < NVDLA_FAULT_PAGES && address < vma->vm_end; i++) {
		if (!bo->sgt)
			;
		else if (__sg_page_iter_next(&iter))
			pfn = page_to_pfn(sg_page_iter_page(&iter));
		else
			break;
		if (vmf_insert_pfn(vma, address, pfn) != VM_FAULT_NOPAGE && !i)
			return VM_FAULT_OOM;
		address += PAGE_SIZE;
		pfn++;
	}
	return VM_FAULT_NOPAGE;
}

static vm_fault_t nvdla_gem_fault(struct vm_fault *vmf)
{
	struct drm_gem_object *obj = vmf->vma->vm_private_data;
	vm_fault_t ret;
	int cookie;

	if (!drm_dev_enter(obj->dev, &cookie))
		return VM_FAULT_SIGBUS;
	ret = nvdla_bo_map_pages(to_nvdla_bo(obj), vmf);
	drm_dev_exit(cookie);
	return ret;
}

/* Another device wants the memory to stay. */
static int nvdla_gem_pin(struct drm_gem_object *obj)
{
	int cookie;

	if (!drm_dev_enter(obj->dev, &cookie))
		return -ENODEV;
	atomic_inc(&to_nvdla_bo(obj)->pins);
	drm_dev_exit(cookie);
	return 0;
}

static void nvdla_gem_unpin(struct drm_gem_object *obj)
{
	atomic_dec(&to_nvdla_bo(obj)->pins);
}

/* Of pages only: regions are not exported. */
static int nvdla_gem_vmap(struct drm_gem_object *obj, struct iosys_map *map)
{
	int ret = nvdla_gem_pin(obj);

	if (!ret)
		iosys_map_set_vaddr(map, to_nvdla_bo(obj)->vaddr);
	return ret;
}

static void nvdla_gem_vunmap(struct drm_gem_object *obj, struct iosys_map *map)
{
	nvdla_gem_unpin(obj);
}

static const struct vm_operations_struct nvdla_gem_vm_ops = {
	.fault = nvdla_gem_fault,
	.open = drm_gem_vm_open,
	.close = drm_gem_vm_close,
};

static const struct drm_gem_object_funcs nvdla_gem_funcs = {
	.free = nvdla_gem_free,
	.export = nvdla_prime_export,
	.pin = nvdla_gem_pin,
	.unpin = nvdla_gem_unpin,
	.get_sg_table = nvdla_prime_get_sg_table,
	.vmap = nvdla_gem_vmap,
	.vunmap = nvdla_gem_vunmap,
	.mmap = nvdla_gem_mmap,
	.vm_ops = &nvdla_gem_vm_ops,
};

static int nvdla_bo_back_by_region(struct nvdla_region *region,
				   struct nvdla_bo *bo, size_t size)
{
	bo->vaddr = nvdla_region_alloc(region, size);
	if (!bo->vaddr)
		return -ENOMEM;
	bo->backing = NVDLA_BACKING_REGION;
	bo->region = region;
	bo->write_combined = region->write_combined;
	/* nvdla_region_init() made sure of that. */
	bo->dma = nvdla_region_phys(region, bo->vaddr);
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

static int nvdla_bo_back(struct nvdla_device *ndev, struct nvdla_bo *bo,
			 size_t size, u32 flags)
{
	if (bo->memory == NVDLA_MEMORY_SRAM)
		return nvdla_bo_back_by_region(&ndev->sram, bo, size);
	if (ndev->carveout.pool)
		return nvdla_bo_back_by_region(&ndev->carveout, bo, size);
	return nvdla_bo_back_by_pages(ndev, bo, size, flags);
}

/* An object around a backing that is there; nothing of it can fail. */
static void nvdla_bo_init(struct nvdla_device *ndev, struct nvdla_bo *bo,
			  size_t size)
{
	bo->base.funcs = &nvdla_gem_funcs;
	drm_gem_private_object_init(&ndev->drm, &bo->base, size);
	mutex_lock(&ndev->gem.lock);
	list_add_tail(&bo->node, &ndev->gem.bos);
	mutex_unlock(&ndev->gem.lock);
}

static int nvdla_bo_check(struct nvdla_device *ndev, u64 size, u32 memory,
			  u32 flags)
{
	if (!size || flags & ~DRM_NVDLA_BO_WRITE_COMBINED)
		return -EINVAL;
	if (memory != NVDLA_MEMORY_DRAM && memory != NVDLA_MEMORY_SRAM)
		return -EINVAL;
	if (memory == NVDLA_MEMORY_SRAM && !ndev->sram.pool)
		return -EOPNOTSUPP;
	/* How SRAM is mapped is not the user's choice. */
	if (memory == NVDLA_MEMORY_SRAM && flags)
		return -EINVAL;
	return size > NVDLA_BO_BYTES_MAX ? -E2BIG : 0;
}

static struct nvdla_bo *nvdla_bo_create_for(struct nvdla_device *ndev,
					    struct nvdla_user *user, u64 size,
					    u32 memory, u32 flags)
{
	struct nvdla_bo *bo;
	int cookie, ret;

	ret = nvdla_bo_check(ndev, size, memory, flags);
	if (ret)
		return ERR_PTR(ret);
	size = PAGE_ALIGN(size);
	bo = kzalloc(sizeof(*bo), GFP_KERNEL_ACCOUNT);
	if (!bo)
		return ERR_PTR(-ENOMEM);
	bo->memory = memory;
	if (user) {
		ret = nvdla_bo_charge(bo, user, size);
		if (ret)
			goto free;
	}
	ret = -ENODEV;
	if (!drm_dev_enter(&ndev->drm, &cookie))
		goto uncharge;
	ret = nvdla_bo_back(ndev, bo, size, flags);
	if (!ret)
		nvdla_bo_init(ndev, bo, size);
	drm_dev_exit(cookie);
	if (ret)
		goto uncharge;
	ret = drm_gem_create_mmap_offset(&bo->base);
	if (ret) {
		drm_gem_object_put(&bo->base);
		return ERR_PTR(ret);
	}
	return bo;

uncharge:
	nvdla_bo_uncharge(bo, size);
free:
	kfree(bo);
	return ERR_PTR(ret);
}

/**
 * nvdla_bo_create() - a zeroed buffer of the kernel
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
	return nvdla_bo_create_for(ndev, NULL, size, memory, flags);
}

/**
 * nvdla_bo_create_imported() - a buffer of another device
 * @ndev: device, in drm_dev_enter()
 * @dma_buf: what to import
 * @sgt: its mapping for the device, of one segment; the buffer's on success
 * @size: bytes, whole pages
 *
 * The attachment is entered by drm_gem_prime_import().
 *
 * Return: the buffer with one reference, or an ERR_PTR.
 */
struct nvdla_bo *nvdla_bo_create_imported(struct nvdla_device *ndev,
					  struct dma_buf *dma_buf,
					  struct sg_table *sgt, size_t size)
{
	struct nvdla_user *user;
	struct nvdla_bo *bo;
	int ret;

	bo = kzalloc(sizeof(*bo), GFP_KERNEL_ACCOUNT);
	if (!bo)
		return ERR_PTR(-ENOMEM);
	/* Nothing tells here whose file it is for. */
	user = nvdla_user_get_current();
	ret = user ? nvdla_bo_charge(bo, user, size) : -ENOMEM;
	if (user)
		nvdla_user_put(user);
	if (ret) {
		kfree(bo);
		return ERR_PTR(ret);
	}
	get_dma_buf(dma_buf);
	bo->memory = NVDLA_MEMORY_DRAM;
	bo->dma_buf = dma_buf;
	nvdla_bo_init(ndev, bo, size);
	ret = drm_gem_create_mmap_offset(&bo->base);
	if (ret) {
		drm_gem_object_put(&bo->base);
		return ERR_PTR(ret);
	}
	bo->backing = NVDLA_BACKING_IMPORT;
	bo->dma = sg_dma_address(sgt->sgl);
	bo->sgt = sgt;
	return bo;
}

/**
 * nvdla_gem_unplug() - give back the memory of all buffers
 * @ndev: device after drm_dev_unplug(), its hardware at rest
 *
 * The objects stay until their last reference. Buffers that the device may
 * still write to keep their memory, as do those that other devices have
 * attached: the latter until they let go.
 */
void nvdla_gem_unplug(struct nvdla_device *ndev)
{
	struct nvdla_bo *bo, *next;

	mutex_lock(&ndev->gem.lock);
	list_for_each_entry_safe(bo, next, &ndev->gem.bos, node) {
		if (bo->abandoned || atomic_read(&bo->pins))
			continue;
		list_del_init(&bo->node);
		nvdla_bo_release(bo);
	}
	mutex_unlock(&ndev->gem.lock);
}

/*
 * Piece by piece, because an address stands for one range of the CPU's memory
 * within such a piece only.
 */
static void nvdla_bo_sync(struct nvdla_bo *bo, u64 offset, u64 size,
			  bool for_device)
{
	struct device *dev = bo->base.dev->dev;
	dma_addr_t dma = bo->dma;
	void *vaddr = bo->vaddr + offset;
	u64 left = size, bytes;
	struct scatterlist *sg;
	unsigned int i;

	if (bo->backing != NVDLA_BACKING_PAGES || bo->write_combined)
		return;
	if (for_device)
		flush_kernel_vmap_range(vaddr, size);
	for_each_sgtable_sg(bo->sgt, sg, i) {
		if (offset >= sg->length) {
			offset -= sg->length;
			dma += sg->length;
			continue;
		}
		bytes = min_t(u64, left, sg->length - offset);
		if (for_device)
			dma_sync_single_for_device(dev, dma + offset, bytes,
						   DMA_BIDIRECTIONAL);
		else
			dma_sync_single_for_cpu(dev, dma + offset, bytes,
						DMA_BIDIRECTIONAL);
		left -= bytes;
		if (!left)
			break;
		dma += sg->length;
		offset = 0;
	}
	if (!for_device)
		invalidate_kernel_vmap_range(vaddr, size);
}

/**
 * nvdla_bo_flush() - the kernel has written into a buffer
 * @bo: buffer
 * @offset: first byte
 * @size: bytes
 *
 * Does not sleep. Needed for what only user space reads, too: it tells the
 * cache to forget the buffer before it reads.
 */
void nvdla_bo_flush(struct nvdla_bo *bo, u64 offset, u64 size)
{
	nvdla_bo_sync(bo, offset, size, true);
}

/**
 * nvdla_bo_fetch() - the kernel is to read what the device has written
 * @bo: buffer
 * @offset: first byte
 * @size: bytes
 *
 * Does not sleep. Loses what the CPU has written there and not flushed.
 */
void nvdla_bo_fetch(struct nvdla_bo *bo, u64 offset, u64 size)
{
	nvdla_bo_sync(bo, offset, size, false);
}

/**
 * nvdla_bo_sync_for_device() - nvdla_bo_flush() of a whole buffer
 * @bo: buffer
 */
void nvdla_bo_sync_for_device(struct nvdla_bo *bo)
{
	nvdla_bo_sync(bo, 0, bo->base.size, true);
}

/**
 * nvdla_bo_sync_for_cpu() - nvdla_bo_fetch() of a whole buffer
 * @bo: buffer
 */
void nvdla_bo_sync_for_cpu(struct nvdla_bo *bo)
{
	nvdla_bo_sync(bo, 0, bo->base.size, false);
}

/**
 * nvdla_bo_read() - the kernel reads a part of a buffer
 * @bo: buffer that has a mapping
 * @offset: first byte
 * @to: where to
 * @size: bytes
 */
void nvdla_bo_read(const struct nvdla_bo *bo, u64 offset, void *to,
		   size_t size)
{
	const void *from = bo->vaddr + offset;

	/* Device memory, as in nvdla_bo_write(). */
	if (bo->backing == NVDLA_BACKING_REGION)
		memcpy_fromio(to, (const void __iomem *)from, size);
	else
		memcpy(to, from, size);
}

/**
 * nvdla_bo_write() - the kernel fills the start of a buffer for the device
 * @bo: buffer
 * @from: what to write
 * @size: bytes
 */
void nvdla_bo_write(struct nvdla_bo *bo, const void *from, size_t size)
{
	/* Device memory, where an SRAM must be: memcpy() may fault there. */
	if (bo->backing == NVDLA_BACKING_REGION)
		memcpy_toio((void __iomem *)bo->vaddr, from, size);
	else
		memcpy(bo->vaddr, from, size);
	nvdla_bo_flush(bo, 0, size);
}

int nvdla_ioctl_bo_create(struct drm_device *drm, void *data,
			  struct drm_file *file)
{
	struct nvdla_file *nfile = file->driver_priv;
	struct drm_nvdla_bo_create *args = data;
	struct nvdla_bo *bo;
	int ret;

	if (args->pad || args->handle)
		return -EINVAL;
	bo = nvdla_bo_create_for(to_nvdla_device(drm), nfile->user, args->size,
				 args->memory, args->flags);
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

/* In steps, as this may be the work of seconds. */
static int nvdla_bo_sync_steps(struct nvdla_bo *bo, u64 offset, u64 size,
			       bool for_device)
{
	u64 bytes;

	while (size) {
		if (fatal_signal_pending(current))
			return -EINTR;
		bytes = min_t(u64, size, NVDLA_STEP_BYTES);
		nvdla_bo_sync(bo, offset, bytes, for_device);
		offset += bytes;
		size -= bytes;
		cond_resched();
	}
	return 0;
}

int nvdla_ioctl_bo_sync(struct drm_device *drm, void *data,
			struct drm_file *file)
{
	struct drm_nvdla_bo_sync *args = data;
	struct drm_gem_object *obj;
	int cookie, ret;

	if (args->flags != DRM_NVDLA_BO_SYNC_TO_DEVICE &&
	    args->flags != DRM_NVDLA_BO_SYNC_FROM_DEVICE)
		return -EINVAL;
	obj = drm_gem_object_lookup(file, args->handle);
	if (!obj)
		return -ENOENT;
	ret = -EINVAL;
	if (!args->size || args->offset > obj->size ||
	    args->size > obj->size - args->offset)
		goto put;
	/* For DMA_BUF_IOCTL_SYNC, as its exporter knows. */
	ret = -EOPNOTSUPP;
	if (to_nvdla_bo(obj)->dma_buf)
		goto put;
	ret = -ENODEV;
	if (!drm_dev_enter(drm, &cookie))
		goto put;
	ret = nvdla_bo_sync_steps(to_nvdla_bo(obj), args->offset, args->size,
				  args->flags == DRM_NVDLA_BO_SYNC_TO_DEVICE);
	drm_dev_exit(cookie);
put:
	drm_gem_object_put(obj);
	return ret;
}

int nvdla_ioctl_bo_wait(struct drm_device *drm, void *data,
			struct drm_file *file)
{
	struct drm_nvdla_bo_wait *args = data;
	enum dma_resv_usage usage = args->flags & DRM_NVDLA_BO_WAIT_READ ?
					    DMA_RESV_USAGE_WRITE :
					    DMA_RESV_USAGE_READ;
	struct drm_gem_object *obj;
	long timeout, ret;

	if (args->flags & ~DRM_NVDLA_BO_WAIT_READ)
		return -EINVAL;
	obj = drm_gem_object_lookup(file, args->handle);
	if (!obj)
		return -ENOENT;
	timeout = drm_timeout_abs_to_jiffies(args->timeout_ns);
	if (timeout)
		ret = dma_resv_wait_timeout(obj->resv, usage, true, timeout);
	else
		ret = dma_resv_test_signaled(obj->resv, usage);
	drm_gem_object_put(obj);
	if (!ret)
		return -ETIMEDOUT;
	return ret < 0 ? ret : 0;
}
