// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * BDMA: a queue of commands behind one set of registers instead of two groups.
 * Commands join whatever is launched last, so pushing and launching are one
 * step, and one launch is in the unit at a time: all 20 places are then free.
 */
#include "internal.h"

static void write_address(struct nvdla_engine *engine, u32 low, u32 high,
			  const struct nvdla_surface *surface)
{
	u64 address = engine->job->bases[surface->slot] + surface->offset;

	nvdla_reg_write(engine, NVDLA_UNIT_BDMA, low, (u32)address);
	nvdla_reg_write(engine, NVDLA_UNIT_BDMA, high, (u32)(address >> 32));
}

static bool in_dram(const struct nvdla_program *program,
		    const struct nvdla_surface *surface)
{
	return program->slots[surface->slot].memory == NVDLA_MEMORY_DRAM;
}

static void push(struct nvdla_engine *engine,
		 const struct nvdla_transfer *transfer)
{
	const struct nvdla_program *program = engine->job->program;
	u32 cmd = 0;

	if (in_dram(program, &transfer->source))
		cmd |= NVDLA_BDMA_CFG_CMD_SRC_RAM_TYPE_MASK;
	if (in_dram(program, &transfer->destination))
		cmd |= NVDLA_BDMA_CFG_CMD_DST_RAM_TYPE_MASK;
	write_address(engine, NVDLA_BDMA_CFG_SRC_ADDR_LOW,
		      NVDLA_BDMA_CFG_SRC_ADDR_HIGH, &transfer->source);
	write_address(engine, NVDLA_BDMA_CFG_DST_ADDR_LOW,
		      NVDLA_BDMA_CFG_DST_ADDR_HIGH, &transfer->destination);
	nvdla_reg_write(engine, NVDLA_UNIT_BDMA, NVDLA_BDMA_CFG_LINE,
			transfer->line_bytes / 32 - 1);
	nvdla_reg_write(engine, NVDLA_UNIT_BDMA, NVDLA_BDMA_CFG_CMD, cmd);
	nvdla_reg_write(engine, NVDLA_UNIT_BDMA, NVDLA_BDMA_CFG_LINE_REPEAT,
			transfer->lines - 1);
	nvdla_reg_write(engine, NVDLA_UNIT_BDMA, NVDLA_BDMA_CFG_SRC_LINE,
			transfer->source.line_stride);
	nvdla_reg_write(engine, NVDLA_UNIT_BDMA, NVDLA_BDMA_CFG_DST_LINE,
			transfer->destination.line_stride);
	nvdla_reg_write(engine, NVDLA_UNIT_BDMA, NVDLA_BDMA_CFG_SURF_REPEAT,
			transfer->surfaces - 1);
	nvdla_reg_write(engine, NVDLA_UNIT_BDMA, NVDLA_BDMA_CFG_SRC_SURF,
			transfer->source.surface_stride);
	nvdla_reg_write(engine, NVDLA_UNIT_BDMA, NVDLA_BDMA_CFG_DST_SURF,
			transfer->destination.surface_stride);
	nvdla_reg_write(engine, NVDLA_UNIT_BDMA, NVDLA_BDMA_CFG_OP,
			NVDLA_BDMA_CFG_OP_EN_ENABLE);
}

void nvdla_bdma_launch(struct nvdla_engine *engine,
		       const struct nvdla_layer_image *image, u32 group)
{
	const struct nvdla_program *program = engine->job->program;
	u32 i;

	nvdla_reg_write(engine, NVDLA_UNIT_BDMA, NVDLA_BDMA_CFG_STATUS,
			program->flags & NVDLA_PROGRAM_STATS ?
			NVDLA_BDMA_CFG_STATUS_STALL_COUNT_EN_MASK : 0);
	for (i = 0; i < image->num_transfers; i++)
		push(engine, &program->transfers[image->first_transfer + i]);
	nvdla_reg_write(engine, NVDLA_UNIT_BDMA,
			group ? NVDLA_BDMA_CFG_LAUNCH1 : NVDLA_BDMA_CFG_LAUNCH0,
			1);
}
