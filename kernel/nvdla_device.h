/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One NVDLA: its registers, its engine and everything that lives as long as
 * the DRM device does.
 */
#ifndef NVDLA_DEVICE_H
#define NVDLA_DEVICE_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>

#include <drm/drm_device.h>
#include <drm/gpu_scheduler.h>

#include "../firmware/engine/nvdla_engine.h"
#include "nvdla_region.h"

struct nvdla_submission;

/**
 * struct nvdla_reset_ops - how a front end resets its device
 */
struct nvdla_reset_ops {
	/** @can_reset: there is a way that should work */
	bool (*can_reset)(struct device *dev);
	/**
	 * @reset: returns with the core in its reset state, or an errno;
	 * @probing: called from probe, with the lock of the device held
	 */
	int (*reset)(struct device *dev, bool probing);
	/** @isolate: keep a device that cannot be reset off the bus */
	void (*isolate)(struct device *dev);
};

/**
 * struct nvdla_device - a device
 */
struct nvdla_device {
	/** @drm: base */
	struct drm_device drm;
	/** @hw: its configuration, constant once it was created */
	const struct nvdla_hw *hw;
	/** @own_hw: what @hw points to: features may be switched off */
	struct nvdla_hw own_hw;
	/** @regs: mapped register space */
	void __iomem *regs;
	/** @reset_ops: of the front end, constant */
	const struct nvdla_reset_ops *reset_ops;
	/** @clock_khz: core clock, 0 if not known */
	u32 clock_khz;

	/** @carveout: reserved memory for buffers in DRAM, if any */
	struct nvdla_region carveout;
	/** @sram: memory behind the second interface, if any */
	struct nvdla_region sram;

	/** @sched: one queue in front of the engine */
	struct drm_gpu_scheduler sched;

	/**
	 * @hw_lock: guards the engine, @running, @wedged, @quarantine and all
	 * register accesses but those of the hard interrupt handler. It is
	 * taken on the way to a fence signal: nothing under it may allocate,
	 * fault, wait for a fence or take a dma_resv lock.
	 */
	struct mutex hw_lock;
	/** @engine: programs in, running hardware out */
	struct nvdla_engine engine;
	/** @running: what the engine works on, or NULL */
	struct nvdla_submission *running;
	/** @wedged: hung and not reset; nothing runs any more */
	bool wedged;
	/** @quarantine: submissions whose buffers a hung device may write */
	struct list_head quarantine;

	/** @offline: registers must not be touched (reset, unplugged) */
	bool offline;
	/** @irq_bits: taken by the hard handler, not yet by the thread */
	atomic_t irq_bits;
	/** @deadline: calls the engine's poll when it asks for it */
	struct delayed_work deadline;

	/** @resets: successful ones, for CONTEXT_QUERY */
	atomic_t resets;
	/** @program_serial: names programs, never reused */
	atomic64_t program_serial;

	/** @fence_context: of the hardware fences */
	u64 fence_context;
	/** @fence_seqno: last one given out; guarded by @hw_lock */
	u64 fence_seqno;
};

static inline struct nvdla_device *to_nvdla_device(struct drm_device *drm)
{
	return container_of(drm, struct nvdla_device, drm);
}

int nvdla_device_create(struct device *dev, const struct nvdla_hw *hw,
			void __iomem *regs, int irq,
			const struct nvdla_reset_ops *reset_ops);
void nvdla_device_arm_deadline(struct nvdla_device *ndev);

/* nvdla_confirm.c */
int nvdla_confirm_atom(struct nvdla_device *ndev);

/* nvdla_reset.c */
void nvdla_recover(struct nvdla_device *ndev);
void nvdla_abandon_quarantine(struct nvdla_device *ndev);

#endif /* NVDLA_DEVICE_H */
