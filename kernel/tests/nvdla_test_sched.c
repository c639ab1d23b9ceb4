// SPDX-License-Identifier: GPL-2.0
/*
 * Jobs from being ready to their end, on a device that is a few registers and
 * that each test moves by hand: a layer ends when the test says so, and time
 * passes when the test says so.
 */
#include <linux/device.h>
#include <linux/dma-fence.h>

#include "../nvdla_context.h"
#include "../nvdla_device.h"
#include "../nvdla_fence.h"
#include "../nvdla_job.h"
#include "../nvdla_program.h"
#include "../nvdla_sched.h"
#include "nvdla_test.h"

#define REG_BYTES	SZ_128K
#define REG_VERSION	NVDLA_NV_SMALL_GLB_BASE
#define REG_INTR_STATUS	(NVDLA_NV_SMALL_GLB_BASE + NVDLA_GLB_S_INTR_STATUS)
#define REG_FLUSH	(NVDLA_NV_SMALL_CDMA_BASE + \
			 NVDLA_CDMA_S_CBUF_FLUSH_STATUS)
#define REG_SDP_STATUS	(NVDLA_NV_SMALL_SDP_BASE + NVDLA_REG_S_STATUS)
#define REG_SDP_POINTER	(NVDLA_NV_SMALL_SDP_BASE + NVDLA_REG_S_POINTER)
#define REG_SDP_ENABLE	(NVDLA_NV_SMALL_SDP_BASE + NVDLA_SDP_D_OP_ENABLE)

#define CONTEXTS	4
#define LONG_NS		(100 * NSEC_PER_MSEC)

struct fake {
	struct nvdla_device ndev;
	struct device dev;
	struct nvdla_context contexts[CONTEXTS];
	struct nvdla_account accounts[CONTEXTS];
	u64 now;

	/* the device: what is enabled, and whose turn it is, of SDP */
	u32 *regs;
	u32 producer;
	u32 consumer;
	u32 enabled;
	u32 layers;
	bool gone;
	bool isolated;

	/* what becomes of the resets that come, and how many worked */
	int reset_result;
	u32 reset_contended;
	u32 resets;
};

static u32 fake_read(void *context, u32 offset)
{
	struct fake *fake = context;

	if (fake->gone)
		return U32_MAX;
	switch (offset) {
	case REG_SDP_STATUS:
		return (fake->enabled & 1) | (fake->enabled & 2) << 15;
	case REG_SDP_POINTER:
		return fake->producer | fake->consumer << 16;
	default:
		return fake->regs[offset / 4];
	}
}

static void fake_write(void *context, u32 offset, u32 value)
{
	struct fake *fake = context;

	if (fake->gone)
		return;
	switch (offset) {
	case REG_INTR_STATUS:
		fake->regs[offset / 4] &= ~value;
		break;
	case REG_SDP_POINTER:
		fake->producer = value & 1;
		break;
	case REG_SDP_ENABLE:
		fake->enabled |= BIT(fake->producer);
		break;
	default:
		fake->regs[offset / 4] = value;
	}
}

static void fake_nothing(void *context)
{
}

static u64 fake_now(void *context)
{
	struct fake *fake = context;

	return fake->now;
}

static const struct nvdla_port fake_port = {
	.reg_read = fake_read,
	.reg_write = fake_write,
	.dma_barrier = fake_nothing,
	.relax = fake_nothing,
	.now_ns = fake_now,
};

static void fake_set_up(struct fake *fake)
{
	memset(fake->regs, 0, REG_BYTES);
	fake->regs[REG_VERSION / 4] = 0x00303031;
	fake->regs[REG_FLUSH / 4] = 1;
	fake->producer = 0;
	fake->consumer = 0;
	fake->enabled = 0;
}

static struct fake *to_fake(struct device *dev)
{
	return container_of(dev, struct fake, dev);
}

static bool fake_can_reset(struct device *dev)
{
	return true;
}

static int fake_reset(struct device *dev, bool locked)
{
	struct fake *fake = to_fake(dev);

	if (fake->reset_contended) {
		fake->reset_contended--;
		return -EAGAIN;
	}
	if (fake->reset_result)
		return fake->reset_result;
	fake_set_up(fake);
	fake->resets++;
	return 0;
}

