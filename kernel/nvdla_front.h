/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Front ends: how devices are found. Each calls nvdla_device_create().
 */
#ifndef NVDLA_FRONT_H
#define NVDLA_FRONT_H

#include <linux/kconfig.h>
#include <linux/types.h>

struct device;

#if IS_ENABLED(CONFIG_PCI)
int nvdla_pci_register(void);
void nvdla_pci_unregister(void);
#else
static inline int nvdla_pci_register(void)
{
	return 0;
}

static inline void nvdla_pci_unregister(void)
{
}
#endif

u32 nvdla_platform_clock_khz(struct device *dev);
int nvdla_platform_register(void);
void nvdla_platform_unregister(void);

#endif /* NVDLA_FRONT_H */
