// SPDX-License-Identifier: GPL-2.0
/*
 * The device of the KUnit suites about jobs, and what they do with it.
 */
#include "../nvdla_bus.h"
#include "../nvdla_job.h"
#include "../nvdla_program.h"
#include "../nvdla_reset.h"
#include "../nvdla_sched.h"
#include "nvdla_test_fake.h"

#define REG_BYTES	SZ_128K
#define REG_VERSION	NVDLA_NV_SMALL_GLB_BASE
#define REG_INTR_STATUS	(NVDLA_NV_SMALL_GLB_BASE + NVDLA_GLB_S_INTR_STATUS)
#define REG_FLUSH	(NVDLA_NV_SMALL_CDMA_BASE + \
			 NVDLA_CDMA_S_CBUF_FLUSH_STATUS)
#define REG_SDP_STATUS	(NVDLA_NV_SMALL_SDP_BASE + NVDLA_REG_S_STATUS)
#define REG_SDP_POINTER	(NVDLA_NV_SMALL_SDP_BASE + NVDLA_REG_S_POINTER)
#define REG_SDP_ENABLE	(NVDLA_NV_SMALL_SDP_BASE + NVDLA_SDP_D_OP_ENABLE)

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

static void fake_layer_end(void *context, const struct nvdla_job *job,
			   u32 layer, u64 start_ns, u64 end_ns)
{
	struct fake *fake = context;

	nvdla_sched_layer_end(&fake->ndev, start_ns, end_ns);
}

static const struct nvdla_hw_ops fake_hw_ops = {
	.reg_read = fake_read,
	.reg_write = fake_write,
	.dma_barrier = fake_nothing,
	.relax = fake_nothing,
	.now_ns = fake_now,
	.layer_end = fake_layer_end,
};

void fake_set_up(struct fake *fake)
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
	return container_of(dev_get_drvdata(dev), struct fake, ndev);
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

const struct nvdla_bus_ops fake_bus_ops = {
	.can_reset = fake_can_reset,
	.reset = fake_reset,
	.isolate = fake_isolate,
};

/* Nothing but a reset stops it, as on most systems on chip. */
const struct nvdla_bus_ops fake_soc_bus_ops = {
	.can_reset = fake_can_reset,
	.reset = fake_reset,
};

/* The test looks at the clock itself. */
static void fake_deadline(struct work_struct *work)
{
}

struct fake *fake_create(struct kunit *test,
			 const struct nvdla_bus_ops *bus_ops)
{
	struct fake *fake = kunit_kzalloc(test, sizeof(*fake), GFP_KERNEL);
	struct nvdla_device *ndev;
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, fake);
	fake->regs = kunit_kzalloc(test, REG_BYTES, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, fake->regs);
	fake_set_up(fake);
	fake->dev.init_name = "nvdla-kunit";
	dev_set_drvdata(&fake->dev, &fake->ndev);
	fake->now = NSEC_PER_SEC;

	ndev = &fake->ndev;
	ndev->drm.dev = &fake->dev;
	ndev->hw = nvdla_test_hw(test);
	ndev->bus_ops = bus_ops;
	mutex_init(&ndev->hw_lock);
	spin_lock_init(&ndev->irq_lock);
	init_waitqueue_head(&ndev->idle);
	INIT_LIST_HEAD(&ndev->users_runnable);
	INIT_LIST_HEAD(&ndev->waiting);
	INIT_LIST_HEAD(&ndev->held);
	INIT_LIST_HEAD(&ndev->ended);
	INIT_DELAYED_WORK(&ndev->deadline, fake_deadline);
	nvdla_reset_init(ndev);
	ndev->recovery_wq = alloc_workqueue("nvdla-kunit", WQ_UNBOUND, 0);
	KUNIT_ASSERT_NOT_NULL(test, ndev->recovery_wq);

	for (i = 0; i < CONTEXTS; i++) {
		struct nvdla_context *context = &fake->contexts[i];
		struct nvdla_user *user = &fake->users[i];

		INIT_LIST_HEAD(&user->runnable);
		user->contexts = RB_ROOT_CACHED;
		kref_init(&context->ref);
		context->ndev = ndev;
		context->client = &fake->clients[i];
		context->top = user;
		INIT_LIST_HEAD(&context->ready);
		RB_CLEAR_NODE(&context->runnable);
		context->fence_context = dma_fence_context_alloc(1);
	}

	nvdla_engine_init(&ndev->engine, ndev->hw, &fake_hw_ops, fake);
	KUNIT_ASSERT_EQ(test, 0, nvdla_engine_start(&ndev->engine));
	ndev->state = NVDLA_STATE_RUNNING;
	test->priv = fake;
	return fake;
}