static void fake_isolate(struct device *dev, bool isolated)
{
	to_fake(dev)->isolated = isolated;
}

static const struct nvdla_front_ops fake_front = {
	.can_reset = fake_can_reset,
	.reset = fake_reset,
	.isolate = fake_isolate,
};

/* The test looks at the clock itself. */
static void fake_deadline(struct work_struct *work)
{
}

static int sched_init(struct kunit *test)
{
	struct fake *fake = kunit_kzalloc(test, sizeof(*fake), GFP_KERNEL);
	struct nvdla_device *ndev;
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, fake);
	fake->regs = kunit_kzalloc(test, REG_BYTES, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, fake->regs);
	fake_set_up(fake);
	fake->dev.init_name = "nvdla-kunit";

	ndev = &fake->ndev;
	ndev->drm.dev = &fake->dev;
	ndev->hw = nvdla_test_hw(test);
	ndev->front = &fake_front;
	mutex_init(&ndev->hw_lock);
	spin_lock_init(&ndev->irq_lock);
	init_waitqueue_head(&ndev->idle);
	INIT_LIST_HEAD(&ndev->runnable);
	INIT_LIST_HEAD(&ndev->waiting);
	INIT_LIST_HEAD(&ndev->ended);
	INIT_DELAYED_WORK(&ndev->deadline, fake_deadline);
	nvdla_reset_init(ndev);
	ndev->wq = alloc_ordered_workqueue("nvdla-kunit", 0);
	KUNIT_ASSERT_NOT_NULL(test, ndev->wq);

	for (i = 0; i < CONTEXTS; i++) {
		struct nvdla_context *context = &fake->contexts[i];

		kref_init(&context->ref);
		context->ndev = ndev;
		context->account = &fake->accounts[i];
		INIT_LIST_HEAD(&context->ready);
		INIT_LIST_HEAD(&context->runnable);
		context->fence_context = dma_fence_context_alloc(1);
	}

	nvdla_engine_init(&ndev->engine, ndev->hw, &fake_port, fake);
	KUNIT_ASSERT_EQ(test, 0, nvdla_engine_start(&ndev->engine));
	ndev->state = NVDLA_STATE_RUNNING;
	test->priv = fake;
	return 0;
}

static void sched_exit(struct kunit *test)
{
	struct fake *fake = test->priv;

	if (!fake)
		return;
	cancel_delayed_work_sync(&fake->ndev.reset_work);
	cancel_delayed_work_sync(&fake->ndev.deadline);
	nvdla_release_quarantine(&fake->ndev, true);
	destroy_workqueue(fake->ndev.wq);
	mutex_destroy(&fake->ndev.hw_lock);
}

static void job_put(void *job)
{
	nvdla_submission_put(job);
}

/* A job of so many layers that waits for what it depends on. */
static struct nvdla_submission *job_create(struct kunit *test, u32 index,
					   u32 layers)
{
	struct fake *fake = test->priv;
	struct nvdla_context *context = &fake->contexts[index];
	struct nvdla_submission *job = nvdla_submission_alloc(&fake->ndev);
	struct nvdla_kernel_program *program;
	struct nvdla_error error;

	KUNIT_ASSERT_NOT_NULL(test, job);
	program = kunit_kzalloc(test, sizeof(*program), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, program);
	KUNIT_ASSERT_EQ(test, 0,
			nvdla_test_compile(test, nvdla_test_copy_layer(test),
					   layers, &program->program, &error));
	job->bases = kvcalloc(2, sizeof(*job->bases), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, job->bases);
	kref_get(&context->ref);
	job->context = context;
	/* One reference is the test's, which owns the memory. */
	kref_init(&program->ref);
	kref_get(&program->ref);
	job->program = program;
	job->job.program = &program->program;
	job->job.bases = job->bases;
	job->job.serial = 2;
	nvdla_fence_init(job->fence, context->fence_context,
			 ++context->fence_seqno);
	job->state = NVDLA_JOB_WAITING;
	list_add_tail(&job->node, &fake->ndev.waiting);
	/* Last, so that it comes before the end of what the job needs. */
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, job_put, job));
	return job;
}

