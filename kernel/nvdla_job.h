/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Submissions: a program, its buffers with their reservations, and the fence
 * that signals its end.
 */
#ifndef NVDLA_JOB_H
#define NVDLA_JOB_H

#include <linux/dma-fence.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/workqueue.h>
#include <linux/ww_mutex.h>

#include <drm/gpu_scheduler.h>

#include "../firmware/engine/nvdla_engine.h"

struct drm_gem_object;
struct nvdla_bo;
struct nvdla_context;
struct nvdla_device;
struct nvdla_kernel_program;

/**
 * enum nvdla_submission_state - how far a submission has come; under hw_lock
 *
 * Those of one context are in this order, the oldest the furthest, and at most
 * one of them is started or held. So their fences signal in order.
 */
enum nvdla_submission_state {
	/** @NVDLA_SUBMISSION_MADE: nobody but its maker knows it */
	NVDLA_SUBMISSION_MADE,
	/** @NVDLA_SUBMISSION_WAITING: armed; waits for what it depends on */
	NVDLA_SUBMISSION_WAITING,
	/** @NVDLA_SUBMISSION_READY: in the queue of its context */
	NVDLA_SUBMISSION_READY,
	/** @NVDLA_SUBMISSION_STARTED: on the hardware */
	NVDLA_SUBMISSION_STARTED,
	/**
	 * @NVDLA_SUBMISSION_HELD: given up, but the device may still write its
	 * buffers; it ends when that is over
	 */
	NVDLA_SUBMISSION_HELD,
	/** @NVDLA_SUBMISSION_ENDED: its fence signals before hw_lock is left */
	NVDLA_SUBMISSION_ENDED,
};

/**
 * struct nvdla_submission - one run of a program
 *
 * Everything that running it takes is made in the ioctl, before the job is
 * armed: from there on nothing may fail or allocate.
 */
struct nvdla_submission {
	/** @base: scheduler's job */
	struct drm_sched_job base;
	/**
	 * @ref: SUBMIT's, which holds the locks of buffers and context; the
	 * scheduler's, until free_job; and the quarantine's. The arbiter needs
	 * none: no job is freed before its fence is signalled.
	 */
	struct kref ref;
	/** @release: releases what it holds, where that may wait for others */
	struct work_struct release;
	/** @ndev: device */
	struct nvdla_device *ndev;
	/** @context: whose job it is */
	struct nvdla_context *context;
	/** @charged: to the user of the context; under hw_lock once armed */
	bool charged;
	/** @program: what runs */
	struct nvdla_kernel_program *program;
	/** @objects: buffers, one reference each; the statistics' comes last */
	struct drm_gem_object **objects;
	/** @num_objects: of @objects */
	u32 num_objects;
	/** @stats: buffer of the statistics, or NULL; among @objects */
	struct nvdla_bo *stats;
	/** @stats_offset: where they begin in it */
	u64 stats_offset;
	/** @stats_bytes: from there to the end of the last layer's */
	u64 stats_bytes;
	/** @bases: addresses of the slots */
	u64 *bases;
	/** @job: for the engine */
	struct nvdla_job job;
	/** @fence: signalled at the end; initialised when the job is armed */
	struct dma_fence *fence;
	/** @powered: holds the device awake */
	bool powered;

	/** @state: how far it has come; this and all below under hw_lock */
	enum nvdla_submission_state state;
	/** @busy_ns: for how long it had the engine */
	u64 busy_ns;
	/** @error: for @fence */
	int error;
	/** @node: in the list that @state stands for */
	struct list_head node;
	/** @quarantine: in the device's quarantine */
	struct list_head quarantine;
};

/**
 * struct nvdla_resv_set - reservations, each once
 *
 * Zeroed, it is empty.
 */
struct nvdla_resv_set {
	/** @objects: one buffer of each reservation; the caller's references */
	struct drm_gem_object **objects;
	/** @written: the job writes to a buffer of it */
	bool *written;
	/** @count: of both */
	u32 count;
	/** @acquire: while they are locked */
	struct ww_acquire_ctx acquire;
};

static inline struct nvdla_submission *
to_nvdla_submission(struct drm_sched_job *base)
{
	return container_of(base, struct nvdla_submission, base);
}

extern const struct drm_sched_backend_ops nvdla_drm_sched_ops;
/* Works that may wait for anybody, as no fence waits for them. */
extern struct workqueue_struct *nvdla_release_wq;

int nvdla_release_init(void);
void nvdla_release_exit(void);

struct nvdla_submission *nvdla_submission_alloc(struct nvdla_device *ndev);
void nvdla_submission_put(struct nvdla_submission *submission);
void nvdla_submission_arm(struct nvdla_submission *submission);

const char *nvdla_result_name(u32 result);

/* nvdla_fence.c: what user space and other drivers see of a job */
struct dma_fence *nvdla_fence_alloc(void);
void nvdla_fence_discard(struct dma_fence *fence);
void nvdla_fence_init(struct dma_fence *fence, u64 context, u64 seqno);
u64 nvdla_fence_order(struct dma_fence *fence);
void nvdla_fence_end(struct dma_fence *fence, int error);
void nvdla_fence_settle(struct dma_fence *fence);

/* nvdla_resv.c: the reservations of the buffers of a job */
int nvdla_resv_alloc(struct nvdla_resv_set *set, u32 max);
void nvdla_resv_free(struct nvdla_resv_set *set);
void nvdla_resv_add(struct nvdla_resv_set *set, struct drm_gem_object *obj,
		    bool write);
int nvdla_resv_lock(struct nvdla_resv_set *set);
void nvdla_resv_unlock(struct nvdla_resv_set *set);
int nvdla_resv_depend(struct nvdla_resv_set *set, struct drm_sched_job *job);
void nvdla_resv_publish(struct nvdla_resv_set *set, struct dma_fence *fence);

#endif /* NVDLA_JOB_H */
