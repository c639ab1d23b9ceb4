// SPDX-License-Identifier: GPL-2.0
/*
 * Buffers in processes, and in the kernel for who imported them.
 *
 * Pages are mapped into a process when it touches them, never before: a fault
 * holds drm_dev_enter(), so after drm_dev_unplug(), which takes all mappings
 * away, there can be no new ones, and memory can be given back.
 */
#include <linux/dma-buf.h>
#include <linux/io.h>
#include <linux/iosys-map.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/vmalloc.h>

#include <drm/drm_drv.h>
#include <drm/drm_gem.h>

#include "nvdla_compat.h"
#include "nvdla_gem.h"

/* Mapped at one fault. */
#define NVDLA_FAULT_PAGES	64ul

/* Whose memory it is maps it. */
static int nvdla_bo_mmap_imported(struct drm_gem_object *obj,
				  struct vm_area_struct *vma)
{
	int ret;

	/* The exporter sets its own; these were meant for buffers of ours. */
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

int nvdla_bo_mmap(struct drm_gem_object *obj, struct vm_area_struct *vma)
{
	struct nvdla_bo *bo = to_nvdla_bo(obj);
	unsigned long first = vma->vm_pgoff -
			      drm_vma_node_start(&obj->vma_node);
	unsigned long pages = obj->size >> PAGE_SHIFT;

	if (drm_dev_is_unplugged(obj->dev))
		return -ENODEV;
	if (bo->dma_buf)
		return nvdla_bo_mmap_imported(obj, vma);
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

/*
 * Returns the frame of a page. The kernel's mapping knows it, however many
 * pieces the buffer has: through a list of these one would have to walk.
 */
static unsigned long nvdla_bo_pfn(const struct nvdla_bo *bo,
				  unsigned long page)
{
	void *vaddr = bo->vaddr + (page << PAGE_SHIFT);

	if (bo->backing == NVDLA_BACKING_REGION)
		return PHYS_PFN(nvdla_region_phys(bo->region, vaddr));
	return is_vmalloc_addr(vaddr) ? vmalloc_to_pfn(vaddr) :
					PHYS_PFN(virt_to_phys(vaddr));
}

static vm_fault_t nvdla_bo_map_pages(const struct nvdla_bo *bo,
				     struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	unsigned long first = vmf->pgoff -
			      drm_vma_node_start(&bo->base.vma_node);
	unsigned long pages = bo->base.size >> PAGE_SHIFT;
	unsigned long address = vmf->address & PAGE_MASK;
	unsigned long i, count;
	vm_fault_t ret;

	if (first >= pages)
		return VM_FAULT_SIGBUS;
	count = min3(NVDLA_FAULT_PAGES, pages - first,
		     (vma->vm_end - address) >> PAGE_SHIFT);
	for (i = 0; i < count; i++) {
		ret = vmf_insert_pfn(vma, address, nvdla_bo_pfn(bo, first + i));
		if (ret != VM_FAULT_NOPAGE && !i)
			return VM_FAULT_OOM;
		address += PAGE_SIZE;
	}
	return VM_FAULT_NOPAGE;
}

static vm_fault_t nvdla_bo_fault(struct vm_fault *vmf)
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
int nvdla_bo_pin(struct drm_gem_object *obj)
{
	int cookie;

	if (!drm_dev_enter(obj->dev, &cookie))
		return -ENODEV;
	atomic_inc(&to_nvdla_bo(obj)->pins);
	drm_dev_exit(cookie);
	return 0;
}

void nvdla_bo_unpin(struct drm_gem_object *obj)
{
	atomic_dec(&to_nvdla_bo(obj)->pins);
}

/* Maps pages only: regions are not exported. */
int nvdla_bo_vmap(struct drm_gem_object *obj, struct iosys_map *map)
{
	int ret = nvdla_bo_pin(obj);

	if (!ret)
		iosys_map_set_vaddr(map, to_nvdla_bo(obj)->vaddr);
	return ret;
}

void nvdla_bo_vunmap(struct drm_gem_object *obj, struct iosys_map *map)
{
	nvdla_bo_unpin(obj);
}

const struct vm_operations_struct nvdla_bo_vm_ops = {
	.fault = nvdla_bo_fault,
	.open = drm_gem_vm_open,
	.close = drm_gem_vm_close,
};