static void job_ready(struct nvdla_submission *job)
{
	nvdla_hw_lock(job->ndev);
	nvdla_sched_ready(job->ndev, job);
	nvdla_hw_unlock(job->ndev);
}

static struct nvdla_submission *job_start(struct kunit *test, u32 index,
					  u32 layers)
{
	struct nvdla_submission *job = job_create(test, index, layers);

	job_ready(job);
	return job;
}

static int status_of(struct nvdla_submission *job)
{
	return dma_fence_get_status(job->fence);
}

static void fake_interrupt(struct fake *fake)
{
	struct nvdla_device *ndev = &fake->ndev;

	nvdla_hw_lock(ndev);
	nvdla_engine_interrupt(&ndev->engine,
			       nvdla_engine_read_irq(&ndev->engine));
	nvdla_sched_advance(ndev);
	nvdla_hw_unlock(ndev);
}

/* The oldest layer in the device ends. */
static void layer_end(struct kunit *test)
{
	struct fake *fake = test->priv;

	KUNIT_ASSERT_TRUE(test, fake->enabled & BIT(fake->consumer));
	fake->enabled &= ~BIT(fake->consumer);
	fake->regs[REG_INTR_STATUS / 4] |= BIT(fake->consumer);
	fake->consumer ^= 1;
	fake->layers++;
	fake_interrupt(fake);
}

/* What runs has had the engine for so long. */
static void time_passes(struct fake *fake, u64 ns)
{
	nvdla_hw_lock(&fake->ndev);
	fake->ndev.since -= ns;
	nvdla_sched_advance(&fake->ndev);
	nvdla_hw_unlock(&fake->ndev);
}

/* The clock of the engine, until it gives up. */
static void fake_hang(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct nvdla_submission *job = fake->ndev.running;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, job);
	for (i = 0; i < 8 && job->state == NVDLA_JOB_STARTED; i++) {
		fake->now += NVDLA_MIN_DEADLINE_NS;
		nvdla_hw_lock(&fake->ndev);
		nvdla_engine_poll(&fake->ndev.engine);
		nvdla_sched_advance(&fake->ndev);
		nvdla_hw_unlock(&fake->ndev);
	}
	KUNIT_ASSERT_EQ(test, job->state, NVDLA_JOB_ENDED);
}

static void fake_recover(struct fake *fake)
{
	flush_delayed_work(&fake->ndev.reset_work);
}

static void job_runs(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct nvdla_submission *job = job_create(test, 0, 3);

	KUNIT_EXPECT_EQ(test, fake->enabled, 0);
	job_ready(job);
	KUNIT_EXPECT_EQ(test, job->state, NVDLA_JOB_STARTED);
	KUNIT_EXPECT_PTR_EQ(test, fake->ndev.running, job);
	layer_end(test);
	layer_end(test);
	KUNIT_EXPECT_EQ(test, status_of(job), 0);
	layer_end(test);
	KUNIT_EXPECT_EQ(test, status_of(job), 1);
	KUNIT_EXPECT_EQ(test, job->state, NVDLA_JOB_ENDED);
	KUNIT_EXPECT_NULL(test, fake->ndev.running);
	KUNIT_EXPECT_TRUE(test, list_empty(&fake->ndev.waiting));
}

static void jobs_of_a_context_keep_their_order(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct nvdla_submission *first = job_start(test, 0, 1);
	struct nvdla_submission *second = job_start(test, 0, 1);
	struct nvdla_submission *third = job_start(test, 0, 1);

	KUNIT_EXPECT_EQ(test, second->state, NVDLA_JOB_READY);
	layer_end(test);
	KUNIT_EXPECT_EQ(test, status_of(first), 1);
	KUNIT_EXPECT_PTR_EQ(test, fake->ndev.running, second);
	layer_end(test);
	KUNIT_EXPECT_EQ(test, status_of(second), 1);
	KUNIT_EXPECT_PTR_EQ(test, fake->ndev.running, third);
	layer_end(test);
	KUNIT_EXPECT_EQ(test, status_of(third), 1);
}

