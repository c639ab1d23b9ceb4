// SPDX-License-Identifier: GPL-2.0
/*
 * The reservations of the buffers of a job: what it waits for, and who waits
 * for it.
 *
 * Buffers are told apart by their reservations. Several may share one, as those
 * do that an exporter makes so, and a reservation can be locked only once. What
 * a job does to one of its buffers it does to the reservation.
 */
#include <linux/dma-resv.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include <drm/drm_gem.h>
#include <drm/gpu_scheduler.h>

#include "nvdla_resv.h"

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
 * All fences of a reservation as one: the scheduler compares each that it is
 * given with all that it has, which would be quadratic.
 */
static int nvdla_resv_depend_one(struct drm_sched_job *job,
				 struct dma_resv *resv, bool write)
{
	struct dma_fence *fence;
	int ret;

	ret = dma_resv_get_singleton(resv, dma_resv_usage_rw(write), &fence);
	return ret ? ret : drm_sched_job_add_dependency(job, fence);
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
