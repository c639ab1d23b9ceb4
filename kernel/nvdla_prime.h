/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Buffers shared with other devices.
 */
#ifndef NVDLA_PRIME_H
#define NVDLA_PRIME_H

struct dma_buf;
struct dma_buf_attachment;
struct drm_device;
struct drm_file;
struct drm_gem_object;
struct sg_table;

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

#endif /* NVDLA_PRIME_H */
