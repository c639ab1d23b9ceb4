// SPDX-License-Identifier: GPL-2.0
/*
 * The arbiter: which context has the engine, and for how long.
 *
 * One job at a time is on the hardware: the engine overlaps the layers of one
 * program, never two programs, because the register groups, the convolution
 * buffer and the tables of a second one would be shared with the first. But a
 * job can be cut between two layers and resumed later.
 *
 * Contexts share the engine by time. Each has a virtual run time, the time for
 * which its jobs had the engine, and the one with the least is next. Who had
 * nothing to do does not save that up: on its return a context starts a little
 * before the others, so that it is next at once, and no more. With that, a
 * short job waits for the layer that runs, however many others there are and
 * however much they have queued.
 *
 * Where that is follows from the device's own virtual time, which goes on by
 * what each of those who take part should have had. So contexts that are new
 * all the time, each before the others, do not hold it back, and cannot keep
 * an older one waiting for ever.
 *
 * What ends is collected under hw_lock and signalled after it: callbacks of
 * fences take locks of their own.
 */
#include <linux/math64.h>
#include <linux/minmax.h>

#include <drm/drm_print.h>

#include "nvdla_account.h"
#include "nvdla_context.h"
#include "nvdla_device.h"
#include "nvdla_dump.h"
#include "nvdla_fence.h"
#include "nvdla_gem.h"
#include "nvdla_job.h"
#include "nvdla_sched.h"

/* A context may be ahead of another that waits by this much. */
#define NVDLA_SLICE_NS		(5 * NSEC_PER_MSEC)
/* Who returns is before all others by this much. */
#define NVDLA_HEAD_START_NS	(2 * NVDLA_SLICE_NS)
/*
 * By no more than that before where it should be, if others lag behind: or by
 * two stints, since layers that take longer leave others behind by a stint.
 */
#define NVDLA_HEAD_START_MAX_NS	(20 * NVDLA_SLICE_NS)

/**
 * nvdla_hw_lock() - take the engine
 * @ndev: device
 *
 * On the way to the end of jobs: nothing until nvdla_hw_unlock() may allocate,
 * fault, wait for a fence or take a reservation.
 */
void nvdla_hw_lock(struct nvdla_device *ndev)
{
	mutex_lock(&ndev->hw_lock);
}

/**
 * nvdla_hw_unlock() - leave the engine, and tell who waits for what has ended
 * @ndev: device
 */
void nvdla_hw_unlock(struct nvdla_device *ndev)
{
	struct nvdla_submission *submission, *next;
	LIST_HEAD(ended);

	list_splice_init(&ndev->ended, &ended);
	mutex_unlock(&ndev->hw_lock);

	list_for_each_entry_safe(submission, next, &ended, node) {
		struct dma_fence *fence = dma_fence_get(submission->fence);

		/* Signalled, it may be freed at any time. */
		nvdla_fence_end(fence, submission->error);
		dma_fence_put(fence);
	}
}

static void nvdla_sched_end(struct nvdla_device *ndev,
			    struct nvdla_submission *submission, int error)
{
	const struct nvdla_program *program = submission->job.program;

	/* The engine has written them with the CPU. */
	if (submission->stats)
		nvdla_bo_flush(submission->stats, submission->stats_offset,
			       (u64)program->num_layers *
				       sizeof(struct nvdla_layer_stats));
	submission->state = NVDLA_JOB_ENDED;
	submission->error = error;
	list_move_tail(&submission->node, &ndev->ended);
}

static void nvdla_sched_end_list(struct nvdla_device *ndev,
				 struct list_head *list, int error)
{
	struct nvdla_submission *submission, *next;

	list_for_each_entry_safe(submission, next, list, node)
		nvdla_sched_end(ndev, submission, error);
}

/* Nothing that a context has ready is to run. */
static void nvdla_sched_drop(struct nvdla_device *ndev,
			     struct nvdla_context *context)
{
	list_del_init(&context->runnable);
	nvdla_sched_end_list(ndev, &context->ready, -ECANCELED);
}

/* The context that is next, if any. */
static struct nvdla_context *nvdla_sched_next(struct nvdla_device *ndev)
{
	struct nvdla_context *next = NULL, *context;

	list_for_each_entry(context, &ndev->runnable, runnable)
		if (!next || context->vruntime < next->vruntime)
			next = context;
	return next;
}

/* How many contexts share the engine, which one of them has. */
static u32 nvdla_sched_sharers(struct nvdla_device *ndev)
{
	struct nvdla_context *context;
	u32 count = 1;

	list_for_each_entry(context, &ndev->runnable, runnable)
		count++;
	return count;
}

