// SPDX-License-Identifier: GPL-2.0
/*
 * Devices that fail: hang, answer all ones, or do what no program asked for.
 *
 * NVDLA cannot be stopped, only reset as a whole. Until then it may write into
 * the buffers of what was enabled, at any time, also after it was gone for a
 * while. So the first thing is to keep it off the bus where that is possible,
 * and to hold these buffers: they are in quarantine until a reset has worked,
 * and for good without one.
 *
 * The fence of the guilty job tells others that they may have its buffers. It
 * signals when the device is off the bus; where nothing keeps it off, when it
 * was reset, or when it is certain that it cannot be. So the reset, which all
 * other jobs wait for anyhow, is on the way to fences: its queue has a rescuer,
 * it takes memory that needs no reclaim, and it never waits for the lock of the
 * bus device, whose holder may wait for fences; it tries again.
 *
 * Somebody else may ask for a reset as well. Then the job that runs is cut
 * between two layers, as for a sleep (nvdla_power.c), or ends if that takes too
 * long.
 */
#include <linux/sched/mm.h>

#include <drm/drm_gem.h>
#include <drm/drm_print.h>

#include "nvdla_bus.h"
#include "nvdla_debug.h"
#include "nvdla_device.h"
#include "nvdla_gem.h"
#include "nvdla_job.h"
#include "nvdla_power.h"
#include "nvdla_reset.h"
#include "nvdla_sched.h"

/* Whoever has the lock of the device will be done some time. */
#define NVDLA_RESET_RETRY_MS	20
#define NVDLA_RESET_TRIES	(30 * MSEC_PER_SEC / NVDLA_RESET_RETRY_MS)

/**
 * nvdla_isolate() - keep the device off the bus, or let it on again
 * @ndev: device, hw_lock held, or not known to others yet
 * @isolated: keep it off, where there is a way
 */
void nvdla_isolate(struct nvdla_device *ndev, bool isolated)
{
	if (!ndev->bus_ops->isolate)
		return;
	ndev->bus_ops->isolate(ndev->drm.dev, isolated);
	ndev->isolated = isolated;
}

