// SPDX-License-Identifier: GPL-2.0
/*
 * What jobs do, as others see it: time used by whom, the last failure, trace
 * points. The keys of fdinfo are those of drm-usage-stats.
 */
#include <linux/dma-resv.h>
#include <linux/pci.h>
#include <linux/slab.h>

#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_gem.h>
#include <drm/drm_print.h>

#include "nvdla_account.h"
#include "nvdla_context.h"
#include "nvdla_device.h"
#include "nvdla_drv.h"
#include "nvdla_gem.h"
#include "nvdla_job.h"
#include "nvdla_program.h"
#include "nvdla_trace.h"

static const char * const result_names[] = {
	[NVDLA_JOB_RUNNING] = "running",
	[NVDLA_JOB_OK] = "ok",
	[NVDLA_JOB_HANG] = "hang",
	[NVDLA_JOB_GONE] = "gone",
	[NVDLA_JOB_CANCELED] = "canceled",
	[NVDLA_JOB_BROKEN] = "broken",
	[NVDLA_JOB_YIELDED] = "yielded",
};

/**
 * nvdla_result_name() - how a job ended, in a word
 * @result: enum nvdla_job_result
 *
 * Return: the word.
 */
const char *nvdla_result_name(u32 result)
{
	return result < ARRAY_SIZE(result_names) && result_names[result] ?
		       result_names[result] : "unknown";
}

/**
 * nvdla_account_create() - for a file that is opened
 *
 * Return: an account with one reference, or NULL.
 */
struct nvdla_account *nvdla_account_create(void)
{
	static atomic64_t last_client = ATOMIC64_INIT(0);
	struct nvdla_account *account = kzalloc(sizeof(*account), GFP_KERNEL);

	if (!account)
		return NULL;
	kref_init(&account->ref);
	account->client_id = atomic64_inc_return(&last_client);
	return account;
}

/**
 * nvdla_account_get() - one more reference
 * @account: account
 *
 * Return: @account.
 */
struct nvdla_account *nvdla_account_get(struct nvdla_account *account)
{
	kref_get(&account->ref);
	return account;
}

static void nvdla_account_release(struct kref *ref)
{
	kfree(container_of(ref, struct nvdla_account, ref));
}

/**
 * nvdla_account_put() - drop a reference
 * @account: account
 */
void nvdla_account_put(struct nvdla_account *account)
{
	kref_put(&account->ref, nvdla_account_release);
}

/**
 * nvdla_client_id() - the number that fdinfo gives a file
 * @file: file
 *
 * Return: the number.
 */
u64 nvdla_client_id(const struct drm_file *file)
{
#ifdef NVDLA_HAVE_SHOW_FDINFO
	return file->client_id;
#else
	const struct nvdla_file *nfile = file->driver_priv;

	return nfile->account->client_id;
#endif
}

/**
 * nvdla_account_start() - a job is about to be given to the engine
 * @submission: job; hw_lock held
 */
void nvdla_account_start(struct nvdla_submission *submission)
{
	submission->start_ns = ktime_get_ns();
	trace_nvdla_job_start(submission);
}

/**
 * nvdla_account_end() - a job has left the engine
 * @submission: job, with its result; hw_lock held
 *
 * Comes once for each nvdla_account_start(), also if the job was cut between
 * two layers and is to go on.
 */
void nvdla_account_end(struct nvdla_submission *submission)
{
	const struct nvdla_job *job = &submission->job;
	struct nvdla_tally *tally = &submission->ndev->tally;
	u64 now = ktime_get_ns();
	u64 busy = now - submission->start_ns;

	atomic64_add(busy, &submission->context->account->busy_ns);
	trace_nvdla_job_end(submission, busy);
	/* Cut, it goes on later. */
	if (job->result == NVDLA_JOB_YIELDED)
		return;
	tally->jobs++;
	if (job->result == NVDLA_JOB_OK)
		return;
	tally->failed++;
	tally->last.time_ns = now;
	tally->last.program = job->serial;
	tally->last.result = job->result;
	tally->last.layer = job->layer;
}

