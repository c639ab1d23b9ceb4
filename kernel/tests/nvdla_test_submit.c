// SPDX-License-Identifier: GPL-2.0
/*
 * The reservations of a job: each is locked once, however many buffers have it,
 * and gives the job one fence to wait for, however many it has.
 */
#include <linux/dma-fence-array.h>
#include <linux/dma-resv.h>

#include <drm/drm_gem.h>
#include <drm/gpu_scheduler.h>

#include "../nvdla_job.h"
#include "nvdla_test.h"

#define BUFFERS	3
#define FENCES	100

struct resvs {
	struct nvdla_resv_set set;
	struct drm_gem_object objects[BUFFERS];
	struct dma_resv own[BUFFERS];
	struct drm_sched_job job;
};

static int submit_init(struct kunit *test)
{
	struct resvs *resvs = kunit_kzalloc(test, sizeof(*resvs), GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, resvs);
	for (i = 0; i < BUFFERS; i++) {
		dma_resv_init(&resvs->own[i]);
		resvs->objects[i].resv = &resvs->own[i];
	}
	xa_init_flags(&resvs->job.dependencies, XA_FLAGS_ALLOC);
	test->priv = resvs;
	return nvdla_resv_alloc(&resvs->set, BUFFERS);
}

static void submit_exit(struct kunit *test)
{
	struct resvs *resvs = test->priv;
	struct dma_fence *fence;
	unsigned long index;
	u32 i;

	if (!resvs)
		return;
	xa_for_each(&resvs->job.dependencies, index, fence)
		dma_fence_put(fence);
	xa_destroy(&resvs->job.dependencies);
	nvdla_resv_free(&resvs->set);
	for (i = 0; i < BUFFERS; i++)
		dma_resv_fini(&resvs->own[i]);
}

/* The first fence of a timeline of its own. */
static struct dma_fence *fence_create(struct kunit *test)
{
	struct dma_fence *fence = nvdla_fence_alloc();

	KUNIT_ASSERT_NOT_NULL(test, fence);
	nvdla_fence_init(fence, dma_fence_context_alloc(1), 1);
	return fence;
}

static u32 count_dependencies(struct resvs *resvs)
{
	struct dma_fence *fence;
	unsigned long index;
	u32 count = 0;

	xa_for_each(&resvs->job.dependencies, index, fence)
		count++;
	return count;
}

static u32 count_fences(struct dma_resv *resv, enum dma_resv_usage usage)
{
	struct dma_resv_iter cursor;
	struct dma_fence *fence;
	u32 count = 0;

	dma_resv_lock(resv, NULL);
	dma_resv_for_each_fence(&cursor, resv, usage, fence)
		count++;
	dma_resv_unlock(resv);
	return count;
}

static void resv_of_each_buffer(struct kunit *test)
{
	struct resvs *resvs = test->priv;
	u32 i;

	for (i = 0; i < BUFFERS; i++)
		nvdla_resv_add(&resvs->set, &resvs->objects[i], i == 1);
	/* The same again. */
	nvdla_resv_add(&resvs->set, &resvs->objects[0], false);
	KUNIT_EXPECT_EQ(test, BUFFERS, resvs->set.count);
	for (i = 0; i < BUFFERS; i++)
		KUNIT_EXPECT_EQ(test, i == 1, resvs->set.written[i]);
	KUNIT_ASSERT_EQ(test, 0, nvdla_resv_lock(&resvs->set));
	for (i = 0; i < BUFFERS; i++)
		KUNIT_EXPECT_TRUE(test, dma_resv_is_locked(&resvs->own[i]));
	nvdla_resv_unlock(&resvs->set);
	for (i = 0; i < BUFFERS; i++)
		KUNIT_EXPECT_FALSE(test, dma_resv_is_locked(&resvs->own[i]));
}

/* An exporter may give several buffers one reservation. */
static void resv_of_several_buffers(struct kunit *test)
{
	struct resvs *resvs = test->priv;
	u32 i;

	for (i = 0; i < BUFFERS; i++) {
		resvs->objects[i].resv = &resvs->own[0];
		nvdla_resv_add(&resvs->set, &resvs->objects[i], i == 2);
	}
	KUNIT_EXPECT_EQ(test, 1, resvs->set.count);
	KUNIT_EXPECT_TRUE(test, resvs->set.written[0]);
	KUNIT_ASSERT_EQ(test, 0, nvdla_resv_lock(&resvs->set));
	nvdla_resv_unlock(&resvs->set);
}

static void resv_is_one_dependency(struct kunit *test)
{
	struct resvs *resvs = test->priv;
	struct dma_fence *fences[FENCES];
	struct dma_resv *resv = &resvs->own[0];
	u32 i;

	dma_resv_lock(resv, NULL);
	for (i = 0; i < FENCES; i++) {
		fences[i] = fence_create(test);
		KUNIT_ASSERT_EQ(test, 0, dma_resv_reserve_fences(resv, 1));
		dma_resv_add_fence(resv, fences[i], DMA_RESV_USAGE_READ);
	}
	dma_resv_unlock(resv);

	nvdla_resv_add(&resvs->set, &resvs->objects[0], true);
	nvdla_resv_add(&resvs->set, &resvs->objects[1], true);
	KUNIT_ASSERT_EQ(test, 0, nvdla_resv_lock(&resvs->set));
	KUNIT_EXPECT_EQ(test, 0, nvdla_resv_depend(&resvs->set, &resvs->job));
	nvdla_resv_unlock(&resvs->set);
	KUNIT_EXPECT_EQ(test, 1, count_dependencies(resvs));

	for (i = 0; i < FENCES; i++) {
		nvdla_fence_end(fences[i], 0);
		dma_fence_put(fences[i]);
	}
}

