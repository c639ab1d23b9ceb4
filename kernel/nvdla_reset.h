/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Resets, by the driver after a failure or by somebody else, and how a device
 * is taken over afterwards.
 */
#ifndef NVDLA_RESET_H
#define NVDLA_RESET_H

#include <linux/types.h>

struct nvdla_device;
struct nvdla_submission;

void nvdla_reset_init(struct nvdla_device *ndev);
void nvdla_reset(struct nvdla_device *ndev);
void nvdla_reset_anew(struct nvdla_device *ndev);
void nvdla_recover(struct nvdla_device *ndev,
		   struct nvdla_submission *submission);
void nvdla_abort(struct nvdla_device *ndev, int error);
void nvdla_give_up(struct nvdla_device *ndev);
void nvdla_isolate(struct nvdla_device *ndev, bool isolated);
void nvdla_release_quarantine(struct nvdla_device *ndev, bool reset);
int nvdla_restart(struct nvdla_device *ndev);
void nvdla_reset_prepare(struct nvdla_device *ndev);
void nvdla_reset_done(struct nvdla_device *ndev);

/* nvdla_probe_atom.c: the first work of a device, which may need a reset */
int nvdla_probe_atom(struct nvdla_device *ndev);

#endif /* NVDLA_RESET_H */
