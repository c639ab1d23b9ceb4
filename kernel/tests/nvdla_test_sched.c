// SPDX-License-Identifier: GPL-2.0
/*
 * Jobs from being ready to their end: who has the engine, for how long, and in
 * which order fences signal.
 */
#include <linux/prandom.h>

#include "../nvdla_reset.h"
#include "../nvdla_sched.h"
#include "nvdla_test_fake.h"

static int sched_init(struct kunit *test)
{
	fake_create(test, &fake_bus_ops);
	return 0;
}

static void sched_exit(struct kunit *test)
{
	if (test->priv)
		fake_destroy(test->priv);
}

static void job_runs(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct nvdla_submission *job = job_create(test, 0, 3);

	KUNIT_EXPECT_EQ(test, fake->enabled, 0);
	job_ready(job);
	KUNIT_EXPECT_EQ(test, job->state, NVDLA_SUBMISSION_STARTED);
	KUNIT_EXPECT_PTR_EQ(test, fake->ndev.running, job);
	layer_end(test);
	layer_end(test);
	KUNIT_EXPECT_EQ(test, status_of(job), 0);
	layer_end(test);
	KUNIT_EXPECT_EQ(test, status_of(job), 1);
	KUNIT_EXPECT_EQ(test, job->state, NVDLA_SUBMISSION_ENDED);
	KUNIT_EXPECT_NULL(test, fake->ndev.running);
	KUNIT_EXPECT_TRUE(test, list_empty(&fake->ndev.waiting));
}

static void jobs_of_a_context_keep_their_order(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct nvdla_submission *first = job_start(test, 0, 1);
	struct nvdla_submission *second = job_start(test, 0, 1);
	struct nvdla_submission *third = job_start(test, 0, 1);

	KUNIT_EXPECT_EQ(test, second->state, NVDLA_SUBMISSION_READY);
	layer_end(test);
	KUNIT_EXPECT_EQ(test, status_of(first), 1);
	KUNIT_EXPECT_PTR_EQ(test, fake->ndev.running, second);
	layer_end(test);
	KUNIT_EXPECT_EQ(test, status_of(second), 1);
	KUNIT_EXPECT_PTR_EQ(test, fake->ndev.running, third);
	layer_end(test);
	KUNIT_EXPECT_EQ(test, status_of(third), 1);
}

static void contexts_of_a_user_share_by_time(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct nvdla_submission *jobs[4];
	u32 i;

	for (i = 1; i < 4; i++)
		share_user(fake, i, 0);
	for (i = 0; i < 4; i++) {
		fake->contexts[i].vruntime = 1;
		jobs[i] = job_create(test, i, 1);
	}
	fake->contexts[1].vruntime = 30 * LONG_NS;
	fake->contexts[2].vruntime = 10 * LONG_NS;
	fake->contexts[3].vruntime = 20 * LONG_NS;
	for (i = 0; i < 4; i++)
		job_ready(jobs[i]);
	KUNIT_EXPECT_PTR_EQ(test, fake->ndev.running, jobs[0]);
	layer_takes(test, SHORT_NS);
	KUNIT_EXPECT_PTR_EQ(test, fake->ndev.running, jobs[2]);
	layer_takes(test, SHORT_NS);
	KUNIT_EXPECT_PTR_EQ(test, fake->ndev.running, jobs[3]);
	layer_takes(test, SHORT_NS);
	KUNIT_EXPECT_PTR_EQ(test, fake->ndev.running, jobs[1]);
	layer_takes(test, SHORT_NS);
	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_EQ(test, status_of(jobs[i]), 1);
}

/* Two layers are in the device, as the unit has two groups of registers. */
static void job_yields_and_goes_on(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct nvdla_submission *endless = job_start(test, 0, 6);
	struct nvdla_submission *other = job_start(test, 1, 1);

	layer_takes(test, LONG_NS);
	KUNIT_EXPECT_PTR_EQ_MSG(test, fake->ndev.running, endless,
				"what was enabled ahead belongs to the turn");
	layer_takes(test, LONG_NS);
	KUNIT_EXPECT_EQ(test, endless->state, NVDLA_SUBMISSION_READY);
	KUNIT_EXPECT_EQ(test, status_of(endless), 0);
	KUNIT_EXPECT_PTR_EQ(test, fake->ndev.running, other);
	layer_takes(test, LONG_NS);
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

	layer_takes(test, LONG_NS);
	layer_takes(test, LONG_NS);
	KUNIT_EXPECT_PTR_EQ(test, fake->ndev.running, first);
	layer_takes(test, LONG_NS);
	layer_takes(test, LONG_NS);
	KUNIT_EXPECT_EQ(test, status_of(first), 1);
	layer_takes(test, LONG_NS);
	KUNIT_EXPECT_EQ(test, status_of(second), 1);
}

