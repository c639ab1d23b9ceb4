// SPDX-License-Identifier: GPL-2.0
/*
 * Buffers shared with other devices.
 *
 * Export: pages of the system only; a region may have none that another device
 * could map. Who attaches pins the memory: a buffer that is attached when our
 * device is unplugged keeps it until the last one detaches. (The DMA API lets
 * only importers that can move be told to let go.)
 *
 * Import: the exporter's memory has to be one segment for the device, because
 * it has no tables of pages. Jobs wait for the fences of the exporter and leave
 * theirs with it, as for all buffers. How the CPU sees the memory is the
 * exporter's business: mmap() is passed on, and instead of BO_SYNC there is
 * DMA_BUF_IOCTL_SYNC.
 *
 * Both ioctls hold drm_dev_enter(), so an import is complete or absent when
 * nvdla_gem_unplug() looks.
 */
#include <linux/dma-buf.h>
#include <linux/module.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include <drm/drm_drv.h>
#include <drm/drm_prime.h>
#include <drm/drm_print.h>

#include "nvdla_device.h"
#include "nvdla_gem.h"

/* MODULE_IMPORT_NS() makes this; its argument is now a name, now a string. */
MODULE_INFO(import_ns, "DMA_BUF");

static int nvdla_prime_access(struct dma_buf *dma_buf, bool begin)
{
	struct nvdla_bo *bo = to_nvdla_bo(dma_buf->priv);
	int cookie, ret;

	if (!drm_dev_enter(bo->base.dev, &cookie))
		return -ENODEV;
	ret = nvdla_bo_sync_for_user(bo, 0, bo->base.size, !begin);
	drm_dev_exit(cookie);
	return ret;
}

static int nvdla_prime_begin_cpu_access(struct dma_buf *dma_buf,
					enum dma_data_direction dir)
{
	return nvdla_prime_access(dma_buf, true);
}

static int nvdla_prime_end_cpu_access(struct dma_buf *dma_buf,
				      enum dma_data_direction dir)
{
	return nvdla_prime_access(dma_buf, false);
}

/* Without drm_gem_dmabuf_mmap(), which asks older drivers for a callback. */
static int nvdla_prime_mmap(struct dma_buf *dma_buf, struct vm_area_struct *vma)
{
	return drm_gem_prime_mmap(dma_buf->priv, vma);
}

/* The helpers', and what a device that does not see the caches needs. */
static const struct dma_buf_ops nvdla_prime_ops = {
#ifdef NVDLA_HAVE_CACHE_SGT_MAPPING
	.cache_sgt_mapping = true,
#endif
	.attach = drm_gem_map_attach,
	.detach = drm_gem_map_detach,
	.map_dma_buf = drm_gem_map_dma_buf,
	.unmap_dma_buf = drm_gem_unmap_dma_buf,
	.release = drm_gem_dmabuf_release,
	.mmap = nvdla_prime_mmap,
	.vmap = drm_gem_dmabuf_vmap,
	.vunmap = drm_gem_dmabuf_vunmap,
	.begin_cpu_access = nvdla_prime_begin_cpu_access,
	.end_cpu_access = nvdla_prime_end_cpu_access,
};

struct dma_buf *nvdla_prime_export(struct drm_gem_object *obj, int flags)
{
	struct dma_buf_export_info info = {
		.exp_name = KBUILD_MODNAME,
		.owner = obj->dev->driver->fops->owner,
		.ops = &nvdla_prime_ops,
		.size = obj->size,
		.flags = flags,
		.priv = obj,
		.resv = obj->resv,
	};

	if (to_nvdla_bo(obj)->backing != NVDLA_BACKING_PAGES)
		return ERR_PTR(-EOPNOTSUPP);
	return drm_gem_dmabuf_export(obj->dev, &info);
}

/* For an importer, which is attached: the pages stay. */
struct sg_table *nvdla_prime_get_sg_table(struct drm_gem_object *obj)
{
	struct sg_table *from = to_nvdla_bo(obj)->sgt;
	struct scatterlist *sg, *to;
	struct sg_table *sgt;
	unsigned int i;
	int ret;

	sgt = kzalloc(sizeof(*sgt), GFP_KERNEL);
	if (!sgt)
		return ERR_PTR(-ENOMEM);
	ret = sg_alloc_table(sgt, from->orig_nents, GFP_KERNEL);
	if (ret) {
		kfree(sgt);
		return ERR_PTR(ret);
	}
	to = sgt->sgl;
	for_each_sgtable_sg(from, sg, i) {
		sg_set_page(to, sg_page(sg), sg->length, sg->offset);
		to = sg_next(to);
	}
	return sgt;
}

struct drm_gem_object *nvdla_prime_import(struct drm_device *drm,
					  struct dma_buf *dma_buf)
{
	struct drm_gem_object *obj = dma_buf->priv;

	if (dma_buf->ops != &nvdla_prime_ops || obj->dev != drm)
		return drm_gem_prime_import(drm, dma_buf);
	/* One of our own comes back. */
	drm_gem_object_get(obj);
	return obj;
}

struct drm_gem_object *
nvdla_prime_import_sg_table(struct drm_device *drm,
			    struct dma_buf_attachment *attach,
			    struct sg_table *sgt)
{
	size_t size = PAGE_ALIGN(attach->dmabuf->size);
	size_t contiguous = drm_prime_get_contiguous_size(sgt);
	struct nvdla_bo *bo;

	if (attach->dmabuf->size > NVDLA_BO_BYTES_MAX)
		return ERR_PTR(-E2BIG);
	if (contiguous < size) {
		drm_dbg(drm, "import: first segment has %zu of %zu bytes\n",
			contiguous, size);
		return ERR_PTR(-EINVAL);
	}
	bo = nvdla_bo_create_imported(to_nvdla_device(drm), attach->dmabuf,
				      sgt, size);
	return IS_ERR(bo) ? ERR_CAST(bo) : &bo->base;
}

int nvdla_prime_handle_to_fd(struct drm_device *drm, struct drm_file *file,
			     u32 handle, u32 flags, int *fd)
{
	int cookie, ret;

	if (!drm_dev_enter(drm, &cookie))
		return -ENODEV;
	ret = drm_gem_prime_handle_to_fd(drm, file, handle, flags, fd);
	drm_dev_exit(cookie);
	return ret;
}

int nvdla_prime_fd_to_handle(struct drm_device *drm, struct drm_file *file,
			     int fd, u32 *handle)
{
	int cookie, ret;

	if (!drm_dev_enter(drm, &cookie))
		return -ENODEV;
	ret = drm_gem_prime_fd_to_handle(drm, file, fd, handle);
	drm_dev_exit(cookie);
	return ret;
}
