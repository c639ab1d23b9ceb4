/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Submissions: a program, its buffers, and the fence that tells its end.
 */
#ifndef NVDLA_JOB_H
#define NVDLA_JOB_H

#include <linux/kref.h>

#include <drm/gpu_scheduler.h>

#include "../firmware/engine/nvdla_engine.h"

struct nvdla_context;
struct nvdla_device;
struct nvdla_kernel_program;

/**
 * struct nvdla_submission - one run of a program
 *
 * Everything that running it takes is made in the ioctl, before the job is
 * armed: from there on nothing may fail or allocate.
 */
struct nvdla_submission {
	/** @base: scheduler's job; freed with the last reference */
	struct drm_sched_job base;
	/** @ref: the scheduler's, and the quarantine's after a hang */
	struct kref ref;
	/** @ndev: device */
	struct nvdla_device *ndev;
	/** @context: whose job it is */
	struct nvdla_context *context;
	/** @program: what runs */
	struct nvdla_kernel_program *program;
	/** @objects: buffers, one reference each; the statistics' comes last */
	struct drm_gem_object **objects;
	/** @num_objects: of @objects */
	u32 num_objects;
	/** @bases: addresses of the slots */
	u64 *bases;
	/** @job: for the engine */
	struct nvdla_job job;
	/** @fence: signalled when the hardware is done */
	struct dma_fence *fence;
	/** @node: in the quarantine */
	struct list_head node;
};

extern const struct drm_sched_backend_ops nvdla_sched_ops;

void nvdla_submission_put(struct nvdla_submission *submission);
void nvdla_job_collect(struct nvdla_device *ndev);

#endif /* NVDLA_JOB_H */
