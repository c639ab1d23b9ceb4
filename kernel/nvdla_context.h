/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Contexts: one queue of jobs each, and what became of it.
 */
#ifndef NVDLA_CONTEXT_H
#define NVDLA_CONTEXT_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rbtree.h>
#include <linux/workqueue.h>

#include <drm/gpu_scheduler.h>

struct nvdla_client;
struct nvdla_device;
struct nvdla_file;
struct nvdla_submission;
struct nvdla_user;

/** struct nvdla_context - a queue of jobs */
struct nvdla_context {
	/** @ref: one for the file's table, one for each submission */
	struct kref ref;
	/** @ndev: device, one reference */
	struct nvdla_device *ndev;
	/** @client: file that it belongs to, one reference */
	struct nvdla_client *client;
	/** @node: in the list of @client, which cancels it in the end */
	struct list_head node;
	/** @top: user whose share of the engine it has; @client's is below */
	struct nvdla_user *top;
	/** @release: frees it, where the scheduler may be waited for */
	struct work_struct release;
	/** @sched: resolves what jobs depend on */
	struct drm_gpu_scheduler sched;
	/** @entity: the only one of @sched */
	struct drm_sched_entity entity;
	/** @resets: of the device when the context was created */
	int resets;

	/**
	 * @lock: jobs are armed, published and pushed under it, so that they
	 * are in one order. It comes before dma_resv and hw_lock.
	 */
	struct mutex lock;
	/** @fence_context: timeline of the jobs' fences */
	u64 fence_context;
	/** @fence_seqno: last one given out; under @lock */
	u64 fence_seqno;

	/** @active: on the hardware, or held; this and all below under hw_lock */
	struct nvdla_submission *active;
	/** @ready: jobs behind @active that depend on nothing any more */
	struct list_head ready;
	/** @runnable: among those of @top that wait for the engine, or clear */
	struct rb_node runnable;
	/** @vruntime: virtual time: what it had of the engine, without credit */
	u64 vruntime;
	/** @canceled: its file is closed */
	bool canceled;
	/** @guilty: a job of this context hung; set once, never cleared */
	bool guilty;
	/** @guilty_layer: of that job, by its number; set before @guilty */
	u32 guilty_layer;
};

struct nvdla_context *nvdla_context_get(struct nvdla_file *nfile, u32 id);
void nvdla_context_put(struct nvdla_context *context);
void nvdla_context_close_all(struct nvdla_file *nfile);

#endif /* NVDLA_CONTEXT_H */
