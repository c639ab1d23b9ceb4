/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Contexts: one queue of jobs each, and what became of it.
 */
#ifndef NVDLA_CONTEXT_H
#define NVDLA_CONTEXT_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>

#include <drm/gpu_scheduler.h>

struct nvdla_account;
struct nvdla_device;
struct nvdla_file;
struct nvdla_user;

/** struct nvdla_context - a queue of jobs */
struct nvdla_context {
	/** @ref: one for the file's table, one for each submission */
	struct kref ref;
	/** @ndev: device, one reference */
	struct nvdla_device *ndev;
	/** @user: whom the context and its jobs are charged to */
	struct nvdla_user *user;
	/** @account: of the file that it belongs to, one reference */
	struct nvdla_account *account;
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
	 * are in one order, and none comes after the end. Before dma_resv and
	 * hw_lock.
	 */
	struct mutex lock;
	/** @closed: takes no more jobs; under @lock */
	bool closed;
	/** @fence_context: timeline of the jobs' fences */
	u64 fence_context;
	/** @fence_seqno: last one given out; under @lock */
	u64 fence_seqno;

	/** @ready: jobs that can run; this and all below under hw_lock */
	struct list_head ready;
	/** @runnable: among those that wait for the engine */
	struct list_head runnable;
	/** @vruntime: time on the engine, for the arbiter */
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

int nvdla_context_init(void);
void nvdla_context_exit(void);

#endif /* NVDLA_CONTEXT_H */
