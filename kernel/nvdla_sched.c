// SPDX-License-Identifier: GPL-2.0
/*
 * The arbiter: whose job has the engine, and for how long.
 *
 * One job at a time is on the hardware: the engine overlaps the layers of one
 * program, never two programs, because the register groups, the convolution
 * buffer and the tables of a second one would be shared with the first. But a
 * job can be cut between two layers and resumed later.
 *
 * Users share the engine first, the contexts of a user share its time second:
 * contexts are for the asking, users are not (nvdla_user.c). Users take turns.
 * A turn is one layer, or shorter layers for NVDLA_TURN_NS together; layers
 * that are tied to what the convolution buffer keeps count as one, and one that
 * was enabled ahead of the end of the turn belongs to it. The users with work
 * stand in line. Who had its turn, and who comes, goes to the end; the next is
 * the first in line who had no more than its share of the last second, which is
 * a second divided by the number of users with work. So such a user starts its
 * next layer after at most one turn of each other user, whatever these have
 * queued, create or destroy. Only if all had more than their share the one with
 * the least is next.
 *
 * The line is walked, once for each turn: it has an entry for an account of the
 * machine, and nobody makes accounts at will. The contexts of a user are in a
 * tree, by their virtual time, which is the time that they had the engine. The
 * virtual time of the user is what each of them would have had in equal shares.
 * A context that wakes up goes on there, so idle time is not saved up, and a
 * new one starts a turn behind that. Long layers of new contexts move that time
 * on as others do, so a stream of new contexts cannot keep an old one from
 * running.
 *
 * The fair policy that the DRM scheduler has on newer kernels shares by entity,
 * which is a context; it neither knows users nor stops a job between two
 * layers, and it has only the end of a job to learn what that took.
 *
 * What ends is signalled before hw_lock is left, so that two who leave it do
 * not signal fences of one timeline in the wrong order. Callbacks of fences
 * never sleep, and so never wait for hw_lock.
 */
#include <linux/math64.h>
#include <linux/minmax.h>

#include <drm/drm_print.h>

#include "nvdla_context.h"
#include "nvdla_debug.h"
#include "nvdla_device.h"
#include "nvdla_gem.h"
#include "nvdla_job.h"
#include "nvdla_reset.h"
#include "nvdla_sched.h"
#include "nvdla_trace.h"
#include "nvdla_user.h"

/* A turn is over when another layer would make it longer than this. */
#define NVDLA_TURN_NS		(5 * NSEC_PER_MSEC)
/* A reset waits so long for the end of a layer. */
#define NVDLA_RESET_MS		1000

/**
 * nvdla_hw_lock() - take the engine
 * @ndev: device
 *
 * Fences wait for who has it, and lockdep knows: nothing until
 * nvdla_hw_unlock() may allocate, fault, wait for a fence or take a
 * reservation.
 */
void nvdla_hw_lock(struct nvdla_device *ndev)
{
	bool cookie = dma_fence_begin_signalling();

	mutex_lock(&ndev->hw_lock);
	ndev->signalling = cookie;
}

/**
 * nvdla_hw_unlock() - signal what has ended, and leave the engine
 * @ndev: device
 */
void nvdla_hw_unlock(struct nvdla_device *ndev)
{
	struct nvdla_submission *submission, *next;
	bool cookie = ndev->signalling;

	list_for_each_entry_safe(submission, next, &ndev->ended, node) {
		struct dma_fence *fence = dma_fence_get(submission->fence);

		/* Signalled, it may be freed at any time. */
		list_del_init(&submission->node);
		nvdla_fence_end(fence, submission->error);
		dma_fence_put(fence);
	}
	mutex_unlock(&ndev->hw_lock);
	dma_fence_end_signalling(cookie);
}

/* The clock of the engine, which tests have in their hands. */
static u64 nvdla_sched_now(const struct nvdla_device *ndev)
{
	return ndev->engine.ops->now_ns(ndev->engine.context);
}

static void nvdla_sched_end(struct nvdla_device *ndev,
			    struct nvdla_submission *submission, int error)
{
	/* The engine has written them with the CPU. */
	if (submission->stats)
		nvdla_bo_flush(submission->stats, submission->stats_offset,
			       submission->stats_bytes);
	if (submission->charged)
		nvdla_uncharge(submission->context->client->user,
			       NVDLA_RESOURCE_JOBS, 1);
	submission->charged = false;
	submission->state = NVDLA_SUBMISSION_ENDED;
	submission->error = error;
	list_move_tail(&submission->node, &ndev->ended);
}

