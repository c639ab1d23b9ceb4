// SPDX-License-Identifier: GPL-2.0
/*
 * Submissions from their arming to their release.
 *
 * The DRM scheduler resolves what a job depends on, one scheduler and one
 * entity for each context; it neither decides what runs next nor measures
 * time: nvdla_sched.c does the first, the engine the second. What the
 * scheduler is given as the hardware's fence is the job's own fence, which
 * user space sees, too, so a job that is cut and resumed, ends with a reset or
 * with the device is one and the same for everybody.
 *
 * Others wait for the queue in which that happens, so nothing waits there. What
 * a job held is released behind it, in a queue that no fence waits for: the
 * last reference to an imported buffer takes the reservation of its exporter,
 * whose holder may wait for any fence.
 */
#include <linux/slab.h>

#include <drm/drm_gem.h>

#include "nvdla_context.h"
#include "nvdla_device.h"
#include "nvdla_job.h"
#include "nvdla_power.h"
#include "nvdla_program.h"
#include "nvdla_sched.h"
#include "nvdla_trace.h"
#include "nvdla_user.h"

struct workqueue_struct *nvdla_release_wq;

int nvdla_release_init(void)
{
	nvdla_release_wq = alloc_workqueue("nvdla-release", WQ_UNBOUND, 0);
	return nvdla_release_wq ? 0 : -ENOMEM;
}

void nvdla_release_exit(void)
{
	/* Waits for the last lines of works that put the module. */
	destroy_workqueue(nvdla_release_wq);
}

static void nvdla_submission_free(struct work_struct *work)
{
	struct nvdla_submission *submission =
		container_of(work, struct nvdla_submission, release);
	u32 i;

	if (submission->state == NVDLA_SUBMISSION_MADE)
		nvdla_fence_discard(submission->fence);
	else
		dma_fence_put(submission->fence);
	for (i = 0; i < submission->num_objects; i++)
		drm_gem_object_put(submission->objects[i]);
	kvfree(submission->objects);
	kvfree(submission->bases);
	if (submission->program)
		nvdla_program_put(submission->program);
	if (submission->powered)
		nvdla_power_put(submission->ndev);
	if (submission->charged)
		nvdla_uncharge(submission->context->client->user,
			       NVDLA_RESOURCE_JOBS, 1);
	/* Last, as it may be what keeps the device. */
	if (submission->context)
		nvdla_context_put(submission->context);
	kfree(submission);
}

/**
 * nvdla_submission_alloc() - a submission with nothing in it
 * @ndev: device
 *
 * Return: a reference, or NULL.
 */
struct nvdla_submission *nvdla_submission_alloc(struct nvdla_device *ndev)
{
	struct nvdla_submission *submission;

	submission = kzalloc(sizeof(*submission), GFP_KERNEL_ACCOUNT);
	if (!submission)
		return NULL;
	submission->fence = nvdla_fence_alloc();
	if (!submission->fence) {
		kfree(submission);
		return NULL;
	}
	kref_init(&submission->ref);
	INIT_WORK(&submission->release, nvdla_submission_free);
	INIT_LIST_HEAD(&submission->node);
	INIT_LIST_HEAD(&submission->quarantine);
	submission->ndev = ndev;
	return submission;
}

static void nvdla_submission_release(struct kref *ref)
{
	struct nvdla_submission *submission =
		container_of(ref, struct nvdla_submission, ref);

	/* An ioctl that failed has nothing to wait for but its user. */
	if (submission->state == NVDLA_SUBMISSION_MADE)
		nvdla_submission_free(&submission->release);
	else
		queue_work(nvdla_release_wq, &submission->release);
}

/**
 * nvdla_submission_put() - drop a reference
 * @submission: submission; once it was armed a work frees it, so this may be
 *              called anywhere
 */
void nvdla_submission_put(struct nvdla_submission *submission)
{
	kref_put(&submission->ref, nvdla_submission_release);
}

/**
 * nvdla_submission_arm() - from here on it ends with its fence
 * @submission: complete, the lock of its context held
 */
void nvdla_submission_arm(struct nvdla_submission *submission)
{
	struct nvdla_context *context = submission->context;
	struct nvdla_device *ndev = submission->ndev;

	lockdep_assert_held(&context->lock);
	drm_sched_job_arm(&submission->base);
	nvdla_fence_init(submission->fence, context->fence_context,
			 ++context->fence_seqno);
	trace_nvdla_job_queue(submission);

	mutex_lock(&ndev->hw_lock);
	submission->state = NVDLA_SUBMISSION_WAITING;
	list_add_tail(&submission->node, &ndev->waiting);
	mutex_unlock(&ndev->hw_lock);
}

/* Takes a job whose dependencies have ended. */
static struct dma_fence *nvdla_job_run(struct drm_sched_job *base)
{
	struct nvdla_submission *submission = to_nvdla_submission(base);
	struct nvdla_device *ndev = submission->ndev;

	nvdla_hw_lock(ndev);
	nvdla_sched_ready(ndev, submission);
	nvdla_hw_unlock(ndev);
	/* Signalled already or not: the scheduler finds out. */
	return dma_fence_get(submission->fence);
}

/*
 * The end of the fence has told the scheduler to free the job, which may happen
 * before the callback that did so is done with the scheduler: and that goes
 * with its last job.
 */
static void nvdla_job_free(struct drm_sched_job *base)
{
	struct nvdla_submission *submission = to_nvdla_submission(base);

	nvdla_fence_settle(submission->fence);
	drm_sched_job_cleanup(base);
	nvdla_submission_put(submission);
}

const struct drm_sched_backend_ops nvdla_drm_sched_ops = {
	.run_job = nvdla_job_run,
	.free_job = nvdla_job_free,
};

static const char * const result_names[] = {
	[NVDLA_JOB_RUNNING] = "running",
	[NVDLA_JOB_OK] = "ok",
	[NVDLA_JOB_HANG] = "hang",
	[NVDLA_JOB_GONE] = "gone",
	[NVDLA_JOB_CANCELED] = "canceled",
	[NVDLA_JOB_BROKEN] = "broken",
	[NVDLA_JOB_YIELDED] = "yielded",
};

/**
 * nvdla_result_name() - how a job ended, in a word
 * @result: enum nvdla_job_result
 *
 * Return: the word.
 */
const char *nvdla_result_name(u32 result)
{
	return result < ARRAY_SIZE(result_names) && result_names[result] ?
		       result_names[result] : "unknown";
}
