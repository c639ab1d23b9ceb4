// SPDX-License-Identifier: GPL-2.0
/*
 * Clients: what an open file has, its statistics, and what became of jobs. The
 * keys of fdinfo are those of drm-usage-stats.
 */
#include <linux/dma-resv.h>
#include <linux/pci.h>
#include <linux/slab.h>

#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_gem.h>
#include <drm/drm_print.h>

#include "nvdla_client.h"
#include "nvdla_context.h"
#include "nvdla_device.h"
#include "nvdla_drv.h"
#include "nvdla_gem.h"
#include "nvdla_job.h"
#include "nvdla_program.h"
#include "nvdla_sched.h"
#include "nvdla_trace.h"
#include "nvdla_user.h"

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
 * nvdla_client_create() - create the client of a file that is opened
 * @ndev: device
 *
 * Return: a client with one reference, or NULL.
 */
struct nvdla_client *nvdla_client_create(struct nvdla_device *ndev)
{
	static atomic64_t last_client = ATOMIC64_INIT(0);
	struct nvdla_client *client;

	client = kzalloc(sizeof(*client), GFP_KERNEL_ACCOUNT);
	if (!client)
		return NULL;
	client->user = nvdla_user_get_current(ndev);
	if (!client->user) {
		kfree(client);
		return NULL;
	}
	kref_init(&client->ref);
	spin_lock_init(&client->lock);
	INIT_LIST_HEAD(&client->contexts);
	client->client_id = atomic64_inc_return(&last_client);
	return client;
}

/**
 * nvdla_client_get() - take one more reference
 * @client: client
 *
 * Return: @client.
 */
struct nvdla_client *nvdla_client_get(struct nvdla_client *client)
{
	kref_get(&client->ref);
	return client;
}

static void nvdla_client_release(struct kref *ref)
{
	struct nvdla_client *client =
		container_of(ref, struct nvdla_client, ref);

	nvdla_user_put(client->user);
	kfree(client);
}

/**
 * nvdla_client_put() - drop a reference; may sleep, as nvdla_user_put()
 * @client: client
 */
void nvdla_client_put(struct nvdla_client *client)
{
	kref_put(&client->ref, nvdla_client_release);
}

/**
 * nvdla_client_add() - add a context to those that closing the file cancels
 * @client: client
 * @context: context
 */
void nvdla_client_add(struct nvdla_client *client,
		      struct nvdla_context *context)
{
	spin_lock(&client->lock);
	list_add_tail(&context->node, &client->contexts);
	spin_unlock(&client->lock);
}

/**
 * nvdla_client_remove() - remove a context, whose last job was freed
 * @client: client
 * @context: context
 */
void nvdla_client_remove(struct nvdla_client *client,
			 struct nvdla_context *context)
{
	spin_lock(&client->lock);
	list_del_init(&context->node);
	spin_unlock(&client->lock);
}

/**
 * nvdla_client_cancel() - cancel all jobs of a file that is closed
 * @client: client
 *
 * Nobody is left who could tell a good result from another: what has not begun
 * ends, and what runs stops at the next layer. Contexts that were destroyed
 * before are among those that this is about.
 */
void nvdla_client_cancel(struct nvdla_client *client)
{
	struct nvdla_context *context;

	spin_lock(&client->lock);
	while (!list_empty(&client->contexts)) {
		context = list_first_entry(&client->contexts,
					   struct nvdla_context, node);
		list_del_init(&context->node);
		if (!kref_get_unless_zero(&context->ref))
			continue;
		spin_unlock(&client->lock);
		nvdla_sched_cancel(context);
		nvdla_context_put(context);
		spin_lock(&client->lock);
	}
	spin_unlock(&client->lock);
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

	return nfile->client->client_id;
#endif
}

/**
 * nvdla_tally_job() - count a job that has left the engine for good
 * @submission: job, with its result; hw_lock held
 */
void nvdla_tally_job(struct nvdla_submission *submission)
{
	const struct nvdla_job *job = &submission->job;
	struct nvdla_tally *tally = &submission->ndev->tally;

	tally->jobs++;
	if (job->result == NVDLA_JOB_OK)
		return;
	tally->failed++;
	tally->last.time_ns = ktime_get_ns();
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
 * The time of a job that runs counts up to now.
 */
void nvdla_show_fdinfo(struct drm_printer *p, struct drm_file *file)
{
	struct nvdla_device *ndev = to_nvdla_device(file->minor->dev);
	struct nvdla_file *nfile = file->driver_priv;

	nvdla_hw_lock(ndev);
	nvdla_sched_account(ndev);
	nvdla_hw_unlock(ndev);
	drm_printf(p, "drm-engine-dla:\t%lld ns\n",
		   atomic64_read(&nfile->client->busy_ns));
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
