// SPDX-License-Identifier: GPL-2.0
/*
 * Dumps of jobs that failed, for the device core dump framework.
 *
 * What is soon lost, the registers and how far each layer got, is written down
 * at once into memory that was there before. The rest belongs to the
 * submission, which is kept until a worker has copied it. A device that is gone
 * has no registers: on some buses to read them is an error of its own.
 *
 * One at a time: of jobs that fail meanwhile there is no dump. The framework,
 * too, keeps the first until somebody has read it, and for five minutes.
 */
#include <linux/devcoredump.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/utsname.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

#include <drm/drm_drv.h>
#include <drm/drm_managed.h>
#include <drm/drm_print.h>

#include "../firmware/nvdla_dump_format.h"
#include "nvdla_debug.h"
#include "nvdla_device.h"
#include "nvdla_drv.h"
#include "nvdla_gem.h"
#include "nvdla_job.h"
#include "nvdla_program.h"

enum {
	NVDLA_DUMP_LEVEL_OFF,
	NVDLA_DUMP_LEVEL_REGISTERS,
	NVDLA_DUMP_LEVEL_FULL,
};

static const char * const dump_levels[] = {
	[NVDLA_DUMP_LEVEL_OFF] = "0",
	[NVDLA_DUMP_LEVEL_REGISTERS] = "registers",
	[NVDLA_DUMP_LEVEL_FULL] = "full",
};

static int dump_level = NVDLA_DUMP_LEVEL_FULL;

static int nvdla_dump_set(const char *value, const struct kernel_param *param)
{
	int level = sysfs_match_string(dump_levels, value);

	if (level < 0)
		return level;
	WRITE_ONCE(dump_level, level);
	return 0;
}

static int nvdla_dump_get(char *buffer, const struct kernel_param *param)
{
	return sysfs_emit(buffer, "%s\n", dump_levels[READ_ONCE(dump_level)]);
}

static const struct kernel_param_ops nvdla_dump_param_ops = {
	.set = nvdla_dump_set,
	.get = nvdla_dump_get,
};

module_param_cb(dump, &nvdla_dump_param_ops, NULL, 0644);
MODULE_PARM_DESC(dump,
		 "Of a job that fails dump: 0 (nothing), registers, full (default)");

static uint dump_max_kib = SZ_64M / SZ_1K;
module_param(dump_max_kib, uint, 0644);
MODULE_PARM_DESC(dump_max_kib,
		 "KiB of buffers that a full dump holds at most (default: 65536)");

/**
 * struct nvdla_dump - what was written down of a job
 */
struct nvdla_dump {
	/** @work: makes the dump out of it */
	struct work_struct work;
	/** @ndev: device */
	struct nvdla_device *ndev;
	/** @submission: the job; NULL while there is nothing to do */
	struct nvdla_submission *submission;
	/** @level: NVDLA_DUMP_LEVEL_*, when it was taken */
	int level;
	/** @time_ns: when it was taken */
	u64 time_ns;
	/** @head: the first layer that had not ended */
	u32 head;
	/** @taken: layers from there on that held groups, a bit each */
	u32 taken;
	/** @enabled: of them, those that were enabled */
	u32 enabled;
	/** @ended: of them, those that had ended */
	u32 ended;
	/** @groups: of each of them, units with group 1, by layer % window */
	u32 groups[NVDLA_ENGINE_WINDOW];
	/** @num_registers: of @registers, those that were read */
	u32 num_registers;
	/** @max_registers: room in @registers */
	u32 max_registers;
	/** @registers: as they were found */
	struct nvdla_dump_register registers[];
};

/**
 * struct nvdla_dump_writer - a dump in the making
 *
 * All of it is gone through twice: without @data only sizes are added up.
 */
struct nvdla_dump_writer {
	/** @data: the dump, or NULL */
	u8 *data;
	/** @at: bytes so far */
	u64 at;
	/** @sections: so far */
	u32 sections;
	/** @room: for contents of buffers that is left */
	u64 room;
};

static void nvdla_dump_add_register(void *data,
				    const struct nvdla_register *reg,
				    u32 offset, u32 group, u32 value)
{
	struct nvdla_dump *dump = data;
	struct nvdla_dump_register *to;

	if (dump->num_registers == dump->max_registers)
		return;
	to = &dump->registers[dump->num_registers++];
	to->offset = offset;
	to->group = group;
	to->value = value;
	to->pad = 0;
}

/*
 * Makes visible to the CPU what the job wrote. Now, and nothing else: user
 * space may write all the time what the job did not, and the rest once it knows
 * the end.
 */
