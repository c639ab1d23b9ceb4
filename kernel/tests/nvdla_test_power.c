// SPDX-License-Identifier: GPL-2.0
/*
 * A device that sleeps, wakes up, and is reset by somebody else.
 */
#include <linux/pm.h>
#include <linux/pm_runtime.h>

#include "../nvdla_power.h"
#include "../nvdla_reset.h"
#include "../nvdla_sched.h"
#include "nvdla_test_fake.h"

/* Runtime PM of the device is off: the core counts, and calls nobody. */
static int power_init(struct kunit *test)
{
	struct fake *fake = fake_create(test, &fake_bus_ops);

	device_initialize(&fake->dev);
	return 0;
}

static void power_exit(struct kunit *test)
{
	if (test->priv)
		fake_destroy(test->priv);
}

static void busy_device_does_not_sleep(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct nvdla_submission *job = job_start(test, 0, 1);

	KUNIT_EXPECT_EQ(test, -EBUSY, nvdla_pm_ops.runtime_suspend(&fake->dev));
	KUNIT_EXPECT_FALSE(test, fake->ndev.offline);
	layer_end(test);
	KUNIT_EXPECT_EQ(test, status_of(job), 1);
	KUNIT_EXPECT_EQ(test, 0, nvdla_pm_ops.runtime_suspend(&fake->dev));
	KUNIT_EXPECT_TRUE(test, fake->ndev.offline);
}

/* A job that is ready while the device sleeps runs when it wakes up. */
static void sleeping_device_goes_on(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct nvdla_submission *job;

	KUNIT_ASSERT_EQ(test, 0, nvdla_pm_ops.runtime_suspend(&fake->dev));
	job = job_start(test, 0, 1);
	KUNIT_EXPECT_EQ(test, job->state, NVDLA_SUBMISSION_READY);
	fake_set_up(fake);
	KUNIT_ASSERT_EQ(test, 0, nvdla_pm_ops.runtime_resume(&fake->dev));
	KUNIT_EXPECT_EQ(test, job->state, NVDLA_SUBMISSION_STARTED);
	layer_end(test);
	KUNIT_EXPECT_EQ(test, status_of(job), 1);
}

/* It answers all ones: the driver resets it, and the job runs. */
static void device_that_wakes_up_wrong_is_reset(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct nvdla_submission *job;

	KUNIT_ASSERT_EQ(test, 0, nvdla_pm_ops.runtime_suspend(&fake->dev));
	job = job_start(test, 0, 1);
	fake_set_up(fake);
	fake->gone = true;
	fake->reset_contended = 1;
	KUNIT_EXPECT_EQ(test, 0, nvdla_pm_ops.runtime_resume(&fake->dev));
	KUNIT_EXPECT_EQ(test, fake->ndev.state, NVDLA_STATE_BROKEN);
	fake->gone = false;
	fake_recover(fake);
	fake_recover(fake);
	KUNIT_EXPECT_EQ(test, fake->resets, 1);
	layer_end(test);
	KUNIT_EXPECT_EQ(test, status_of(job), 1);
}

/* A reset by somebody else, between two layers: nothing is lost. */
static void foreign_reset_loses_nothing(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct nvdla_submission *job = job_start(test, 0, 1);

	layer_end(test);
	KUNIT_EXPECT_EQ(test, status_of(job), 1);
	nvdla_reset_prepare(&fake->ndev);
	job = job_start(test, 0, 1);
	KUNIT_EXPECT_EQ(test, job->state, NVDLA_SUBMISSION_READY);
	fake_set_up(fake);
	nvdla_reset_done(&fake->ndev);
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&fake->ndev.resets));
	KUNIT_EXPECT_EQ(test, job->state, NVDLA_SUBMISSION_STARTED);
	layer_end(test);
	KUNIT_EXPECT_EQ(test, status_of(job), 1);
}

/* In the middle of a layer: only a reset of our own proves that it is over. */
static void foreign_reset_in_a_layer_is_repeated(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct nvdla_submission *job = job_start(test, 0, 1);

	nvdla_reset_prepare(&fake->ndev);
	KUNIT_EXPECT_EQ(test, status_of(job), -ECANCELED);
	KUNIT_EXPECT_TRUE(test, fake->isolated);
	fake_set_up(fake);
	nvdla_reset_done(&fake->ndev);
	fake_recover(fake);
	KUNIT_EXPECT_EQ(test, fake->resets, 1);
	KUNIT_EXPECT_FALSE(test, fake->isolated);
	KUNIT_EXPECT_EQ(test, fake->ndev.state, NVDLA_STATE_RUNNING);
}

static struct kunit_case nvdla_power_cases[] = {
	KUNIT_CASE(busy_device_does_not_sleep),
	KUNIT_CASE(sleeping_device_goes_on),
	KUNIT_CASE(device_that_wakes_up_wrong_is_reset),
	KUNIT_CASE(foreign_reset_loses_nothing),
	KUNIT_CASE(foreign_reset_in_a_layer_is_repeated),
	{}
};

static struct kunit_suite nvdla_power_suite = {
	.name = "nvdla_power",
	.init = power_init,
	.exit = power_exit,
	.test_cases = nvdla_power_cases,
};

kunit_test_suite(nvdla_power_suite);
