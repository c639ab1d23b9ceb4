// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts.
 *
 * A context lives, and is charged, until its last job is freed, which may be
 * long after the context was destroyed and the device removed: a job waits for
 * what it depends on. Meanwhile it belongs to its file, which cancels it when
 * it is closed. Until it is freed the context pins the module.
 */
#include <linux/module.h>
#include <linux/slab.h>

#include <drm/drm_drv.h>

#include "nvdla_compat.h"
#include "nvdla_context.h"
#include "nvdla_device.h"
#include "nvdla_drv.h"
#include "nvdla_job.h"
#include "nvdla_sched.h"
#include "nvdla_user.h"

/* The DRM scheduler takes so many jobs of one context; the rest queues. */
#define NVDLA_CONTEXT_CREDITS	64

static void nvdla_context_free(struct work_struct *work)
{
	struct nvdla_context *context =
		container_of(work, struct nvdla_context, release);
	struct nvdla_device *ndev = context->ndev;

	/* Neither has jobs: each of them held a reference. */
	drm_sched_entity_destroy(&context->entity);
	drm_sched_fini(&context->sched);
	mutex_destroy(&context->lock);
	nvdla_uncharge(context->client->user, NVDLA_RESOURCE_CONTEXTS, 1);
	nvdla_client_put(context->client);
	kfree(context);
	drm_dev_put(&ndev->drm);
	module_put(THIS_MODULE);
}

static void nvdla_context_release(struct kref *ref)
{
	struct nvdla_context *context =
		container_of(ref, struct nvdla_context, ref);

	nvdla_client_remove(context->client, context);
	queue_work(nvdla_release_wq, &context->release);
}

/* The same at once, for a caller in whose way no fence is. */
static void nvdla_context_release_now(struct kref *ref)
{
	struct nvdla_context *context =
		container_of(ref, struct nvdla_context, ref);

	nvdla_client_remove(context->client, context);
	nvdla_context_free(&context->release);
}

/**
 * nvdla_context_put() - drop a reference
 * @context: context; a work frees it, so this may be called anywhere
 */
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

/**
 * nvdla_context_close_all() - cancel what a file has, as it is closed
 * @nfile: file
 */
void nvdla_context_close_all(struct nvdla_file *nfile)
{
	struct nvdla_context *context;
	unsigned long id;

	nvdla_client_cancel(nfile->client);
	xa_for_each(&nfile->contexts, id, context)
		kref_put(&context->ref, nvdla_context_release_now);
	xa_destroy(&nfile->contexts);
}

static struct nvdla_context *nvdla_context_alloc(struct nvdla_device *ndev,
						 struct nvdla_file *nfile)
{
	struct nvdla_client *client = nfile->client;
	struct nvdla_user *top = nvdla_user_top(client->user);
	struct nvdla_context *context;
	struct drm_gpu_scheduler *sched;
	int ret;

	context = kzalloc(sizeof(*context), GFP_KERNEL_ACCOUNT);
	if (!context)
		return ERR_PTR(-ENOMEM);
	sched = &context->sched;
	ret = nvdla_drm_sched_init(sched, &nvdla_drm_sched_ops,
				   NVDLA_CONTEXT_CREDITS, top->wq,
				   ndev->drm.dev);
#ifdef NVDLA_HAVE_SCHED_THREAD
	/* There is no thread to be had. libdrm repeats -EAGAIN for ever. */
	if (ret == -EAGAIN)
		ret = -ENOMEM;
#endif
	if (ret)
		goto free;
	ret = drm_sched_entity_init(&context->entity,
				    DRM_SCHED_PRIORITY_NORMAL, &sched, 1, NULL);
	if (ret)
		goto fini;

	kref_init(&context->ref);
	mutex_init(&context->lock);
	INIT_WORK(&context->release, nvdla_context_free);
	INIT_LIST_HEAD(&context->ready);
	RB_CLEAR_NODE(&context->runnable);
	context->fence_context = dma_fence_context_alloc(1);
	context->client = nvdla_client_get(client);
	context->top = top;
	context->ndev = ndev;
	context->resets = atomic_read(&ndev->resets);
	drm_dev_get(&ndev->drm);
	/* The caller's file holds the module as well. */
	__module_get(THIS_MODULE);
	nvdla_client_add(client, context);
	return context;

fini:
	drm_sched_fini(sched);
free:
	kfree(context);
	return ERR_PTR(ret);
}

int nvdla_ioctl_context_create(struct drm_device *drm, void *data,
			       struct drm_file *file)
{
	struct nvdla_file *nfile = file->driver_priv;
	struct drm_nvdla_context_create *args = data;
	struct nvdla_user *user = nfile->client->user;
	struct nvdla_context *context;
	int ret;

	if (args->flags || args->context)
		return -EINVAL;
	ret = nvdla_charge(user, NVDLA_RESOURCE_CONTEXTS, 1);
	if (ret)
		return ret;
	context = nvdla_context_alloc(to_nvdla_device(drm), nfile);
	if (IS_ERR(context)) {
		nvdla_uncharge(user, NVDLA_RESOURCE_CONTEXTS, 1);
		return PTR_ERR(context);
	}
	/* Complete: another thread may guess the id. */
	ret = xa_alloc(&nfile->contexts, &args->context, context, xa_limit_32b,
		       GFP_KERNEL_ACCOUNT);
	if (ret)
		nvdla_context_put(context);
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
	/* Its jobs run on, and hold it; without any its charge ends here. */
	kref_put(&context->ref, nvdla_context_release_now);
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
	/* Pairs with nvdla_sched_finish(), which sets the layer before. */
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