/* Layers of 50 us share a turn, which ends after 5 ms. */
static void short_layers_share_a_turn(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct nvdla_submission *other;
	u32 layers;

	job_start(test, 0, 400);
	other = job_start(test, 1, 1);
	for (layers = 0; running_context(fake) == 0; layers++)
		layer_takes(test, SHORT_NS);
	KUNIT_EXPECT_GE(test, layers, 99);
	KUNIT_EXPECT_LE_MSG(test, layers, 102, "two were enabled ahead");
	KUNIT_EXPECT_PTR_EQ(test, fake->ndev.running, other);
}

/* Layers of 3 ms: with a second one the turn would take longer than 5 ms. */
static void turn_ends_before_it_is_too_long(struct kunit *test)
{
	struct fake *fake = test->priv;
	u32 i;

	for (i = 0; i < 4; i++)
		job_start(test, 0, 1);
	job_start(test, 1, 1);
	layer_takes(test, 3 * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, running_context(fake), 1);
}

/* Contexts of one user have one turn together, however many they are. */
static void contexts_give_no_share(struct kunit *test)
{
	struct fake *fake = test->priv;
	u32 i, turn, had[2] = {};

	for (i = 2; i < CONTEXTS; i++)
		share_user(fake, i, 1);
	for (i = 0; i < 40; i++)
		job_start(test, 0, 1);
	for (i = 0; i < 40; i++)
		job_start(test, 1 + i % (CONTEXTS - 1), 1);
	for (turn = 0; turn < 40; turn++) {
		had[running_context(fake) != 0]++;
		layer_takes(test, LONG_NS);
	}
	KUNIT_EXPECT_EQ(test, had[0], 20);
	KUNIT_EXPECT_EQ(test, had[1], 20);
}

/* A user who had nothing of late is next but for a turn of each other. */
static void light_user_waits_for_one_turn_of_each(struct kunit *test)
{
	struct fake *fake = test->priv;
	u32 i, turns;

	for (i = 1; i < CONTEXTS; i++) {
		u32 job;

		for (job = 0; job < 30; job++)
			job_start(test, i, 1);
	}
	for (i = 0; i < 50; i++)
		layer_takes(test, (1 + i % 4) * LONG_NS);
	job_start(test, 0, 1);
	for (turns = 0; running_context(fake) != 0; turns++) {
		KUNIT_ASSERT_LE(test, turns, CONTEXTS);
		layer_takes(test, LONG_NS);
	}
	KUNIT_EXPECT_LE(test, turns, CONTEXTS - 1);
}

/* Users of long and of short layers have the same time, but for a layer. */
static void users_share_by_time(struct kunit *test)
{
	struct fake *fake = test->priv;
	u64 used[2] = {};
	u32 i;

	for (i = 0; i < 300; i++)
		job_start(test, 0, 1);
	for (i = 0; i < 2000; i++)
		job_start(test, 1, 1);
	while (used[0] + used[1] < 6 * NSEC_PER_SEC) {
		u32 context = running_context(fake);
		u64 ns = context ? 6 * NSEC_PER_MSEC : 50 * NSEC_PER_MSEC;

		used[context] += ns;
		layer_takes(test, ns);
	}
	KUNIT_EXPECT_GT(test, used[0] * 4, used[1] * 3);
	KUNIT_EXPECT_GT(test, used[1] * 4, used[0] * 3);
}

/* New contexts, one after the other, do not keep an old one from running. */
static void new_contexts_get_no_credit(struct kunit *test)
{
	struct fake *fake = test->priv;
	u32 i, layers;

	for (i = 1; i < CONTEXTS; i++)
		share_user(fake, i, 0);
	job_start(test, 0, 2);
	layer_takes(test, 4 * LONG_NS);
	layer_takes(test, 4 * LONG_NS);
	job_start(test, 1, 1);
	job_start(test, 0, 2);
	for (layers = 0; running_context(fake) != 0; layers++) {
		struct nvdla_context *fresh;

		KUNIT_ASSERT_LE(test, layers, 60);
		fresh = &fake->contexts[2 + layers % (CONTEXTS - 2)];
		if (RB_EMPTY_NODE(&fresh->runnable) && !fresh->active) {
			fresh->vruntime = 0;
			job_start(test, fresh - fake->contexts, 1);
		}
		layer_takes(test, LONG_NS);
	}
}

