// SPDX-License-Identifier: GPL-2.0
/*
 * SUBMIT: everything that can fail, before the job is armed.
 *
 * All that user memory says is copied first, and a rule that was broken is
 * reported last: in between are locks, and drm_dev_enter() twice and shortly.
 * The first time is to wake the device up. The second is around the arming of
 * the job: a device that did not go before had not gone when the addresses of
 * buffers were read, and one that goes later ends the job.
 */
#include <linux/dma-fence-chain.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include <drm/drm_drv.h>
#include <drm/drm_syncobj.h>

#include "nvdla_compat.h"
#include "nvdla_context.h"
#include "nvdla_device.h"
#include "nvdla_drv.h"
#include "nvdla_gem.h"
#include "nvdla_job.h"
#include "nvdla_power.h"
#include "nvdla_program.h"
#include "nvdla_user.h"

/** struct nvdla_signal - a sync object to signal, prepared */
struct nvdla_signal {
	struct drm_syncobj *syncobj;
	/* for a point of a timeline; NULL for a binary sync object */
	struct dma_fence_chain *chain;
	u64 point;
};

/** struct nvdla_submit - a submission in the making */
struct nvdla_submit {
	struct drm_file *file;
	struct nvdla_submission *submission;
	/* copies of the user's arrays, NULL for none */
	struct drm_nvdla_binding *bindings;
	struct drm_nvdla_sync *syncs;
	u32 num_bindings;
	u32 num_syncs;
	/* of the buffers */
	struct nvdla_resv_set resvs;
	struct nvdla_signal *signals;
	u32 num_signals;
	/* which rule the bindings break */
	struct nvdla_error error;
};

static int nvdla_submit_object(struct nvdla_submit *submit, u32 handle,
			       struct nvdla_bo **bo)
{
	struct nvdla_submission *submission = submit->submission;
	struct drm_gem_object *obj;

	obj = drm_gem_object_lookup(submit->file, handle);
	if (!obj)
		return -ENOENT;
	submission->objects[submission->num_objects++] = obj;
	*bo = to_nvdla_bo(obj);
	return 0;
}

/* The program's own buffer, which only an empty binding stands for. */
static void nvdla_submit_bind_control(struct nvdla_submit *submit,
				      const struct drm_nvdla_binding *user,
				      struct nvdla_binding *binding)
{
	struct nvdla_submission *submission = submit->submission;
	struct nvdla_bo *bo = submission->program->control;

	/*
	 * Left as it is, access to nothing, nvdla_program_check_bindings()
	 * refuses it.
	 */
	if (user->handle || user->offset)
		return;
	drm_gem_object_get(&bo->base);
	submission->objects[submission->num_objects++] = &bo->base;
	binding->address = bo->dma;
	binding->size = bo->base.size;
	binding->memory = bo->memory;
	binding->access = NVDLA_SLOT_CONTROL;
}

static int nvdla_submit_bind(struct nvdla_submit *submit,
			     const struct drm_nvdla_binding *user,
			     struct nvdla_binding *binding)
{
	struct nvdla_bo *bo;
	int ret;

	ret = nvdla_submit_object(submit, user->handle, &bo);
	if (ret)
		return ret;
	if (user->offset > bo->base.size)
		return -EINVAL;
	binding->address = bo->dma + user->offset;
	binding->size = bo->base.size - user->offset;
	binding->memory = bo->memory;
	binding->access = NVDLA_SLOT_READ | NVDLA_SLOT_WRITE;
	return 0;
}

/* All that is read of user memory. */
static int nvdla_submit_copy(struct nvdla_submit *submit,
			     const struct drm_nvdla_submit *args)
{
	void *copy;

	copy = nvdla_copy_array(&args->bindings, NVDLA_MAX_SLOTS,
				sizeof(*submit->bindings));
	if (IS_ERR(copy))
		return PTR_ERR(copy);
	submit->bindings = copy;
	submit->num_bindings = args->bindings.count;

	copy = nvdla_copy_array(&args->syncs, DRM_NVDLA_MAX_SYNCS,
				sizeof(*submit->syncs));
	if (IS_ERR(copy))
		return PTR_ERR(copy);
	submit->syncs = copy;
	submit->num_syncs = args->syncs.count;
	return 0;
}