/* The error with which jobs of the context end that have not begun, or 0. */
static int nvdla_context_error(const struct nvdla_context *context)
{
	if (context->guilty || context->canceled)
		return -ECANCELED;
	if (context->ndev->state == NVDLA_STATE_DEAD || context->ndev->draining)
		return -ENODEV;
	return 0;
}

static bool nvdla_context_less(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct nvdla_context, runnable)->vruntime <
	       rb_entry(b, struct nvdla_context, runnable)->vruntime;
}

/* The context of the user that is next, or NULL. */
static struct nvdla_context *nvdla_user_next(const struct nvdla_user *user)
{
	struct rb_node *first = rb_first_cached(&user->contexts);

	return first ? rb_entry(first, struct nvdla_context, runnable) : NULL;
}

static void nvdla_sched_dequeue(struct nvdla_context *context)
{
	struct nvdla_user *user = context->top;

	if (RB_EMPTY_NODE(&context->runnable))
		return;
	rb_erase_cached(&context->runnable, &user->contexts);
	RB_CLEAR_NODE(&context->runnable);
	user->num_runnable--;
	if (!nvdla_user_next(user))
		list_del_init(&user->runnable);
}

/* Gives a context that had nothing to run its place among the others. */
static void nvdla_sched_wake(struct nvdla_context *context)
{
	u64 now = context->top->vruntime;

	if (context->vruntime)
		context->vruntime = max(context->vruntime, now);
	else
		context->vruntime = now + NVDLA_TURN_NS;
}

/* Puts a context in line that has jobs to run, unless it is there already. */
static void nvdla_sched_enqueue(struct nvdla_device *ndev,
				struct nvdla_context *context)
{
	struct nvdla_user *user = context->top;

	if (list_empty(&context->ready) || context->active ||
	    !RB_EMPTY_NODE(&context->runnable))
		return;
	rb_add_cached(&context->runnable, &user->contexts, nvdla_context_less);
	user->num_runnable++;
	if (list_empty(&user->runnable))
		list_add_tail(&user->runnable, &ndev->users_runnable);
}

/*
 * Puts a context in line, or ends what it has ready, if that is not to run any
 * more. What runs or is held of it ends first.
 */
static void nvdla_sched_settle(struct nvdla_device *ndev,
			       struct nvdla_context *context)
{
	struct nvdla_submission *submission, *next;
	int error = nvdla_context_error(context);

	if (!error) {
		nvdla_sched_enqueue(ndev, context);
		return;
	}
	nvdla_sched_dequeue(context);
	if (context->active)
		return;
	list_for_each_entry_safe(submission, next, &context->ready, node)
		nvdla_sched_end(ndev, submission, error);
}

/**
 * nvdla_sched_account() - count the time since the last call for who has it
 * @ndev: device, hw_lock held
 */
void nvdla_sched_account(struct nvdla_device *ndev)
{
	struct nvdla_submission *submission = ndev->running;
	u64 now = nvdla_sched_now(ndev);
	struct nvdla_context *context;
	struct nvdla_user *user;
	u64 used;

	lockdep_assert_held(&ndev->hw_lock);
	if (!submission || now <= ndev->since)
		return;
	context = submission->context;
	user = context->top;
	used = now - ndev->since;
	nvdla_usage_add(&user->usage, ndev->since, now);
	context->vruntime += used;
	user->vruntime += div_u64(used, user->num_runnable + 1);
	atomic64_add(used, &context->client->busy_ns);
	submission->busy_ns += used;
	ndev->turn.used_ns += used;
	ndev->since = now;
}

/**
 * nvdla_sched_layer_end() - learn how long layers of this turn take
 * @ndev: device, hw_lock held
 * @start_ns: when the layer could run
 * @end_ns: when it was seen to have ended
 */
void nvdla_sched_layer_end(struct nvdla_device *ndev, u64 start_ns, u64 end_ns)
{
	struct nvdla_turn *turn = &ndev->turn;

	if (end_ns > start_ns)
		turn->longest_ns = max(turn->longest_ns, end_ns - start_ns);
	turn->layer_ns = end_ns;
}

/* Would the turn be too long with another layer like those it had? */
static bool nvdla_turn_over(const struct nvdla_device *ndev)
{
	const struct nvdla_turn *turn = &ndev->turn;
	u64 layer = turn->longest_ns;

	/* A layer that has just ended, or has not, is known by the clock. */
	if (ndev->running && ndev->since > turn->layer_ns)
		layer = max(layer, ndev->since - turn->layer_ns);
	return turn->used_ns + layer > NVDLA_TURN_NS;
}

