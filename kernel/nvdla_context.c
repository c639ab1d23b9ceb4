// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts. Creation and the end of a context only touch the scheduler's
 * entity; what a hang does to a context is decided in nvdla_job.c.
 */
#include <linux/slab.h>

#include "nvdla_context.h"
#include "nvdla_device.h"
#include "nvdla_drv.h"

static void nvdla_context_release(struct kref *ref)
{
	kfree(container_of(ref, struct nvdla_context, ref));
}

void nvdla_context_put(struct nvdla_context *context)
{
	kref_put(&context->ref, nvdla_context_release);
}

/**
 * nvdla_context_get() - context by its id
 * @nfile: file that the id belongs to
 * @id: id
 *
 * Return: a reference, or NULL.
 */
struct nvdla_context *nvdla_context_get(struct nvdla_file *nfile, u32 id)
{
	struct nvdla_context *context;

	xa_lock(&nfile->contexts);
	context = xa_load(&nfile->contexts, id);
	if (context)
		kref_get(&context->ref);
	xa_unlock(&nfile->contexts);
	return context;
}

/*
 * Takes the context out of use: queued jobs are run or, in a dying process,
 * dropped; the job on the hardware ends on its own and holds what it needs.
 */
static void nvdla_context_close(struct nvdla_context *context)
{
	drm_sched_entity_destroy(&context->entity);
	nvdla_context_put(context);
}

void nvdla_context_close_all(struct nvdla_file *nfile)
{
	struct nvdla_context *context;
	unsigned long id;

	xa_for_each(&nfile->contexts, id, context)
		nvdla_context_close(context);
	xa_destroy(&nfile->contexts);
}

int nvdla_ioctl_context_create(struct drm_device *drm, void *data,
			       struct drm_file *file)
{
	struct nvdla_device *ndev = to_nvdla_device(drm);
	struct nvdla_file *nfile = file->driver_priv;
	struct drm_nvdla_context_create *args = data;
	struct drm_gpu_scheduler *sched = &ndev->sched;
	struct nvdla_context *context;
	int ret;

	if (args->flags || args->context)
		return -EINVAL;
	context = kzalloc(sizeof(*context), GFP_KERNEL);
	if (!context)
		return -ENOMEM;
	kref_init(&context->ref);
	context->ndev = ndev;
	context->resets = atomic_read(&ndev->resets);
	ret = drm_sched_entity_init(&context->entity,
				    DRM_SCHED_PRIORITY_NORMAL, &sched, 1, NULL);
	if (ret)
		goto free;
	ret = xa_alloc(&nfile->contexts, &args->context, context, xa_limit_32b,
		       GFP_KERNEL);
	if (ret)
		goto destroy;
	return 0;

destroy:
	drm_sched_entity_destroy(&context->entity);
free:
	kfree(context);
	return ret;
}

int nvdla_ioctl_context_destroy(struct drm_device *drm, void *data,
				struct drm_file *file)
{
	struct nvdla_file *nfile = file->driver_priv;
	struct drm_nvdla_context_destroy *args = data;
	struct nvdla_context *context;

	if (args->pad)
		return -EINVAL;
	context = xa_erase(&nfile->contexts, args->context);
	if (!context)
		return -ENOENT;
	nvdla_context_close(context);
	return 0;
}

int nvdla_ioctl_context_query(struct drm_device *drm, void *data,
			      struct drm_file *file)
{
	struct nvdla_device *ndev = to_nvdla_device(drm);
	struct nvdla_file *nfile = file->driver_priv;
	struct drm_nvdla_context_query *args = data;
	struct nvdla_context *context;

	if (args->state || args->resets || args->layer)
		return -EINVAL;
	context = nvdla_context_get(nfile, args->context);
	if (!context)
		return -ENOENT;
	args->resets = atomic_read(&ndev->resets) - context->resets;
	/* Pairs with nvdla_job_collect(), which sets the layer before. */
	if (smp_load_acquire(&context->guilty)) {
		args->state = DRM_NVDLA_CONTEXT_GUILTY;
		args->layer = context->guilty_layer;
	} else if (args->resets) {
		args->state = DRM_NVDLA_CONTEXT_INNOCENT;
	} else {
		args->state = DRM_NVDLA_CONTEXT_GOOD;
	}
	nvdla_context_put(context);
	return 0;
}
