/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Power: the device sleeps when it has nothing to do, and with the system.
 */
#ifndef NVDLA_POWER_H
#define NVDLA_POWER_H

#include <linux/pm.h>
#include <linux/types.h>

struct nvdla_device;

extern const struct dev_pm_ops nvdla_pm_ops;

void nvdla_power_init(struct nvdla_device *ndev);
bool nvdla_power_fini(struct nvdla_device *ndev);
void nvdla_power_release(struct nvdla_device *ndev);
int nvdla_power_get(struct nvdla_device *ndev);
void nvdla_power_put(struct nvdla_device *ndev);
void nvdla_power_pre_reset(struct nvdla_device *ndev);
void nvdla_power_post_reset(struct nvdla_device *ndev);

#endif /* NVDLA_POWER_H */
