/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The arbiter: which context has the engine, and for how long.
 */
#ifndef NVDLA_SCHED_H
#define NVDLA_SCHED_H

#include <linux/types.h>

struct nvdla_context;
struct nvdla_device;
struct nvdla_submission;

void nvdla_hw_lock(struct nvdla_device *ndev);
void nvdla_hw_unlock(struct nvdla_device *ndev);
void nvdla_sched_ready(struct nvdla_device *ndev,
		       struct nvdla_submission *submission);
void nvdla_sched_advance(struct nvdla_device *ndev);
void nvdla_sched_end_all(struct nvdla_device *ndev, int error);
void nvdla_sched_cancel(struct nvdla_context *context);

#endif /* NVDLA_SCHED_H */
