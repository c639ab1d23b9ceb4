// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Register groups. Each unit has its own CONSUMER, which toggles with each
 * layer that the unit serves, so units that some layers do not use (the read
 * DMAs) drift apart from the others: the group is a matter of each unit.
 * Masks with a bit per unit answer for all units of a layer at once.
 */
#include "internal.h"

/* The units of a kind of layer; read DMAs that it may leave out are apart. */
static const struct {
	u32 always;
	u32 maybe;
} layer_units[] = {
	[NVDLA_LAYER_CONV_SDP] = { UNITS_CONV | UNIT(SDP), UNIT(SDP_RDMA) },
	[NVDLA_LAYER_CONV_SDP_PDP] = { UNITS_CONV | UNIT(SDP) | UNIT(PDP),
				       UNIT(SDP_RDMA) },
	[NVDLA_LAYER_SDP] = { UNIT(SDP_RDMA) | UNIT(SDP), 0 },
	[NVDLA_LAYER_SDP_PDP] = { UNIT(SDP_RDMA) | UNIT(SDP) | UNIT(PDP), 0 },
	[NVDLA_LAYER_PDP] = { UNIT(PDP_RDMA) | UNIT(PDP), 0 },
	[NVDLA_LAYER_CDP] = { UNIT(CDP_RDMA) | UNIT(CDP), 0 },
	[NVDLA_LAYER_RUBIK] = { UNIT(RBK), 0 },
	[NVDLA_LAYER_BDMA] = { UNIT(BDMA), 0 },
};

static bool in_range(u32 first, u32 count, u32 total)
{
	return first <= total && count <= total - first;
}

/*
 * The compiler makes nothing else; but a layer that waits for itself, or one
 * without the unit that is to end it, would hang everything behind it.
 */
bool nvdla_layer_valid(const struct nvdla_engine *engine,
		       const struct nvdla_program *program, u32 index)
{
	const struct nvdla_layer_image *image = &program->layers[index];
	u32 i, always;

	if (!nvdla_irq_last_unit(image->kind))
		return false;
	always = layer_units[image->kind].always;
	if ((image->units & ~layer_units[image->kind].maybe) != always)
		return false;
	if ((always & UNIT(BDMA)) && !(engine->hw->features & NVDLA_HW_BDMA))
		return false;
	if ((always & UNIT(RBK)) && !(engine->hw->features & NVDLA_HW_RUBIK))
		return false;
	if (image->num_waits > ARRAY_SIZE(image->waits))
		return false;
	for (i = 0; i < image->num_waits; i++)
		if (image->waits[i] >= index)
			return false;
	if (image->lut) {
		u32 unit;

		if (image->lut > program->num_luts)
			return false;
		unit = program->luts[image->lut - 1].unit == NVDLA_LUT_CDP ?
		       UNIT(CDP) : UNIT(SDP);
		if (!(image->units & unit))
			return false;
	}
	if (image->kind == NVDLA_LAYER_BDMA &&
	    (!image->num_transfers ||
	     image->num_transfers > NVDLA_MAX_LAYER_TRANSFERS ||
	     !in_range(image->first_transfer, image->num_transfers,
		       program->num_transfers)))
		return false;
	return in_range(image->first_write, image->num_writes,
			program->num_writes) &&
	       in_range(image->first_reloc, image->num_relocs,
			program->num_relocs);
}

/* No group is in use; masks of units that go on with, and show, group 1. */
void nvdla_groups_reset(struct nvdla_engine *engine, u32 next_group,
			u32 producer)
{
	u32 group;

	for (group = 0; group < NVDLA_GROUPS; group++) {
		engine->busy[group] = 0;
		engine->unsettled[group] = 0;
	}
	engine->next_group = next_group;
	engine->producer = producer;
}

/* Has no earlier layer the groups that come next in @units? */
bool nvdla_groups_free(const struct nvdla_engine *engine, u32 units)
{
	return !(units & ((engine->busy[0] & ~engine->next_group) |
			  (engine->busy[1] & engine->next_group)));
}

