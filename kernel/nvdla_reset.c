// SPDX-License-Identifier: GPL-2.0
/*
 * Recovery.
 *
 * NVDLA cannot be stopped, only reset as a whole. After a hang it may still
 * write into the buffers of what was enabled, at any time, so these buffers
 * are given back only after a reset that worked. Without one the device is
 * wedged: nothing is submitted any more, it is kept off the bus where that is
 * possible, and the buffers are kept for good.
 */
#include <drm/drm_gem.h>
#include <drm/drm_print.h>

#include "nvdla_device.h"
#include "nvdla_job.h"

static int nvdla_try_reset(struct nvdla_device *ndev)
{
	struct device *dev = ndev->drm.dev;
	int ret;

	if (!ndev->reset_ops->can_reset(dev))
		return -ENOTTY;
	WRITE_ONCE(ndev->offline, true);
	ret = ndev->reset_ops->reset(dev, false);
	if (ret)
		return ret;
	WRITE_ONCE(ndev->offline, false);
	atomic_set(&ndev->irq_bits, 0);
	ret = nvdla_engine_start(&ndev->engine);
	if (ret)
		drm_err(&ndev->drm, "reset leaves the device unusable (%d)\n",
			ret);
	return ret ? -EIO : 0;
}

/**
 * nvdla_recover() - after a hang
 * @ndev: device, hw_lock held
 *
 * Called before the fence of the guilty job is signalled. May sleep in the
 * bus's reset, which is why hw_lock is a mutex.
 */
void nvdla_recover(struct nvdla_device *ndev)
{
	struct nvdla_submission *submission, *next;
	int ret;

	lockdep_assert_held(&ndev->hw_lock);
	nvdla_engine_abort(&ndev->engine);
	ret = nvdla_try_reset(ndev);
	if (ret) {
		WRITE_ONCE(ndev->wedged, true);
		ndev->reset_ops->isolate(ndev->drm.dev);
		drm_err(&ndev->drm,
			"hung and cannot be reset (%d): out of use, its buffers stay allocated\n",
			ret);
		return;
	}
	atomic_inc(&ndev->resets);
	list_for_each_entry_safe(submission, next, &ndev->quarantine, node) {
		list_del(&submission->node);
		nvdla_submission_put(submission);
	}
	drm_info(&ndev->drm, "reset after a hang\n");
}

/**
 * nvdla_abandon_quarantine() - the device goes, the buffers stay
 * @ndev: device that was unplugged
 *
 * Their memory is never given back, but their places in the device's address
 * space for mmap() must be, as that ends with the device.
 */
void nvdla_abandon_quarantine(struct nvdla_device *ndev)
{
	struct nvdla_submission *submission;
	u32 i;

	list_for_each_entry(submission, &ndev->quarantine, node)
		for (i = 0; i < submission->num_objects; i++)
			drm_gem_free_mmap_offset(submission->objects[i]);
}