/* Looks up the buffer of each slot and proves that it may be bound. */
static int nvdla_submit_bindings(struct nvdla_submit *submit)
{
	struct nvdla_submission *submission = submit->submission;
	const struct nvdla_program *program = &submission->program->program;
	const struct drm_nvdla_binding *user = submit->bindings;
	u32 count = submit->num_bindings, i;
	struct nvdla_binding *bindings;
	int ret;

	/* one more for the statistics, and never zero */
	submission->objects = kvcalloc(count + 1, sizeof(*submission->objects),
				       GFP_KERNEL);
	submission->bases = kvcalloc(count + 1, sizeof(*submission->bases),
				     GFP_KERNEL);
	bindings = kvcalloc(count + 1, sizeof(*bindings), GFP_KERNEL);
	if (!submission->objects || !submission->bases || !bindings)
		ret = -ENOMEM;
	else
		ret = nvdla_resv_alloc(&submit->resvs, count + 1);

	for (i = 0; i < count && !ret; i++) {
		if (user[i].pad)
			ret = -EINVAL;
		else if (i < program->num_slots &&
			 program->slots[i].access == NVDLA_SLOT_CONTROL)
			nvdla_submit_bind_control(submit, &user[i],
						  &bindings[i]);
		else
			ret = nvdla_submit_bind(submit, &user[i], &bindings[i]);
		submission->bases[i] = bindings[i].address;
	}
	if (!ret && nvdla_program_check_bindings(program, bindings, count,
						 &submit->error))
		ret = -EINVAL;
	for (i = 0; i < count && !ret; i++)
		nvdla_resv_add(&submit->resvs, submission->objects[i],
			       program->slots[i].access & NVDLA_SLOT_WRITE);

	kvfree(bindings);
	return ret;
}

static int nvdla_submit_stats(struct nvdla_submit *submit,
			      const struct drm_nvdla_submit *args)
{
	struct nvdla_submission *submission = submit->submission;
	const struct nvdla_program *program = &submission->program->program;
	const u32 element = sizeof(struct nvdla_layer_stats);
	struct nvdla_bo *bo;
	void *vaddr;
	u64 size;
	int ret;

	if (!args->stats_handle)
		return args->stats_offset || args->stats_stride ||
		       program->flags & NVDLA_PROGRAM_STATS ? -EINVAL : 0;
	/* The structure is in its first version: no element may be shorter. */
	if (!(program->flags & NVDLA_PROGRAM_STATS) ||
	    !IS_ALIGNED(args->stats_offset, sizeof(u64)) ||
	    !IS_ALIGNED(args->stats_stride, sizeof(u64)) ||
	    args->stats_stride < element)
		return -EINVAL;
	size = (u64)(program->num_layers - 1) * args->stats_stride + element;
	ret = nvdla_submit_object(submit, args->stats_handle, &bo);
	if (ret)
		return ret;
	vaddr = READ_ONCE(bo->vaddr);
	if (bo->memory != NVDLA_MEMORY_DRAM || !vaddr ||
	    args->stats_offset > bo->base.size ||
	    size > bo->base.size - args->stats_offset)
		return -EINVAL;
	submission->stats = bo;
	submission->stats_offset = args->stats_offset;
	submission->stats_bytes = size;
	submission->job.stats = vaddr + args->stats_offset;
	submission->job.stats_stride = args->stats_stride;
	nvdla_resv_add(&submit->resvs, &bo->base, true);
	return 0;
}

static int nvdla_submit_signal(struct nvdla_submit *submit,
			       const struct drm_nvdla_sync *sync)
{
	struct nvdla_signal *signal = &submit->signals[submit->num_signals];

	if (sync->point) {
		signal->chain = dma_fence_chain_alloc();
		if (!signal->chain)
			return -ENOMEM;
	}
	signal->point = sync->point;
	signal->syncobj = drm_syncobj_find(submit->file, sync->handle);
	/* Counted even so: the chain is to be freed. */
	submit->num_signals++;
	return signal->syncobj ? 0 : -ENOENT;
}

static int nvdla_submit_wait(struct nvdla_submit *submit,
			     const struct drm_nvdla_sync *sync)
{
	struct dma_fence *fence;
	int ret;

	ret = drm_syncobj_find_fence(submit->file, sync->handle, sync->point, 0,
				     &fence);
	if (ret)
		return ret;
	return drm_sched_job_add_dependency(&submit->submission->base, fence);
}

static int nvdla_submit_syncs(struct nvdla_submit *submit)
{
	int ret = 0;
	u32 i;

	if (!submit->num_syncs)
		return 0;
	submit->signals = kcalloc(submit->num_syncs, sizeof(*submit->signals),
				  GFP_KERNEL);
	if (!submit->signals)
		ret = -ENOMEM;
	for (i = 0; i < submit->num_syncs && !ret; i++) {
		const struct drm_nvdla_sync *sync = &submit->syncs[i];

		if (sync->flags == DRM_NVDLA_SYNC_WAIT)
			ret = nvdla_submit_wait(submit, sync);
		else if (sync->flags == DRM_NVDLA_SYNC_SIGNAL)
			ret = nvdla_submit_signal(submit, sync);
		else
			ret = -EINVAL;
	}
	return ret;
}

