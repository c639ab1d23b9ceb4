// SPDX-License-Identifier: GPL-2.0
/*
 * Life of a device: registers, interrupt, clock of the engine, registration.
 */
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/dma-resv.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/module.h>
#include <linux/pm_runtime.h>
#include <linux/sched/mm.h>

#include <drm/drm_drv.h>
#include <drm/drm_managed.h>
#include <drm/drm_print.h>

#include "nvdla_bus.h"
#include "nvdla_compat.h"
#include "nvdla_debug.h"
#include "nvdla_device.h"
#include "nvdla_drv.h"
#include "nvdla_power.h"
#include "nvdla_reset.h"
#include "nvdla_sched.h"

static bool weight_gating = true;
module_param(weight_gating, bool, 0444);
MODULE_PARM_DESC(weight_gating,
		 "Second generation: weights freed while a clock is gated are lost");

static u32 nvdla_reg_read(void *context, u32 offset)
{
	struct nvdla_device *ndev = context;

	return readl(ndev->regs + offset);
}

static void nvdla_reg_write(void *context, u32 offset, u32 value)
{
	struct nvdla_device *ndev = context;

	writel(value, ndev->regs + offset);
}

static void nvdla_barrier(void *context)
{
	/* Buffers before the enabling write that lets the device read them. */
	dma_wmb();
}

static void nvdla_relax(void *context)
{
	cpu_relax();
}

static u64 nvdla_now_ns(void *context)
{
	return ktime_get_ns();
}

/* The engine looks for a lost interrupt: what the handler holds is no loss. */
static u32 nvdla_take_irq(void *context)
{
	struct nvdla_device *ndev = context;
	unsigned long flags;
	u32 bits = 0;

	spin_lock_irqsave(&ndev->irq_lock, flags);
	if (!ndev->offline)
		bits = ndev->irq_bits | nvdla_engine_read_irq(&ndev->engine);
	ndev->irq_bits = 0;
	spin_unlock_irqrestore(&ndev->irq_lock, flags);
	return bits;
}

static void nvdla_layer_end(void *context, const struct nvdla_job *job,
			    u32 layer, u64 start_ns, u64 end_ns)
{
	nvdla_sched_layer_end(context, start_ns, end_ns);
	nvdla_trace_layer_end(context, job, layer, start_ns, end_ns);
}

static const struct nvdla_hw_ops nvdla_kernel_hw_ops = {
	.reg_read = nvdla_reg_read,
	.reg_write = nvdla_reg_write,
	.dma_barrier = nvdla_barrier,
	.relax = nvdla_relax,
	.now_ns = nvdla_now_ns,
	.take_irq = nvdla_take_irq,
	.layer_start = nvdla_trace_layer,
	.layer_end = nvdla_layer_end,
};

static void nvdla_deadline_work(struct work_struct *work)
{
	struct nvdla_device *ndev =
		container_of(to_delayed_work(work), struct nvdla_device,
			     deadline);

	nvdla_hw_lock(ndev);
	if (ndev->running)
		nvdla_sched_poll(ndev);
	nvdla_hw_unlock(ndev);
}

/* Reads and clears, nothing else: the rest needs hw_lock. */
static irqreturn_t nvdla_irq_handler(int irq, void *data)
{
	struct nvdla_device *ndev = data;
	unsigned long flags;
	u32 bits = 0;

	spin_lock_irqsave(&ndev->irq_lock, flags);
	if (!ndev->offline)
		bits = nvdla_engine_read_irq(&ndev->engine);
	/* If it is gone, others raised it; who waits for it will find out. */
	if (bits == NVDLA_IRQ_GONE && !READ_ONCE(ndev->running))
		bits = 0;
	ndev->irq_bits |= bits;
	spin_unlock_irqrestore(&ndev->irq_lock, flags);
	return bits ? IRQ_WAKE_THREAD : IRQ_NONE;
}