/* A row of writers of this driver: the last one stands for all before it. */
static void resv_waits_for_the_last_writer(struct kunit *test)
{
	struct resvs *resvs = test->priv;
	struct dma_resv *resv = &resvs->own[0];
	struct dma_fence *fences[4], *fence;
	unsigned long index;
	u32 i;

	/* A reader, two writers, and a reader behind them. */
	dma_resv_lock(resv, NULL);
	for (i = 0; i < ARRAY_SIZE(fences); i++) {
		fences[i] = fence_create(test);
		KUNIT_ASSERT_EQ(test, 0, dma_resv_reserve_fences(resv, 1));
		dma_resv_add_fence(resv, fences[i], i % 3 ?
				   DMA_RESV_USAGE_WRITE : DMA_RESV_USAGE_READ);
	}
	dma_resv_unlock(resv);

	nvdla_resv_add(&resvs->set, &resvs->objects[0], false);
	KUNIT_ASSERT_EQ(test, 0, nvdla_resv_lock(&resvs->set));
	KUNIT_EXPECT_EQ(test, 0, nvdla_resv_depend(&resvs->set, &resvs->job));
	nvdla_resv_unlock(&resvs->set);
	KUNIT_EXPECT_EQ(test, 1, count_dependencies(resvs));
	xa_for_each(&resvs->job.dependencies, index, fence) {
		KUNIT_EXPECT_PTR_EQ(test, fences[2], fence);
		xa_erase(&resvs->job.dependencies, index);
		dma_fence_put(fence);
	}

	resvs->set.written[0] = true;
	KUNIT_ASSERT_EQ(test, 0, nvdla_resv_lock(&resvs->set));
	KUNIT_EXPECT_EQ(test, 0, nvdla_resv_depend(&resvs->set, &resvs->job));
	nvdla_resv_unlock(&resvs->set);
	xa_for_each(&resvs->job.dependencies, index, fence) {
		struct dma_fence_array *array = to_dma_fence_array(fence);

		KUNIT_ASSERT_NOT_NULL(test, array);
		KUNIT_EXPECT_EQ(test, 2, array->num_fences);
	}
	for (i = 0; i < ARRAY_SIZE(fences); i++) {
		nvdla_fence_end(fences[i], 0);
		dma_fence_put(fences[i]);
	}
}

/* A writer waits for all, a reader for those that write. */
static void resv_waits_for_what_it_must(struct kunit *test)
{
	static const struct {
		enum dma_resv_usage before;
		bool write;
		u32 dependencies;
		u32 writers;
	} cases[] = {
		{ DMA_RESV_USAGE_READ, false, 0, 0 },
		{ DMA_RESV_USAGE_READ, true, 1, 1 },
		{ DMA_RESV_USAGE_WRITE, false, 1, 1 },
		{ DMA_RESV_USAGE_WRITE, true, 1, 2 },
	};
	struct resvs *resvs = test->priv;
	struct dma_resv *resv = &resvs->own[0];
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct dma_fence *before = fence_create(test);
		struct dma_fence *own = fence_create(test);
		struct dma_fence *fence;
		unsigned long index;

		dma_resv_lock(resv, NULL);
		KUNIT_ASSERT_EQ(test, 0, dma_resv_reserve_fences(resv, 1));
		dma_resv_add_fence(resv, before, cases[i].before);
		dma_resv_unlock(resv);

		resvs->set.count = 0;
		resvs->set.written[0] = false;
		nvdla_resv_add(&resvs->set, &resvs->objects[0], cases[i].write);
		KUNIT_ASSERT_EQ(test, 0, nvdla_resv_lock(&resvs->set));
		KUNIT_EXPECT_EQ(test, 0,
				nvdla_resv_depend(&resvs->set, &resvs->job));
		nvdla_resv_publish(&resvs->set, own);
		nvdla_resv_unlock(&resvs->set);
		KUNIT_EXPECT_EQ(test, cases[i].dependencies,
				count_dependencies(resvs));
		KUNIT_EXPECT_EQ(test, cases[i].writers,
				count_fences(resv, DMA_RESV_USAGE_WRITE));
		KUNIT_EXPECT_EQ(test, 2,
				count_fences(resv, DMA_RESV_USAGE_READ));

		xa_for_each(&resvs->job.dependencies, index, fence) {
			KUNIT_EXPECT_PTR_EQ(test, before, fence);
			xa_erase(&resvs->job.dependencies, index);
			dma_fence_put(fence);
		}
		nvdla_fence_end(before, 0);
		nvdla_fence_end(own, 0);
		dma_fence_put(before);
		dma_fence_put(own);
	}
}

static struct kunit_case nvdla_submit_cases[] = {
	KUNIT_CASE(resv_of_each_buffer),
	KUNIT_CASE(resv_of_several_buffers),
	KUNIT_CASE(resv_is_one_dependency),
	KUNIT_CASE(resv_waits_for_the_last_writer),
	KUNIT_CASE(resv_waits_for_what_it_must),
	{}
};

static struct kunit_suite nvdla_submit_suite = {
	.name = "nvdla_submit",
	.init = submit_init,
	.exit = submit_exit,
	.test_cases = nvdla_submit_cases,
};

kunit_test_suite(nvdla_submit_suite);
