/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The reservations of the buffers of a job.
 */
#ifndef NVDLA_RESV_H
#define NVDLA_RESV_H

#include <linux/types.h>
#include <linux/ww_mutex.h>

struct dma_fence;
struct drm_gem_object;
struct drm_sched_job;

/**
 * struct nvdla_resv_set - reservations, each once
 *
 * Zeroed, it is empty.
 */
struct nvdla_resv_set {
	/** @objects: one buffer of each reservation; the caller's references */
	struct drm_gem_object **objects;
	/** @written: the job writes to a buffer of it */
	bool *written;
	/** @count: of both */
	u32 count;
	/** @acquire: while they are locked */
	struct ww_acquire_ctx acquire;
};

int nvdla_resv_alloc(struct nvdla_resv_set *set, u32 max);
void nvdla_resv_free(struct nvdla_resv_set *set);
void nvdla_resv_add(struct nvdla_resv_set *set, struct drm_gem_object *obj,
		    bool write);
int nvdla_resv_lock(struct nvdla_resv_set *set);
void nvdla_resv_unlock(struct nvdla_resv_set *set);
int nvdla_resv_depend(struct nvdla_resv_set *set, struct drm_sched_job *job);
void nvdla_resv_publish(struct nvdla_resv_set *set, struct dma_fence *fence);

#endif /* NVDLA_RESV_H */