static void nvdla_dump_fetch(const struct nvdla_submission *submission)
{
	const struct nvdla_program *program = submission->job.program;
	u32 i;

	for (i = 0; i < program->num_slots; i++) {
		struct nvdla_bo *bo = to_nvdla_bo(submission->objects[i]);

		if (program->slots[i].access & NVDLA_SLOT_WRITE)
			nvdla_bo_fetch(bo, submission->bases[i] - bo->dma,
				       program->slots[i].size);
	}
}

/**
 * nvdla_dump_take() - write down what is there of a job that failed
 * @ndev: device, hw_lock held
 * @submission: job, with its result, that was running last
 *
 * Before the device is isolated or reset. Neither sleeps nor allocates.
 */
void nvdla_dump_take(struct nvdla_device *ndev,
		     struct nvdla_submission *submission)
{
	struct nvdla_dump *dump = ndev->dump;
	const struct nvdla_engine *engine = &ndev->engine;
	int level = READ_ONCE(dump_level);
	u32 i;

	lockdep_assert_held(&ndev->hw_lock);
	if (!dump || level == NVDLA_DUMP_LEVEL_OFF)
		return;
	/* Pairs with the end of nvdla_dump_work(). */
	if (smp_load_acquire(&dump->submission))
		return;
	dump->level = level;
	dump->time_ns = ktime_get_ns();
	dump->head = engine->head;
	dump->taken = engine->taken;
	dump->enabled = engine->enabled;
	dump->ended = engine->ended;
	for (i = 0; i < NVDLA_ENGINE_WINDOW; i++)
		dump->groups[i] = engine->inflight[i].groups;
	dump->num_registers = 0;
	if (submission->job.result != NVDLA_JOB_GONE)
		nvdla_register_read_all(ndev, nvdla_dump_add_register, dump);
	if (level == NVDLA_DUMP_LEVEL_FULL)
		nvdla_dump_fetch(submission);
	kref_get(&submission->ref);
	dump->submission = submission;
	queue_work(system_unbound_wq, &dump->work);
}

/* Begins a section. Returns its payload, or NULL while sizes are added up. */
static void *nvdla_dump_section(struct nvdla_dump_writer *writer, u32 type,
				u32 stride, u64 bytes)
{
	struct nvdla_dump_section section = {
		.type = type,
		.stride = stride,
		.bytes = bytes,
	};
	u64 at = writer->at + sizeof(section);

	if (writer->data)
		memcpy(writer->data + writer->at, &section, sizeof(section));
	writer->at = at + ALIGN(bytes, sizeof(u64));
	writer->sections++;
	return writer->data ? writer->data + at : NULL;
}

static void nvdla_dump_array(struct nvdla_dump_writer *writer, u32 type,
			     const void *from, u32 count, u32 stride)
{
	u64 bytes = (u64)count * stride;
	void *to = nvdla_dump_section(writer, type, stride, bytes);

	if (to)
		memcpy(to, from, bytes);
}

static u32 nvdla_dump_state(const struct nvdla_dump *dump, u32 layer)
{
	u32 bit;

	if (layer < dump->head)
		return NVDLA_DUMP_ENDED;
	if (layer - dump->head >= NVDLA_ENGINE_WINDOW)
		return NVDLA_DUMP_WAITING;
	bit = 1u << (layer - dump->head);
	if (dump->ended & bit)
		return NVDLA_DUMP_ENDED;
	if (dump->enabled & bit)
		return NVDLA_DUMP_ENABLED;
	return dump->taken & bit ? NVDLA_DUMP_PROGRAMMED :
				   NVDLA_DUMP_WAITING;
}

static void nvdla_dump_layers(struct nvdla_dump_writer *writer,
			      const struct nvdla_dump *dump)
{
	const struct nvdla_program *program = dump->submission->job.program;
	struct nvdla_dump_layer *to;
	u32 i;

	to = nvdla_dump_section(writer, NVDLA_DUMP_LAYERS, sizeof(*to),
				(u64)program->num_layers * sizeof(*to));
	for (i = 0; to && i < program->num_layers; i++, to++) {
		const struct nvdla_layer_image *image = &program->layers[i];
		u32 state = nvdla_dump_state(dump, i);

		to->kind = image->kind;
		to->state = state;
		to->units = image->units;
		if (state == NVDLA_DUMP_PROGRAMMED ||
		    state == NVDLA_DUMP_ENABLED)
			to->groups = dump->groups[i % NVDLA_ENGINE_WINDOW];
		to->lut = image->lut;
		to->first_write = image->first_write;
		to->num_writes = image->num_writes;
		to->first_access = image->first_access;
		to->num_accesses = image->num_accesses;
		to->first_transfer = image->first_transfer;
		to->num_transfers = image->num_transfers;
	}
}

