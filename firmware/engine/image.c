// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Register images into the device: binds addresses on the way, so that the
 * program stays as it was compiled, and enables units in the order in which
 * they must be ready for one another.
 */
#include "internal.h"

/* From the end of a pipeline to its start: who receives is ready first. */
static const u8 enable_order[] = {
	NVDLA_UNIT_PDP_RDMA, NVDLA_UNIT_PDP, NVDLA_UNIT_SDP_RDMA,
	NVDLA_UNIT_SDP,	     NVDLA_UNIT_CACC, NVDLA_UNIT_CMAC_A,
	NVDLA_UNIT_CMAC_B,   NVDLA_UNIT_CSC, NVDLA_UNIT_CDMA,
	NVDLA_UNIT_CDP_RDMA, NVDLA_UNIT_CDP, NVDLA_UNIT_RBK,
};

/*
 * CSC frees kept weights as soon as it starts: where CDMA's clock is gated,
 * CDMA has to run by then.
 */
static const u8 gated_enable_order[] = {
	NVDLA_UNIT_PDP_RDMA, NVDLA_UNIT_PDP, NVDLA_UNIT_SDP_RDMA,
	NVDLA_UNIT_SDP,	     NVDLA_UNIT_CACC, NVDLA_UNIT_CMAC_A,
	NVDLA_UNIT_CMAC_B,   NVDLA_UNIT_CDMA, NVDLA_UNIT_CSC,
	NVDLA_UNIT_CDP_RDMA, NVDLA_UNIT_CDP, NVDLA_UNIT_RBK,
};

static const u32 op_enables[NVDLA_UNIT_COUNT] = NVDLA_UNIT_OP_ENABLES;

/* The unit of @units that has its window at @base, or NVDLA_UNIT_COUNT. */
static u32 unit_at(const struct nvdla_engine *engine, u32 units, u32 base)
{
	u32 unit;

	for (unit = 0; unit < NVDLA_UNIT_COUNT; unit++)
		if ((units >> unit & 1) && engine->bases[unit] == base)
			return unit;
	return NVDLA_UNIT_COUNT;
}

/* The first address word from write @index on, or the end; a layer has few. */
static u32 next_address(const struct nvdla_job *job,
			const struct nvdla_layer_image *image, u32 index,
			u32 *value)
{
	const struct nvdla_reloc *reloc =
		&job->program->relocs[image->first_reloc];
	const struct nvdla_reloc *end = reloc + image->num_relocs;
	u32 next = image->num_writes;

	/* Address words come in pairs: no other is before the one at @index. */
	for (; reloc < end && next != index; reloc++) {
		u64 address = job->bases[reloc->slot] + reloc->offset;

		if (reloc->low >= index && reloc->low < next) {
			next = reloc->low;
			*value = (u32)address;
		}
		/* NVDLA_RELOC_NONE is beyond any image. */
		if (reloc->high >= index && reloc->high < next) {
			next = reloc->high;
			*value = (u32)(address >> 32);
		}
	}
	return next;
}

/*
 * Writes the D_ registers of a layer, each once, in the order of the image.
 *
 * Return: 0, or -1 if a register belongs to no unit of the layer.
 */
int nvdla_image_write(struct nvdla_engine *engine,
		      const struct nvdla_layer_image *image,
		      const struct nvdla_flight *flight)
{
	const struct nvdla_reg_write *writes =
		&engine->job->program->writes[image->first_write];
	u32 bound = 0, window = NVDLA_NO_REG;
	u32 next = next_address(engine->job, image, 0, &bound);
	u32 i;

	for (i = 0; i < image->num_writes; i++) {
		u32 value = writes[i].value;
		u32 base = writes[i].offset & ~(NVDLA_UNIT_WINDOW - 1u);

		if (base != window) {
			u32 unit = unit_at(engine, flight->units, base);

			if (unit == NVDLA_UNIT_COUNT)
				return -1;
			window = base;
			nvdla_group_select(engine, unit,
					   nvdla_group(flight, unit));
		}
		if (i == next) {
			value = bound;
			next = next_address(engine->job, image, i + 1, &bound);
		}
		engine->port->reg_write(engine->context, writes[i].offset,
					value);
	}
	return 0;
}

void nvdla_image_enable(struct nvdla_engine *engine,
			const struct nvdla_flight *flight)
{
	const u8 *order = engine->hw->features & NVDLA_HW_WEIGHT_GATING ?
			  gated_enable_order : enable_order;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(enable_order); i++) {
		u32 unit = order[i];

		if (!(flight->units >> unit & 1))
			continue;
		nvdla_group_select(engine, unit, nvdla_group(flight, unit));
		nvdla_reg_write(engine, unit, op_enables[unit],
				NVDLA_REG_D_OP_ENABLE_OP_EN_ENABLE);
	}
}