/* They pay for layers that are longer than what a new context starts behind. */
static void new_contexts_pay_for_long_layers(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct nvdla_submission *old;
	u32 i, layers;

	for (i = 1; i < CONTEXTS; i++)
		share_user(fake, i, 0);
	old = job_start(test, 0, 8);
	for (layers = 0; status_of(old) == 0; layers++) {
		u32 waiting = fake->contexts[0].top->num_runnable;

		KUNIT_ASSERT_LE(test, layers, 8 * CONTEXTS);
		for (i = 1; i < CONTEXTS && waiting < CONTEXTS - 2; i++) {
			struct nvdla_context *fresh = &fake->contexts[i];

			if (!RB_EMPTY_NODE(&fresh->runnable) || fresh->active)
				continue;
			fresh->vruntime = 0;
			job_start(test, i, 1);
			waiting++;
		}
		layer_takes(test, 20 * LONG_NS);
	}
}

/* A context that was idle goes on where the others are. */
static void idle_time_is_not_saved_up(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct nvdla_context *busy = &fake->contexts[0];
	struct nvdla_context *idle = &fake->contexts[1];
	u32 i;

	share_user(fake, 1, 0);
	idle->vruntime = 1;
	for (i = 0; i < 3; i++)
		job_start(test, 0, 1);
	layer_takes(test, 50 * LONG_NS);
	layer_takes(test, LONG_NS);
	job_start(test, 1, 1);
	KUNIT_EXPECT_GE(test, idle->vruntime, 50 * LONG_NS);
	KUNIT_EXPECT_LE(test, idle->vruntime, busy->vruntime);
}

static void usage_forgets_after_a_second(struct kunit *test)
{
	struct nvdla_usage *usage =
		kunit_kzalloc(test, sizeof(*usage), GFP_KERNEL);
	u64 now = 10 * NSEC_PER_SEC + 12345, ns;

	KUNIT_ASSERT_NOT_NULL(test, usage);
	nvdla_usage_add(usage, now, now + 300 * NSEC_PER_MSEC);
	now += 300 * NSEC_PER_MSEC;
	KUNIT_EXPECT_EQ(test, nvdla_usage_recent(usage, now),
			300 * NSEC_PER_MSEC);
	nvdla_usage_add(usage, now + 100 * NSEC_PER_MSEC,
			now + 200 * NSEC_PER_MSEC);
	now += 200 * NSEC_PER_MSEC;
	KUNIT_EXPECT_EQ(test, nvdla_usage_recent(usage, now),
			400 * NSEC_PER_MSEC);
	now += 700 * NSEC_PER_MSEC;
	ns = nvdla_usage_recent(usage, now);
	KUNIT_EXPECT_LE(test, ns, 200 * NSEC_PER_MSEC);
	KUNIT_EXPECT_GE(test, ns, 200 * NSEC_PER_MSEC - NVDLA_USAGE_STEP_NS);
	KUNIT_EXPECT_EQ(test, nvdla_usage_recent(usage, now + NSEC_PER_SEC), 0);
	/* A layer of many seconds. */
	nvdla_usage_add(usage, now, now + 100ull * NSEC_PER_SEC);
	ns = nvdla_usage_recent(usage, now + 100ull * NSEC_PER_SEC);
	KUNIT_EXPECT_LE(test, ns, NSEC_PER_SEC);
	KUNIT_EXPECT_GE(test, ns, NSEC_PER_SEC - NVDLA_USAGE_STEP_NS);
}

