// SPDX-License-Identifier: GPL-2.0
/*
 * Devices that fail: hang, answer all ones, or do what no program asked for.
 *
 * NVDLA cannot be stopped, only reset as a whole. Until then it may write into
 * the buffers of what was enabled, at any time, also after it was gone for a
 * while. So the first thing is to keep it off the bus where that is possible,
 * and to hold these buffers: they are in quarantine until a reset has worked,
 * and for good without one. Then the fence of the guilty job is signalled. The
 * reset comes last, by a work, as it takes locks and memory that nobody who
 * waits for a fence may wait for; meanwhile nothing is started.
 */
#include <drm/drm_gem.h>
#include <drm/drm_print.h>

#include "nvdla_device.h"
#include "nvdla_gem.h"
#include "nvdla_job.h"
#include "nvdla_sched.h"
#include "nvdla_trace_layer.h"

/* Whoever has the lock of the device will be done some time. */
#define NVDLA_RESET_RETRY_MS	20
#define NVDLA_RESET_TRIES	(30 * MSEC_PER_SEC / NVDLA_RESET_RETRY_MS)

static void nvdla_isolate(struct nvdla_device *ndev)
{
	if (ndev->front->isolate)
		ndev->front->isolate(ndev->drm.dev, true);
}

static void nvdla_quarantine(struct nvdla_device *ndev,
			     struct nvdla_submission *submission)
{
	nvdla_isolate(ndev);
	ndev->suspect = true;
	kref_get(&submission->ref);
	list_add_tail(&submission->quarantine, &ndev->quarantine);
}

/**
 * nvdla_reset() - reset the device, as soon as that can be
 * @ndev: device, hw_lock held
 */
void nvdla_reset(struct nvdla_device *ndev)
{
	lockdep_assert_held(&ndev->hw_lock);
	if (ndev->state == NVDLA_STATE_DEAD)
		return;
	WRITE_ONCE(ndev->state, NVDLA_STATE_BROKEN);
	ndev->reset_tries = 0;
	mod_delayed_work(system_unbound_wq, &ndev->reset_work, 0);
}

/**
 * nvdla_recover() - the device failed
 * @ndev: device, hw_lock held
 * @submission: what it worked on, to be ended by the caller
 */
void nvdla_recover(struct nvdla_device *ndev,
		   struct nvdla_submission *submission)
{
	lockdep_assert_held(&ndev->hw_lock);
	nvdla_quarantine(ndev, submission);
	nvdla_engine_abort(&ndev->engine);
	nvdla_reset(ndev);
}

/**
 * nvdla_abort() - end what runs, as the device is not to go on with it
 * @ndev: device, hw_lock held
 * @error: for the fence
 */
void nvdla_abort(struct nvdla_device *ndev, int error)
{
	lockdep_assert_held(&ndev->hw_lock);
	if (!ndev->running)
		return;
	nvdla_quarantine(ndev, ndev->running);
	ndev->abort_error = error;
	nvdla_engine_abort(&ndev->engine);
	nvdla_sched_advance(ndev);
}

/**
 * nvdla_give_up() - nothing runs on this device any more
 * @ndev: device, hw_lock held
 * @error: for all that runs or waits
 *
 * It raises no interrupt and, where it can be kept off it, does not use the
 * bus. Registers may be touched.
 */
void nvdla_give_up(struct nvdla_device *ndev, int error)
{
	lockdep_assert_held(&ndev->hw_lock);
	WRITE_ONCE(ndev->state, NVDLA_STATE_DEAD);
	nvdla_abort(ndev, error);
	nvdla_isolate(ndev);
	nvdla_quiesce(ndev);
	nvdla_sched_end_all(ndev, error);
	nvdla_sched_advance(ndev);
}

/**
 * nvdla_release_quarantine() - give buffers back, or up
 * @ndev: device, hw_lock not held
 * @reset: it was reset; else their memory is never used again
 */
void nvdla_release_quarantine(struct nvdla_device *ndev, bool reset)
{
	struct nvdla_submission *submission, *next;
	LIST_HEAD(list);
	u32 i;

	nvdla_hw_lock(ndev);
	list_splice_init(&ndev->quarantine, &list);
	ndev->suspect &= !reset;
	nvdla_hw_unlock(ndev);

	list_for_each_entry_safe(submission, next, &list, quarantine) {
		list_del_init(&submission->quarantine);
		for (i = 0; i < submission->num_objects && !reset; i++)
			nvdla_bo_abandon(to_nvdla_bo(submission->objects[i]));
		nvdla_submission_put(submission);
	}
}

static void nvdla_reset_work(struct work_struct *work)
{
	struct nvdla_device *ndev =
		container_of(to_delayed_work(work), struct nvdla_device,
			     reset_work);
	struct device *dev = ndev->drm.dev;
	int ret = -ENOTTY;
	bool cookie;

	if (ndev->front->can_reset(dev))
		ret = ndev->front->reset(dev, false);
	if (ret == -EAGAIN && ++ndev->reset_tries < NVDLA_RESET_TRIES) {
		mod_delayed_work(system_unbound_wq, &ndev->reset_work,
				 msecs_to_jiffies(NVDLA_RESET_RETRY_MS));
		return;
	}
	if (!ret) {
		atomic_inc(&ndev->resets);
		ret = nvdla_restart(ndev);
	}
	nvdla_trace_reset(ndev, ret);
	if (!ret) {
		nvdla_release_quarantine(ndev, true);
		drm_info(&ndev->drm, "reset after a failure\n");
		return;
	}

	drm_err(&ndev->drm,
		"failed and cannot be reset (%d): out of use, its buffers stay allocated\n",
		ret);
	/* A shared interrupt line is served all the same. */
	nvdla_set_offline(ndev, false);
	cookie = dma_fence_begin_signalling();
	nvdla_hw_lock(ndev);
	nvdla_give_up(ndev, -ENODEV);
	nvdla_hw_unlock(ndev);
	dma_fence_end_signalling(cookie);
	nvdla_release_quarantine(ndev, false);
}

/**
 * nvdla_reset_init() - the part of nvdla_device_create() that is about failures
 * @ndev: device
 */
void nvdla_reset_init(struct nvdla_device *ndev)
{
	INIT_LIST_HEAD(&ndev->quarantine);
	INIT_DELAYED_WORK(&ndev->reset_work, nvdla_reset_work);
}
