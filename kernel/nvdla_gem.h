/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Buffers: contiguous for the device, mapped in the kernel, zeroed. The memory
 * that they come from, and other devices that share them.
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
struct dma_buf_attachment;
struct drm_device;
struct drm_file;
struct gen_pool;
struct iosys_map;
struct nvdla_device;
struct nvdla_user;
struct seq_file;
struct sg_table;
struct vm_area_struct;

#define NVDLA_BO_BYTES_MAX	SZ_1G

/** struct nvdla_region - memory out of which buffers are made */
struct nvdla_region {
	/** @pool: what of it is free; addresses are of the kernel's mapping */
	struct gen_pool *pool;
	/** @write_combined: mapped so; elsewhere it is mapped cached */
	bool write_combined;
};

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

/* nvdla_prime.c: buffers shared with other devices */
struct dma_buf *nvdla_prime_export(struct drm_gem_object *obj, int flags);
struct sg_table *nvdla_prime_get_sg_table(struct drm_gem_object *obj);
struct drm_gem_object *nvdla_prime_import(struct drm_device *drm,
					  struct dma_buf *dma_buf);
struct drm_gem_object *
nvdla_prime_import_sg_table(struct drm_device *drm,
			    struct dma_buf_attachment *attach,
			    struct sg_table *sgt);
int nvdla_prime_handle_to_fd(struct drm_device *drm, struct drm_file *file,
			     u32 handle, u32 flags, int *fd);
int nvdla_prime_fd_to_handle(struct drm_device *drm, struct drm_file *file,
			     int fd, u32 *handle);

/*
 * nvdla_region.c: memory that belongs to the device, which is reserved memory
 * of the system or SRAM on the chip
 */
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

/* The rest is for the files of buffers alone. */

/* nvdla_bo_memory.c */
struct nvdla_region *nvdla_bo_region(struct nvdla_device *ndev, u32 memory);
int nvdla_bo_back(struct nvdla_device *ndev, struct nvdla_bo *bo, size_t size,
		  u32 flags);
void nvdla_bo_release(struct nvdla_bo *bo);

/* nvdla_bo_mmap.c: members of struct drm_gem_object_funcs */
extern const struct vm_operations_struct nvdla_bo_vm_ops;
int nvdla_bo_mmap(struct drm_gem_object *obj, struct vm_area_struct *vma);
int nvdla_bo_pin(struct drm_gem_object *obj);
void nvdla_bo_unpin(struct drm_gem_object *obj);
int nvdla_bo_vmap(struct drm_gem_object *obj, struct iosys_map *map);
void nvdla_bo_vunmap(struct drm_gem_object *obj, struct iosys_map *map);

#endif /* NVDLA_GEM_H */
