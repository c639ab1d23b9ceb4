/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One NVDLA: its registers, its engine and everything that lives as long as
 * the DRM device does.
 */
#ifndef NVDLA_DEVICE_H
#define NVDLA_DEVICE_H

#include <linux/atomic.h>
#include <linux/hashtable.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include <drm/drm_device.h>

#include "../firmware/engine/nvdla_engine.h"
#include "nvdla_gem.h"
#include "nvdla_sched.h"

struct nvdla_bus_ops;
struct nvdla_dump;
struct nvdla_submission;

/** enum nvdla_state - what may be done with a device */
enum nvdla_state {
	/** @NVDLA_STATE_PAUSED: nothing is started; may still be running */
	NVDLA_STATE_PAUSED,
	/** @NVDLA_STATE_RUNNING: everything */
	NVDLA_STATE_RUNNING,
	/** @NVDLA_STATE_BROKEN: failed, is to be reset; nothing is started */
	NVDLA_STATE_BROKEN,
	/** @NVDLA_STATE_DEAD: removed, or failed for good */
	NVDLA_STATE_DEAD,
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
	/** @irq: interrupt */
	int irq;
	/** @bus_ops: of its bus, constant */
	const struct nvdla_bus_ops *bus_ops;
	/** @clock_khz: core clock, 0 if not known */
	u32 clock_khz;

	/** @gem: its buffers */
	struct nvdla_gem gem;
	/** @carveout: reserved memory for buffers in DRAM, if any */
	struct nvdla_region carveout;
	/** @sram: memory behind the second interface, if any */
	struct nvdla_region sram;

	/** @users_lock: guards @users and references to them */
	struct mutex users_lock;
	/** @users: those with open files, or what is left of them */
	DECLARE_HASHTABLE(users, 8);

	/** @recovery_wq: deadlines and resets, which all fences wait for */
	struct workqueue_struct *recovery_wq;

	/**
	 * @hw_lock: guards the engine, the arbiter and all register accesses
	 * but those of @irq_lock. It is taken on the way to a fence signal:
	 * nothing under it may allocate, fault, wait for a fence, take a
	 * dma_resv lock or drop what may be the last reference to a buffer.
	 * See nvdla_hw_lock().
	 */
	struct mutex hw_lock;
	/** @signalling: what dma_fence_begin_signalling() gave who has it */
	bool signalling;
	/** @engine: programs in, running hardware out */
	struct nvdla_engine engine;
	/** @state: enum nvdla_state */
	enum nvdla_state state;
	/** @isolated: it is kept off the bus */
	bool isolated;
	/** @draining: what waits ends with -ENODEV */
	bool draining;
	/** @running: what the engine works on, or NULL */
	struct nvdla_submission *running;
	/** @since: up to when the time of @running was counted */
	u64 since;
	/** @turn: of the user who had the engine last */
	struct nvdla_turn turn;
	/** @abort_error: of a job that nvdla_engine_abort() ends */
	int abort_error;
	/** @users_runnable: users with jobs that wait, in line */
	struct list_head users_runnable;
	/** @waiting: jobs that are armed and not ready */
	struct list_head waiting;
	/** @held: jobs that end once the device is off the bus */
	struct list_head held;
	/** @ended: jobs whose fences are signalled when hw_lock is left */
	struct list_head ended;
	/** @quarantine: submissions whose buffers the device may still write */
	struct list_head quarantine;
	/** @tally: what became of jobs */
	struct nvdla_tally tally;
	/** @dump: room for what is found when a job fails */
	struct nvdla_dump *dump;
	/** @suspect: it may still write to what was in quarantine */
	bool suspect;
	/** @idle: woken when @running becomes NULL */
	wait_queue_head_t idle;
	/** @deadline: looks at the engine when a layer is late */
	struct delayed_work deadline;

	/** @irq_lock: guards the interrupt status and what follows */
	spinlock_t irq_lock;
	/** @offline: no register may be touched (reset, asleep, removed) */
	bool offline;
	/** @irq_bits: taken by the hard handler, not yet by the engine */
	u32 irq_bits;

	/** @reset_work: resets a device that failed */
	struct delayed_work reset_work;
	/** @reset_tries: of it, until the lock of the device was free */
	u32 reset_tries;
	/** @power_lock: of those who wake it up, see nvdla_power_get() */
	struct mutex power_lock;
	/** @enables_pm: runtime PM was not enabled by the bus */
	bool enables_pm;
	/** @resets: successful ones, for CONTEXT_QUERY */
	atomic_t resets;
	/** @program_serial: names programs, never reused */
	atomic64_t program_serial;
};

static inline struct nvdla_device *to_nvdla_device(struct drm_device *drm)
{
	return container_of(drm, struct nvdla_device, drm);
}

int nvdla_device_create(struct device *dev, const struct nvdla_hw *hw,
			void __iomem *regs, int irq,
			const struct nvdla_bus_ops *bus_ops);
void nvdla_device_remove(struct nvdla_device *ndev);
void nvdla_device_shutdown(struct nvdla_device *ndev);
const char *nvdla_start_reason(int error);
void nvdla_set_offline(struct nvdla_device *ndev, bool offline);
void nvdla_quiesce(struct nvdla_device *ndev);
void nvdla_device_pre_reset(struct nvdla_device *ndev);
int nvdla_device_post_reset(struct nvdla_device *ndev);

#endif /* NVDLA_DEVICE_H */
