/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The differences between the supported kernels. Kbuild looks into the kernel's
 * headers and defines NVDLA_HAVE_*: stable kernels change interfaces inside a
 * series, so version numbers would lie.
 */
#ifndef NVDLA_COMPAT_H
#define NVDLA_COMPAT_H

#include <linux/dma-fence-array.h>
#include <linux/mm.h>

#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/gpu_scheduler.h>

#if IS_ENABLED(CONFIG_DRM_ACCEL)
#include <drm/drm_accel.h>
#define NVDLA_NODE		DRIVER_COMPUTE_ACCEL
#define NVDLA_OPEN		accel_open
#else
#define NVDLA_NODE		DRIVER_RENDER
#define NVDLA_OPEN		drm_open
#endif

#ifndef NVDLA_HAVE_VM_FLAGS_SET
static inline void vm_flags_set(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags |= flags;
}
#endif

/* The one that returns nothing. */
#ifdef NVDLA_HAVE_PLATFORM_REMOVE_NEW
#define nvdla_platform_remove_op	remove_new
#else
#define nvdla_platform_remove_op	remove
#endif

/* A fence that signals when all of @fences have, which it takes over. */
static inline struct dma_fence_array *
nvdla_dma_fence_array_create(int count, struct dma_fence **fences, u64 context,
			     unsigned int seqno)
{
#ifdef NVDLA_HAVE_FENCE_ARRAY_ANY
	return dma_fence_array_create(count, fences, context, seqno, false);
#else
	return dma_fence_array_create(count, fences, context, seqno);
#endif
}

/* @wq runs the scheduler's work, except where it has a thread for that. */
static inline int nvdla_drm_sched_init(struct drm_gpu_scheduler *sched,
				       const struct drm_sched_backend_ops *ops,
				       u32 credits, struct workqueue_struct *wq,
				       struct device *dev)
{
#ifdef NVDLA_HAVE_SCHED_INIT_ARGS
	const struct drm_sched_init_args args = {
		.ops = ops,
#ifdef NVDLA_HAVE_SCHED_SUBMIT_WQ
		.submit_wq = wq,
#endif
#ifdef NVDLA_HAVE_SCHED_NUM_RQS
		.num_rqs = DRM_SCHED_PRIORITY_COUNT,
#endif
		.credit_limit = credits,
		.timeout = MAX_SCHEDULE_TIMEOUT,
		.name = "nvdla",
		.dev = dev,
	};

	return drm_sched_init(sched, &args);
#elif defined(NVDLA_HAVE_SCHED_CREDITS)
	return drm_sched_init(sched, ops, wq, DRM_SCHED_PRIORITY_COUNT, credits,
			      0, MAX_SCHEDULE_TIMEOUT, NULL, NULL, "nvdla",
			      dev);
#else
	return drm_sched_init(sched, ops, credits, 0, MAX_SCHEDULE_TIMEOUT,
			      NULL, NULL, "nvdla", dev);
#endif
}

static inline int nvdla_drm_sched_job_init(struct drm_sched_job *job,
					   struct drm_sched_entity *entity,
					   struct drm_file *file)
{
#ifdef NVDLA_HAVE_SCHED_CLIENT_ID
	return drm_sched_job_init(job, entity, 1, file, file->client_id);
#elif defined(NVDLA_HAVE_SCHED_CREDITS)
	return drm_sched_job_init(job, entity, 1, file);
#else
	return drm_sched_job_init(job, entity, file);
#endif
}

#endif /* NVDLA_COMPAT_H */
