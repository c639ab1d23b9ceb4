// SPDX-License-Identifier: GPL-2.0
/*
 * Buffers.
 *
 * The object is our own: the DMA helper of GEM needs CMA for what is larger
 * than the page allocator gives, which not all kernels have, and the shmem
 * helper does not give one range to the device. What is behind a buffer is in
 * nvdla_bo_memory.c, how processes map it in nvdla_bo_mmap.c, what caches need
 * in nvdla_bo_sync.c.
 *
 * What is behind a buffer is released once: by its last reference, when the
 * device goes or, if the device could write it for a while, after a reset. Each
 * buffer is on one list of the device, guarded by a lock that nothing sleeps
 * under. Whoever takes it off releases it without the lock; the others wait.
 */
#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/kmemleak.h>
#include <linux/property.h>
#include <linux/wait.h>

#include <drm/drm_drv.h>

#include "nvdla_device.h"
#include "nvdla_drv.h"
#include "nvdla_gem.h"
#include "nvdla_user.h"

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

	INIT_LIST_HEAD(&ndev->gem.bos);
	INIT_LIST_HEAD(&ndev->gem.lost);
	spin_lock_init(&ndev->gem.lock);
	init_waitqueue_head(&ndev->gem.released);
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

/* Memory of the device's own is scarce; pages are charged to control groups. */
static int nvdla_bo_charge(struct nvdla_bo *bo, struct nvdla_user *user,
			   size_t size)
{
	int ret = nvdla_charge(user, NVDLA_RESOURCE_REGION_BYTES, size);

	if (!ret)
		bo->user = nvdla_user_get(user);
	return ret;
}

static void nvdla_uncharge_region(struct nvdla_user *user, size_t size)
{
	if (!user)
		return;
	nvdla_uncharge(user, NVDLA_RESOURCE_REGION_BYTES, size);
	nvdla_user_put(user);
}

/**
 * nvdla_bo_abandon() - the memory of a buffer is not to be used again
 * @bo: buffer that a device may still write, which was not reset
 *
 * Neither with the buffer nor with the device, but for nvdla_gem_reclaim().
 */
void nvdla_bo_abandon(struct nvdla_bo *bo)
{
	WRITE_ONCE(bo->abandoned, true);
}

/*
 * Takes a buffer off its list, so that nobody else releases it: the caller has
 * to, by nvdla_gem_release(), and whoever needs the result waits.
 */
static void nvdla_gem_take(struct nvdla_device *ndev, struct nvdla_bo *bo,
			   struct list_head *taken)
{
	lockdep_assert_held(&ndev->gem.lock);
	list_move_tail(&bo->node, taken);
	bo->releasing = true;
	ndev->gem.releasing++;
}

/*
 * Releases what is behind a buffer that the caller took. No lock is held: the
 * release of an import takes the exporter's reservation, and who holds that may
 * wait for a fence.
 */
static void nvdla_gem_release(struct nvdla_device *ndev, struct nvdla_bo *bo)
{
	nvdla_bo_release(bo);
	nvdla_uncharge_region(bo->user, bo->base.size);
	bo->user = NULL;

	spin_lock(&ndev->gem.lock);
	list_del_init(&bo->node);
	bo->releasing = false;
	ndev->gem.releasing--;
	spin_unlock(&ndev->gem.lock);
	/* Another task in nvdla_gem_free() may free the buffer from here on. */
	wake_up_all(&ndev->gem.released);
}

/* Is it released? Without a buffer: are all that somebody took? */
static bool nvdla_gem_is_released(struct nvdla_device *ndev,
				  const struct nvdla_bo *bo)
{
	bool released;

	spin_lock(&ndev->gem.lock);
	released = bo ? !bo->releasing : !ndev->gem.releasing;
	spin_unlock(&ndev->gem.lock);
	return released;
}

static void nvdla_bo_destroy(struct nvdla_bo *bo)
{
	if (bo->dma_buf)
		dma_buf_put(bo->dma_buf);
	kfree(bo);
}

/*
 * Puts a buffer among the lost ones, if a device may still write it: for good
 * if there is never a reset. Its user is not to blame for that.
 */
static bool nvdla_gem_lose(struct nvdla_device *ndev, struct nvdla_bo *bo,
			   struct nvdla_user **user)
{
	lockdep_assert_held(&ndev->gem.lock);
	if (!bo->abandoned || bo->releasing)
		return false;
	list_move_tail(&bo->node, &ndev->gem.lost);
	kmemleak_not_leak(bo);
	swap(bo->user, *user);
	return true;
}

