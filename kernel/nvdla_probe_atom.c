// SPDX-License-Identifier: GPL-2.0
/*
 * Is the device what its id says?
 *
 * All second-generation builds have the same registers, identification
 * included, but not the same memory atom. With a wrong configuration every
 * proof about memory would be worthless, so the first thing a device does is
 * to copy one element: what it writes into a poisoned page is one atom.
 */
#include <linux/delay.h>
#include <linux/slab.h>

#include <drm/drm_gem.h>
#include <drm/drm_print.h>

#include "nvdla_bus.h"
#include "nvdla_device.h"
#include "nvdla_gem.h"
#include "nvdla_reset.h"

#define NVDLA_POISON		0x5a
#define NVDLA_SOURCE		0x33

static int nvdla_probe_compile(struct nvdla_device *ndev,
			       struct nvdla_program *program, void **memory)
{
	const struct nvdla_slot slots[2] = {
		{ .size = PAGE_SIZE, .alignment = ndev->hw->atom,
		  .access = NVDLA_SLOT_READ },
		{ .size = PAGE_SIZE, .alignment = ndev->hw->atom,
		  .access = NVDLA_SLOT_WRITE },
	};
	const struct nvdla_program_desc desc = {
		.slots = slots,
		.num_layers = 1,
		.num_slots = ARRAY_SIZE(slots),
	};
	struct nvdla_error error = {};
	struct nvdla_layer *layer;
	size_t bytes = nvdla_program_bytes(&desc);
	int ret = -ENOMEM;

	layer = kzalloc(sizeof(*layer), GFP_KERNEL);
	*memory = kzalloc(bytes, GFP_KERNEL);
	if (!layer || !*memory)
		goto free;

	layer->kind = NVDLA_LAYER_SDP;
	layer->sdp.width = 1;
	layer->sdp.height = 1;
	layer->sdp.channels = 1;
	layer->sdp.out_cvt.scale = 1;
	layer->sdp.input.line_stride = ndev->hw->atom;
	layer->sdp.input.surface_stride = ndev->hw->atom;
	layer->sdp.output.slot = 1;
	layer->sdp.output.line_stride = ndev->hw->atom;
	layer->sdp.output.surface_stride = ndev->hw->atom;

	ret = 0;
	if (nvdla_program_begin(program, ndev->hw, &desc, *memory, bytes,
				&error) ||
	    nvdla_program_add(program, layer, &error) ||
	    nvdla_program_end(program, &error)) {
		drm_err(&ndev->drm, "confirmation refused: rule %u, field %u\n",
			error.rule, error.field);
		ret = -EINVAL;
	}
free:
	kfree(layer);
	return ret;
}

/*
 * The interrupt thread waits for hw_lock, so this takes what the handler finds.
 * The engine says when it has been for long enough.
 */
static int nvdla_probe_run(struct nvdla_device *ndev, struct nvdla_job *job)
{
	struct nvdla_engine *engine = &ndev->engine;

	if (nvdla_engine_submit(engine, job))
		return -EBUSY;
	while (!nvdla_engine_done(engine)) {
		usleep_range(100, 1000);
		nvdla_engine_interrupt(engine, engine->ops->take_irq(ndev));
		nvdla_engine_poll(engine);
	}
	switch (job->result) {
	case NVDLA_JOB_OK:
		return 0;
	case NVDLA_JOB_HANG:
		return -ETIMEDOUT;
	default:
		return -EIO;
	}
}

/* It may still write: without a reset the pages are lost to everybody. */
static void nvdla_probe_stop(struct nvdla_device *ndev,
			     struct nvdla_bo *source, struct nvdla_bo *target)
{
	struct device *dev = ndev->drm.dev;

	nvdla_engine_abort(&ndev->engine);
	nvdla_isolate(ndev, true);
	if (ndev->bus_ops->can_reset(dev) && !ndev->bus_ops->reset(dev, true))
		return;
	nvdla_bo_abandon(source);
	nvdla_bo_abandon(target);
}

/**
 * nvdla_probe_atom() - refuse a device that is not ndev->hw
 * @ndev: device, started, before it is registered
 *
 * Return: 0, or an errno after a message.
 */
int nvdla_probe_atom(struct nvdla_device *ndev)
{
	struct nvdla_program program = {};
	struct nvdla_job job = { .program = &program, .serial = 1 };
	struct nvdla_bo *source, *target;
	void *memory = NULL;
	u64 bases[2];
	size_t atom;
	int ret;

	source = nvdla_bo_create(ndev, PAGE_SIZE, NVDLA_MEMORY_DRAM, 0);
	if (IS_ERR(source))
		return PTR_ERR(source);
	target = nvdla_bo_create(ndev, PAGE_SIZE, NVDLA_MEMORY_DRAM, 0);
	if (IS_ERR(target)) {
		ret = PTR_ERR(target);
		goto put_source;
	}
	ret = nvdla_probe_compile(ndev, &program, &memory);
	if (ret)
		goto free;

	memset(source->vaddr, NVDLA_SOURCE, PAGE_SIZE);
	memset(target->vaddr, NVDLA_POISON, PAGE_SIZE);
	nvdla_bo_sync_for_device(source);
	nvdla_bo_sync_for_device(target);
	bases[0] = source->dma;
	bases[1] = target->dma;
	job.bases = bases;

	mutex_lock(&ndev->hw_lock);
	ret = nvdla_probe_run(ndev, &job);
	mutex_unlock(&ndev->hw_lock);
	if (ret) {
		drm_err(&ndev->drm, "a copy of one element does not end: %d\n",
			ret);
		nvdla_probe_stop(ndev, source, target);
		goto free;
	}
	nvdla_bo_sync_for_cpu(target);
	for (atom = 0; atom < PAGE_SIZE; atom++)
		if (((u8 *)target->vaddr)[atom] == NVDLA_POISON)
			break;
	if (atom != ndev->hw->atom) {
		drm_err(&ndev->drm,
			"writes atoms of %zu bytes, %s has %u: not an %s\n",
			atom, ndev->hw->name, ndev->hw->atom, ndev->hw->name);
		ret = -ENODEV;
	}
free:
	kfree(memory);
	drm_gem_object_put(&target->base);
put_source:
	drm_gem_object_put(&source->base);
	return ret;
}
