// SPDX-License-Identifier: GPL-2.0
/*
 * Running submissions.
 *
 * One job at a time is on the hardware: the engine overlaps the layers of one
 * program, never two programs, because the register groups, the convolution
 * buffer and the tables of a second one would be shared with the first.
 *
 * The scheduler's own time-out is off. It can only see whole jobs, and what
 * says that a layer hangs is the engine: nvdla_device.c calls its poll when a
 * layer's deadline passes. A hung device is reset under hw_lock before the
 * fence of the guilty job is signalled, so the scheduler need not be stopped:
 * with one credit it starts nothing until then.
 */
#include <linux/dma-fence.h>
#include <linux/slab.h>

#include <drm/drm_gem.h>

#include "nvdla_context.h"
#include "nvdla_device.h"
#include "nvdla_job.h"
#include "nvdla_program.h"
#include "nvdla_submit.h"

struct nvdla_fence {
	struct dma_fence base;
	/* The fence's own, because fences may outlive the device. */
	spinlock_t lock;
};

static const char *nvdla_fence_driver_name(struct dma_fence *fence)
{
	return "nvdla";
}

static const char *nvdla_fence_timeline_name(struct dma_fence *fence)
{
	return "engine";
}

static const struct dma_fence_ops nvdla_fence_ops = {
	.get_driver_name = nvdla_fence_driver_name,
	.get_timeline_name = nvdla_fence_timeline_name,
};

/**
 * nvdla_fence_alloc() - memory for a fence, initialised when the job runs
 *
 * Return: the memory, or NULL.
 */
struct dma_fence *nvdla_fence_alloc(void)
{
	struct nvdla_fence *fence = kzalloc(sizeof(*fence), GFP_KERNEL);

	if (!fence)
		return NULL;
	spin_lock_init(&fence->lock);
	return &fence->base;
}

static void nvdla_fence_free(struct dma_fence *fence)
{
	if (!fence)
		return;
	if (fence->ops)
		dma_fence_put(fence);
	else
		kfree(container_of(fence, struct nvdla_fence, base));
}

static void nvdla_submission_release(struct kref *ref)
{
	struct nvdla_submission *submission =
		container_of(ref, struct nvdla_submission, ref);
	u32 i;

	nvdla_fence_free(submission->fence);
	for (i = 0; i < submission->num_objects; i++)
		drm_gem_object_put(submission->objects[i]);
	kvfree(submission->objects);
	kvfree(submission->bases);
	if (submission->program)
		nvdla_program_put(submission->program);
	if (submission->context)
		nvdla_context_put(submission->context);
	kfree(submission);
}

void nvdla_submission_put(struct nvdla_submission *submission)
{
	kref_put(&submission->ref, nvdla_submission_release);
}

static int nvdla_job_errno(u32 result)
{
	switch (result) {
	case NVDLA_JOB_OK:
		return 0;
	case NVDLA_JOB_HANG:
		return -ETIME;
	case NVDLA_JOB_GONE:
		return -ENODEV;
	default:
		return -ECANCELED;
	}
}

static void nvdla_job_signal(struct nvdla_submission *submission, int error)
{
	struct dma_fence *fence = submission->fence;

	if (error) {
		dma_fence_set_error(fence, error);
		/* Older schedulers do not pass the error of the parent on. */
		dma_fence_set_error(&submission->base.s_fence->finished, error);
	}
	dma_fence_signal(fence);
}

/**
 * nvdla_job_collect() - end the job that the engine is done with, if any
 * @ndev: device, hw_lock held
 */
void nvdla_job_collect(struct nvdla_device *ndev)
{
	struct nvdla_job *job = nvdla_engine_done(&ndev->engine);
	struct nvdla_submission *submission = ndev->running;

	lockdep_assert_held(&ndev->hw_lock);
	if (!job)
		return;
	ndev->running = NULL;

	if (job->result == NVDLA_JOB_HANG) {
		drm_dbg(&ndev->drm, "layer %u of program %llu hangs\n",
			job->layer, job->serial);
		submission->context->guilty_layer = job->layer;
		/* Who sees the guilt sees the layer. */
		smp_store_release(&submission->context->guilty, true);
		/* Released by a reset, else kept for good. */
		kref_get(&submission->ref);
		list_add_tail(&submission->node, &ndev->quarantine);
		nvdla_recover(ndev);
	} else if (job->result == NVDLA_JOB_GONE) {
		ndev->wedged = true;
	}

	nvdla_job_signal(submission, nvdla_job_errno(job->result));
	nvdla_submission_put(submission);
}

static struct dma_fence *nvdla_job_run(struct drm_sched_job *base)
{
	struct nvdla_submission *submission =
		container_of(base, struct nvdla_submission, base);
	struct nvdla_device *ndev = submission->ndev;
	struct nvdla_fence *fence =
		container_of(submission->fence, struct nvdla_fence, base);
	bool cookie = dma_fence_begin_signalling();
	int ret = 0;

	mutex_lock(&ndev->hw_lock);
	if (ndev->wedged) {
		ret = -ENODEV;
	} else if (submission->context->guilty) {
		ret = -ECANCELED;
	} else {
		dma_fence_init(&fence->base, &nvdla_fence_ops, &fence->lock,
			       ndev->fence_context, ++ndev->fence_seqno);
		dma_fence_get(&fence->base);
		kref_get(&submission->ref);
		ndev->running = submission;
		/* Cannot be busy: the scheduler gives one job at a time. */
		if (WARN_ON(nvdla_engine_submit(&ndev->engine,
						&submission->job))) {
			ndev->running = NULL;
			nvdla_job_signal(submission, -ECANCELED);
			nvdla_submission_put(submission);
		} else {
			nvdla_job_collect(ndev);
			nvdla_device_arm_deadline(ndev);
		}
	}
	mutex_unlock(&ndev->hw_lock);
	dma_fence_end_signalling(cookie);

	return ret ? ERR_PTR(ret) : &fence->base;
}

static void nvdla_job_free(struct drm_sched_job *base)
{
	drm_sched_job_cleanup(base);
	nvdla_submission_put(container_of(base, struct nvdla_submission, base));
}

const struct drm_sched_backend_ops nvdla_sched_ops = {
	.run_job = nvdla_job_run,
	.free_job = nvdla_job_free,
};