/* Charges the context that has the engine. */
static void nvdla_sched_account(struct nvdla_device *ndev)
{
	struct nvdla_context *context = ndev->running->context;
	const struct nvdla_context *next;
	u64 now = ktime_get_ns();
	u64 used = now - ndev->since;
	u64 least;

	context->vruntime += used;
	ndev->stint_ns += used;
	ndev->vruntime += div_u64(used, nvdla_sched_sharers(ndev));
	ndev->since = now;

	next = nvdla_sched_next(ndev);
	least = context->vruntime;
	if (next && next->vruntime < least)
		least = next->vruntime;
	ndev->vruntime = max(ndev->vruntime, least);
}

/* Where a context starts that returns: before all others, if it may. */
static u64 nvdla_sched_return(struct nvdla_device *ndev)
{
	const struct nvdla_context *next = nvdla_sched_next(ndev);
	u64 now = ndev->vruntime;
	u64 latest = now - min(now, NVDLA_HEAD_START_NS);
	u64 most = max3(NVDLA_HEAD_START_MAX_NS, 2 * ndev->stint_ns,
			2 * ndev->stints_ns);
	u64 earliest = now - min(now, most);

	if (!next || !next->vruntime)
		return latest;
	return clamp(next->vruntime - 1, earliest, latest);
}

/* Lets a context take part that has jobs, unless it does already. */
static void nvdla_sched_enqueue(struct nvdla_device *ndev,
				struct nvdla_context *context)
{
	if (list_empty(&context->ready) || !list_empty(&context->runnable) ||
	    (ndev->running && ndev->running->context == context))
		return;
	if (ndev->running)
		nvdla_sched_account(ndev);
	context->vruntime = max(context->vruntime, nvdla_sched_return(ndev));
	list_add_tail(&context->runnable, &ndev->runnable);
}

/* The device has failed with the job, whoever is to blame. */
static void nvdla_sched_fail(struct nvdla_device *ndev,
			     struct nvdla_submission *submission, int error)
{
	const struct nvdla_job *job = &submission->job;

	drm_dbg(&ndev->drm, "%s in layer %u of program %llu\n",
		nvdla_result_name(job->result), job->layer, job->serial);
	nvdla_dump_take(ndev, submission);
	nvdla_recover(ndev, submission);
	nvdla_sched_end(ndev, submission, error);
}

/* What the engine says became of the job that it had. */
static void nvdla_sched_finish(struct nvdla_device *ndev,
			       struct nvdla_submission *submission)
{
	struct nvdla_context *context = submission->context;
	const struct nvdla_job *job = &submission->job;

	switch (job->result) {
	case NVDLA_JOB_OK:
		nvdla_sched_end(ndev, submission, 0);
		break;
	case NVDLA_JOB_YIELDED:
		if (context->canceled) {
			nvdla_sched_end(ndev, submission, -ECANCELED);
			break;
		}
		submission->state = NVDLA_JOB_READY;
		list_add(&submission->node, &context->ready);
		break;
	case NVDLA_JOB_HANG:
		context->guilty_layer = job->layer;
		/* Who sees the guilt sees the layer. */
		smp_store_release(&context->guilty, true);
		nvdla_sched_fail(ndev, submission, -ETIME);
		break;
	case NVDLA_JOB_GONE:
		nvdla_sched_fail(ndev, submission, -ENODEV);
		break;
	case NVDLA_JOB_BROKEN:
		nvdla_sched_fail(ndev, submission, -ECANCELED);
		break;
	default:
		/* Aborted, by who then also resets the device. */
		nvdla_sched_end(ndev, submission, ndev->abort_error);
	}
}

static void nvdla_sched_collect(struct nvdla_device *ndev)
{
	struct nvdla_submission *submission = ndev->running;
	struct nvdla_context *context;

	if (!nvdla_engine_done(&ndev->engine))
		return;
	nvdla_sched_account(ndev);
	/* A long one is forgotten after some short ones. */
	ndev->stints_ns = max(ndev->stint_ns,
			      ndev->stints_ns - ndev->stints_ns / 8);
	ndev->running = NULL;
	nvdla_account_end(submission);
	context = submission->context;
	nvdla_sched_finish(ndev, submission);
	if (context->guilty)
		nvdla_sched_drop(ndev, context);
	nvdla_sched_enqueue(ndev, context);
	wake_up_all(&ndev->idle);
}

static void nvdla_sched_start(struct nvdla_device *ndev,
			      struct nvdla_context *context)
{
	struct nvdla_submission *submission =
		list_first_entry(&context->ready, struct nvdla_submission,
				 node);
	int ret;

	list_del_init(&context->runnable);
	list_del_init(&submission->node);
	submission->state = NVDLA_JOB_STARTED;
	ndev->running = submission;
	ndev->since = ktime_get_ns();
	ndev->stint_ns = 0;
	nvdla_account_start(submission);
	ret = nvdla_engine_submit(&ndev->engine, &submission->job);
	if (!ret)
		return;

