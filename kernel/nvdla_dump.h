/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Dumps of jobs that failed: firmware/nvdla_dump_format.h is what is in them.
 */
#ifndef NVDLA_DUMP_H
#define NVDLA_DUMP_H

struct nvdla_device;
struct nvdla_submission;

int nvdla_dump_init(struct nvdla_device *ndev);
void nvdla_dump_fini(struct nvdla_device *ndev);
void nvdla_dump_take(struct nvdla_device *ndev,
		     struct nvdla_submission *submission);

#endif /* NVDLA_DUMP_H */