static irqreturn_t nvdla_irq_thread(int irq, void *data)
{
	struct nvdla_device *ndev = data;
	u32 bits;

	nvdla_hw_lock(ndev);
	spin_lock_irq(&ndev->irq_lock);
	bits = ndev->irq_bits;
	ndev->irq_bits = 0;
	spin_unlock_irq(&ndev->irq_lock);
	if (bits)
		nvdla_sched_interrupt(ndev, bits);
	nvdla_hw_unlock(ndev);
	return IRQ_HANDLED;
}

/**
 * nvdla_set_offline() - may registers be touched?
 * @ndev: device
 * @offline: no; the interrupt handler does not either, once this returns
 */
void nvdla_set_offline(struct nvdla_device *ndev, bool offline)
{
	unsigned long flags;

	spin_lock_irqsave(&ndev->irq_lock, flags);
	ndev->offline = offline;
	ndev->irq_bits = 0;
	spin_unlock_irqrestore(&ndev->irq_lock, flags);
}

/**
 * nvdla_quiesce() - no interrupt is raised any more
 * @ndev: device, hw_lock held, nothing running or aborted
 */
void nvdla_quiesce(struct nvdla_device *ndev)
{
	unsigned long flags;

	lockdep_assert_held(&ndev->hw_lock);
	spin_lock_irqsave(&ndev->irq_lock, flags);
	if (!ndev->offline)
		nvdla_engine_quiesce(&ndev->engine);
	spin_unlock_irqrestore(&ndev->irq_lock, flags);
}

/**
 * nvdla_device_pre_reset() - stop using registers and interrupt
 * @ndev: device
 *
 * A layer that still runs is aborted.
 */
void nvdla_device_pre_reset(struct nvdla_device *ndev)
{
	nvdla_hw_lock(ndev);
	nvdla_abort(ndev, -ECANCELED);
	nvdla_quiesce(ndev);
	nvdla_hw_unlock(ndev);
	nvdla_set_offline(ndev, true);
	synchronize_irq(ndev->irq);
}

/**
 * nvdla_device_post_reset() - start the engine, and let the device on the bus
 * @ndev: device that is not dead, hw_lock held
 *
 * Return: 0, or what nvdla_engine_start() returned.
 */
int nvdla_device_post_reset(struct nvdla_device *ndev)
{
	int ret = nvdla_engine_start(&ndev->engine);

	if (!ret)
		nvdla_isolate(ndev, false);
	return ret;
}

static void nvdla_device_fini(struct drm_device *drm, void *data)
{
	struct nvdla_device *ndev = to_nvdla_device(drm);

	destroy_workqueue(ndev->recovery_wq);
	mutex_destroy(&ndev->users_lock);
	mutex_destroy(&ndev->power_lock);
	mutex_destroy(&ndev->hw_lock);
}

/* From here on nobody serves the line, which others may share. */
static void nvdla_device_silence(struct nvdla_device *ndev)
{
	nvdla_set_offline(ndev, false);
	nvdla_hw_lock(ndev);
	nvdla_quiesce(ndev);
	nvdla_hw_unlock(ndev);
	nvdla_set_offline(ndev, true);
}

/* Returns with nothing running on the device, if there is any way to that. */
static void nvdla_device_stop(struct nvdla_device *ndev, bool awake)
{
	bool reset = false;
	bool cookie;

	nvdla_hw_lock(ndev);
	nvdla_give_up(ndev);
	nvdla_hw_unlock(ndev);
	nvdla_set_offline(ndev, true);
	synchronize_irq(ndev->irq);
	cancel_delayed_work_sync(&ndev->reset_work);
	cancel_delayed_work_sync(&ndev->deadline);

	/* A reset that failed before may work now. */
	cookie = dma_fence_begin_signalling();
	if (awake && ndev->suspect && ndev->bus_ops->can_reset(ndev->drm.dev))
		reset = !ndev->bus_ops->reset(ndev->drm.dev, true);
	nvdla_hw_lock(ndev);
	nvdla_sched_release_held(ndev);
	nvdla_hw_unlock(ndev);
	dma_fence_end_signalling(cookie);

	nvdla_release_quarantine(ndev, reset);
	if (reset) {
		nvdla_gem_reclaim(ndev);
		/* It took the mask of interrupts away. */
		nvdla_device_silence(ndev);
	}
}