static void least_served_context_is_next(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct nvdla_submission *jobs[CONTEXTS];
	u32 i;

	for (i = 0; i < CONTEXTS; i++)
		jobs[i] = job_start(test, i, 1);
	fake->contexts[1].vruntime = 30 * LONG_NS;
	fake->contexts[2].vruntime = 10 * LONG_NS;
	fake->contexts[3].vruntime = 20 * LONG_NS;
	KUNIT_EXPECT_PTR_EQ(test, fake->ndev.running, jobs[0]);
	layer_end(test);
	KUNIT_EXPECT_PTR_EQ(test, fake->ndev.running, jobs[2]);
	layer_end(test);
	KUNIT_EXPECT_PTR_EQ(test, fake->ndev.running, jobs[3]);
	layer_end(test);
	KUNIT_EXPECT_PTR_EQ(test, fake->ndev.running, jobs[1]);
	layer_end(test);
	for (i = 0; i < CONTEXTS; i++)
		KUNIT_EXPECT_EQ(test, status_of(jobs[i]), 1);
}

/* Two layers are in the device, as the unit has two groups of registers. */
static void job_yields_and_goes_on(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct nvdla_submission *endless = job_start(test, 0, 6);
	struct nvdla_submission *other = job_start(test, 1, 1);

	time_passes(fake, LONG_NS);
	KUNIT_EXPECT_PTR_EQ(test, fake->ndev.running, endless);
	KUNIT_EXPECT_GE(test, fake->contexts[0].vruntime, LONG_NS);
	layer_end(test);
	layer_end(test);
	KUNIT_EXPECT_EQ(test, endless->state, NVDLA_JOB_READY);
	KUNIT_EXPECT_EQ(test, status_of(endless), 0);
	KUNIT_EXPECT_PTR_EQ(test, fake->ndev.running, other);
	layer_end(test);
	KUNIT_EXPECT_EQ(test, status_of(other), 1);
	KUNIT_EXPECT_PTR_EQ(test, fake->ndev.running, endless);
	while (fake->enabled)
		layer_end(test);
	KUNIT_EXPECT_EQ(test, status_of(endless), 1);
	KUNIT_EXPECT_EQ_MSG(test, fake->layers, 7, "each layer once");
}

static void job_alone_does_not_yield(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct nvdla_submission *first = job_start(test, 0, 4);
	struct nvdla_submission *second = job_start(test, 0, 1);

	time_passes(fake, LONG_NS);
	layer_end(test);
	layer_end(test);
	KUNIT_EXPECT_PTR_EQ(test, fake->ndev.running, first);
	layer_end(test);
	layer_end(test);
	KUNIT_EXPECT_EQ(test, status_of(first), 1);
	layer_end(test);
	KUNIT_EXPECT_EQ(test, status_of(second), 1);
}

/* Who was idle for long has no more than a head start. */
static void idle_time_is_not_saved_up(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct nvdla_context *busy = &fake->contexts[0];
	struct nvdla_context *idle = &fake->contexts[1];

	job_start(test, 0, 6);
	time_passes(fake, 50 * LONG_NS);
	job_start(test, 1, 1);
	KUNIT_EXPECT_GE(test, busy->vruntime, 50 * LONG_NS);
	KUNIT_EXPECT_LT(test, idle->vruntime, busy->vruntime);
	KUNIT_EXPECT_GT(test, idle->vruntime, 49 * LONG_NS);
}

/* Layers of a second leave others behind by more than any fixed head start. */
static void who_returns_is_next_beside_long_layers(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct nvdla_context *waits = &fake->contexts[1];
	struct nvdla_context *returns = &fake->contexts[2];

	fake->ndev.vruntime = 30 * LONG_NS;
	job_start(test, 0, 6);
	job_start(test, 1, 6);
	waits->vruntime = 25 * LONG_NS;
	time_passes(fake, 10 * LONG_NS);
	job_start(test, 2, 1);
	KUNIT_EXPECT_LT(test, returns->vruntime, waits->vruntime);
	KUNIT_EXPECT_GT(test, returns->vruntime, 24 * LONG_NS);
}