void fake_destroy(struct fake *fake)
{
	cancel_delayed_work_sync(&fake->ndev.reset_work);
	cancel_delayed_work_sync(&fake->ndev.deadline);
	nvdla_release_quarantine(&fake->ndev, true);
	destroy_workqueue(fake->ndev.recovery_wq);
	mutex_destroy(&fake->ndev.hw_lock);
}

static void job_put(void *job)
{
	nvdla_submission_put(job);
	/* It goes before the memory of the test that it uses. */
	flush_workqueue(nvdla_release_wq);
}

/* A job of so many layers that waits for what it depends on. */
struct nvdla_submission *job_create(struct kunit *test, u32 index,
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
	job->state = NVDLA_SUBMISSION_WAITING;
	list_add_tail(&job->node, &fake->ndev.waiting);
	/* Last, so that it comes before the end of what the job needs. */
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, job_put, job));
	return job;
}

void job_ready(struct nvdla_submission *job)
{
	nvdla_hw_lock(job->ndev);
	nvdla_sched_ready(job->ndev, job);
	nvdla_hw_unlock(job->ndev);
}

struct nvdla_submission *job_start(struct kunit *test, u32 index,
				   u32 layers)
{
	struct nvdla_submission *job = job_create(test, index, layers);

	job_ready(job);
	return job;
}

int status_of(struct nvdla_submission *job)
{
	return dma_fence_get_status(job->fence);
}

void fake_interrupt(struct fake *fake)
{
	struct nvdla_device *ndev = &fake->ndev;

	nvdla_hw_lock(ndev);
	nvdla_sched_interrupt(ndev, nvdla_engine_read_irq(&ndev->engine));
	nvdla_hw_unlock(ndev);
}

/* The oldest layer in the device ends. */
void layer_end(struct kunit *test)
{
	struct fake *fake = test->priv;

	KUNIT_ASSERT_TRUE(test, fake->enabled & BIT(fake->consumer));
	fake->enabled &= ~BIT(fake->consumer);
	fake->regs[REG_INTR_STATUS / 4] |= BIT(fake->consumer);
	fake->consumer ^= 1;
	fake->layers++;
	fake_interrupt(fake);
}

/* The oldest layer in the device ends after so long. */
void layer_takes(struct kunit *test, u64 ns)
{
	struct fake *fake = test->priv;

	fake->now += ns;
	layer_end(test);
}

/* The clock of the engine, until it gives up. */
void fake_hang(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct nvdla_submission *job = fake->ndev.running;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, job);
	for (i = 0; i < 8 && job->state == NVDLA_SUBMISSION_STARTED; i++) {
		fake->now += NVDLA_MIN_DEADLINE_NS;
		nvdla_hw_lock(&fake->ndev);
		nvdla_sched_poll(&fake->ndev);
		nvdla_hw_unlock(&fake->ndev);
	}
	KUNIT_ASSERT_NE(test, job->state, NVDLA_SUBMISSION_STARTED);
}

void fake_recover(struct fake *fake)
{
	flush_delayed_work(&fake->ndev.reset_work);
}

/* All that the user of a context has is in one more context of its. */
void share_user(struct fake *fake, u32 index, u32 owner)
{
	fake->contexts[index].top = fake->contexts[owner].top;
}

/* The context whose job has the engine. */
u32 running_context(struct fake *fake)
{
	return fake->ndev.running->context - fake->contexts;
}