static void nvdla_gem_free(struct drm_gem_object *obj)
{
	struct nvdla_device *ndev = to_nvdla_device(obj->dev);
	struct nvdla_bo *bo = to_nvdla_bo(obj);
	struct nvdla_user *user = NULL;
	size_t size = obj->size;
	bool lost, mine = false;
	LIST_HEAD(taken);

	drm_gem_object_release(obj);
	spin_lock(&ndev->gem.lock);
	lost = nvdla_gem_lose(ndev, bo, &user);
	if (!lost && !list_empty(&bo->node) && !bo->releasing) {
		mine = true;
		nvdla_gem_take(ndev, bo, &taken);
	}
	spin_unlock(&ndev->gem.lock);

	if (lost) {
		nvdla_uncharge_region(user, size);
		return;
	}
	if (mine)
		nvdla_gem_release(ndev, bo);
	else
		wait_event(ndev->gem.released, nvdla_gem_is_released(ndev, bo));
	nvdla_bo_destroy(bo);
}

/* The first of a list that the caller alone has. */
static struct nvdla_bo *nvdla_gem_first(struct list_head *list)
{
	return list_first_entry_or_null(list, struct nvdla_bo, node);
}

/**
 * nvdla_gem_reclaim() - the device was reset after all
 * @ndev: device, which writes to no buffer any more
 */
void nvdla_gem_reclaim(struct nvdla_device *ndev)
{
	struct nvdla_bo *bo, *next;
	LIST_HEAD(taken);

	spin_lock(&ndev->gem.lock);
	list_for_each_entry(bo, &ndev->gem.bos, node)
		bo->abandoned = false;
	list_for_each_entry_safe(bo, next, &ndev->gem.lost, node)
		nvdla_gem_take(ndev, bo, &taken);
	spin_unlock(&ndev->gem.lock);

	while ((bo = nvdla_gem_first(&taken))) {
		nvdla_gem_release(ndev, bo);
		nvdla_bo_destroy(bo);
	}
}

static const struct drm_gem_object_funcs nvdla_gem_funcs = {
	.free = nvdla_gem_free,
	.export = nvdla_prime_export,
	.pin = nvdla_bo_pin,
	.unpin = nvdla_bo_unpin,
	.get_sg_table = nvdla_prime_get_sg_table,
	.vmap = nvdla_bo_vmap,
	.vunmap = nvdla_bo_vunmap,
	.mmap = nvdla_bo_mmap,
	.vm_ops = &nvdla_bo_vm_ops,
};

/* An object around a backing that is there; nothing of it can fail. */
static void nvdla_bo_init(struct nvdla_device *ndev, struct nvdla_bo *bo,
			  size_t size)
{
	bo->base.funcs = &nvdla_gem_funcs;
	drm_gem_private_object_init(&ndev->drm, &bo->base, size);
	spin_lock(&ndev->gem.lock);
	list_add_tail(&bo->node, &ndev->gem.bos);
	spin_unlock(&ndev->gem.lock);
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
	/* Users do not choose how SRAM is mapped. */
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
	bo->region = nvdla_bo_region(ndev, memory);
	if (user && bo->region) {
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
	nvdla_uncharge_region(bo->user, size);
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
	struct nvdla_bo *bo;
	int ret;

	bo = kzalloc(sizeof(*bo), GFP_KERNEL_ACCOUNT);
	if (!bo)
		return ERR_PTR(-ENOMEM);
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
 * attached: the latter until they let go. What others release meanwhile is
 * released, too, when this returns.
 */
void nvdla_gem_unplug(struct nvdla_device *ndev)
{
	struct nvdla_bo *bo, *next;
	LIST_HEAD(taken);

	spin_lock(&ndev->gem.lock);
	list_for_each_entry_safe(bo, next, &ndev->gem.bos, node) {
		if (!bo->abandoned && !atomic_read(&bo->pins))
			nvdla_gem_take(ndev, bo, &taken);
	}
	spin_unlock(&ndev->gem.lock);

	while ((bo = nvdla_gem_first(&taken)))
		nvdla_gem_release(ndev, bo);
	wait_event(ndev->gem.released, nvdla_gem_is_released(ndev, NULL));
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
	bo = nvdla_bo_create_for(to_nvdla_device(drm), nfile->client->user,
				 args->size, args->memory, args->flags);
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