static void cancel_ends_what_waits_and_cuts_what_runs(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct nvdla_submission *running = job_start(test, 0, 6);
	struct nvdla_submission *queued = job_start(test, 0, 1);
	struct nvdla_submission *late = job_create(test, 0, 1);
	struct nvdla_submission *other = job_start(test, 1, 1);

	nvdla_sched_cancel(&fake->contexts[0]);
	KUNIT_EXPECT_EQ(test, status_of(queued), -ECANCELED);
	KUNIT_EXPECT_EQ(test, status_of(running), 0);
	layer_end(test);
	layer_end(test);
	KUNIT_EXPECT_EQ(test, status_of(running), -ECANCELED);
	job_ready(late);
	KUNIT_EXPECT_EQ(test, status_of(late), -ECANCELED);
	KUNIT_EXPECT_PTR_EQ(test, fake->ndev.running, other);
	layer_end(test);
	KUNIT_EXPECT_EQ(test, status_of(other), 1);
	KUNIT_EXPECT_EQ_MSG(test, fake->resets, 0, "nothing failed");
}

static void hang_is_quarantined_and_recovered(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct nvdla_submission *hang = job_start(test, 0, 2);
	struct nvdla_submission *queued = job_start(test, 0, 1);
	struct nvdla_submission *late = job_create(test, 0, 1);
	struct nvdla_submission *other = job_start(test, 1, 1);

	layer_end(test);
	/* By hand, too. */
	fake->reset_contended = 1;
	fake_hang(test);
	KUNIT_EXPECT_EQ(test, status_of(hang), -ETIME);
	KUNIT_EXPECT_TRUE(test, fake->contexts[0].guilty);
	KUNIT_EXPECT_EQ(test, fake->contexts[0].guilty_layer, 1);
	KUNIT_EXPECT_EQ(test, status_of(queued), -ECANCELED);
	job_ready(late);
	KUNIT_EXPECT_EQ(test, status_of(late), -ECANCELED);

	KUNIT_EXPECT_EQ(test, fake->resets, 0);
	KUNIT_EXPECT_EQ(test, fake->ndev.state, NVDLA_STATE_BROKEN);
	KUNIT_EXPECT_TRUE(test, fake->isolated);
	KUNIT_EXPECT_FALSE(test, list_empty(&fake->ndev.quarantine));
	KUNIT_EXPECT_EQ_MSG(test, kref_read(&hang->ref), 2, "its buffers");
	KUNIT_EXPECT_EQ(test, status_of(other), 0);
	KUNIT_EXPECT_FALSE(test, fake->contexts[1].guilty);

	/* The lock of the device is taken at first. */
	fake_recover(fake);
	fake_recover(fake);
	KUNIT_EXPECT_EQ(test, fake->resets, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&fake->ndev.resets), 1);
	KUNIT_EXPECT_EQ(test, fake->ndev.state, NVDLA_STATE_RUNNING);
	KUNIT_EXPECT_FALSE(test, fake->isolated);
	KUNIT_EXPECT_TRUE(test, list_empty(&fake->ndev.quarantine));
	KUNIT_EXPECT_EQ(test, kref_read(&hang->ref), 1);
	KUNIT_EXPECT_PTR_EQ(test, fake->ndev.running, other);
	layer_end(test);
	KUNIT_EXPECT_EQ(test, status_of(other), 1);
}

static void failed_reset_ends_everything(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct nvdla_submission *hang = job_start(test, 0, 1);
	struct nvdla_submission *other = job_start(test, 1, 1);
	struct nvdla_submission *waiting = job_create(test, 2, 1);

	fake->reset_result = -ENOTTY;
	fake_hang(test);
	fake_recover(fake);
	KUNIT_EXPECT_EQ(test, fake->ndev.state, NVDLA_STATE_DEAD);
	KUNIT_EXPECT_TRUE(test, fake->isolated);
	KUNIT_EXPECT_EQ(test, status_of(hang), -ETIME);
	KUNIT_EXPECT_EQ(test, status_of(other), -ENODEV);
	KUNIT_EXPECT_EQ(test, status_of(waiting), -ENODEV);
	KUNIT_EXPECT_FALSE(test, fake->contexts[1].guilty);
	/* What it depended on may still end. */
	job_ready(waiting);
	KUNIT_EXPECT_EQ(test, status_of(waiting), -ENODEV);
	KUNIT_EXPECT_EQ(test, status_of(job_start(test, 3, 1)), -ENODEV);
}

