// SPDX-License-Identifier: GPL-2.0
/*
 * Files of a device in debugfs: for people, no ABI.
 *
 *   registers   all that can be read, by name, both groups
 *   status      configuration, jobs, the last failure, what the engine counts
 *   queue       what runs, and the contexts of each open file
 *   memory      regions of the device's own, and buffers of each open file
 */
#include <linux/seq_file.h>

#include <drm/drm_debugfs.h>
#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_gem.h>

#include "nvdla_context.h"
#include "nvdla_debug.h"
#include "nvdla_device.h"
#include "nvdla_drv.h"
#include "nvdla_gem.h"
#include "nvdla_job.h"
#include "nvdla_power.h"
#include "nvdla_program.h"
#include "nvdla_user.h"

static struct nvdla_device *nvdla_debugfs_device(struct seq_file *seq)
{
#ifdef NVDLA_HAVE_DEBUGFS_ADD_FILES
	struct drm_debugfs_entry *entry = seq->private;

	return to_nvdla_device(entry->dev);
#else
	struct drm_info_node *node = seq->private;

	return to_nvdla_device(node->minor->dev);
#endif
}

static void nvdla_debugfs_register(void *data,
				   const struct nvdla_register *reg,
				   u32 offset, u32 group, u32 value)
{
	struct seq_file *seq = data;
	const char *unit = nvdla_register_unit_name(reg->unit);

	if (reg->grouped)
		seq_printf(seq, "0x%05x 0x%08x %s.%s group %u\n", offset,
			   value, unit, reg->name, group);
	else
		seq_printf(seq, "0x%05x 0x%08x %s.%s\n", offset, value, unit,
			   reg->name);
}

/*
 * Wakes the device up. While it is reset it has no registers; running, it stays
 * so until hw_lock is released.
 */
static int nvdla_debugfs_registers(struct seq_file *seq, void *data)
{
	struct nvdla_device *ndev = nvdla_debugfs_device(seq);
	int ret, index;

	if (!drm_dev_enter(&ndev->drm, &index))
		return -ENODEV;
	ret = nvdla_power_get(ndev);
	if (ret)
		goto exit;
	ret = mutex_lock_interruptible(&ndev->hw_lock);
	if (ret)
		goto put;
	ret = -EBUSY;
	if (ndev->state == NVDLA_STATE_RUNNING)
		ret = nvdla_register_read_all(ndev, nvdla_debugfs_register,
					      seq);
	mutex_unlock(&ndev->hw_lock);
put:
	nvdla_power_put(ndev);
exit:
	drm_dev_exit(index);
	return ret;
}

/* A device that sleeps is paused, too. */
static const char * const state_names[] = {
	[NVDLA_STATE_PAUSED] = "paused",
	[NVDLA_STATE_RUNNING] = "running",
	[NVDLA_STATE_BROKEN] = "broken",
	[NVDLA_STATE_DEAD] = "dead",
};

static int nvdla_debugfs_status(struct seq_file *seq, void *data)
{
	struct nvdla_device *ndev = nvdla_debugfs_device(seq);
	const struct nvdla_engine_debug *debug = &ndev->engine.debug;
	const struct nvdla_tally *tally = &ndev->tally;
	const struct nvdla_hw *hw = ndev->hw;
	int ret;

	ret = mutex_lock_interruptible(&ndev->hw_lock);
	if (ret)
		return ret;
	seq_printf(seq, "configuration: %s\n", hw->name);
	seq_printf(seq, "features: 0x%x%s\n", hw->features,
		   hw->features & NVDLA_HW_WEIGHT_GATING ?
		   " (weight gating)" : "");
	seq_printf(seq, "clock: %u kHz\n", ndev->clock_khz);
	seq_printf(seq, "state: %s\n", state_names[ndev->state]);
	seq_printf(seq, "resets: %d\n", atomic_read(&ndev->resets));
	seq_printf(seq, "jobs: %llu\n", tally->jobs);
	seq_printf(seq, "failed: %llu\n", tally->failed);
	if (tally->failed)
		seq_printf(seq,
			   "last failure: %s in layer %u of program %llu at %llu ns\n",
			   nvdla_result_name(tally->last.result),
			   tally->last.layer, tally->last.program,
			   tally->last.time_ns);
	seq_printf(seq, "spurious interrupt bits: %u\n", debug->spurious);
	seq_printf(seq, "lost interrupts: %u\n", debug->lost);
	seq_printf(seq, "units not seen to settle: %u\n", debug->unsettled);
	seq_printf(seq, "look-up tables loaded: %u\n", debug->lut_loads);
	mutex_unlock(&ndev->hw_lock);
	return 0;
}

