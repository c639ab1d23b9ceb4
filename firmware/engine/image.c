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

/* struct addresses - words of a layer that are still to be bound */
struct addresses {
	const u64 *bases;
	const struct nvdla_reloc *reloc, *end;
};

/*
 * Returns the first address word from write @index on, or NVDLA_RELOC_NONE,
 * which is beyond any image. Either word of an address may come first.
 */
static u32 next_address(struct addresses *left, u32 index, u32 *value)
{
	for (; left->reloc < left->end; left->reloc++) {
		const struct nvdla_reloc *reloc = left->reloc;
		u64 address = left->bases[reloc->slot] + reloc->offset;
		u32 next = NVDLA_RELOC_NONE;

		if (reloc->low >= index) {
			next = reloc->low;
			*value = (u32)address;
		}
		if (reloc->high >= index && reloc->high < next) {
			next = reloc->high;
			*value = (u32)(address >> 32);
		}
		if (next != NVDLA_RELOC_NONE)
			return next;
	}
	return NVDLA_RELOC_NONE;
}

static u32 window_of(const struct nvdla_reg_write *write)
{
	return write->offset & ~(NVDLA_UNIT_WINDOW - 1u);
}

/* Counts writes from @writes on that are in the window of the first. */
static u32 window_writes(const struct nvdla_reg_write *writes, u32 count)
{
	u32 i = 1;

	while (i < count && window_of(&writes[i]) == window_of(writes))
		i++;
	return i;
}

static void write_registers(struct nvdla_engine *engine,
			    const struct nvdla_reg_write *writes, u32 count)
{
	u32 i;

	if (engine->ops->reg_writes) {
		engine->ops->reg_writes(engine->context, writes, count);
		return;
	}
	for (i = 0; i < count; i++)
		engine->ops->reg_write(engine->context, writes[i].offset,
				       writes[i].value);
}

/*
 * Writes the D_ registers of a layer, each once, in the order of the image.
 *
 * Return: 0, or -1 if a register belongs to no unit of the layer.
 */
int nvdla_image_write(struct nvdla_engine *engine,
		      const struct nvdla_layer_image *image,
		      const struct nvdla_inflight *inflight)
{
	const struct nvdla_reg_write *writes =
		&engine->job->program->writes[image->first_write];
	const struct nvdla_reloc *relocs =
		&engine->job->program->relocs[image->first_reloc];
	struct addresses addresses = { engine->job->bases, relocs,
				       relocs + image->num_relocs };
	u32 bound = 0, i = 0;
	u32 next = next_address(&addresses, 0, &bound);

	while (i < image->num_writes) {
		u32 end = i + window_writes(&writes[i], image->num_writes - i);
		u32 unit = unit_at(engine, inflight->units,
				   window_of(&writes[i]));

		if (unit == NVDLA_UNIT_COUNT)
			return -1;
		nvdla_group_select(engine, unit, nvdla_group(inflight, unit));
		while (next < end) {
			write_registers(engine, &writes[i], next - i);
			engine->ops->reg_write(engine->context,
					       writes[next].offset, bound);
			i = next + 1;
			next = next_address(&addresses, i, &bound);
		}
		write_registers(engine, &writes[i], end - i);
		i = end;
	}
	return 0;
}

void nvdla_image_enable(struct nvdla_engine *engine,
			const struct nvdla_inflight *inflight)
{
	const u8 *order = engine->hw->features & NVDLA_HW_WEIGHT_GATING ?
			  gated_enable_order : enable_order;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(enable_order); i++) {
		u32 unit = order[i];

		if (!(inflight->units >> unit & 1))
			continue;
		nvdla_group_select(engine, unit, nvdla_group(inflight, unit));
		nvdla_reg_write(engine, unit, op_enables[unit],
				NVDLA_REG_D_OP_ENABLE_OP_EN_ENABLE);
	}
}