static void gone_device_is_nobodys_guilt(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct nvdla_submission *job = job_start(test, 0, 1);
	struct nvdla_submission *next = job_start(test, 0, 1);

	fake->gone = true;
	fake->reset_contended = 1;
	fake_interrupt(fake);
	KUNIT_EXPECT_EQ(test, status_of(job), -ENODEV);
	KUNIT_EXPECT_EQ(test, status_of(next), 0);
	KUNIT_EXPECT_TRUE(test, fake->isolated);
	KUNIT_EXPECT_FALSE(test, fake->contexts[0].guilty);
	/* A link that was down for a moment. */
	fake->gone = false;
	fake_recover(fake);
	fake_recover(fake);
	KUNIT_EXPECT_PTR_EQ(test, fake->ndev.running, next);
	layer_end(test);
	KUNIT_EXPECT_EQ(test, status_of(next), 1);
}

static void removal_ends_everything(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct nvdla_submission *running = job_start(test, 0, 4);
	struct nvdla_submission *queued = job_start(test, 0, 1);
	struct nvdla_submission *other = job_start(test, 1, 1);
	struct nvdla_submission *waiting = job_create(test, 1, 1);

	nvdla_hw_lock(&fake->ndev);
	nvdla_give_up(&fake->ndev, -ENODEV);
	KUNIT_EXPECT_EQ_MSG(test, status_of(running), 0, "not under the lock");
	nvdla_hw_unlock(&fake->ndev);
	KUNIT_EXPECT_EQ(test, status_of(running), -ENODEV);
	KUNIT_EXPECT_EQ(test, status_of(queued), -ENODEV);
	KUNIT_EXPECT_EQ(test, status_of(other), -ENODEV);
	KUNIT_EXPECT_EQ(test, status_of(waiting), -ENODEV);
	KUNIT_EXPECT_NULL(test, fake->ndev.running);
	KUNIT_EXPECT_TRUE(test, fake->isolated);
	KUNIT_EXPECT_EQ_MSG(test, kref_read(&running->ref), 2,
			    "the device may still write");
	KUNIT_EXPECT_EQ(test, kref_read(&queued->ref), 1);
}

static void paused_device_starts_nothing(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct nvdla_submission *running = job_start(test, 0, 6);
	struct nvdla_submission *other = job_start(test, 1, 1);

	nvdla_hw_lock(&fake->ndev);
	fake->ndev.state = NVDLA_STATE_PAUSED;
	nvdla_sched_advance(&fake->ndev);
	nvdla_hw_unlock(&fake->ndev);
	layer_end(test);
	layer_end(test);
	KUNIT_EXPECT_NULL(test, fake->ndev.running);
	KUNIT_EXPECT_EQ(test, fake->enabled, 0);

	/* It was asleep and has forgotten everything. */
	fake_set_up(fake);
	KUNIT_EXPECT_EQ(test, 0, nvdla_restart(&fake->ndev));
	while (fake->enabled)
		layer_end(test);
	KUNIT_EXPECT_EQ(test, status_of(running), 1);
	KUNIT_EXPECT_EQ(test, status_of(other), 1);
	KUNIT_EXPECT_EQ_MSG(test, fake->layers, 7, "each layer once");
}

static struct kunit_case nvdla_sched_cases[] = {
	KUNIT_CASE(job_runs),
	KUNIT_CASE(jobs_of_a_context_keep_their_order),
	KUNIT_CASE(least_served_context_is_next),
	KUNIT_CASE(job_yields_and_goes_on),
	KUNIT_CASE(job_alone_does_not_yield),
	KUNIT_CASE(idle_time_is_not_saved_up),
	KUNIT_CASE(who_returns_is_next_beside_long_layers),
	KUNIT_CASE(cancel_ends_what_waits_and_cuts_what_runs),
	KUNIT_CASE(hang_is_quarantined_and_recovered),
	KUNIT_CASE(failed_reset_ends_everything),
	KUNIT_CASE(gone_device_is_nobodys_guilt),
	KUNIT_CASE(removal_ends_everything),
	KUNIT_CASE(paused_device_starts_nothing),
	{}
};

static struct kunit_suite nvdla_sched_suite = {
	.name = "nvdla_sched",
	.init = sched_init,
	.exit = sched_exit,
	.test_cases = nvdla_sched_cases,
};

kunit_test_suite(nvdla_sched_suite);
