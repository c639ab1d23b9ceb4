// SPDX-License-Identifier: GPL-2.0
/*
 * Sleep of the system, and the device's own when it has nothing to do: both
 * take a device away for a while and give it back, as a reset does.
 *
 * The job that runs is cut between two layers, registers are not touched any
 * more, and afterwards the engine takes the device over anew, with nothing
 * known of its tables. A job that cannot be cut in time keeps the system awake.
 */
#include <linux/interrupt.h>
#include <linux/pm_runtime.h>

#include "nvdla_bus.h"
#include "nvdla_device.h"
#include "nvdla_power.h"
#include "nvdla_reset.h"
#include "nvdla_sched.h"

#define NVDLA_AUTOSUSPEND_MS	100
/* A layer may take so long to end. */
#define NVDLA_SUSPEND_MS	5000

/**
 * nvdla_power_get() - awake until nvdla_power_put()
 * @ndev: device; never on the way to a fence: to wake up may take memory
 *
 * Return: 0, or the errno with which its clocks failed. The next call tries
 * again: what the core remembers of a failure, and would answer all others
 * with, is forgotten before another one asks.
 */
int nvdla_power_get(struct nvdla_device *ndev)
{
	struct device *dev = ndev->drm.dev;
	int ret;

	mutex_lock(&ndev->power_lock);
	ret = pm_runtime_resume_and_get(dev);
	if (ret)
		pm_runtime_set_suspended(dev);
	mutex_unlock(&ndev->power_lock);
	return ret;
}

/**
 * nvdla_power_put() - may sleep, in a while
 * @ndev: device, after nvdla_power_get()
 */
void nvdla_power_put(struct nvdla_device *ndev)
{
	pm_runtime_mark_last_busy(ndev->drm.dev);
	pm_runtime_put_autosuspend(ndev->drm.dev);
}

/**
 * nvdla_power_pre_reset() - wake the device up until nvdla_power_post_reset()
 * @ndev: device
 *
 * The reset would make it forget that it sleeps.
 */
void nvdla_power_pre_reset(struct nvdla_device *ndev)
{
	pm_runtime_get_sync(ndev->drm.dev);
}

/**
 * nvdla_power_post_reset() - let the device sleep again
 * @ndev: device, after nvdla_power_pre_reset()
 */
void nvdla_power_post_reset(struct nvdla_device *ndev)
{
	nvdla_power_put(ndev);
}

static int nvdla_runtime_suspend(struct device *dev)
{
	struct nvdla_device *ndev = dev_get_drvdata(dev);
	int ret = 0;

	nvdla_hw_lock(ndev);
	if (ndev->running || ndev->state == NVDLA_STATE_BROKEN) {
		ret = -EBUSY;
	} else {
		if (ndev->state == NVDLA_STATE_RUNNING)
			WRITE_ONCE(ndev->state, NVDLA_STATE_PAUSED);
		nvdla_quiesce(ndev);
	}
	nvdla_hw_unlock(ndev);
	if (ret)
		return ret;
	nvdla_set_offline(ndev, true);
	synchronize_irq(ndev->irq);
	if (ndev->bus_ops->power)
		ret = ndev->bus_ops->power(dev, false);
	if (ret)
		nvdla_restart(ndev);
	return ret;
}

static int nvdla_runtime_resume(struct device *dev)
{
	struct nvdla_device *ndev = dev_get_drvdata(dev);
	int ret = 0;

	if (ndev->bus_ops->power)
		ret = ndev->bus_ops->power(dev, true);
	if (ret)
		return ret;
	/*
	 * No error: the core would remember it and never try again, not even
	 * for the next driver. Who waits learns what becomes of the reset.
	 */
	if (nvdla_restart(ndev))
		nvdla_reset_anew(ndev);
	return 0;
}

static int nvdla_suspend(struct device *dev)
{
	struct nvdla_device *ndev = dev_get_drvdata(dev);
	int ret = -EBUSY;

	flush_delayed_work(&ndev->reset_work);
	if (nvdla_sched_pause(ndev, NVDLA_SUSPEND_MS))
		ret = pm_runtime_force_suspend(dev);
	if (ret)
		nvdla_sched_unpause(ndev);
	return ret;
}

/*
 * A device without work sleeps on. If it does not wake up, nobody would go on
 * with the work that it has; who submits more tries again.
 */
static int nvdla_resume(struct device *dev)
{
	struct nvdla_device *ndev = dev_get_drvdata(dev);
	int ret = pm_runtime_force_resume(dev);

	if (!ret)
		return 0;
	nvdla_hw_lock(ndev);
	nvdla_sched_end_all(ndev);
	nvdla_hw_unlock(ndev);
	return ret;
}

const struct dev_pm_ops nvdla_pm_ops = {
	SYSTEM_SLEEP_PM_OPS(nvdla_suspend, nvdla_resume)
	RUNTIME_PM_OPS(nvdla_runtime_suspend, nvdla_runtime_resume, NULL)
};

/**
 * nvdla_power_init() - from here on the device may sleep
 * @ndev: device, active
 *
 * PCI's core has a reference while a driver probes, and enabled all this.
 */
void nvdla_power_init(struct nvdla_device *ndev)
{
	struct device *dev = ndev->drm.dev;

	pm_runtime_set_autosuspend_delay(dev, NVDLA_AUTOSUSPEND_MS);
	pm_runtime_use_autosuspend(dev);
	ndev->enables_pm = !pm_runtime_enabled(dev);
	if (ndev->enables_pm) {
		pm_runtime_set_active(dev);
		pm_runtime_get_noresume(dev);
		pm_runtime_enable(dev);
	}
	pm_runtime_mark_last_busy(dev);
	pm_runtime_put_autosuspend(dev);
}

/**
 * nvdla_power_fini() - wake the device up for the last time
 * @ndev: device, after nvdla_power_init()
 *
 * It stays awake until nvdla_power_release().
 *
 * Return: whether it is; else its registers cannot be reached.
 */
bool nvdla_power_fini(struct nvdla_device *ndev)
{
	struct device *dev = ndev->drm.dev;
	bool awake = pm_runtime_get_sync(dev) >= 0;

	pm_runtime_dont_use_autosuspend(dev);
	return awake;
}

/**
 * nvdla_power_release() - leave runtime PM as the bus expects it
 * @ndev: device, after nvdla_power_fini(); no register is touched any more
 */
void nvdla_power_release(struct nvdla_device *ndev)
{
	struct device *dev = ndev->drm.dev;

	/* PCI's core undoes the rest itself. */
	if (!ndev->enables_pm)
		return;
	pm_runtime_disable(dev);
	pm_runtime_set_suspended(dev);
	pm_runtime_put_noidle(dev);
}
