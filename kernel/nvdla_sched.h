/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The arbiter: whose job has the engine, for how long, and how jobs end.
 */
#ifndef NVDLA_SCHED_H
#define NVDLA_SCHED_H

#include <linux/types.h>

struct nvdla_context;
struct nvdla_device;
struct nvdla_submission;
struct nvdla_user;

/** struct nvdla_turn - the turn of the user who had the engine last */
struct nvdla_turn {
	/** @user: who that is; NULL if nobody's turn can go on */
	struct nvdla_user *user;
	/** @used_ns: for how long it had the engine in this turn */
	u64 used_ns;
	/** @longest_ns: the longest layer of this turn */
	u64 longest_ns;
	/** @layer_ns: when the last layer ended, or the job was started */
	u64 layer_ns;
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

void nvdla_hw_lock(struct nvdla_device *ndev);
void nvdla_hw_unlock(struct nvdla_device *ndev);
void nvdla_sched_ready(struct nvdla_device *ndev,
		       struct nvdla_submission *submission);
void nvdla_sched_advance(struct nvdla_device *ndev);
void nvdla_sched_interrupt(struct nvdla_device *ndev, u32 bits);
void nvdla_sched_poll(struct nvdla_device *ndev);
void nvdla_sched_layer_end(struct nvdla_device *ndev, u64 start_ns, u64 end_ns);
void nvdla_sched_account(struct nvdla_device *ndev);
void nvdla_sched_release_held(struct nvdla_device *ndev);
void nvdla_sched_end_all(struct nvdla_device *ndev);
void nvdla_sched_forget(struct nvdla_user *user);
void nvdla_sched_cancel(struct nvdla_context *context);
bool nvdla_sched_pause(struct nvdla_device *ndev, unsigned int ms);
void nvdla_sched_unpause(struct nvdla_device *ndev);
void nvdla_sched_pre_reset(struct nvdla_device *ndev);
void nvdla_sched_post_reset(struct nvdla_device *ndev);

#endif /* NVDLA_SCHED_H */
