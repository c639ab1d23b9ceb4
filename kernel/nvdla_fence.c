// SPDX-License-Identifier: GPL-2.0
/*
 * Fences.
 *
 * A fence may outlive its job, its context, the device and, on newer kernels,
 * this module: a sync_file or the reservation of an exported buffer holds it
 * for as long as it likes. So what others see is never a fence of the
 * scheduler, which reaches into the scheduler for its name, but one of these,
 * which needs nothing but itself and its operations.
 *
 * Where a signalled fence lets go of its operations that is all. Elsewhere they
 * are code of this module, so each fence pins it.
 */
#include <linux/atomic.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "nvdla_job.h"

struct nvdla_fence {
	/* first: dma_fence_free() frees what a fence points to */
	struct dma_fence base;
	/* its own, because it may outlive all else */
	spinlock_t lock;
	/* number among all fences of the driver, in the order of arming */
	u64 order;
};

static const char *nvdla_fence_driver_name(struct dma_fence *fence)
{
	return "nvdla";
}

static const char *nvdla_fence_timeline_name(struct dma_fence *fence)
{
	return "engine";
}

#ifndef NVDLA_HAVE_FENCE_DETACH
static void nvdla_fence_free_rcu(struct rcu_head *rcu)
{
	struct dma_fence *fence = container_of(rcu, struct dma_fence, rcu);

	kfree(container_of(fence, struct nvdla_fence, base));
	/* The end of the module waits for callbacks under way. */
	module_put(THIS_MODULE);
}

/* Nothing may follow: from here on the module may go. */
static void nvdla_fence_release(struct dma_fence *fence)
{
	call_rcu(&fence->rcu, nvdla_fence_free_rcu);
}
#endif

static const struct dma_fence_ops nvdla_fence_ops = {
	.get_driver_name = nvdla_fence_driver_name,
	.get_timeline_name = nvdla_fence_timeline_name,
#ifndef NVDLA_HAVE_FENCE_DETACH
	.release = nvdla_fence_release,
#endif
};

/**
 * nvdla_fence_alloc() - memory for a fence
 *
 * Return: memory for nvdla_fence_init() or nvdla_fence_discard(), or NULL.
 */
struct dma_fence *nvdla_fence_alloc(void)
{
	struct nvdla_fence *fence = kzalloc(sizeof(*fence), GFP_KERNEL_ACCOUNT);

	if (!fence)
		return NULL;
	spin_lock_init(&fence->lock);
	return &fence->base;
}

/**
 * nvdla_fence_discard() - free a fence that was never initialised
 * @fence: fence, or NULL
 */
void nvdla_fence_discard(struct dma_fence *fence)
{
	if (fence)
		kfree(container_of(fence, struct nvdla_fence, base));
}

/**
 * nvdla_fence_init() - make it a fence; cannot fail
 * @fence: of nvdla_fence_alloc()
 * @context: timeline
 * @seqno: on the timeline
 *
 * The caller was called through an open file, which holds the module.
 */
void nvdla_fence_init(struct dma_fence *fence, u64 context, u64 seqno)
{
	struct nvdla_fence *nfence =
		container_of(fence, struct nvdla_fence, base);
	static atomic64_t last_order = ATOMIC64_INIT(0);

#ifndef NVDLA_HAVE_FENCE_DETACH
	__module_get(THIS_MODULE);
#endif
	nfence->order = atomic64_inc_return(&last_order);
	dma_fence_init(fence, &nvdla_fence_ops, &nfence->lock, context, seqno);
}

/**
 * nvdla_fence_order() - when a fence was armed
 * @fence: any fence that has not signalled
 *
 * Return: a number that grows with each fence of the driver, 0 if it is not one
 * of them.
 */
u64 nvdla_fence_order(struct dma_fence *fence)
{
#ifdef NVDLA_HAVE_FENCE_DETACH
	const struct dma_fence_ops *ops = rcu_access_pointer(fence->ops);
#else
	const struct dma_fence_ops *ops = fence->ops;
#endif

	if (ops != &nvdla_fence_ops)
		return 0;
	return container_of(fence, struct nvdla_fence, base)->order;
}

/**
 * nvdla_fence_end() - signal it
 * @fence: fence, not signalled yet
 * @error: 0, or what became of the job
 */
void nvdla_fence_end(struct dma_fence *fence, int error)
{
	if (error)
		dma_fence_set_error(fence, error);
	dma_fence_signal(fence);
}

/**
 * nvdla_fence_settle() - wait until who was told of the end has returned
 * @fence: fence that signalled, or is being signalled by somebody else
 */
void nvdla_fence_settle(struct dma_fence *fence)
{
	struct nvdla_fence *nfence =
		container_of(fence, struct nvdla_fence, base);
	unsigned long flags;

	/* Callbacks run under the lock of their fence. */
	spin_lock_irqsave(&nfence->lock, flags);
	spin_unlock_irqrestore(&nfence->lock, flags);
}
