/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Clients: what an open file has, its statistics, and what became of jobs.
 */
#ifndef NVDLA_CLIENT_H
#define NVDLA_CLIENT_H

#include <linux/atomic.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/spinlock.h>

struct drm_file;
struct drm_printer;
struct file;
struct nvdla_context;
struct nvdla_device;
struct nvdla_submission;
struct nvdla_user;
struct seq_file;

/**
 * struct nvdla_client - what an open file has and has used
 *
 * It lives as long as the file or a context of it: jobs may end after the file
 * was closed.
 */
struct nvdla_client {
	/** @ref: one for the file, one for each context */
	struct kref ref;
	/** @client_id: where the kernel's drm_file has none */
	u64 client_id;
	/** @user: whom everything of the file is charged to; one reference */
	struct nvdla_user *user;
	/** @busy_ns: time that its jobs had the engine; under hw_lock */
	atomic64_t busy_ns;
	/** @lock: guards @contexts; taken under hw_lock */
	spinlock_t lock;
	/** @contexts: all that live, destroyed ones with jobs too */
	struct list_head contexts;
};

/** struct nvdla_failure - how a job failed */
struct nvdla_failure {
	/** @time_ns: when, as ktime_get_ns() */
	u64 time_ns;
	/** @program: serial number of the program */
	u64 program;
	/** @result: enum nvdla_job_result */
	u32 result;
	/** @layer: which layer */
	u32 layer;
};

/** struct nvdla_tally - what became of the jobs of a device */
struct nvdla_tally {
	/** @jobs: that left the engine */
	u64 jobs;
	/** @failed: of them, those that failed */
	u64 failed;
	/** @last: the last of these */
	struct nvdla_failure last;
};

struct nvdla_client *nvdla_client_create(struct nvdla_device *ndev);
struct nvdla_client *nvdla_client_get(struct nvdla_client *client);
void nvdla_client_put(struct nvdla_client *client);
void nvdla_client_add(struct nvdla_client *client,
		      struct nvdla_context *context);
void nvdla_client_remove(struct nvdla_client *client,
			 struct nvdla_context *context);
void nvdla_client_cancel(struct nvdla_client *client);

void nvdla_tally_job(struct nvdla_submission *submission);

const char *nvdla_result_name(u32 result);
u64 nvdla_client_id(const struct drm_file *file);

void nvdla_show_fdinfo(struct drm_printer *p, struct drm_file *file);
/* For kernels whose DRM core does not call the above. */
void nvdla_show_file(struct seq_file *seq, struct file *file);

#endif /* NVDLA_CLIENT_H */
