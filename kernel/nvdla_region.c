// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that belongs to the device.
 *
 * DRAM: memory that was kept free for buffers, where the page allocator has no
 * large pieces. In a device tree it is the node that "memory-region" points to:
 * one with "no-map" becomes a region here, for this device alone; one with
 * "reusable" serves the DMA API. For bring-up on other machines carveout= names
 * it.
 *
 * SRAM: what is behind the second memory interface of the configurations that
 * have one. In a device tree it is the node of an mmio-sram, to which the
 * property "sram" points, as with other codecs and accelerators: its driver
 * has a pool already, and other users of the memory are possible. For bring-up
 * on machines without device tree cvsram= names it.
 *
 * The DMA API knows nothing of such memory, so its bus addresses have to be its
 * physical addresses. It is mapped in the way that needs no maintenance: cached
 * where the device sees the caches, else write-combined. SRAM has a port of its
 * own, which sees none.
 */
#include <linux/dma-mapping.h>
#include <linux/genalloc.h>
#include <linux/io.h>
#include <linux/ioport.h>
#include <linux/iommu.h>
#include <linux/kmemleak.h>
#include <linux/module.h>
#include <linux/of.h>
#include <linux/of_reserved_mem.h>
#include <linux/property.h>
#include <linux/sched.h>
#include <linux/seq_file.h>

#include <drm/drm_print.h>

#include "nvdla_device.h"
#include "nvdla_gem.h"

/* Whoever names memory could name anybody's: a locked-down kernel refuses. */
static char *carveout;
module_param_hw(carveout, charp, iomem, 0444);
MODULE_PARM_DESC(carveout,
		 "For bring-up: reserved memory for buffers (SIZE@ADDRESS)");

static char *cvsram;
module_param_hw(cvsram, charp, iomem, 0444);
MODULE_PARM_DESC(cvsram,
		 "For bring-up: memory behind the second interface (SIZE@ADDRESS)");

/* Only one device can own what a parameter names. */
static atomic_t carveout_taken;
static atomic_t cvsram_taken;

/* The mapping of what is a region. */
struct nvdla_claim {
	struct drm_device *drm;
	struct gen_pool *pool;
	void *vaddr;
	/* NULL, and not requested, for what a device tree names */
	atomic_t *taken;
	u64 address;
	u64 size;
	/* here, as what is left in quarantine outlives the module */
	char name[sizeof(KBUILD_MODNAME)];
};

/* Gives back what a parameter named. */
static void nvdla_region_return(struct nvdla_claim *claim)
{
	if (!claim->taken)
		return;
	release_mem_region(claim->address, claim->size);
	atomic_set(claim->taken, 0);
}

/* After nvdla_gem_unplug(), which gave back all that nobody can write to. */
static void nvdla_region_unclaim(void *data)
{
	struct nvdla_claim *claim = data;

	/* A hung device may still write: what it has is never free again. */
	if (gen_pool_avail(claim->pool) != gen_pool_size(claim->pool)) {
		drm_info(claim->drm, "reserved memory is left in quarantine\n");
		kmemleak_not_leak(claim);
		return;
	}
	gen_pool_destroy(claim->pool);
	memunmap(claim->vaddr);
	nvdla_region_return(claim);
	kfree(claim);
}

/* Memory that the device reaches and nobody else has. */
static int nvdla_region_check(struct nvdla_device *ndev, const char *name,
			      u64 address, u64 size)
{
	struct drm_device *drm = &ndev->drm;

	if (device_iommu_mapped(drm->dev)) {
		drm_err(drm, "%s: not usable behind an IOMMU\n", name);
		return -EINVAL;
	}
	if (!ndev->gem.physical) {
		drm_err(drm, "%s: not usable on a bus with addresses of its own\n",
			name);
		return -EINVAL;
	}
	if (region_intersects(address, size, IORESOURCE_SYSTEM_RAM,
			      IORES_DESC_NONE) != REGION_DISJOINT) {
		drm_err(drm, "%s: %#llx@%#llx is the kernel's, reserve it with memmap= or no-map\n",
			name, size, address);
		return -EBUSY;
	}
	if (address + size - 1 > dma_get_mask(drm->dev)) {
		drm_err(drm, "%s: %#llx@%#llx is beyond the device's %u address bits\n",
			name, size, address, ndev->hw->address_bits);
		return -ERANGE;
	}
	return 0;
}

/* SIZE@ADDRESS in whole pages */
static int nvdla_region_parse(struct nvdla_device *ndev, const char *name,
			      const char *text, u64 *address, u64 *size)
{
	char *at, *end;

	*size = memparse(text, &at);
	if (*at != '@')
		goto malformed;
	*address = memparse(at + 1, &end);
	if (*end || end == at + 1 || !*size || !PAGE_ALIGNED(*size) ||
	    !PAGE_ALIGNED(*address) || *address + *size < *address)
		goto malformed;
	return 0;

malformed:
	drm_err(&ndev->drm, "%s: \"%s\" is not SIZE@ADDRESS in whole pages\n",
		name, text);
	return -EINVAL;
}

static int nvdla_region_claim(struct nvdla_device *ndev, u64 address, u64 size,
			      bool write_combined, atomic_t *taken,
			      struct nvdla_region *region)
{
	struct nvdla_claim *claim;
	int ret = -ENOMEM;