/**
 * nvdla_device_remove() - take a device out of use
 * @ndev: device that was created
 *
 * The first thing that a bus does when its device goes, while registers
 * and power are still there. What was submitted ends with -ENODEV; files stay
 * open and can be closed.
 */
void nvdla_device_remove(struct nvdla_device *ndev)
{
	drm_dev_unplug(&ndev->drm);
	nvdla_device_stop(ndev, nvdla_power_fini(ndev));
	nvdla_dump_fini(ndev);
	nvdla_gem_unplug(ndev);
	nvdla_power_release(ndev);
}

/**
 * nvdla_device_shutdown() - stop a device before the system does, or kexec
 * @ndev: device that was created
 *
 * The next kernel does not know what still writes to its memory.
 */
void nvdla_device_shutdown(struct nvdla_device *ndev)
{
	nvdla_device_stop(ndev, pm_runtime_get_sync(ndev->drm.dev) >= 0);
}

/**
 * nvdla_start_reason() - why nvdla_engine_start() failed, in words
 * @error: what it returned
 *
 * Return: the reason.
 */
const char *nvdla_start_reason(int error)
{
	switch (-error) {
	case NVDLA_START_GONE:
		return "registers read all ones";
	case NVDLA_START_VERSION:
		return "not a device of this generation";
	case NVDLA_START_BUSY:
		return "a unit is running";
	case NVDLA_START_FLUSH:
		return "the convolution buffer is not flushed";
	default:
		return "unknown reason";
	}
}

/* Starts a device that somebody before may have left running. */
static int nvdla_device_start(struct nvdla_device *ndev)
{
	struct device *dev = ndev->drm.dev;
	int ret = nvdla_engine_start(&ndev->engine);

	if (ret == -NVDLA_START_BUSY && ndev->bus_ops->can_reset(dev)) {
		dev_info(dev, "found running, resetting it\n");
		if (!ndev->bus_ops->reset(dev, true))
			ret = nvdla_engine_start(&ndev->engine);
	}
	if (ret)
		return dev_err_probe(dev, -ENODEV, "cannot be used as %s: %s\n",
				     ndev->hw->name, nvdla_start_reason(ret));
	return 0;
}

/*
 * Teaches lockdep the order of locks before anybody takes them, so that the
 * first who takes them in another order is found, whatever else runs: memory
 * may be reclaimed under the power lock and a reservation, and reclaim may wait
 * for a fence; a fence waits for hw_lock.
 */
static void nvdla_device_prime_lockdep(struct nvdla_device *ndev)
{
	struct dma_resv resv;
	bool cookie;

	if (!IS_ENABLED(CONFIG_LOCKDEP))
		return;
	dma_resv_init(&resv);
	mutex_lock(&ndev->power_lock);
	fs_reclaim_acquire(GFP_KERNEL);
	fs_reclaim_release(GFP_KERNEL);
	mutex_unlock(&ndev->power_lock);

	ww_mutex_lock(&resv.lock, NULL);
	fs_reclaim_acquire(GFP_KERNEL);
	cookie = dma_fence_begin_signalling();
	mutex_lock(&ndev->hw_lock);
	mutex_unlock(&ndev->hw_lock);
	dma_fence_end_signalling(cookie);
	fs_reclaim_release(GFP_KERNEL);
	ww_mutex_unlock(&resv.lock);
	dma_resv_fini(&resv);
}