/* With the addresses that the job was bound to. */
static void nvdla_dump_writes(struct nvdla_dump_writer *writer,
			      const struct nvdla_job *job)
{
	const struct nvdla_program *program = job->program;
	struct nvdla_dump_write *to;
	u32 i, j;

	to = nvdla_dump_section(writer, NVDLA_DUMP_WRITES, sizeof(*to),
				(u64)program->num_writes * sizeof(*to));
	if (!to)
		return;
	for (i = 0; i < program->num_writes; i++) {
		to[i].offset = program->writes[i].offset;
		to[i].value = program->writes[i].value;
	}
	for (i = 0; i < program->num_layers; i++) {
		const struct nvdla_layer_image *image = &program->layers[i];

		for (j = 0; j < image->num_relocs; j++) {
			const struct nvdla_reloc *reloc =
				&program->relocs[image->first_reloc + j];
			u64 address = job->bases[reloc->slot] + reloc->offset;
			u32 first = image->first_write;

			to[first + reloc->low].value = lower_32_bits(address);
			if (reloc->high != NVDLA_RELOC_NONE)
				to[first + reloc->high].value =
					upper_32_bits(address);
		}
	}
}

static void nvdla_dump_accesses(struct nvdla_dump_writer *writer,
				const struct nvdla_job *job)
{
	const struct nvdla_program *program = job->program;
	struct nvdla_dump_access *to;
	u32 i;

	to = nvdla_dump_section(writer, NVDLA_DUMP_ACCESSES, sizeof(*to),
				(u64)program->num_accesses * sizeof(*to));
	for (i = 0; to && i < program->num_accesses; i++, to++) {
		const struct nvdla_access *access = &program->accesses[i];

		to->address = job->bases[access->slot] + access->begin;
		to->bytes = access->end - access->begin;
		to->memory = program->slots[access->slot].memory;
		to->dma = access->dma;
		to->write = access->write;
	}
}

static void nvdla_dump_slots(struct nvdla_dump_writer *writer,
			     const struct nvdla_job *job)
{
	const struct nvdla_program *program = job->program;
	struct nvdla_dump_slot *to;
	u32 i;

	to = nvdla_dump_section(writer, NVDLA_DUMP_SLOTS, sizeof(*to),
				(u64)program->num_slots * sizeof(*to));
	for (i = 0; to && i < program->num_slots; i++, to++) {
		to->address = job->bases[i];
		to->size = program->slots[i].size;
		to->memory = program->slots[i].memory;
		to->access = program->slots[i].access;
	}
}

static void nvdla_dump_program(struct nvdla_dump_writer *writer,
			       const struct nvdla_dump *dump)
{
	const struct nvdla_job *job = &dump->submission->job;
	const struct nvdla_program *program = job->program;

	nvdla_dump_layers(writer, dump);
	nvdla_dump_writes(writer, job);
	nvdla_dump_accesses(writer, job);
	nvdla_dump_slots(writer, job);
	nvdla_dump_array(writer, NVDLA_DUMP_TRANSFERS, program->transfers,
			 program->num_transfers,
			 sizeof(*program->transfers));
	nvdla_dump_array(writer, NVDLA_DUMP_LUTS, program->luts,
			 program->num_luts, sizeof(*program->luts));
}

static void nvdla_dump_buffer(struct nvdla_dump_writer *writer,
			      struct nvdla_bo *bo)
{
	/* A buffer of another device has no mapping here. */
	u64 size = bo->vaddr ? min_t(u64, bo->base.size, writer->room) : 0;
	struct nvdla_dump_buffer *to;
	u64 done, part;

	writer->room -= size;
	to = nvdla_dump_section(writer, NVDLA_DUMP_BUFFER, sizeof(*to),
				sizeof(*to) + size);
	if (!to)
		return;
	to->address = bo->dma;
	to->size = bo->base.size;
	to->memory = bo->memory;
	for (done = 0; done < size; done += part) {
		part = min_t(u64, size - done, SZ_1M);
		nvdla_bo_read(bo, done, (u8 *)(to + 1) + done, part);
		cond_resched();
	}
}

/* A buffer may be bound more than once. */
static void nvdla_dump_buffers(struct nvdla_dump_writer *writer,
			       const struct nvdla_submission *submission)
{
	u32 i, j;

	writer->room = (u64)READ_ONCE(dump_max_kib) * SZ_1K;
	for (i = 0; i < submission->num_objects; i++) {
		for (j = 0; j < i; j++)
			if (submission->objects[j] == submission->objects[i])
				break;
		if (j == i)
			nvdla_dump_buffer(writer,
					  to_nvdla_bo(submission->objects[i]));
	}
}