/* The user whose turn is next, or goes on; NULL if nobody has work. */
static struct nvdla_user *nvdla_sched_next_user(struct nvdla_device *ndev)
{
	struct nvdla_user *last = ndev->turn.user, *least = NULL, *user;
	u64 now = nvdla_sched_now(ndev);
	u64 least_ns = 0, share_ns;
	u32 users = 0;

	if (last && !list_empty(&last->runnable)) {
		if (!nvdla_turn_over(ndev))
			return last;
		list_move_tail(&last->runnable, &ndev->users_runnable);
	}
	list_for_each_entry(user, &ndev->users_runnable, runnable)
		users++;
	/* A turn more is no reason to let somebody else have two. */
	share_ns = div_u64(NSEC_PER_SEC, max(users, 1u)) + NVDLA_TURN_NS;
	list_for_each_entry(user, &ndev->users_runnable, runnable) {
		u64 used_ns = nvdla_usage_recent(&user->usage, now);

		if (used_ns <= share_ns)
			return user;
		if (!least || used_ns < least_ns) {
			least = user;
			least_ns = used_ns;
		}
	}
	return least;
}

/* Is anybody else to have the engine when the turn is over? */
static bool nvdla_sched_contended(const struct nvdla_device *ndev)
{
	const struct nvdla_context *context = ndev->running->context, *next;
	const struct nvdla_user *user = context->top;

	if (!list_empty(&ndev->users_runnable) &&
	    !(list_is_singular(&ndev->users_runnable) &&
	      !list_empty(&user->runnable)))
		return true;
	next = nvdla_user_next(user);
	return next && next->vruntime < context->vruntime;
}

/*
 * Asks the engine to stop between two layers where the job has to make room.
 * Before the engine learns that a layer has ended, or it enables the next one.
 */
static void nvdla_sched_yield(struct nvdla_device *ndev)
{
	nvdla_sched_account(ndev);
	if (!ndev->running)
		return;
	if (ndev->state != NVDLA_STATE_RUNNING ||
	    ndev->running->context->canceled ||
	    (nvdla_turn_over(ndev) && nvdla_sched_contended(ndev)))
		nvdla_engine_yield(&ndev->engine);
}

/*
 * Ends a job that the device was taken from. Its fence promises that nothing
 * writes to its buffers any more: where the device cannot be kept off the bus
 * it is held until nvdla_sched_release_held().
 */
static void nvdla_sched_retire(struct nvdla_device *ndev,
			       struct nvdla_submission *submission, int error)
{
	if (ndev->isolated) {
		nvdla_sched_end(ndev, submission, error);
		return;
	}
	submission->state = NVDLA_SUBMISSION_HELD;
	submission->error = error;
	list_move_tail(&submission->node, &ndev->held);
	submission->context->active = submission;
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
	nvdla_sched_retire(ndev, submission, error);
}

/* Does what the result of the job that the engine had asks for. */
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
		if (nvdla_context_error(context)) {
			nvdla_sched_end(ndev, submission,
					nvdla_context_error(context));
			break;
		}
		submission->state = NVDLA_SUBMISSION_READY;
		list_add(&submission->node, &context->ready);
		break;
	case NVDLA_JOB_HANG:
		context->guilty_layer = job->layer;
		/* Readers that see the guilt see the layer. */
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
		nvdla_sched_retire(ndev, submission, ndev->abort_error);
	}
}

/* Counts a job that has left the engine for good. */
static void nvdla_tally_job(struct nvdla_submission *submission)
{
	const struct nvdla_job *job = &submission->job;
	struct nvdla_tally *tally = &submission->ndev->tally;

	tally->jobs++;
	if (job->result == NVDLA_JOB_OK)
		return;
	tally->failed++;
	tally->last.time_ns = ktime_get_ns();
	tally->last.program = job->serial;
	tally->last.result = job->result;
	tally->last.layer = job->layer;
}

