/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Buses: how devices are found and what they do for them. Each calls
 * nvdla_device_create().
 */
#ifndef NVDLA_BUS_H
#define NVDLA_BUS_H

#include <linux/kconfig.h>
#include <linux/types.h>

struct device;

/**
 * struct nvdla_bus_ops - what only the bus of a device can do
 */
struct nvdla_bus_ops {
	/** @can_reset: there is a way that should work */
	bool (*can_reset)(struct device *dev);
	/**
	 * @reset: returns with the core in its reset state, or an errno,
	 * -EAGAIN to be called again later; @locked: the caller holds the lock
	 * of the device, which is not waited for. Without hw_lock; fences wait
	 * for it, so it may sleep, but take no lock whose holder may wait for a
	 * fence; memory is not reclaimed for it.
	 */
	int (*reset)(struct device *dev, bool locked);
	/**
	 * @isolate: keep the device off the bus, or let it on again; NULL
	 * where there is no way. Under hw_lock, takes no memory.
	 */
	void (*isolate)(struct device *dev, bool isolated);
	/** @power: clocks and the like; NULL if there are none */
	int (*power)(struct device *dev, bool on);
	/** @clock_khz: how fast the core is clocked, 0 if nothing says it */
	u32 (*clock_khz)(struct device *dev);
};

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

int nvdla_platform_register(void);
void nvdla_platform_unregister(void);

/* Both buses use this for clock_khz(). */
u32 nvdla_bus_clock_khz(struct device *dev);

#endif /* NVDLA_BUS_H */