static void cancel_ends_what_waits_and_cuts_what_runs(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct nvdla_submission *running = job_start(test, 0, 6);
	struct nvdla_submission *queued = job_start(test, 0, 1);
	struct nvdla_submission *late = job_create(test, 0, 1);
	struct nvdla_submission *other = job_start(test, 1, 1);

	nvdla_sched_cancel(&fake->contexts[0]);
	KUNIT_EXPECT_EQ_MSG(test, status_of(queued), 0, "behind what runs");
	KUNIT_EXPECT_EQ(test, status_of(running), 0);
	job_ready(late);
	KUNIT_EXPECT_EQ(test, status_of(late), 0);
	layer_end(test);
	layer_end(test);
	KUNIT_EXPECT_EQ(test, status_of(running), -ECANCELED);
	KUNIT_EXPECT_EQ(test, status_of(queued), -ECANCELED);
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
	/* A reset by hand is under way, too. */
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
	/* The dependencies of a job may still end. */
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
	nvdla_give_up(&fake->ndev);
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

/* The test goes on with a device that only a reset stops. */
static struct fake *restart_as_soc(struct kunit *test)
{
	fake_destroy(test->priv);
	return fake_create(test, &fake_soc_bus_ops);
}

/* The reset comes first where nothing else keeps the device off the bus. */
static void hang_signals_after_the_reset(struct kunit *test)
{
	struct fake *fake = restart_as_soc(test);
	struct nvdla_submission *hang = job_start(test, 0, 1);
	struct nvdla_submission *queued = job_start(test, 0, 1);
	struct nvdla_submission *other = job_start(test, 1, 1);

	fake->reset_contended = 1;
	fake_hang(test);
	KUNIT_EXPECT_EQ(test, hang->state, NVDLA_SUBMISSION_HELD);
	KUNIT_EXPECT_EQ(test, status_of(hang), 0);
	KUNIT_EXPECT_EQ(test, status_of(queued), 0);
	fake_recover(fake);
	fake_recover(fake);
	KUNIT_EXPECT_EQ(test, fake->resets, 1);
	KUNIT_EXPECT_EQ(test, status_of(hang), -ETIME);
	KUNIT_EXPECT_EQ(test, status_of(queued), -ECANCELED);
	KUNIT_EXPECT_PTR_EQ(test, fake->ndev.running, other);
}

/* It may write for ever: who waits is not to wait as long. */
static void failed_reset_signals_what_was_held(struct kunit *test)
{
	struct fake *fake = restart_as_soc(test);
	struct nvdla_submission *hang = job_start(test, 0, 1);
	struct nvdla_submission *queued = job_start(test, 0, 1);
	struct nvdla_submission *other = job_start(test, 1, 1);

	fake->reset_result = -EIO;
	fake_hang(test);
	fake_recover(fake);
	KUNIT_EXPECT_EQ(test, status_of(hang), -ETIME);
	KUNIT_EXPECT_EQ(test, status_of(queued), -ECANCELED);
	KUNIT_EXPECT_EQ(test, status_of(other), -ENODEV);
}

/* struct watch - looks at the order in which a context's fences signal */
struct watch {
	struct dma_fence_cb cb;
	struct nvdla_submission *job;
	u64 *last_seqno;
	bool *disordered;
	bool *early;
};

static void watch_signal(struct dma_fence *fence, struct dma_fence_cb *cb)
{
	struct watch *watch = container_of(cb, struct watch, cb);
	struct nvdla_device *ndev = watch->job->ndev;
	struct fake *fake = container_of(ndev, struct fake, ndev);

	*watch->disordered |= fence->seqno != *watch->last_seqno + 1;
	*watch->last_seqno = fence->seqno;
	/* Still enabled, and neither off the bus nor given up for good. */
	*watch->early |= watch->job == ndev->running ||
			 (watch->job->state == NVDLA_SUBMISSION_HELD &&
			  fake->enabled && !fake->isolated);
}

/* One random life of a device, up to its end. */
static void live(struct kunit *test, struct rnd_state *rnd, bool soc)
{
	struct nvdla_submission *waiting[CONTEXTS][4] = {};
	bool disordered = false, early = false;
	u64 last_seqno[CONTEXTS] = {};
	u32 made[CONTEXTS] = {}, i, step;
	struct fake *fake;

	fake = fake_create(test, soc ? &fake_soc_bus_ops : &fake_bus_ops);
	for (i = 0; i < CONTEXTS; i++)
		share_user(fake, i, i % 3);
	for (step = 0; step < 60; step++) {
		u32 index = prandom_u32_state(rnd) % CONTEXTS;
		u32 what = prandom_u32_state(rnd) % 32;

		if (what < 12 && made[index] < 4) {
			struct nvdla_submission *job;
			struct watch *watch;

			watch = kunit_kzalloc(test, sizeof(*watch), GFP_KERNEL);
			KUNIT_ASSERT_NOT_NULL(test, watch);
			job = job_create(test, index, 1 + what % 4);
			watch->job = job;
			watch->last_seqno = &last_seqno[index];
			watch->disordered = &disordered;
			watch->early = &early;
			dma_fence_add_callback(job->fence, &watch->cb,
					       watch_signal);
			waiting[index][made[index]++] = job;
		} else if (what < 20) {
			/* The scheduler makes them ready in their order. */
			for (i = 0; i < 4 && waiting[index][i]; i++)
				if (waiting[index][i]->state ==
				    NVDLA_SUBMISSION_WAITING) {
					job_ready(waiting[index][i]);
					break;
				}
		} else if (what < 28) {
			if (fake->enabled & BIT(fake->consumer) &&
			    fake->ndev.state == NVDLA_STATE_RUNNING)
				layer_takes(test, what * NSEC_PER_MSEC / 10);
		} else if (what == 28) {
			nvdla_sched_cancel(&fake->contexts[index]);
		} else if (what == 29 && fake->ndev.running) {
			fake->reset_contended = prandom_u32_state(rnd) % 2;
			fake_hang(test);
		} else if (what == 30 && fake->ndev.running) {
			nvdla_hw_lock(&fake->ndev);
			nvdla_abort(&fake->ndev, -ECANCELED);
			nvdla_reset(&fake->ndev);
			nvdla_hw_unlock(&fake->ndev);
		}
		if (what % 4 == 0)
			fake_recover(fake);
	}
	if (fake->ndev.state != NVDLA_STATE_DEAD) {
		nvdla_hw_lock(&fake->ndev);
		nvdla_give_up(&fake->ndev);
		nvdla_hw_unlock(&fake->ndev);
	}
	fake_set_up(fake);
	nvdla_hw_lock(&fake->ndev);
	nvdla_sched_release_held(&fake->ndev);
	nvdla_hw_unlock(&fake->ndev);
	for (i = 0; i < CONTEXTS; i++)
		KUNIT_EXPECT_EQ_MSG(test, last_seqno[i], made[i],
				    "context %u has fences that never signal",
				    i);
	KUNIT_EXPECT_FALSE(test, disordered);
	KUNIT_EXPECT_FALSE(test, early);
	fake_destroy(fake);
	test->priv = NULL;
}

/* Whatever comes, in whatever order. */
static void fences_of_a_context_signal_in_order(struct kunit *test)
{
	struct rnd_state rnd;
	u32 seed;

	fake_destroy(test->priv);
	for (seed = 1; seed <= 200 && !test->status; seed++) {
		prandom_seed_state(&rnd, seed);
		live(test, &rnd, seed % 2);
		if (test->status)
			kunit_info(test, "seed %u\n", seed);
	}
}

static struct kunit_case nvdla_sched_cases[] = {
	KUNIT_CASE(job_runs),
	KUNIT_CASE(jobs_of_a_context_keep_their_order),
	KUNIT_CASE(contexts_of_a_user_share_by_time),
	KUNIT_CASE(job_yields_and_goes_on),
	KUNIT_CASE(job_alone_does_not_yield),
	KUNIT_CASE(short_layers_share_a_turn),
	KUNIT_CASE(turn_ends_before_it_is_too_long),
	KUNIT_CASE(contexts_give_no_share),
	KUNIT_CASE(light_user_waits_for_one_turn_of_each),
	KUNIT_CASE(users_share_by_time),
	KUNIT_CASE(new_contexts_get_no_credit),
	KUNIT_CASE(new_contexts_pay_for_long_layers),
	KUNIT_CASE(idle_time_is_not_saved_up),
	KUNIT_CASE(usage_forgets_after_a_second),
	KUNIT_CASE(cancel_ends_what_waits_and_cuts_what_runs),
	KUNIT_CASE(hang_is_quarantined_and_recovered),
	KUNIT_CASE(failed_reset_ends_everything),
	KUNIT_CASE(gone_device_is_nobodys_guilt),
	KUNIT_CASE(removal_ends_everything),
	KUNIT_CASE(paused_device_starts_nothing),
	KUNIT_CASE(hang_signals_after_the_reset),
	KUNIT_CASE(failed_reset_signals_what_was_held),
	KUNIT_CASE(fences_of_a_context_signal_in_order),
	{}
};

static struct kunit_suite nvdla_sched_suite = {
	.name = "nvdla_sched",
	.init = sched_init,
	.exit = sched_exit,
	.test_cases = nvdla_sched_cases,
};

kunit_test_suite(nvdla_sched_suite);
