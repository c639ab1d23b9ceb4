/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Buffers: contiguous for the device, mapped in the kernel, zeroed.
 */
#ifndef NVDLA_GEM_H
#define NVDLA_GEM_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/sizes.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include <drm/drm_gem.h>

struct dma_buf;
struct nvdla_device;
struct nvdla_region;
struct nvdla_user;
struct sg_table;

#define NVDLA_BO_BYTES_MAX	SZ_1G

/** struct nvdla_gem - what a device knows of all its buffers */
struct nvdla_gem {
	/** @lock: guards the lists and who releases what; nothing sleeps */
	spinlock_t lock;
	/** @bos: buffers with a backing */
	struct list_head bos;
	/** @lost: freed, but a device may still write there */
	struct list_head lost;
	/** @releasing: buffers that were taken and are not released yet */
	unsigned int releasing;
	/** @released: woken when one of them is */
	wait_queue_head_t released;
	/** @coherent: the device sees the caches of the CPU */
	bool coherent;
	/** @physical: bus addresses are physical addresses */
	bool physical;
};

/** enum nvdla_backing - where the memory of a buffer comes from */
enum nvdla_backing {
	NVDLA_BACKING_NONE,	/* it had one, until the device was unplugged */
	NVDLA_BACKING_PAGES,	/* of the system */
	NVDLA_BACKING_REGION,	/* memory of the device's own */
	NVDLA_BACKING_IMPORT,	/* of another device */
};

/** struct nvdla_bo - a buffer */
struct nvdla_bo {
	/** @base: GEM object */
	struct drm_gem_object base;
	/** @vaddr: mapping of the kernel; NULL if imported, and after unplug */
	void *vaddr;
	/** @dma: address of the first byte for the device */
	dma_addr_t dma;
	/** @memory: enum nvdla_memory */
	u32 memory;
	/** @backing: where the memory comes from */
	enum nvdla_backing backing;
	/**
	 * @write_combined: kernel and user space map it so, which needs no
	 * maintenance; otherwise it is mapped cached
	 */
	bool write_combined;
	/** @abandoned: a device may still write it: do not free the memory */
	bool abandoned;
	/** @pins: attachments and mappings in the kernel of who imported it */
	atomic_t pins;
	/**
	 * @sgt: its pages, with NVDLA_BACKING_PAGES; its segment, with
	 * NVDLA_BACKING_IMPORT
	 */
	struct sg_table *sgt;
	/** @dma_buf: what was imported, or NULL; has the reservation object */
	struct dma_buf *dma_buf;
	/** @region: where its memory is from, NULL for pages and imports */
	struct nvdla_region *region;
	/** @user: whom it is charged to, if it is in a region; or NULL */
	struct nvdla_user *user;
	/** @node: in a list of the device; guarded by its lock */
	struct list_head node;
	/** @releasing: taken off its list, not released yet; same lock */
	bool releasing;
};

static inline struct nvdla_bo *to_nvdla_bo(struct drm_gem_object *obj)
{
	return container_of(obj, struct nvdla_bo, base);
}

void nvdla_bo_abandon(struct nvdla_bo *bo);
bool nvdla_gem_coherent(struct nvdla_device *ndev);
int nvdla_gem_init(struct nvdla_device *ndev);
void nvdla_gem_reclaim(struct nvdla_device *ndev);
void nvdla_gem_unplug(struct nvdla_device *ndev);
void nvdla_bo_sync_for_device(struct nvdla_bo *bo);
void nvdla_bo_sync_for_cpu(struct nvdla_bo *bo);
int nvdla_bo_sync_for_user(struct nvdla_bo *bo, u64 offset, u64 size,
			   bool for_device);
void nvdla_bo_flush(struct nvdla_bo *bo, u64 offset, u64 size);
void nvdla_bo_fetch(struct nvdla_bo *bo, u64 offset, u64 size);
void nvdla_bo_read(const struct nvdla_bo *bo, u64 offset, void *to,
		   size_t size);
void nvdla_bo_write(struct nvdla_bo *bo, const void *from, size_t size);
struct nvdla_bo *nvdla_bo_create(struct nvdla_device *ndev, u64 size,
				 u32 memory, u32 flags);
struct nvdla_bo *nvdla_bo_create_imported(struct nvdla_device *ndev,
					  struct dma_buf *dma_buf,
					  struct sg_table *sgt, size_t size);

#endif /* NVDLA_GEM_H */