#ifdef NVDLA_HAVE_SHOW_FDINFO
static const char * const memory_names[] = {
	[NVDLA_MEMORY_DRAM] = "dram",
	[NVDLA_MEMORY_SRAM] = "sram",
};

static void nvdla_show_memory(struct drm_printer *p, struct drm_file *file)
{
	struct drm_memory_stats stats[ARRAY_SIZE(memory_names)] = {};
	enum drm_gem_object_status shown = DRM_GEM_OBJECT_RESIDENT;
	struct drm_gem_object *obj;
	unsigned int i;
	int id;

	spin_lock(&file->table_lock);
	idr_for_each_entry(&file->object_idr, obj, id) {
		struct drm_memory_stats *stat;

		/* A handle may have been given a number, but no buffer yet. */
		if (!obj)
			continue;
		stat = &stats[to_nvdla_bo(obj)->memory];
		if (drm_gem_object_is_shared_for_memory_stats(obj))
			stat->shared += obj->size;
		else
			stat->private += obj->size;
		stat->resident += obj->size;
		if (!dma_resv_test_signaled(obj->resv,
					    dma_resv_usage_rw(true)))
			stat->active += obj->size;
	}
	spin_unlock(&file->table_lock);

#ifdef NVDLA_HAVE_OBJECT_ACTIVE
	shown |= DRM_GEM_OBJECT_ACTIVE;
#endif
	for (i = 0; i < ARRAY_SIZE(memory_names); i++)
		if (i == NVDLA_MEMORY_DRAM || stats[i].resident)
			drm_print_memory_stats(p, &stats[i], shown,
					       memory_names[i]);
}
#endif

/**
 * nvdla_show_fdinfo() - what a file has used
 * @p: where to print it
 * @file: file
 *
 * A job counts when it has left the hardware.
 */
void nvdla_show_fdinfo(struct drm_printer *p, struct drm_file *file)
{
	struct nvdla_device *ndev = to_nvdla_device(file->minor->dev);
	struct nvdla_file *nfile = file->driver_priv;

	drm_printf(p, "drm-engine-dla:\t%lld ns\n",
		   atomic64_read(&nfile->account->busy_ns));
	if (ndev->clock_khz)
		drm_printf(p, "drm-maxfreq-dla:\t%u KHz\n", ndev->clock_khz);
#ifdef NVDLA_HAVE_SHOW_FDINFO
	nvdla_show_memory(p, file);
#endif
}

#ifndef NVDLA_HAVE_SHOW_FDINFO
/**
 * nvdla_show_file() - fdinfo where the DRM core has none
 * @seq: where to print it
 * @file: file
 */
void nvdla_show_file(struct seq_file *seq, struct file *file)
{
	struct drm_file *drm_file = file->private_data;
	struct device *dev = drm_file->minor->dev->dev;
	struct drm_printer p = drm_seq_file_printer(seq);
	u64 bytes[] = { [NVDLA_MEMORY_DRAM] = 0, [NVDLA_MEMORY_SRAM] = 0 };
	struct drm_gem_object *obj;
	int id;

	drm_printf(&p, "drm-driver:\t%s\n", nvdla_drm_driver.name);
	drm_printf(&p, "drm-client-id:\t%llu\n", nvdla_client_id(drm_file));
	if (dev_is_pci(dev))
		drm_printf(&p, "drm-pdev:\t%s\n", dev_name(dev));
	nvdla_show_fdinfo(&p, drm_file);

	spin_lock(&drm_file->table_lock);
	idr_for_each_entry(&drm_file->object_idr, obj, id)
		if (obj)
			bytes[to_nvdla_bo(obj)->memory] += obj->size;
	spin_unlock(&drm_file->table_lock);
	drm_printf(&p, "drm-memory-dram:\t%llu KiB\n",
		   bytes[NVDLA_MEMORY_DRAM] >> 10);
	drm_printf(&p, "drm-memory-sram:\t%llu KiB\n",
		   bytes[NVDLA_MEMORY_SRAM] >> 10);
}
#endif
