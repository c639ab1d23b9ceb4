// SPDX-License-Identifier: GPL-2.0
/*
 * Buffers between the CPU and the device: caches, and waiting for fences.
 */
#include <linux/dma-mapping.h>
#include <linux/dma-resv.h>
#include <linux/highmem.h>
#include <linux/io.h>
#include <linux/sched/signal.h>

#include <drm/drm_drv.h>
#include <drm/drm_gem.h>
#include <drm/drm_utils.h>

#include "nvdla_device.h"
#include "nvdla_drv.h"
#include "nvdla_gem.h"

/* The CPU cleans so much between two looks at the scheduler. */
#define NVDLA_STEP_BYTES	SZ_4M

/* One piece of the CPU's memory. */
static void nvdla_bo_sync_piece(struct nvdla_bo *bo, u64 offset, u64 bytes,
				bool for_device)
{
	struct device *dev = bo->base.dev->dev;

	if (for_device) {
		flush_kernel_vmap_range(bo->vaddr + offset, bytes);
		dma_sync_single_for_device(dev, bo->dma + offset, bytes,
					   DMA_BIDIRECTIONAL);
	} else {
		dma_sync_single_for_cpu(dev, bo->dma + offset, bytes,
					DMA_BIDIRECTIONAL);
		invalidate_kernel_vmap_range(bo->vaddr + offset, bytes);
	}
}

/*
 * Goes through the pieces once, because an address stands for one range of the
 * CPU's memory within such a piece only. What may sleep does so between steps,
 * as this may be the work of seconds.
 */
static int nvdla_bo_sync(struct nvdla_bo *bo, u64 offset, u64 size,
			 bool for_device, bool sleeps)
{
	u64 end = offset + size, start = 0, bytes;
	struct scatterlist *sg;
	unsigned int i;

	if (bo->backing != NVDLA_BACKING_PAGES || bo->write_combined)
		return 0;
	for_each_sgtable_sg(bo->sgt, sg, i) {
		u64 next = start + sg->length;

		for (; offset < min(next, end); offset += bytes) {
			bytes = min3(next - offset, end - offset,
				     (u64)NVDLA_STEP_BYTES);
			if (sleeps && fatal_signal_pending(current))
				return -EINTR;
			nvdla_bo_sync_piece(bo, offset, bytes, for_device);
			if (sleeps)
				cond_resched();
		}
		if (offset >= end)
			break;
		start = next;
	}
	return 0;
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
	nvdla_bo_sync(bo, offset, size, true, false);
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
	nvdla_bo_sync(bo, offset, size, false, false);
}

/**
 * nvdla_bo_sync_for_device() - nvdla_bo_flush() of a whole buffer
 * @bo: buffer
 */
void nvdla_bo_sync_for_device(struct nvdla_bo *bo)
{
	nvdla_bo_sync(bo, 0, bo->base.size, true, false);
}

/**
 * nvdla_bo_sync_for_cpu() - nvdla_bo_fetch() of a whole buffer
 * @bo: buffer
 */
void nvdla_bo_sync_for_cpu(struct nvdla_bo *bo)
{
	nvdla_bo_sync(bo, 0, bo->base.size, false, false);
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

/**
 * nvdla_bo_sync_for_user() - what a user asks the caches for
 * @bo: buffer, its device in drm_dev_enter()
 * @offset: first byte
 * @size: bytes
 * @for_device: nvdla_bo_flush(), else nvdla_bo_fetch()
 *
 * Sleeps, and ends early if the process is to die.
 *
 * Return: 0, or -EINTR.
 */
int nvdla_bo_sync_for_user(struct nvdla_bo *bo, u64 offset, u64 size,
			   bool for_device)
{
	return nvdla_bo_sync(bo, offset, size, for_device, true);
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
	ret = nvdla_bo_sync_for_user(to_nvdla_bo(obj), args->offset, args->size,
				     args->flags ==
					     DRM_NVDLA_BO_SYNC_TO_DEVICE);
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