/* Shows the fence to all that wait for the job from now on. */
static void nvdla_submit_publish(struct nvdla_submit *submit)
{
	struct dma_fence *fence = submit->submission->fence;
	u32 i;

	nvdla_resv_publish(&submit->resvs, fence);
	for (i = 0; i < submit->num_signals; i++) {
		struct nvdla_signal *signal = &submit->signals[i];

		if (signal->chain) {
			drm_syncobj_add_point(signal->syncobj, signal->chain,
					      fence, signal->point);
			signal->chain = NULL;
		} else {
			drm_syncobj_replace_fence(signal->syncobj, fence);
		}
	}
}

/*
 * From the arming of the job on nothing fails. It is armed and pushed under
 * the lock of its context, so that the scheduler has jobs in the order of their
 * fences.
 */
static int nvdla_submit_push(struct nvdla_submit *submit)
{
	struct nvdla_submission *submission = submit->submission;
	struct nvdla_context *context = submission->context;
	int cookie, ret;

	ret = mutex_lock_interruptible(&context->lock);
	if (ret)
		return ret;
	if (READ_ONCE(context->guilty))
		ret = -ECANCELED;
	else
		ret = nvdla_resv_lock(&submit->resvs);
	if (ret)
		goto unlock_context;
	ret = nvdla_resv_depend(&submit->resvs, &submission->base);
	if (ret)
		goto unlock_reservations;
	ret = -ENODEV;
	if (!drm_dev_enter(&submission->ndev->drm, &cookie))
		goto unlock_reservations;

	ret = 0;
	nvdla_submission_arm(submission);
	nvdla_submit_publish(submit);
	/* The scheduler's: it may run, end and be freed at once. */
	kref_get(&submission->ref);
	drm_sched_entity_push_job(&submission->base);
	drm_dev_exit(cookie);

unlock_reservations:
	nvdla_resv_unlock(&submit->resvs);
unlock_context:
	mutex_unlock(&context->lock);
	return ret;
}

static void nvdla_submit_clean(struct nvdla_submit *submit)
{
	u32 i;

	for (i = 0; i < submit->num_signals; i++) {
		dma_fence_chain_free(submit->signals[i].chain);
		if (submit->signals[i].syncobj)
			drm_syncobj_put(submit->signals[i].syncobj);
	}
	kfree(submit->signals);
	nvdla_resv_free(&submit->resvs);
	kvfree(submit->bindings);
	kvfree(submit->syncs);
}

static int nvdla_submit_wake(struct nvdla_submission *submission)
{
	struct nvdla_device *ndev = submission->ndev;
	int cookie, ret;

	if (!drm_dev_enter(&ndev->drm, &cookie))
		return -ENODEV;
	ret = nvdla_power_get(ndev);
	submission->powered = !ret;
	drm_dev_exit(cookie);
	return ret;
}

int nvdla_ioctl_submit(struct drm_device *drm, void *data,
		       struct drm_file *file)
{
	struct nvdla_device *ndev = to_nvdla_device(drm);
	struct nvdla_file *nfile = file->driver_priv;
	struct drm_nvdla_submit *args = data;
	struct nvdla_submission *submission;
	struct nvdla_submit submit = { .file = file };
	int ret;

	if (args->flags)
		return -EINVAL;
	ret = nvdla_check_room(args->error, args->error_bytes);
	if (ret)
		return ret;
	/* Without the lock: whoever is late learns it from the fence. */
	if (READ_ONCE(ndev->state) == NVDLA_STATE_DEAD)
		return -ENODEV;

	submission = nvdla_submission_alloc(ndev);
	if (!submission)
		return -ENOMEM;
	submit.submission = submission;

	ret = -ENOENT;
	submission->context = nvdla_context_get(nfile, args->context);
	submission->program = nvdla_program_get(nfile, args->program);
	if (!submission->context || !submission->program)
		goto put;
	ret = nvdla_charge(nfile->client->user, NVDLA_RESOURCE_JOBS, 1);
	if (ret)
		goto put;
	submission->charged = true;
	ret = nvdla_submit_copy(&submit, args);
	if (!ret)
		ret = nvdla_submit_bindings(&submit);
	if (!ret)
		ret = nvdla_submit_stats(&submit, args);
	if (ret)
		goto put;
	submission->job.program = &submission->program->program;
	submission->job.bases = submission->bases;
	submission->job.serial = submission->program->serial;
	submission->job.cookie = submission;
	/* PROGRAM_CREATE checked it, and nobody can change it since. */
	submission->job.checked = true;

	ret = nvdla_submit_wake(submission);
	if (ret)
		goto put;
	ret = nvdla_drm_sched_job_init(&submission->base,
				       &submission->context->entity, file);
	if (ret)
		goto put;
	ret = nvdla_submit_syncs(&submit);
	if (!ret)
		ret = nvdla_submit_push(&submit);
	if (ret)
		drm_sched_job_cleanup(&submission->base);
put:
	nvdla_submission_put(submission);
	nvdla_submit_clean(&submit);
	if (ret == -EINVAL && submit.error.rule)
		ret = nvdla_report(args->error, args->error_bytes,
				   &submit.error);
	return ret;
}