static void nvdla_sched_collect(struct nvdla_device *ndev)
{
	struct nvdla_submission *submission = ndev->running;
	struct nvdla_context *context;

	if (!nvdla_engine_done(&ndev->engine))
		return;
	nvdla_sched_account(ndev);
	ndev->running = NULL;
	context = submission->context;
	context->active = NULL;
	trace_nvdla_job_end(submission, submission->busy_ns);
	/* A job that was cut goes on later. */
	if (submission->job.result != NVDLA_JOB_YIELDED)
		nvdla_tally_job(submission);
	nvdla_sched_finish(ndev, submission);
	nvdla_sched_settle(ndev, context);
	wake_up_all(&ndev->idle);
}

static void nvdla_sched_start(struct nvdla_device *ndev,
			      struct nvdla_user *user)
{
	struct nvdla_context *context = nvdla_user_next(user);
	struct nvdla_submission *submission =
		list_first_entry(&context->ready, struct nvdla_submission,
				 node);
	struct nvdla_turn *turn = &ndev->turn;
	int ret;

	if (turn->user != user || nvdla_turn_over(ndev)) {
		turn->user = user;
		turn->used_ns = 0;
		turn->longest_ns = 0;
	}
	nvdla_sched_dequeue(context);
	user->vruntime = max(user->vruntime, context->vruntime);
	list_del_init(&submission->node);
	submission->state = NVDLA_SUBMISSION_STARTED;
	context->active = submission;
	ndev->running = submission;
	ndev->since = nvdla_sched_now(ndev);
	turn->layer_ns = ndev->since;
	trace_nvdla_job_start(submission);
	ret = nvdla_engine_submit(&ndev->engine, &submission->job);
	if (!ret)
		return;

	/* SUBMIT looks for all that the engine would refuse. */
	drm_err(&ndev->drm, "the engine refuses program %llu (%d)\n",
		submission->job.serial, ret);
	ndev->running = NULL;
	context->active = NULL;
	submission->job.result = NVDLA_JOB_CANCELED;
	nvdla_tally_job(submission);
	nvdla_sched_end(ndev, submission, -ECANCELED);
	nvdla_sched_settle(ndev, context);
}

/* Looks at the engine again when a layer would be late. */
static void nvdla_sched_arm(struct nvdla_device *ndev)
{
	u64 deadline = nvdla_engine_next_deadline(&ndev->engine);
	u64 now = nvdla_sched_now(ndev);

	if (!ndev->running || deadline == NVDLA_NO_DEADLINE)
		cancel_delayed_work(&ndev->deadline);
	else
		mod_delayed_work(ndev->recovery_wq, &ndev->deadline,
				 deadline <= now ? 0 :
				 nsecs_to_jiffies(deadline - now) + 1);
}

/**
 * nvdla_sched_advance() - do what can be done now
 * @ndev: device, hw_lock held; after anything that may have changed something
 */
void nvdla_sched_advance(struct nvdla_device *ndev)
{
	struct nvdla_user *user;

	lockdep_assert_held(&ndev->hw_lock);
	for (;;) {
		nvdla_sched_yield(ndev);
		nvdla_sched_collect(ndev);
		if (ndev->running || ndev->state != NVDLA_STATE_RUNNING)
			break;
		user = nvdla_sched_next_user(ndev);
		if (!user)
			break;
		nvdla_sched_start(ndev, user);
	}
	nvdla_sched_arm(ndev);
}

/**
 * nvdla_sched_interrupt() - consume interrupt bits
 * @ndev: device, hw_lock held
 * @bits: from nvdla_engine_read_irq()
 */
void nvdla_sched_interrupt(struct nvdla_device *ndev, u32 bits)
{
	nvdla_sched_yield(ndev);
	nvdla_engine_interrupt(&ndev->engine, bits);
	nvdla_sched_advance(ndev);
}

/**
 * nvdla_sched_poll() - look for layers that are late
 * @ndev: device, hw_lock held
 */
void nvdla_sched_poll(struct nvdla_device *ndev)
{
	nvdla_sched_yield(ndev);
	nvdla_engine_poll(&ndev->engine);
	nvdla_sched_advance(ndev);
}

/**
 * nvdla_sched_ready() - queue a job that depends on nothing any more
 * @ndev: device, hw_lock held
 * @submission: job that is armed
 */
void nvdla_sched_ready(struct nvdla_device *ndev,
		       struct nvdla_submission *submission)
{
	struct nvdla_context *context = submission->context;

	lockdep_assert_held(&ndev->hw_lock);
	/* The end of the device may have been quicker. */
	if (submission->state != NVDLA_SUBMISSION_WAITING)
		return;
	submission->state = NVDLA_SUBMISSION_READY;
	if (list_empty(&context->ready) && !context->active)
		nvdla_sched_wake(context);
	list_move_tail(&submission->node, &context->ready);
	nvdla_sched_settle(ndev, context);
	nvdla_sched_advance(ndev);
}