static int nvdla_device_init(struct nvdla_device *ndev)
{
	int ret;

	mutex_init(&ndev->hw_lock);
	mutex_init(&ndev->power_lock);
	mutex_init(&ndev->users_lock);
	nvdla_device_prime_lockdep(ndev);
	spin_lock_init(&ndev->irq_lock);
	init_waitqueue_head(&ndev->idle);
	hash_init(ndev->users);
	INIT_LIST_HEAD(&ndev->users_runnable);
	INIT_LIST_HEAD(&ndev->waiting);
	INIT_LIST_HEAD(&ndev->held);
	INIT_LIST_HEAD(&ndev->ended);
	INIT_DELAYED_WORK(&ndev->deadline, nvdla_deadline_work);
	nvdla_reset_init(ndev);
	/* Until it is complete. */
	ndev->state = NVDLA_STATE_DEAD;
	/* 1 is the program of nvdla_probe_atom(). */
	atomic64_set(&ndev->program_serial, 1);

	ret = nvdla_dump_init(ndev);
	if (ret)
		return ret;
	ndev->recovery_wq = alloc_workqueue("nvdla-recovery",
					    WQ_MEM_RECLAIM | WQ_HIGHPRI |
					    WQ_UNBOUND, 0);
	if (!ndev->recovery_wq)
		return -ENOMEM;
	return drmm_add_action_or_reset(&ndev->drm, nvdla_device_fini, NULL);
}

/**
 * nvdla_device_create() - create a device that a bus has found
 * @dev: bus device, DMA mask not set yet, kept off the bus if that is possible
 * @hw: configuration that its id stands for
 * @regs: mapped registers
 * @irq: interrupt
 * @bus_ops: what the bus can do
 *
 * Return: 0, or an errno after a message. Ends with nvdla_device_remove(); the
 * rest is undone with @dev.
 */
int nvdla_device_create(struct device *dev, const struct nvdla_hw *hw,
			void __iomem *regs, int irq,
			const struct nvdla_bus_ops *bus_ops)
{
	struct nvdla_device *ndev;
	int ret;

	ret = dma_set_mask_and_coherent(dev, DMA_BIT_MASK(hw->address_bits));
	if (ret)
		return dev_err_probe(dev, ret, "no DMA with %u bits\n",
				     hw->address_bits);

	ndev = devm_drm_dev_alloc(dev, &nvdla_drm_driver, struct nvdla_device,
				  drm);
	if (IS_ERR(ndev))
		return PTR_ERR(ndev);
	ndev->own_hw = *hw;
	if (!weight_gating)
		ndev->own_hw.features &= ~NVDLA_HW_WEIGHT_GATING;
	ndev->hw = &ndev->own_hw;
	ndev->regs = regs;
	ndev->irq = irq;
	ndev->bus_ops = bus_ops;
	ndev->clock_khz = bus_ops->clock_khz(dev);
	ret = nvdla_device_init(ndev);
	if (ret)
		return ret;
	dev_set_drvdata(dev, ndev);

	nvdla_engine_init(&ndev->engine, ndev->hw, &nvdla_kernel_hw_ops, ndev);
	nvdla_engine_set_clock(&ndev->engine, ndev->clock_khz);
	ret = nvdla_device_start(ndev);
	if (ret)
		return ret;
	/* It is idle: what it does from here on is what it was asked for. */
	nvdla_isolate(ndev, false);
	ret = nvdla_gem_init(ndev);
	if (ret)
		goto silence;
	/* Before anything runs: others may share a line that nobody serves. */
	ret = devm_request_threaded_irq(dev, irq, nvdla_irq_handler,
					nvdla_irq_thread, IRQF_SHARED, "nvdla",
					ndev);
	if (ret) {
		dev_err_probe(dev, ret, "no interrupt %d\n", irq);
		goto silence;
	}
	ret = nvdla_probe_atom(ndev);
	if (ret)
		goto silence;

	WRITE_ONCE(ndev->state, NVDLA_STATE_RUNNING);
	nvdla_power_init(ndev);
	nvdla_debugfs_init(ndev);
	ret = drm_dev_register(&ndev->drm, 0);
	if (ret) {
		nvdla_device_remove(ndev);
		return ret;
	}
	drm_info(&ndev->drm, "%s, atom of %u bytes\n", hw->name, hw->atom);
	return 0;

silence:
	nvdla_device_silence(ndev);
	nvdla_isolate(ndev, true);
	return ret;
}
