/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory that belongs to the device: reserved system memory, on-chip SRAM.
 */
#ifndef NVDLA_REGION_H
#define NVDLA_REGION_H

#include <linux/types.h>

struct gen_pool;
struct nvdla_device;
struct seq_file;

/** struct nvdla_region - memory out of which buffers are made */
struct nvdla_region {
	/** @pool: what of it is free; addresses are of the kernel's mapping */
	struct gen_pool *pool;
	/** @write_combined: mapped so; elsewhere it is mapped cached */
	bool write_combined;
};

#ifdef NVDLA_HAVE_REGIONS
int nvdla_region_init(struct nvdla_device *ndev);
void *nvdla_region_alloc(struct nvdla_region *region, size_t size);
void nvdla_region_free(struct nvdla_region *region, void *vaddr, size_t size);
phys_addr_t nvdla_region_phys(struct nvdla_region *region, void *vaddr);
void nvdla_region_show(struct seq_file *seq, const char *name,
		       const struct nvdla_region *region);
#else
/* Without CONFIG_GENERIC_ALLOCATOR there are none; nvdla_gem_init() says so. */
static inline void *nvdla_region_alloc(struct nvdla_region *region, size_t size)
{
	return NULL;
}

static inline void nvdla_region_free(struct nvdla_region *region, void *vaddr,
				     size_t size)
{
}

static inline phys_addr_t nvdla_region_phys(struct nvdla_region *region,
					    void *vaddr)
{
	return 0;
}

static inline void nvdla_region_show(struct seq_file *seq, const char *name,
				     const struct nvdla_region *region)
{
}
#endif

#endif /* NVDLA_REGION_H */