static void nvdla_dump_write(struct nvdla_dump_writer *writer,
			     const struct nvdla_dump *dump, int level)
{
	writer->at = sizeof(struct nvdla_dump_header);
	nvdla_dump_array(writer, NVDLA_DUMP_REGISTERS, dump->registers,
			 dump->num_registers, sizeof(dump->registers[0]));
	if (level < NVDLA_DUMP_LEVEL_FULL)
		return;
	nvdla_dump_program(writer, dump);
	nvdla_dump_buffers(writer, dump->submission);
}

static void nvdla_dump_header(const struct nvdla_dump_writer *writer,
			      const struct nvdla_dump *dump)
{
	struct nvdla_dump_header *header =
		(struct nvdla_dump_header *)writer->data;
	const struct nvdla_job *job = &dump->submission->job;
	const struct nvdla_hw *hw = dump->ndev->hw;

	header->magic = NVDLA_DUMP_MAGIC;
	header->version = NVDLA_DUMP_VERSION;
	header->header_bytes = sizeof(*header);
	header->bytes = writer->at;
	header->time_ns = dump->time_ns;
	header->program = job->serial;
	header->result = job->result;
	header->layer = job->layer;
	header->num_sections = writer->sections;
	header->clock_khz = dump->ndev->clock_khz;
	if (job->program->flags & NVDLA_PROGRAM_STATS)
		header->flags |= NVDLA_DUMP_STATS;
	if (hw->features & NVDLA_HW_WEIGHT_GATING)
		header->flags |= NVDLA_DUMP_WEIGHT_GATING;
	strscpy(header->configuration, hw->name,
		sizeof(header->configuration));
	snprintf(header->driver, sizeof(header->driver), "%s %d.%d",
		 nvdla_drm_driver.name, nvdla_drm_driver.major,
		 nvdla_drm_driver.minor);
	strscpy(header->release, init_utsname()->release,
		sizeof(header->release));
}

/* Return: the dump in memory of vmalloc(), with its size, or NULL. */
static void *nvdla_dump_make(const struct nvdla_dump *dump, int level,
			     size_t *size)
{
	struct nvdla_dump_writer writer = {};

	nvdla_dump_write(&writer, dump, level);
	*size = writer.at;
	writer.data = __vmalloc(*size, GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN |
					       __GFP_NORETRY);
	if (!writer.data)
		return NULL;
	writer.sections = 0;
	nvdla_dump_write(&writer, dump, level);
	nvdla_dump_header(&writer, dump);
	return writer.data;
}

static void nvdla_dump_work(struct work_struct *work)
{
	struct nvdla_dump *dump = container_of(work, struct nvdla_dump, work);
	struct nvdla_submission *submission = dump->submission;
	struct drm_device *drm = &dump->ndev->drm;
	size_t size;
	void *data;

	data = nvdla_dump_make(dump, dump->level, &size);
	if (!data && dump->level == NVDLA_DUMP_LEVEL_FULL)
		data = nvdla_dump_make(dump, NVDLA_DUMP_LEVEL_REGISTERS, &size);
	if (data)
		dev_coredumpv(drm->dev, data, size, GFP_KERNEL);
	else
		drm_dbg(drm, "no memory for a dump of %zu bytes\n", size);
	/* The next one may be taken. */
	smp_store_release(&dump->submission, NULL);
	nvdla_submission_put(submission);
}

/**
 * nvdla_dump_init() - room for what a dump starts with
 * @ndev: device that is created
 *
 * Return: 0 or -ENOMEM.
 */
int nvdla_dump_init(struct nvdla_device *ndev)
{
	u32 registers = nvdla_register_count(ndev);
	struct nvdla_dump *dump;

	dump = drmm_kzalloc(&ndev->drm, struct_size(dump, registers, registers),
			    GFP_KERNEL);
	if (!dump)
		return -ENOMEM;
	INIT_WORK(&dump->work, nvdla_dump_work);
	dump->ndev = ndev;
	dump->max_registers = registers;
	ndev->dump = dump;
	return 0;
}

/**
 * nvdla_dump_fini() - wait for the dump that is being made
 * @ndev: device that goes, on which nothing runs any more
 *
 * Before its buffers go.
 */
void nvdla_dump_fini(struct nvdla_device *ndev)
{
	flush_work(&ndev->dump->work);
}