static void nvdla_quarantine(struct nvdla_device *ndev,
			     struct nvdla_submission *submission)
{
	nvdla_isolate(ndev, true);
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
	mod_delayed_work(ndev->recovery_wq, &ndev->reset_work, 0);
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
 *
 * What runs or waits ends with -ENODEV, but for what is held: when nothing more
 * can be done about the device the caller ends that with
 * nvdla_sched_release_held(). The device raises no interrupt and, where it can
 * be kept off it, does not use the bus. Registers may be touched.
 */
void nvdla_give_up(struct nvdla_device *ndev)
{
	lockdep_assert_held(&ndev->hw_lock);
	WRITE_ONCE(ndev->state, NVDLA_STATE_DEAD);
	nvdla_abort(ndev, -ENODEV);
	nvdla_isolate(ndev, true);
	nvdla_quiesce(ndev);
	nvdla_sched_end_all(ndev);
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

/* The sides of a reset on which blocks of the driver do something. */
enum nvdla_reset_phase {
	/* the bus is about to reset the device */
	NVDLA_RESET_PREPARE,
	/* the device is in its reset state; hw_lock is held */
	NVDLA_RESET_RESTART,
	/* the bus is done, whether the reset has worked or not */
	NVDLA_RESET_DONE,
};

/*
 * Lists what each block does around a reset, in order: what one takes away
 * before, it gives back afterwards, the last one first. There is no way to do
 * that in one go, as PCI's core calls the driver on both sides of a reset.
 *
 * Return: 0, or what nvdla_engine_start() returned.
 */
static int nvdla_reset_blocks(struct nvdla_device *ndev,
			      enum nvdla_reset_phase phase)
{
	int ret = 0;

	switch (phase) {
	case NVDLA_RESET_PREPARE:
		nvdla_power_pre_reset(ndev);
		/* Nothing runs on a dead device. */
		if (READ_ONCE(ndev->state) == NVDLA_STATE_DEAD)
			break;
		nvdla_sched_pre_reset(ndev);
		nvdla_device_pre_reset(ndev);
		break;
	case NVDLA_RESET_RESTART:
		ret = nvdla_device_post_reset(ndev);
		if (!ret)
			nvdla_sched_post_reset(ndev);
		break;
	case NVDLA_RESET_DONE:
		nvdla_power_post_reset(ndev);
		break;
	}
	return ret;
}

/**
 * nvdla_restart() - take the device over after a reset or a sleep
 * @ndev: device, in its reset state
 *
 * Return: 0, or -EIO after a message.
 */
int nvdla_restart(struct nvdla_device *ndev)
{
	int ret = 0;

	nvdla_set_offline(ndev, false);
	nvdla_hw_lock(ndev);
	if (ndev->state != NVDLA_STATE_DEAD)
		ret = nvdla_reset_blocks(ndev, NVDLA_RESET_RESTART);
	nvdla_hw_unlock(ndev);
	if (!ret)
		return 0;
	drm_err(&ndev->drm, "cannot be taken over again: %s\n",
		nvdla_start_reason(ret));
	return -EIO;
}

/**
 * nvdla_reset_prepare() - give the device up, as the bus is about to reset it
 * @ndev: device; the lock of its bus device is held, or nobody else can ask
 */
void nvdla_reset_prepare(struct nvdla_device *ndev)
{
	nvdla_reset_blocks(ndev, NVDLA_RESET_PREPARE);
}

/**
 * nvdla_reset_anew() - reset a device that came back wrong
 * @ndev: device, after a sleep or a reset by somebody else
 */
void nvdla_reset_anew(struct nvdla_device *ndev)
{
	nvdla_hw_lock(ndev);
	nvdla_reset(ndev);
	nvdla_hw_unlock(ndev);
}

/**
 * nvdla_reset_done() - the reset is over, and may have worked
 * @ndev: device, after nvdla_reset_prepare()
 *
 * After one of our own, nvdla_reset.c knows whether it did. After another's
 * the device must be found idle, and if something had to be aborted, only a
 * reset of our own proves that nothing is left of it.
 */
void nvdla_reset_done(struct nvdla_device *ndev)
{
	bool foreign, clean;

	nvdla_hw_lock(ndev);
	foreign = ndev->state == NVDLA_STATE_PAUSED;
	clean = list_empty(&ndev->quarantine);
	nvdla_hw_unlock(ndev);

	if (foreign) {
		atomic_inc(&ndev->resets);
		nvdla_trace_reset(ndev, 0);
		drm_info(&ndev->drm, "reset by somebody else\n");
	}
	if (foreign && (!clean || nvdla_restart(ndev)))
		nvdla_reset_anew(ndev);
	nvdla_reset_blocks(ndev, NVDLA_RESET_DONE);
}

/* The end of a reset that did not work. */
static void nvdla_reset_failed(struct nvdla_device *ndev, int error)
{
	drm_err(&ndev->drm,
		"failed and cannot be reset (%d): out of use, its buffers stay allocated\n",
		error);
	/* A shared interrupt line is served all the same. */
	nvdla_set_offline(ndev, false);
	nvdla_hw_lock(ndev);
	nvdla_give_up(ndev);
	nvdla_sched_release_held(ndev);
	nvdla_hw_unlock(ndev);
	nvdla_release_quarantine(ndev, false);
}

/* Return: whether it is to be called again, as the device is locked. */
static bool nvdla_reset_try(struct nvdla_device *ndev)
{
	struct device *dev = ndev->drm.dev;
	int ret = -ENOTTY;

	if (ndev->bus_ops->can_reset(dev))
		ret = ndev->bus_ops->reset(dev, false);
	if (ret == -EAGAIN && ++ndev->reset_tries < NVDLA_RESET_TRIES)
		return true;
	if (!ret) {
		atomic_inc(&ndev->resets);
		ret = nvdla_restart(ndev);
	}
	nvdla_trace_reset(ndev, ret);
	if (ret) {
		nvdla_reset_failed(ndev, ret);
	} else {
		nvdla_release_quarantine(ndev, true);
		drm_info(&ndev->drm, "reset after a failure\n");
	}
	return false;
}

static void nvdla_reset_work(struct work_struct *work)
{
	struct nvdla_device *ndev =
		container_of(to_delayed_work(work), struct nvdla_device,
			     reset_work);
	unsigned int noreclaim = memalloc_noreclaim_save();
	bool cookie = dma_fence_begin_signalling();

	if (nvdla_reset_try(ndev))
		mod_delayed_work(ndev->recovery_wq, &ndev->reset_work,
				 msecs_to_jiffies(NVDLA_RESET_RETRY_MS));
	dma_fence_end_signalling(cookie);
	memalloc_noreclaim_restore(noreclaim);
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