	claim = kzalloc(sizeof(*claim), GFP_KERNEL);
	if (!claim)
		goto untake;
	claim->drm = &ndev->drm;
	claim->address = address;
	claim->size = size;
	strscpy(claim->name, KBUILD_MODNAME, sizeof(claim->name));
	if (taken && !request_mem_region(address, size, claim->name)) {
		drm_err(claim->drm, "%#llx@%#llx is another driver's\n", size,
			address);
		kfree(claim);
		ret = -EBUSY;
		goto untake;
	}
	claim->taken = taken;
	claim->vaddr = memremap(address, size, write_combined ? MEMREMAP_WC :
								MEMREMAP_WB);
	if (!claim->vaddr) {
		drm_err(claim->drm, "%#llx@%#llx cannot be mapped\n", size,
			address);
		goto free;
	}
	claim->pool = gen_pool_create(PAGE_SHIFT, NUMA_NO_NODE);
	if (!claim->pool)
		goto unmap;
	ret = gen_pool_add_virt(claim->pool, (unsigned long)claim->vaddr,
				address, size, NUMA_NO_NODE);
	if (ret)
		goto destroy;
	ret = devm_add_action_or_reset(ndev->drm.dev, nvdla_region_unclaim,
				       claim);
	if (ret)
		return ret;
	region->pool = claim->pool;
	region->write_combined = write_combined;
	return 0;

destroy:
	gen_pool_destroy(claim->pool);
unmap:
	memunmap(claim->vaddr);
free:
	nvdla_region_return(claim);
	kfree(claim);
	return ret;
untake:
	if (taken)
		atomic_set(taken, 0);
	return ret;
}

/* Makes a region of what a module parameter names, for the first who asks. */
static int nvdla_region_init_parameter(struct nvdla_device *ndev,
				       const char *name, const char *text,
				       bool write_combined, atomic_t *taken,
				       struct nvdla_region *region)
{
	u64 address, size;
	int ret;

	if (!text)
		return 0;
	ret = nvdla_region_parse(ndev, name, text, &address, &size);
	if (!ret)
		ret = nvdla_region_check(ndev, name, address, size);
	if (ret)
		return ret;
	if (atomic_cmpxchg(taken, 0, 1))
		return 0;
	return nvdla_region_claim(ndev, address, size, write_combined, taken,
				  region);
}

static void nvdla_region_release_dma(void *data)
{
	of_reserved_mem_device_release(data);
}

static int nvdla_region_init_dram(struct nvdla_device *ndev)
{
	const char *name = "memory-region";
	struct device *dev = ndev->drm.dev;
	struct reserved_mem *reserved;
	struct device_node *node;
	bool reusable;
	int ret;

	node = of_parse_phandle(dev->of_node, name, 0);
	if (!node)
		return nvdla_region_init_parameter(ndev, "carveout", carveout,
						   !ndev->gem.coherent,
						   &carveout_taken,
						   &ndev->carveout);
	reusable = of_property_read_bool(node, "reusable");
	reserved = of_reserved_mem_lookup(node);
	of_node_put(node);
	if (reusable) {
		ret = of_reserved_mem_device_init(dev);
		if (ret)
			return dev_err_probe(dev, ret, "%s: not usable\n",
					     name);
		return devm_add_action_or_reset(dev, nvdla_region_release_dma,
						dev);
	}
	if (!reserved)
		return dev_err_probe(dev, -EINVAL, "%s: not reserved\n", name);
	ret = nvdla_region_check(ndev, name, reserved->base, reserved->size);
	if (ret)
		return ret;
	return nvdla_region_claim(ndev, reserved->base, reserved->size,
				  !ndev->gem.coherent, NULL, &ndev->carveout);
}

static int nvdla_region_init_sram(struct nvdla_device *ndev)
{
	struct device *dev = ndev->drm.dev;

	if (!(ndev->hw->features & NVDLA_HW_SRAM))
		return 0;
	if (!device_property_present(dev, "sram"))
		return nvdla_region_init_parameter(ndev, "cvsram", cvsram, true,
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

	ret = nvdla_region_init_dram(ndev);
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
	size_t done, step;

	/* A pool of somebody else may have any granularity. */
	vaddr = gen_pool_alloc_algo(region->pool, size,
				    gen_pool_first_fit_align, &align);
	/* Device memory, where an SRAM must be: memset() may fault there. */
	for (done = 0; vaddr && done < size; done += step) {
		step = min_t(size_t, size - done, SZ_4M);
		memset_io((void __iomem *)(vaddr + done), 0, step);
		cond_resched();
	}
	return (void *)vaddr;
}

/**
 * nvdla_region_free() - give a piece back
 * @region: of nvdla_region_alloc()
 * @vaddr: its address
 * @size: as it was asked for
 */
void nvdla_region_free(struct nvdla_region *region, void *vaddr, size_t size)
{
	gen_pool_free(region->pool, (unsigned long)vaddr, size);
}

/**
 * nvdla_region_phys() - where a piece is on the bus
 * @region: of nvdla_region_alloc()
 * @vaddr: an address in it
 *
 * Return: its physical address, which is the device's, too.
 */
phys_addr_t nvdla_region_phys(struct nvdla_region *region, void *vaddr)
{
	return gen_pool_virt_to_phys(region->pool, (unsigned long)vaddr);
}

/**
 * nvdla_region_show() - tell how much is free, if there is such a region
 * @seq: where to
 * @name: what it is called there
 * @region: of the device
 */
void nvdla_region_show(struct seq_file *seq, const char *name,
		       const struct nvdla_region *region)
{
	if (region->pool)
		seq_printf(seq, "%s: %zu of %zu bytes free\n", name,
			   gen_pool_avail(region->pool),
			   gen_pool_size(region->pool));
}
