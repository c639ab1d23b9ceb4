/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The driver seen from a file descriptor: what an open file owns and the
 * ioctls, one file of the driver each.
 */
#ifndef NVDLA_DRV_H
#define NVDLA_DRV_H

#include <linux/mutex.h>
#include <linux/xarray.h>

#include <drm/drm_file.h>

#include "../uapi/drm/nvdla_accel.h"

struct nvdla_client;

extern const struct drm_driver nvdla_drm_driver;

/**
 * struct nvdla_file - an open file
 */
struct nvdla_file {
	/** @client: whom it is charged to, its contexts and statistics */
	struct nvdla_client *client;
	/** @contexts: by id */
	struct xarray contexts;
	/** @programs: by id */
	struct xarray programs;
};

int nvdla_ioctl_query(struct drm_device *drm, void *data,
		      struct drm_file *file);
int nvdla_ioctl_context_create(struct drm_device *drm, void *data,
			       struct drm_file *file);
int nvdla_ioctl_context_destroy(struct drm_device *drm, void *data,
				struct drm_file *file);
int nvdla_ioctl_context_query(struct drm_device *drm, void *data,
			      struct drm_file *file);
int nvdla_ioctl_bo_create(struct drm_device *drm, void *data,
			  struct drm_file *file);
int nvdla_ioctl_bo_mmap_offset(struct drm_device *drm, void *data,
			       struct drm_file *file);
int nvdla_ioctl_bo_sync(struct drm_device *drm, void *data,
			struct drm_file *file);
int nvdla_ioctl_bo_wait(struct drm_device *drm, void *data,
			struct drm_file *file);
int nvdla_ioctl_program_create(struct drm_device *drm, void *data,
			       struct drm_file *file);
int nvdla_ioctl_program_destroy(struct drm_device *drm, void *data,
				struct drm_file *file);
int nvdla_ioctl_submit(struct drm_device *drm, void *data,
		       struct drm_file *file);

#endif /* NVDLA_DRV_H */
