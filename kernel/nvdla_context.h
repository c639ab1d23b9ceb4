/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Contexts: one scheduler entity each, and what became of it.
 */
#ifndef NVDLA_CONTEXT_H
#define NVDLA_CONTEXT_H

#include <linux/kref.h>

#include <drm/gpu_scheduler.h>

struct nvdla_device;
struct nvdla_file;

/** struct nvdla_context - a queue of jobs */
struct nvdla_context {
	/** @ref: one for the file's table, one for each submission */
	struct kref ref;
	/** @ndev: device */
	struct nvdla_device *ndev;
	/** @entity: of the scheduler */
	struct drm_sched_entity entity;
	/** @guilty: a job of this context hung; set once, never cleared */
	bool guilty;
	/** @guilty_layer: of that job, by its number; set before @guilty */
	u32 guilty_layer;
	/** @resets: of the device when the context was created */
	int resets;
};

struct nvdla_context *nvdla_context_get(struct nvdla_file *nfile, u32 id);
void nvdla_context_put(struct nvdla_context *context);
void nvdla_context_close_all(struct nvdla_file *nfile);

#endif /* NVDLA_CONTEXT_H */
