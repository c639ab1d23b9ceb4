// SPDX-License-Identifier: GPL-2.0
/*
 * Fences: their order, their errors, their end.
 */
#include <kunit/test.h>

#include "../nvdla_job.h"

static struct dma_fence *fence_create(struct kunit *test, u64 seqno)
{
	struct dma_fence *fence = nvdla_fence_alloc();

	KUNIT_ASSERT_NOT_NULL(test, fence);
	nvdla_fence_init(fence, 7, seqno);
	return fence;
}

static void fence_can_be_discarded(struct kunit *test)
{
	struct dma_fence *fence = nvdla_fence_alloc();

	KUNIT_ASSERT_NOT_NULL(test, fence);
	nvdla_fence_discard(fence);
	nvdla_fence_discard(NULL);
}

static void fence_ends_well(struct kunit *test)
{
	struct dma_fence *fence = fence_create(test, 1);

	KUNIT_EXPECT_EQ(test, dma_fence_get_status(fence), 0);
	nvdla_fence_end(fence, 0);
	KUNIT_EXPECT_EQ(test, dma_fence_get_status(fence), 1);
	dma_fence_put(fence);
}

static void fence_ends_with_an_error(struct kunit *test)
{
	struct dma_fence *fence = fence_create(test, 1);

	nvdla_fence_end(fence, -ETIME);
	KUNIT_EXPECT_EQ(test, dma_fence_get_status(fence), -ETIME);
	dma_fence_put(fence);
}

static void fences_have_an_order(struct kunit *test)
{
	struct dma_fence *first = fence_create(test, U32_MAX);
	struct dma_fence *second = fence_create(test, U32_MAX + 1ull);

	KUNIT_EXPECT_EQ(test, first->context, second->context);
	KUNIT_EXPECT_TRUE(test, dma_fence_is_later(second, first));
	nvdla_fence_end(first, 0);
	KUNIT_EXPECT_EQ(test, dma_fence_get_status(second), 0);
	nvdla_fence_end(second, 0);
	dma_fence_put(first);
	dma_fence_put(second);
}

struct fence_watch {
	struct dma_fence_cb callback;
	int status;
};

static void fence_told(struct dma_fence *fence, struct dma_fence_cb *callback)
{
	container_of(callback, struct fence_watch, callback)->status =
		dma_fence_get_status_locked(fence);
}

static void fence_tells_who_waits(struct kunit *test)
{
	struct dma_fence *fence = fence_create(test, 1);
	struct fence_watch watch = {};

	KUNIT_ASSERT_EQ(test, 0, dma_fence_add_callback(fence, &watch.callback,
							fence_told));
	nvdla_fence_end(fence, -ECANCELED);
	KUNIT_EXPECT_EQ(test, watch.status, -ECANCELED);
	KUNIT_EXPECT_EQ(test, -ENOENT,
			dma_fence_add_callback(fence, &watch.callback,
					       fence_told));
	dma_fence_put(fence);
}

static struct kunit_case nvdla_fence_cases[] = {
	KUNIT_CASE(fence_can_be_discarded),
	KUNIT_CASE(fence_ends_well),
	KUNIT_CASE(fence_ends_with_an_error),
	KUNIT_CASE(fences_have_an_order),
	KUNIT_CASE(fence_tells_who_waits),
	{}
};

static struct kunit_suite nvdla_fence_suite = {
	.name = "nvdla_fence",
	.test_cases = nvdla_fence_cases,
};

kunit_test_suite(nvdla_fence_suite);
