// SPDX-License-Identifier: GPL-2.0
/*
 * Life of a device: registers, interrupt, clock of the engine, registration.
 */
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/module.h>

#include <drm/drm_drv.h>
#include <drm/drm_managed.h>
#include <drm/drm_print.h>

#include "nvdla_compat.h"
#include "nvdla_device.h"
#include "nvdla_drv.h"
#include "nvdla_job.h"
#include "nvdla_trace_layer.h"

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

	return nvdla_engine_read_irq(&ndev->engine) |
	       atomic_xchg(&ndev->irq_bits, 0);
}

static const struct nvdla_port nvdla_kernel_port = {
	.reg_read = nvdla_reg_read,
	.reg_write = nvdla_reg_write,
	.dma_barrier = nvdla_barrier,
	.relax = nvdla_relax,
	.now_ns = nvdla_now_ns,
	.take_irq = nvdla_take_irq,
	.layer_start = nvdla_trace_layer,
};

/**
 * nvdla_device_arm_deadline() - look at the engine when it wants to be
 * @ndev: device, hw_lock held
 */
void nvdla_device_arm_deadline(struct nvdla_device *ndev)
{
	u64 deadline = nvdla_engine_next_deadline(&ndev->engine);
	u64 now = ktime_get_ns();

	lockdep_assert_held(&ndev->hw_lock);
	if (deadline == NVDLA_NO_DEADLINE)
		cancel_delayed_work(&ndev->deadline);
	else
		mod_delayed_work(system_highpri_wq, &ndev->deadline,
				 deadline <= now ? 0 :
				 nsecs_to_jiffies(deadline - now) + 1);
}

/* Not a signalling section as a whole: a reset takes locks of the bus. */
static void nvdla_deadline_work(struct work_struct *work)
{
	struct nvdla_device *ndev =
		container_of(to_delayed_work(work), struct nvdla_device,
			     deadline);

	mutex_lock(&ndev->hw_lock);
	if (!ndev->wedged && !ndev->offline) {
		nvdla_engine_poll(&ndev->engine);
		nvdla_job_collect(ndev);
		nvdla_device_arm_deadline(ndev);
	}
	mutex_unlock(&ndev->hw_lock);
}

/* Reads and clears, nothing else: the rest needs hw_lock. */
static irqreturn_t nvdla_irq_handler(int irq, void *data)
{
	struct nvdla_device *ndev = data;
	u32 bits;

	if (READ_ONCE(ndev->offline))
		return IRQ_NONE;
	bits = nvdla_engine_read_irq(&ndev->engine);
	if (!bits)
		return IRQ_NONE;
	atomic_or(bits, &ndev->irq_bits);
	return IRQ_WAKE_THREAD;
}

static irqreturn_t nvdla_irq_thread(int irq, void *data)
{
	struct nvdla_device *ndev = data;
	bool cookie = dma_fence_begin_signalling();
	u32 bits;

	mutex_lock(&ndev->hw_lock);
	bits = atomic_xchg(&ndev->irq_bits, 0);
	if (!ndev->wedged && !ndev->offline && bits) {
		nvdla_engine_interrupt(&ndev->engine, bits);
		nvdla_job_collect(ndev);
		nvdla_device_arm_deadline(ndev);
	}
	mutex_unlock(&ndev->hw_lock);
	dma_fence_end_signalling(cookie);
	return IRQ_HANDLED;
}

static void nvdla_device_fini_sched(struct drm_device *drm, void *data)
{
	struct nvdla_device *ndev = to_nvdla_device(drm);

	drm_sched_fini(&ndev->sched);
	mutex_destroy(&ndev->hw_lock);
}

/*
 * Runs first when the device goes, before registers and interrupt do. What
 * was submitted ends with an error; files stay open and can be closed.
 */
static void nvdla_device_unplug(void *data)
{
	struct nvdla_device *ndev = data;

	drm_dev_unplug(&ndev->drm);
	mutex_lock(&ndev->hw_lock);
	if (ndev->running) {
		/* Still on the hardware: its memory must not be reused. */
		kref_get(&ndev->running->ref);
		list_add_tail(&ndev->running->node, &ndev->quarantine);
		ndev->reset_ops->isolate(ndev->drm.dev);
	}
	nvdla_engine_abort(&ndev->engine);
	WRITE_ONCE(ndev->wedged, true);
	nvdla_job_collect(ndev);
	WRITE_ONCE(ndev->offline, true);
	mutex_unlock(&ndev->hw_lock);
	cancel_delayed_work_sync(&ndev->deadline);
	nvdla_abandon_quarantine(ndev);
}

static const char *nvdla_start_reason(int error)
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

/* Who had the device before may have left it running. */
static int nvdla_device_start(struct nvdla_device *ndev)
{
	struct device *dev = ndev->drm.dev;
	int ret = nvdla_engine_start(&ndev->engine);

	if (ret == -NVDLA_START_BUSY && ndev->reset_ops->can_reset(dev)) {
		dev_info(dev, "found running, resetting it\n");
		if (!ndev->reset_ops->reset(dev, true))
			ret = nvdla_engine_start(&ndev->engine);
	}
	if (ret)
		return dev_err_probe(dev, -ENODEV, "cannot be used as %s: %s\n",
				     ndev->hw->name, nvdla_start_reason(ret));
	return 0;
}

/**
 * nvdla_device_create() - a device that a front end has found
 * @dev: bus device, DMA mask not set yet
 * @hw: configuration that its id stands for
 * @regs: mapped registers
 * @irq: interrupt
 * @reset_ops: how to reset it
 *
 * Return: 0, or an errno after a message. All is undone with @dev.
 */
int nvdla_device_create(struct device *dev, const struct nvdla_hw *hw,
			void __iomem *regs, int irq,
			const struct nvdla_reset_ops *reset_ops)
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
	ndev->reset_ops = reset_ops;
	mutex_init(&ndev->hw_lock);
	INIT_LIST_HEAD(&ndev->quarantine);
	INIT_DELAYED_WORK(&ndev->deadline, nvdla_deadline_work);
	ndev->fence_context = dma_fence_context_alloc(1);
	/* 1 is the program of nvdla_confirm_atom(). */
	atomic64_set(&ndev->program_serial, 1);
	dev_set_drvdata(dev, ndev);

	nvdla_engine_init(&ndev->engine, ndev->hw, &nvdla_kernel_port, ndev);
	nvdla_engine_set_clock(&ndev->engine, ndev->clock_khz);
	ret = nvdla_device_start(ndev);
	if (ret)
		return ret;
	ret = nvdla_region_init(ndev);
	if (ret)
		return ret;
	ret = nvdla_confirm_atom(ndev);
	if (ret)
		return ret;

	ret = nvdla_sched_init(&ndev->sched, &nvdla_sched_ops, dev);
	if (ret)
		return ret;
	ret = drmm_add_action_or_reset(&ndev->drm, nvdla_device_fini_sched,
				       NULL);
	if (ret)
		return ret;
	ret = devm_request_threaded_irq(dev, irq, nvdla_irq_handler,
					nvdla_irq_thread, IRQF_SHARED, "nvdla",
					ndev);
	if (ret)
		return dev_err_probe(dev, ret, "no interrupt %d\n", irq);
	ret = drm_dev_register(&ndev->drm, 0);
	if (ret)
		return ret;
	ret = devm_add_action_or_reset(dev, nvdla_device_unplug, ndev);
	if (ret)
		return ret;
	drm_info(&ndev->drm, "%s, atom of %u bytes\n", hw->name, hw->atom);
	return 0;
}
