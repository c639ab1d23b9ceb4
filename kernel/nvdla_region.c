// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that belongs to the device.
 *
 * DRAM: carveout= names memory that was kept free for buffers, where the page
 * allocator has no large pieces.
 *
 * SRAM: what is behind the second memory interface of the configurations that
 * have one. In a device tree it is the node of an mmio-sram, to which the
 * property "sram" points, as with other codecs and accelerators: its driver
 * has a pool already, and other users of the memory are possible. A reserved
 * "memory-region" would be for system memory. On machines without device tree
 * cvsram= names it.
 */
#include <linux/dma-direct.h>
#include <linux/dma-mapping.h>
#include <linux/genalloc.h>
#include <linux/io.h>
#include <linux/iommu.h>
#include <linux/module.h>
#include <linux/property.h>

#include <drm/drm_managed.h>
#include <drm/drm_print.h>

#include "nvdla_device.h"
#include "nvdla_region.h"

static char *carveout;
module_param(carveout, charp, 0444);
MODULE_PARM_DESC(carveout,
		 "Reserved memory for buffers, SIZE@ADDRESS (kept free by memmap=SIZE$ADDRESS)");

static char *cvsram;
module_param(cvsram, charp, 0444);
MODULE_PARM_DESC(cvsram,
		 "Memory behind the second memory interface, SIZE@ADDRESS, not of the kernel");

/* Only one device can own what a parameter names. */
static atomic_t carveout_taken;
static atomic_t cvsram_taken;

/* The mapping of what a parameter names. */
struct nvdla_claim {
	struct gen_pool *pool;
	void *vaddr;
	atomic_t *taken;
};

static void nvdla_region_unclaim(struct drm_device *drm, void *data)
{
	struct nvdla_claim *claim = data;

	/* A hung device may still write: what it has is never free again. */
	if (gen_pool_avail(claim->pool) != gen_pool_size(claim->pool)) {
		drm_info(drm, "reserved memory is left in quarantine\n");
		return;
	}
	gen_pool_destroy(claim->pool);
	memunmap(claim->vaddr);
	atomic_set(claim->taken, 0);
}

/* SIZE@ADDRESS in whole pages that the device reaches and nobody else has. */
static int nvdla_region_parse(struct nvdla_device *ndev, const char *name,
			      const char *text, u64 *address, u64 *size)
{
	struct drm_device *drm = &ndev->drm;
	char *end;

	*size = memparse(text, &end);
	if (*end != '@')
		goto malformed;
	*address = memparse(end + 1, &end);
	if (*end || !*size || !PAGE_ALIGNED(*size) || !PAGE_ALIGNED(*address) ||
	    *address + *size < *address)
		goto malformed;
	if (device_iommu_mapped(drm->dev)) {
		drm_err(drm, "%s: not usable behind an IOMMU\n", name);
		return -EINVAL;
	}
	if (region_intersects(*address, *size, IORESOURCE_SYSTEM_RAM,
			      IORES_DESC_NONE) != REGION_DISJOINT) {
		drm_err(drm, "%s: %s is memory of the kernel, reserve it with memmap=\n",
			name, text);
		return -EBUSY;
	}
	if (phys_to_dma(drm->dev, *address + *size - 1) >
	    dma_get_mask(drm->dev)) {
		drm_err(drm, "%s: %s is beyond the device's %u address bits\n",
			name, text, ndev->hw->address_bits);
		return -ERANGE;
	}
	return 0;

malformed:
	drm_err(drm, "%s: \"%s\" is not SIZE@ADDRESS in whole pages\n", name,
		text);
	return -EINVAL;
}

/* What a module parameter names becomes a region, for the first who asks. */
static int nvdla_region_claim(struct nvdla_device *ndev, const char *name,
			      const char *text, atomic_t *taken,
			      struct nvdla_region *region)
{
	struct drm_device *drm = &ndev->drm;
	struct nvdla_claim *claim;
	u64 address, size;
	int ret;

	if (!text)
		return 0;
	ret = nvdla_region_parse(ndev, name, text, &address, &size);
	if (ret)
		return ret;
	claim = drmm_kzalloc(drm, sizeof(*claim), GFP_KERNEL);
	if (!claim)
		return -ENOMEM;
	if (atomic_cmpxchg(taken, 0, 1))
		return 0;
	claim->taken = taken;

	ret = -ENOMEM;
	claim->vaddr = memremap(address, size, MEMREMAP_WB);
	if (!claim->vaddr)
		goto untake;
	claim->pool = gen_pool_create(PAGE_SHIFT, NUMA_NO_NODE);
	if (!claim->pool)
		goto unmap;
	ret = gen_pool_add_virt(claim->pool, (unsigned long)claim->vaddr,
				address, size, NUMA_NO_NODE);
	if (ret)
		goto destroy;
	ret = drmm_add_action_or_reset(drm, nvdla_region_unclaim, claim);
	if (ret)
		return ret;
	region->pool = claim->pool;
	return 0;

destroy:
	gen_pool_destroy(claim->pool);
unmap:
	memunmap(claim->vaddr);
untake:
	atomic_set(taken, 0);
	return ret;
}

static int nvdla_region_init_sram(struct nvdla_device *ndev)
{
	struct device *dev = ndev->drm.dev;

	if (!(ndev->hw->features & NVDLA_HW_SRAM))
		return 0;
	if (!device_property_present(dev, "sram"))
		return nvdla_region_claim(ndev, "cvsram", cvsram,
					  &cvsram_taken, &ndev->sram);
	/* The pool is its driver's, which maps it write-combined. */
	ndev->sram.pool = of_gen_pool_get(dev->of_node, "sram", 0);
	ndev->sram.write_combined = true;
	return ndev->sram.pool ? 0 :
	       dev_err_probe(dev, -EPROBE_DEFER, "its SRAM is not there yet\n");
}

/**
 * nvdla_region_init() - take the memory that is the device's
 * @ndev: device
 *
 * Return: 0 also where there is none, or an errno after a message.
 */
int nvdla_region_init(struct nvdla_device *ndev)
{
	int ret;

	ret = nvdla_region_claim(ndev, "carveout", carveout, &carveout_taken,
				 &ndev->carveout);
	return ret ? ret : nvdla_region_init_sram(ndev);
}

/**
 * nvdla_region_alloc() - a zeroed piece, aligned to pages
 * @region: from where
 * @size: whole pages
 *
 * Return: address in the kernel's mapping, or NULL.
 */
void *nvdla_region_alloc(struct nvdla_region *region, size_t size)
{
	struct genpool_data_align align = { .align = PAGE_SIZE };
	unsigned long vaddr;

	/* A pool of somebody else may have any granularity. */
	vaddr = gen_pool_alloc_algo(region->pool, size,
				    gen_pool_first_fit_align, &align);
	/* Device memory, where an SRAM must be: memset() may fault there. */
	if (vaddr)
		memset_io((void __iomem *)vaddr, 0, size);
	return (void *)vaddr;
}

void nvdla_region_free(struct nvdla_region *region, void *vaddr, size_t size)
{
	gen_pool_free(region->pool, (unsigned long)vaddr, size);
}

phys_addr_t nvdla_region_phys(struct nvdla_region *region, void *vaddr)
{
	return gen_pool_virt_to_phys(region->pool, (unsigned long)vaddr);
}