/**
 * nvdla_sched_release_held() - end jobs that were held
 * @ndev: device, hw_lock held; it was reset, or nothing can stop it
 */
void nvdla_sched_release_held(struct nvdla_device *ndev)
{
	struct nvdla_submission *submission, *next;

	lockdep_assert_held(&ndev->hw_lock);
	list_for_each_entry_safe(submission, next, &ndev->held, node) {
		submission->context->active = NULL;
		nvdla_sched_end(ndev, submission, submission->error);
		nvdla_sched_settle(ndev, submission->context);
	}
}

/**
 * nvdla_sched_end_all() - end all jobs of a device that cannot run them
 * @ndev: device, hw_lock held, nothing on the hardware
 *
 * Jobs whose context has one that is held end behind it.
 */
void nvdla_sched_end_all(struct nvdla_device *ndev)
{
	struct nvdla_submission *submission, *next;
	struct nvdla_user *user;

	lockdep_assert_held(&ndev->hw_lock);
	ndev->draining = true;
	while (!list_empty(&ndev->users_runnable)) {
		user = list_first_entry(&ndev->users_runnable,
					struct nvdla_user, runnable);
		nvdla_sched_settle(ndev, nvdla_user_next(user));
	}
	list_for_each_entry_safe(submission, next, &ndev->waiting, node)
		nvdla_sched_ready(ndev, submission);
	ndev->draining = false;
}

/**
 * nvdla_sched_forget() - end the turn of a user who is about to be freed
 * @user: user, at the top
 */
void nvdla_sched_forget(struct nvdla_user *user)
{
	struct nvdla_device *ndev = user->ndev;

	nvdla_hw_lock(ndev);
	if (ndev->turn.user == user)
		ndev->turn.user = NULL;
	nvdla_hw_unlock(ndev);
}

/**
 * nvdla_sched_cancel() - run nothing of a context any more
 * @context: context of a file that is closed
 *
 * What is on the hardware is cut between two layers; what has not begun ends
 * behind it, and what still waits when it would have been ready.
 */
void nvdla_sched_cancel(struct nvdla_context *context)
{
	struct nvdla_device *ndev = context->ndev;

	nvdla_hw_lock(ndev);
	context->canceled = true;
	nvdla_sched_settle(ndev, context);
	nvdla_sched_advance(ndev);
	nvdla_hw_unlock(ndev);
}

/**
 * nvdla_sched_pause() - start nothing any more, and cut what runs
 * @ndev: device
 * @ms: for how long to wait for the layer that runs
 *
 * Return: whether nothing runs any more.
 */
bool nvdla_sched_pause(struct nvdla_device *ndev, unsigned int ms)
{
	nvdla_hw_lock(ndev);
	if (ndev->state == NVDLA_STATE_RUNNING)
		WRITE_ONCE(ndev->state, NVDLA_STATE_PAUSED);
	nvdla_sched_advance(ndev);
	nvdla_hw_unlock(ndev);
	return wait_event_timeout(ndev->idle, !READ_ONCE(ndev->running),
				  msecs_to_jiffies(ms));
}

/**
 * nvdla_sched_unpause() - go on after nvdla_sched_pause()
 * @ndev: device
 */
void nvdla_sched_unpause(struct nvdla_device *ndev)
{
	nvdla_hw_lock(ndev);
	if (ndev->state == NVDLA_STATE_PAUSED)
		WRITE_ONCE(ndev->state, NVDLA_STATE_RUNNING);
	nvdla_sched_advance(ndev);
	nvdla_hw_unlock(ndev);
}

/**
 * nvdla_sched_pre_reset() - start nothing any more, and cut what runs
 * @ndev: device
 */
void nvdla_sched_pre_reset(struct nvdla_device *ndev)
{
	if (!nvdla_sched_pause(ndev, NVDLA_RESET_MS))
		drm_warn(&ndev->drm, "reset in the middle of a layer\n");
}

/**
 * nvdla_sched_post_reset() - end jobs that were held, and start others
 * @ndev: device whose engine is started, hw_lock held
 */
void nvdla_sched_post_reset(struct nvdla_device *ndev)
{
	nvdla_sched_release_held(ndev);
	WRITE_ONCE(ndev->state, NVDLA_STATE_RUNNING);
	nvdla_sched_advance(ndev);
}
