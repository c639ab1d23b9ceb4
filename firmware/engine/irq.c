// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Bits of S_INTR_STATUS: which unit and group they belong to, and how they are
 * read. The same positions serve S_INTR_MASK.
 */
#include "internal.h"

/* More rounds than units can raise bits between two reads. */
#define MAX_ROUNDS	16

/* A unit's bits: the lowest is group 0's, the next group 1's. */
static const struct {
	u8 unit;
	u8 shift;
} sources[] = {
	{ NVDLA_UNIT_SDP, NVDLA_GLB_S_INTR_STATUS_SDP_DONE_STATUS0_SHIFT },
	{ NVDLA_UNIT_CDP, NVDLA_GLB_S_INTR_STATUS_CDP_DONE_STATUS0_SHIFT },
	{ NVDLA_UNIT_PDP, NVDLA_GLB_S_INTR_STATUS_PDP_DONE_STATUS0_SHIFT },
	{ NVDLA_UNIT_BDMA, NVDLA_GLB_S_INTR_STATUS_BDMA_DONE_STATUS0_SHIFT },
	{ NVDLA_UNIT_RBK, NVDLA_GLB_S_INTR_STATUS_RUBIK_DONE_STATUS0_SHIFT },
	{ NVDLA_UNIT_CDMA, NVDLA_GLB_S_INTR_STATUS_CDMA_DAT_DONE_STATUS0_SHIFT },
	{ NVDLA_UNIT_CDMA, NVDLA_GLB_S_INTR_STATUS_CDMA_WT_DONE_STATUS0_SHIFT },
	{ NVDLA_UNIT_CACC, NVDLA_GLB_S_INTR_STATUS_CACC_DONE_STATUS0_SHIFT },
};

/* The bits that @units raise for a layer in @groups. */
u32 nvdla_irq_bits(u32 units, u32 groups)
{
	u32 bits = 0, i;

	for (i = 0; i < ARRAY_SIZE(sources); i++) {
		u32 unit = sources[i].unit;

		if (units >> unit & 1)
			bits |= 1u << (sources[i].shift + (groups >> unit & 1));
	}
	return bits;
}

/* The units that raise any of @bits. */
u32 nvdla_irq_units(u32 bits)
{
	u32 units = 0, i;

	for (i = 0; i < ARRAY_SIZE(sources); i++)
		if (bits >> sources[i].shift & 3)
			units |= 1u << sources[i].unit;
	return units;
}

/* The unit whose bit ends a layer, as a bit; 0 for an unknown kind. */
u32 nvdla_irq_last_unit(u32 kind)
{
	switch (kind) {
	case NVDLA_LAYER_CONV_SDP:
	case NVDLA_LAYER_SDP:
		return UNIT(SDP);
	case NVDLA_LAYER_CONV_SDP_PDP:
	case NVDLA_LAYER_SDP_PDP:
	case NVDLA_LAYER_PDP:
		return UNIT(PDP);
	case NVDLA_LAYER_CDP:
		return UNIT(CDP);
	case NVDLA_LAYER_RUBIK:
		return UNIT(RBK);
	case NVDLA_LAYER_BDMA:
		return UNIT(BDMA);
	default:
		return 0;
	}
}

u32 nvdla_engine_read_irq(const struct nvdla_engine *engine)
{
	u32 bits = 0, status, round;

	for (round = 0; round < MAX_ROUNDS; round++) {
		status = nvdla_reg_read(engine, NVDLA_UNIT_GLB,
					NVDLA_GLB_S_INTR_STATUS);
		if (status & ~NVDLA_IRQ_ALL)
			return NVDLA_IRQ_GONE;
		if (!status)
			break;
		nvdla_reg_write(engine, NVDLA_UNIT_GLB, NVDLA_GLB_S_INTR_STATUS,
				status);
		bits |= status;
		if (!(status & NVDLA_IRQ_LAST))
			break;
	}
	return bits;
}

/* Everything raised so far, also what the caller's handler picked up. */
u32 nvdla_irq_take(const struct nvdla_engine *engine)
{
	if (engine->ops->take_irq)
		return engine->ops->take_irq(engine->context);
	return nvdla_engine_read_irq(engine);
}

void nvdla_engine_quiesce(struct nvdla_engine *engine)
{
	engine->started = false;
	engine->intr_mask = NVDLA_IRQ_ALL;
	/* Masked first: what comes in between drives the line no more. */
	nvdla_reg_write(engine, NVDLA_UNIT_GLB, NVDLA_GLB_S_INTR_MASK,
			NVDLA_IRQ_ALL);
	nvdla_reg_write(engine, NVDLA_UNIT_GLB, NVDLA_GLB_S_INTR_STATUS,
			NVDLA_IRQ_ALL);
	/* Writes are posted: once this has answered, the line is down. */
	nvdla_reg_read(engine, NVDLA_UNIT_GLB, NVDLA_GLB_S_INTR_MASK);
}

void nvdla_irq_set_mask(struct nvdla_engine *engine, u32 mask)
{
	if (mask == engine->intr_mask)
		return;
	engine->intr_mask = mask;
	nvdla_reg_write(engine, NVDLA_UNIT_GLB, NVDLA_GLB_S_INTR_MASK, mask);
}