/* The number is that of the timeline, as in trace points. */
static void nvdla_debugfs_context(struct seq_file *seq,
				  const struct nvdla_context *context)
{
	const struct nvdla_submission *submission;

	if (context->guilty)
		seq_printf(seq, "  context %llu: guilty, layer %u\n",
			   context->fence_context, context->guilty_layer);
	else
		seq_printf(seq, "  context %llu: good\n",
			   context->fence_context);
	list_for_each_entry(submission, &context->ready, node)
		seq_printf(seq, "    ready: program %llu, layer %u of %u\n",
			   submission->job.serial, submission->job.first,
			   submission->job.program->num_layers);
}

static void nvdla_debugfs_contexts(struct seq_file *seq,
				   struct nvdla_device *ndev)
{
	struct nvdla_context *context;
	struct drm_file *file;

	lockdep_assert_held(&ndev->hw_lock);
	list_for_each_entry(file, &ndev->drm.filelist, lhead) {
		struct nvdla_file *nfile = file->driver_priv;
		struct nvdla_client *client = nfile->client;

		seq_printf(seq, "file %llu: %lld ns busy\n",
			   nvdla_client_id(file),
			   atomic64_read(&client->busy_ns));
		/* The lock keeps what is in the list alive. */
		spin_lock(&client->lock);
		list_for_each_entry(context, &client->contexts, node)
			nvdla_debugfs_context(seq, context);
		spin_unlock(&client->lock);
	}
}

static int nvdla_debugfs_queue(struct seq_file *seq, void *data)
{
	struct nvdla_device *ndev = nvdla_debugfs_device(seq);
	const struct nvdla_submission *running;
	int ret;

	/* Never the other way round: who has it may allocate. */
	ret = mutex_lock_interruptible(&ndev->drm.filelist_mutex);
	if (ret)
		return ret;
	ret = mutex_lock_interruptible(&ndev->hw_lock);
	if (ret)
		goto unlock;
	nvdla_sched_account(ndev);
	running = ndev->running;
	if (running)
		seq_printf(seq,
			   "running: program %llu, layer %u of %u, %llu ns\n",
			   running->job.serial, ndev->engine.head,
			   running->job.program->num_layers,
			   running->busy_ns);
	else
		seq_puts(seq, "running: nothing\n");
	nvdla_debugfs_contexts(seq, ndev);
	mutex_unlock(&ndev->hw_lock);
unlock:
	mutex_unlock(&ndev->drm.filelist_mutex);
	return ret;
}

static int nvdla_debugfs_memory(struct seq_file *seq, void *data)
{
	struct nvdla_device *ndev = nvdla_debugfs_device(seq);
	struct drm_gem_object *obj;
	struct drm_file *file;
	int ret, id;

	nvdla_region_show(seq, "carveout", &ndev->carveout);
	nvdla_region_show(seq, "sram", &ndev->sram);
	ret = mutex_lock_interruptible(&ndev->drm.filelist_mutex);
	if (ret)
		return ret;
	list_for_each_entry(file, &ndev->drm.filelist, lhead) {
		seq_printf(seq, "file %llu:\n", nvdla_client_id(file));
		spin_lock(&file->table_lock);
		idr_for_each_entry(&file->object_idr, obj, id) {
			/* A number may have been given, but no buffer yet. */
			if (obj)
				seq_printf(seq,
					   "  buffer %d: %s, %zu bytes at %pad\n",
					   id,
					   to_nvdla_bo(obj)->memory ==
					   NVDLA_MEMORY_SRAM ? "sram" : "dram",
					   obj->size, &to_nvdla_bo(obj)->dma);
		}
		spin_unlock(&file->table_lock);
	}
	mutex_unlock(&ndev->drm.filelist_mutex);
	return 0;
}

#ifdef NVDLA_HAVE_DEBUGFS_ADD_FILES
static const struct drm_debugfs_info nvdla_debugfs_files[] = {
#else
static const struct drm_info_list nvdla_debugfs_files[] = {
#endif
	{ "registers", nvdla_debugfs_registers },
	{ "status", nvdla_debugfs_status },
	{ "queue", nvdla_debugfs_queue },
	{ "memory", nvdla_debugfs_memory },
};

#ifdef NVDLA_HAVE_DEBUGFS_ADD_FILES
/**
 * nvdla_debugfs_init() - files of a device
 * @ndev: device, before it is registered
 */
void nvdla_debugfs_init(struct nvdla_device *ndev)
{
	drm_debugfs_add_files(&ndev->drm, nvdla_debugfs_files,
			      ARRAY_SIZE(nvdla_debugfs_files));
}
#else
/**
 * nvdla_debugfs_init_minor() - files of a node
 * @minor: node that is registered
 */
void nvdla_debugfs_init_minor(struct drm_minor *minor)
{
	drm_debugfs_create_files(nvdla_debugfs_files,
				 ARRAY_SIZE(nvdla_debugfs_files),
				 minor->debugfs_root, minor);
}
#endif
