// SPDX-License-Identifier: GPL-2.0
/*
 * The reservations of the buffers of a job: what it waits for, and who waits
 * for it.
 *
 * Buffers are told apart by their reservations. Several may share one, as those
 * do that an exporter makes so, and a reservation can be locked only once. What
 * a job does to one of its buffers it does to the reservation.
 */
#include <linux/dma-fence-array.h>
#include <linux/dma-resv.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include <drm/drm_gem.h>
#include <drm/gpu_scheduler.h>

#include "nvdla_compat.h"
#include "nvdla_job.h"

/**
 * nvdla_resv_alloc() - memory for a set
 * @set: empty
 * @max: how many buffers it will have at most, not 0
 *
 * Return: 0, or -ENOMEM; nvdla_resv_free() either way.
 */
int nvdla_resv_alloc(struct nvdla_resv_set *set, u32 max)
{
	set->objects = kvcalloc(max, sizeof(*set->objects), GFP_KERNEL);
	set->written = kvcalloc(max, sizeof(*set->written), GFP_KERNEL);
	return set->objects && set->written ? 0 : -ENOMEM;
}

/**
 * nvdla_resv_free() - give the memory of a set back
 * @set: set, not locked
 */
void nvdla_resv_free(struct nvdla_resv_set *set)
{
	kvfree(set->objects);
	kvfree(set->written);
}

/**
 * nvdla_resv_add() - a buffer of the job
 * @set: set with memory for it
 * @obj: buffer, which stays at least as long as the set
 * @write: the job writes to it
 */
void nvdla_resv_add(struct nvdla_resv_set *set, struct drm_gem_object *obj,
		    bool write)
{
	u32 i;

	for (i = 0; i < set->count; i++)
		if (set->objects[i]->resv == obj->resv)
			break;
	if (i == set->count)
		set->objects[set->count++] = obj;
	set->written[i] |= write;
}

/**
 * nvdla_resv_lock() - lock all reservations
 * @set: set
 *
 * Return: 0, or -EINTR or -ERESTARTSYS if a signal came before.
 */
int nvdla_resv_lock(struct nvdla_resv_set *set)
{
	return drm_gem_lock_reservations(set->objects, set->count,
					 &set->acquire);
}

/**
 * nvdla_resv_unlock() - unlock them
 * @set: set, locked
 */
void nvdla_resv_unlock(struct nvdla_resv_set *set)
{
	drm_gem_unlock_reservations(set->objects, set->count, &set->acquire);
}

/*
 * The number of the last job of this driver that writes and has not ended. It
 * waits for all jobs before it that use the reservation, so who waits for it
 * need not wait for them.
 */
static u64 nvdla_resv_last_writer(struct dma_resv *resv)
{
	struct dma_resv_iter cursor;
	struct dma_fence *fence;
	u64 last = 0;

	dma_resv_for_each_fence(&cursor, resv, DMA_RESV_USAGE_WRITE, fence)
		if (!dma_fence_is_signaled(fence))
			last = max(last, nvdla_fence_order(fence));
	return last;
}

/* Must a job wait for the fence itself, and not only for the last writer? */
static bool nvdla_resv_waits_for(struct dma_fence *fence, u64 last_writer)
{
	u64 order;

	if (dma_fence_is_signaled(fence))
		return false;
	order = nvdla_fence_order(fence);
	return !order || order >= last_writer;
}

static void nvdla_resv_put_fences(struct dma_fence **fences, u32 count)
{
	while (count--)
		dma_fence_put(fences[count]);
	kfree(fences);
}

/* One fence for several, whose array it takes over. */
static struct dma_fence *nvdla_resv_join(struct dma_fence **fences, u32 count)
{
	struct dma_fence_array *array;
	struct dma_fence *fence;

	if (count == 1) {
		fence = fences[0];
		kfree(fences);
		return fence;
	}
	array = nvdla_dma_fence_array_create(count, fences,
					     dma_fence_context_alloc(1), 1);
	if (!array) {
		nvdla_resv_put_fences(fences, count);
		return ERR_PTR(-ENOMEM);
	}
	return &array->base;
}

/*
 * Gives the job one fence for all of a reservation: the scheduler compares each
 * that it is given with all that it has, which would be quadratic. So would the
 * memory be of a row of writers that each wait for all before them.
 */
static int nvdla_resv_depend_one(struct drm_sched_job *job,
				 struct dma_resv *resv, bool write)
{
	enum dma_resv_usage usage = dma_resv_usage_rw(write);
	u64 last_writer = nvdla_resv_last_writer(resv);
	struct dma_resv_iter cursor;
	struct dma_fence **fences, *fence;
	u32 max = 0, count = 0;

	dma_resv_for_each_fence(&cursor, resv, usage, fence)
		max += nvdla_resv_waits_for(fence, last_writer);
	if (!max)
		return 0;
	fences = kmalloc_array(max, sizeof(*fences), GFP_KERNEL_ACCOUNT);
	if (!fences)
		return -ENOMEM;
	/* Some may have signalled meanwhile, and none was added. */
	dma_resv_for_each_fence(&cursor, resv, usage, fence)
		if (nvdla_resv_waits_for(fence, last_writer))
			fences[count++] = dma_fence_get(fence);
	if (!count) {
		kfree(fences);
		return 0;
	}
	fence = nvdla_resv_join(fences, count);
	if (IS_ERR(fence))
		return PTR_ERR(fence);
	return drm_sched_job_add_dependency(job, fence);
}

/**
 * nvdla_resv_depend() - let a job wait for the users of its buffers before it
 * @set: set, locked
 * @job: job, not armed
 *
 * There is room for a fence in each reservation afterwards.
 *
 * Return: 0, or an errno.
 */
int nvdla_resv_depend(struct nvdla_resv_set *set, struct drm_sched_job *job)
{
	int ret = 0;
	u32 i;

	for (i = 0; i < set->count && !ret; i++) {
		struct dma_resv *resv = set->objects[i]->resv;

		ret = dma_resv_reserve_fences(resv, 1);
		if (!ret)
			ret = nvdla_resv_depend_one(job, resv, set->written[i]);
	}
	return ret;
}

/**
 * nvdla_resv_publish() - let the next users of the buffers wait for a job
 * @set: set, locked, after nvdla_resv_depend()
 * @fence: of the job
 */
void nvdla_resv_publish(struct nvdla_resv_set *set, struct dma_fence *fence)
{
	u32 i;

	for (i = 0; i < set->count; i++)
		dma_resv_add_fence(set->objects[i]->resv, fence,
				   set->written[i] ? DMA_RESV_USAGE_WRITE :
						     DMA_RESV_USAGE_READ);
}
