// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Taking over a device after probe, reset or resume. NVDLA cannot be stopped
 * by software, so a device that is busy is refused: what runs there would
 * write into memory that is someone else's by now.
 */
#include "internal.h"

/* "100" and '1', in both generations. */
#define HW_VERSION	0x00303031u

/* Units with register groups that are built. */
static u32 grouped_units(const struct nvdla_engine *engine)
{
	u32 units = UNITS_GROUPED;

	if (!(engine->hw->features & NVDLA_HW_RUBIK))
		units &= ~UNIT(RBK);
	return units;
}

static int check_idle(struct nvdla_engine *engine)
{
	u32 units = grouped_units(engine);
	u32 unit, status;

	for (unit = 0; unit < NVDLA_UNIT_COUNT; unit++) {
		if (!(units >> unit & 1))
			continue;
		status = nvdla_reg_read(engine, unit, NVDLA_REG_S_STATUS);
		if (status == NVDLA_ALL_ONES)
			return -NVDLA_START_GONE;
		if (status & (NVDLA_REG_S_STATUS_STATUS_0_MASK |
			      NVDLA_REG_S_STATUS_STATUS_1_MASK))
			return -NVDLA_START_BUSY;
	}
	if (!(engine->hw->features & NVDLA_HW_BDMA))
		return 0;
	status = nvdla_reg_read(engine, NVDLA_UNIT_BDMA, NVDLA_BDMA_STATUS);
	if (status == NVDLA_ALL_ONES)
		return -NVDLA_START_GONE;
	if ((status & NVDLA_BDMA_STATUS_FREE_SLOT_MASK) != BDMA_SLOTS ||
	    (status & (NVDLA_BDMA_STATUS_GRP0_BUSY_MASK |
		       NVDLA_BDMA_STATUS_GRP1_BUSY_MASK)))
		return -NVDLA_START_BUSY;
	return 0;
}

static int wait_for_flush(struct nvdla_engine *engine)
{
	struct nvdla_reg_wait wait;

	nvdla_reg_wait_begin(engine, &wait);
	for (;;) {
		/* The clock first: no verdict on an old reading. */
		bool last = nvdla_reg_wait_last(engine, &wait);
		u32 status = nvdla_reg_read(engine, NVDLA_UNIT_CDMA,
					    NVDLA_CDMA_S_CBUF_FLUSH_STATUS);

		if (status == NVDLA_ALL_ONES)
			return -NVDLA_START_GONE;
		if (status & NVDLA_CDMA_S_CBUF_FLUSH_STATUS_FLUSH_DONE_MASK)
			return 0;
		if (last)
			return -NVDLA_START_FLUSH;
		engine->ops->relax(engine->context);
	}
}

static int read_pointers(struct nvdla_engine *engine)
{
	u32 units = grouped_units(engine);
	u32 next_group = 0, producer = 0, unit, pointer;

	for (unit = 0; unit < NVDLA_UNIT_COUNT; unit++) {
		if (!(units >> unit & 1))
			continue;
		pointer = nvdla_reg_read(engine, unit, NVDLA_REG_S_POINTER);
		if (pointer == NVDLA_ALL_ONES)
			return -NVDLA_START_GONE;
		if (pointer & NVDLA_REG_S_POINTER_CONSUMER_MASK)
			next_group |= 1u << unit;
		if (pointer & NVDLA_REG_S_POINTER_PRODUCER_MASK)
			producer |= 1u << unit;
	}
	nvdla_groups_reset(engine, next_group, producer);
	return 0;
}

int nvdla_engine_start(struct nvdla_engine *engine)
{
	u32 version;
	int ret;

	if (engine->job)
		return -NVDLA_START_BUSY;
	engine->started = false;
	engine->cycle_ns = nvdla_cycle_ns(engine->clock_khz);
	nvdla_lut_forget(engine);

	version = nvdla_reg_read(engine, NVDLA_UNIT_GLB,
				 NVDLA_GLB_S_NVDLA_HW_VERSION);
	if (version == NVDLA_ALL_ONES)
		return -NVDLA_START_GONE;
	if (version != HW_VERSION)
		return -NVDLA_START_VERSION;
	ret = check_idle(engine);
	if (ret)
		return ret;
	ret = wait_for_flush(engine);
	if (ret)
		return ret;
	ret = read_pointers(engine);
	if (ret)
		return ret;

	if (nvdla_irq_take(engine) == NVDLA_IRQ_GONE)
		return -NVDLA_START_GONE;
	/* After a reset nothing is masked. */
	engine->intr_mask = 0;
	nvdla_irq_set_mask(engine, NVDLA_IRQ_ALL & ~NVDLA_IRQ_LAST);

	engine->started = true;
	return 0;
}