	/* SUBMIT looks for all that the engine would refuse. */
	drm_err(&ndev->drm, "the engine refuses program %llu (%d)\n",
		submission->job.serial, ret);
	ndev->running = NULL;
	submission->job.result = NVDLA_JOB_CANCELED;
	nvdla_account_end(submission);
	nvdla_sched_end(ndev, submission, -ECANCELED);
	nvdla_sched_enqueue(ndev, context);
}

/* Has the context that runs had its share, or more? */
static bool nvdla_sched_must_yield(struct nvdla_device *ndev)
{
	const struct nvdla_context *context = ndev->running->context;
	const struct nvdla_context *next = nvdla_sched_next(ndev);

	if (ndev->state != NVDLA_STATE_RUNNING || context->canceled)
		return true;
	return next && context->vruntime >= next->vruntime + NVDLA_SLICE_NS;
}

/* When to look at the engine, or at who else waits for it. */
static void nvdla_sched_arm(struct nvdla_device *ndev, bool yields)
{
	const struct nvdla_context *next = nvdla_sched_next(ndev);
	u64 deadline = nvdla_engine_next_deadline(&ndev->engine);
	u64 now = ktime_get_ns();

	if (!ndev->running) {
		cancel_delayed_work(&ndev->deadline);
		return;
	}
	if (next && !yields)
		deadline = min(deadline, now + next->vruntime + NVDLA_SLICE_NS -
					 ndev->running->context->vruntime);
	if (deadline == NVDLA_NO_DEADLINE)
		cancel_delayed_work(&ndev->deadline);
	else
		mod_delayed_work(ndev->wq, &ndev->deadline, deadline <= now ?
				 0 : nsecs_to_jiffies(deadline - now) + 1);
}

/* One step forward. Return: whether another may be possible. */
static bool nvdla_sched_step(struct nvdla_device *ndev, bool *yields)
{
	struct nvdla_context *next;

	nvdla_sched_collect(ndev);
	if (!ndev->running) {
		next = nvdla_sched_next(ndev);
		if (!next || ndev->state != NVDLA_STATE_RUNNING)
			return false;
		nvdla_sched_start(ndev, next);
		*yields = false;
		return true;
	}

	nvdla_sched_account(ndev);
	if (*yields || !nvdla_sched_must_yield(ndev))
		return false;
	*yields = true;
	nvdla_engine_yield(&ndev->engine);
	return true;
}

/**
 * nvdla_sched_advance() - do what can be done now
 * @ndev: device, hw_lock held; after anything that may have changed something
 */
void nvdla_sched_advance(struct nvdla_device *ndev)
{
	bool yields = false;

	lockdep_assert_held(&ndev->hw_lock);
	while (nvdla_sched_step(ndev, &yields))
		;
	nvdla_sched_arm(ndev, yields);
}

/**
 * nvdla_sched_ready() - a job depends on nothing any more
 * @ndev: device, hw_lock held
 * @submission: job that is armed
 */
void nvdla_sched_ready(struct nvdla_device *ndev,
		       struct nvdla_submission *submission)
{
	struct nvdla_context *context = submission->context;

	lockdep_assert_held(&ndev->hw_lock);
	if (submission->state == NVDLA_JOB_ENDED)
		return;
	if (ndev->state == NVDLA_STATE_DEAD) {
		nvdla_sched_end(ndev, submission, -ENODEV);
		return;
	}
	if (context->guilty || context->canceled) {
		nvdla_sched_end(ndev, submission, -ECANCELED);
		return;
	}
	submission->state = NVDLA_JOB_READY;
	list_move_tail(&submission->node, &context->ready);
	nvdla_sched_enqueue(ndev, context);
	nvdla_sched_advance(ndev);
}

/**
 * nvdla_sched_end_all() - nothing runs on this device any more
 * @ndev: device, hw_lock held, nothing on the hardware
 * @error: for all that waits
 */
void nvdla_sched_end_all(struct nvdla_device *ndev, int error)
{
	struct nvdla_context *context, *next;

	lockdep_assert_held(&ndev->hw_lock);
	list_for_each_entry_safe(context, next, &ndev->runnable, runnable) {
		list_del_init(&context->runnable);
		nvdla_sched_end_list(ndev, &context->ready, error);
	}
	nvdla_sched_end_list(ndev, &ndev->waiting, error);
}

/**
 * nvdla_sched_cancel() - nothing of this context is to run any more
 * @context: context that is closed
 *
 * What is on the hardware is cut between two layers; what still waits ends
 * when it would have been ready.
 */
void nvdla_sched_cancel(struct nvdla_context *context)
{
	struct nvdla_device *ndev = context->ndev;
	bool cookie = dma_fence_begin_signalling();

	nvdla_hw_lock(ndev);
	context->canceled = true;
	nvdla_sched_drop(ndev, context);
	nvdla_sched_advance(ndev);
	nvdla_hw_unlock(ndev);
	dma_fence_end_signalling(cookie);
}
