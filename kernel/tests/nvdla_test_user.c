// SPDX-License-Identifier: GPL-2.0
/*
 * Owners: charges on the way up to the initial namespace, and files that are
 * closed with contexts that have jobs.
 */
#include "../nvdla_sched.h"
#include "nvdla_test_fake.h"

#define LIMIT	8192	/* the default of user_contexts */

static u64 used(const struct nvdla_user *user)
{
	return atomic64_read(&user->used[NVDLA_RESOURCE_CONTEXTS]);
}

/* Two sub-uids of one account, and another account. */
struct family {
	struct nvdla_user owner;
	struct nvdla_user children[2];
	struct nvdla_user other;
};

static struct family *family_create(struct kunit *test)
{
	struct family *family =
		kunit_kzalloc(test, sizeof(*family), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, family);
	family->children[0].parent = &family->owner;
	family->children[1].parent = &family->owner;
	return family;
}

static void charges_count_at_each_owner(struct kunit *test)
{
	struct family *family = family_create(test);

	KUNIT_EXPECT_EQ(test, 0, nvdla_charge(&family->children[0],
					      NVDLA_RESOURCE_CONTEXTS, 3));
	KUNIT_EXPECT_EQ(test, 0, nvdla_charge(&family->children[1],
					      NVDLA_RESOURCE_CONTEXTS, 4));
	KUNIT_EXPECT_EQ(test, used(&family->children[0]), 3);
	KUNIT_EXPECT_EQ(test, used(&family->children[1]), 4);
	KUNIT_EXPECT_EQ(test, used(&family->owner), 7);
	KUNIT_EXPECT_EQ(test, used(&family->other), 0);
	nvdla_uncharge(&family->children[1], NVDLA_RESOURCE_CONTEXTS, 4);
	KUNIT_EXPECT_EQ(test, used(&family->children[1]), 0);
	KUNIT_EXPECT_EQ(test, used(&family->owner), 3);
	KUNIT_EXPECT_PTR_EQ(test, nvdla_user_top(&family->children[0]),
			    &family->owner);
	KUNIT_EXPECT_PTR_EQ(test, nvdla_user_top(&family->other),
			    &family->other);
}

/* Sub-uids have together what their owner may have. */
static void sub_uids_have_one_limit(struct kunit *test)
{
	struct family *family = family_create(test);

	KUNIT_ASSERT_EQ(test, 0, nvdla_charge(&family->children[0],
					      NVDLA_RESOURCE_CONTEXTS,
					      LIMIT - 1));
	KUNIT_EXPECT_EQ(test, -EDQUOT, nvdla_charge(&family->children[1],
						    NVDLA_RESOURCE_CONTEXTS,
						    2));
	KUNIT_EXPECT_EQ_MSG(test, used(&family->children[1]), 0,
			    "what is refused changes nothing");
	KUNIT_EXPECT_EQ(test, used(&family->owner), LIMIT - 1);
	KUNIT_EXPECT_EQ(test, 0, nvdla_charge(&family->children[1],
					      NVDLA_RESOURCE_CONTEXTS, 1));
	KUNIT_EXPECT_EQ(test, 0, nvdla_charge(&family->other,
					      NVDLA_RESOURCE_CONTEXTS, LIMIT));
}

/* A file has its contexts, destroyed ones too, until their last job ends. */
static void closed_file_cancels_all_its_contexts(struct kunit *test)
{
	struct fake *fake = fake_create(test, &fake_bus_ops);
	struct nvdla_client *client = &fake->clients[0];
	struct nvdla_submission *running, *destroyed, *other;

	spin_lock_init(&client->lock);
	INIT_LIST_HEAD(&client->contexts);
	fake->contexts[1].client = client;
	nvdla_client_add(client, &fake->contexts[0]);
	nvdla_client_add(client, &fake->contexts[1]);
	running = job_start(test, 0, 6);
	destroyed = job_start(test, 1, 1);
	other = job_start(test, 2, 1);

	nvdla_client_cancel(client);
	KUNIT_EXPECT_EQ(test, status_of(destroyed), -ECANCELED);
	KUNIT_EXPECT_EQ_MSG(test, status_of(running), 0, "a layer runs");
	layer_end(test);
	layer_end(test);
	KUNIT_EXPECT_EQ(test, status_of(running), -ECANCELED);
	KUNIT_EXPECT_PTR_EQ(test, fake->ndev.running, other);
	KUNIT_EXPECT_TRUE(test, list_empty(&client->contexts));
	fake_destroy(fake);
}

/* The charge of a job is gone when its fence signals. */
static void job_is_charged_until_it_ends(struct kunit *test)
{
	struct fake *fake = fake_create(test, &fake_bus_ops);
	struct nvdla_user *user = &fake->users[0];
	struct nvdla_submission *job;

	fake->clients[0].user = user;
	job = job_create(test, 0, 1);
	KUNIT_ASSERT_EQ(test, 0, nvdla_charge(user, NVDLA_RESOURCE_JOBS, 1));
	job->charged = true;
	job_ready(job);
	KUNIT_EXPECT_EQ(test, 1,
			atomic64_read(&user->used[NVDLA_RESOURCE_JOBS]));
	layer_end(test);
	KUNIT_EXPECT_EQ(test, status_of(job), 1);
	KUNIT_EXPECT_EQ(test, 0,
			atomic64_read(&user->used[NVDLA_RESOURCE_JOBS]));
	fake_destroy(fake);
}

static struct kunit_case nvdla_user_cases[] = {
	KUNIT_CASE(charges_count_at_each_owner),
	KUNIT_CASE(sub_uids_have_one_limit),
	KUNIT_CASE(closed_file_cancels_all_its_contexts),
	KUNIT_CASE(job_is_charged_until_it_ends),
	{}
};

static struct kunit_suite nvdla_user_suite = {
	.name = "nvdla_user",
	.test_cases = nvdla_user_cases,
};

kunit_test_suite(nvdla_user_suite);