void nvdla_groups_take(struct nvdla_engine *engine,
		       struct nvdla_inflight *inflight,
		       const struct nvdla_layer_image *image)
{
	u32 units = image->units;
	u32 groups = units & engine->next_group;

	inflight->deadline = 0;
	inflight->units = units;
	inflight->groups = groups;
	inflight->done = nvdla_irq_bits(nvdla_irq_last_unit(image->kind),
					groups);
	inflight->side = nvdla_irq_bits(units, groups) & ~inflight->done;
	inflight->seen = 0;
	engine->busy[0] |= units & ~groups;
	engine->busy[1] |= groups;
	engine->next_group ^= units;
}

static void clear_busy(struct nvdla_engine *engine,
		       const struct nvdla_inflight *inflight)
{
	engine->busy[0] &= ~(inflight->units & ~inflight->groups);
	engine->busy[1] &= ~inflight->groups;
}

void nvdla_groups_release(struct nvdla_engine *engine,
			  const struct nvdla_inflight *inflight)
{
	u32 unseen = nvdla_irq_units(inflight->side & ~inflight->seen);

	clear_busy(engine, inflight);
	engine->unsettled[0] |= unseen & ~inflight->groups;
	engine->unsettled[1] |= unseen & inflight->groups;
}

/* The layer was not enabled: CONSUMER of no unit has moved past its groups. */
void nvdla_groups_give_back(struct nvdla_engine *engine,
			    const struct nvdla_inflight *inflight)
{
	clear_busy(engine, inflight);
	engine->next_group ^= inflight->units;
}

/* Makes D_ registers of @unit those of @group. */
void nvdla_group_select(struct nvdla_engine *engine, u32 unit, u32 group)
{
	if ((engine->producer >> unit & 1) == group)
		return;
	engine->producer ^= 1u << unit;
	nvdla_reg_write(engine, unit, NVDLA_REG_S_POINTER,
			group << NVDLA_REG_S_POINTER_PRODUCER_SHIFT);
}

/* Waits for OP_EN of the group to fall: it can be written then. */
static int wait_for_idle(const struct nvdla_engine *engine, u32 unit, u32 group)
{
	u32 mask = group ? NVDLA_REG_S_STATUS_STATUS_1_MASK :
			   NVDLA_REG_S_STATUS_STATUS_0_MASK;
	struct nvdla_reg_wait wait;

	nvdla_reg_wait_begin(engine, &wait);
	for (;;) {
		/* The clock first: no verdict on an old reading. */
		bool last = nvdla_reg_wait_last(engine, &wait);
		u32 status = nvdla_reg_read(engine, unit, NVDLA_REG_S_STATUS);

		if (status == NVDLA_ALL_ONES)
			return NVDLA_JOB_GONE;
		if (!(status & mask))
			return NVDLA_JOB_OK;
		if (last)
			return NVDLA_JOB_HANG;
		engine->ops->relax(engine->context);
	}
}

/*
 * Writes to a group that is enabled are dropped. When the layer before ended
 * without a sign of some unit of it, that unit is asked.
 *
 * Return: an enum nvdla_job_result, NVDLA_JOB_OK if all groups can be written.
 */
int nvdla_groups_settle(struct nvdla_engine *engine,
			const struct nvdla_inflight *inflight)
{
	u32 units = (engine->unsettled[0] & inflight->units &
		     ~inflight->groups) |
		    (engine->unsettled[1] & inflight->groups);
	u32 unit, group;
	int ret;

	for (unit = 0; units >> unit; unit++) {
		if (!(units >> unit & 1))
			continue;
		engine->debug.unsettled++;
		group = nvdla_group(inflight, unit);
		ret = wait_for_idle(engine, unit, group);
		if (ret != NVDLA_JOB_OK)
			return ret;
		engine->unsettled[group] &= ~(1u << unit);
	}
	return NVDLA_JOB_OK;
}
