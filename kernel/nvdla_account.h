/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What jobs do, as others see it: time used by whom, the last failure, trace
 * points.
 */
#ifndef NVDLA_ACCOUNT_H
#define NVDLA_ACCOUNT_H

#include <linux/atomic.h>
#include <linux/kref.h>

struct drm_file;
struct drm_printer;
struct file;
struct nvdla_submission;
struct seq_file;

/**
 * struct nvdla_account - what an open file has used
 *
 * Lives as long as the file or a context of it does: jobs may end after the
 * file was closed.
 */
struct nvdla_account {
	/** @ref: one for the file, one for each context */
	struct kref ref;
	/** @client_id: where the kernel's drm_file has none */
	u64 client_id;
	/** @busy_ns: time that its jobs had the hardware */
	atomic64_t busy_ns;
};

/**
 * struct nvdla_failure - how a job failed
 */
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

/**
 * struct nvdla_tally - what became of the jobs of a device
 */
struct nvdla_tally {
	/** @jobs: that left the hardware */
	u64 jobs;
	/** @failed: of them, those that failed */
	u64 failed;
	/** @last: the last of these */
	struct nvdla_failure last;
};

struct nvdla_account *nvdla_account_create(void);
struct nvdla_account *nvdla_account_get(struct nvdla_account *account);
void nvdla_account_put(struct nvdla_account *account);

void nvdla_account_start(struct nvdla_submission *submission);
void nvdla_account_end(struct nvdla_submission *submission);

const char *nvdla_result_name(u32 result);
u64 nvdla_client_id(const struct drm_file *file);

void nvdla_show_fdinfo(struct drm_printer *p, struct drm_file *file);
/* Where the DRM core does not call the above. */
void nvdla_show_file(struct seq_file *seq, struct file *file);

#endif /* NVDLA_ACCOUNT_H */
