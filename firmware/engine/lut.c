// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Look-up tables of SDP and CDP. A unit has one copy of tables and S_LUT
 * registers for both of its groups. A serial number that is never reused and
 * an index name the contents; whoever needs others loads them when both groups
 * of the unit have ended.
 */
#include "internal.h"

/* The same in both units. */
#define ACCESS_CFG	NVDLA_SDP_S_LUT_ACCESS_CFG
#define ACCESS_DATA	NVDLA_SDP_S_LUT_ACCESS_DATA
#define ACCESS_WRITE	NVDLA_SDP_S_LUT_ACCESS_CFG_LUT_ACCESS_TYPE_MASK
#define ACCESS_LO	NVDLA_SDP_S_LUT_ACCESS_CFG_LUT_TABLE_ID_MASK

void nvdla_lut_forget(struct nvdla_engine *engine)
{
	u32 i;

	for (i = 0; i < NVDLA_LUT_UNITS; i++)
		engine->luts[i].serial = 0;
}

static const struct nvdla_lut *lut_of(const struct nvdla_engine *engine,
				      const struct nvdla_layer_image *image)
{
	return &engine->job->program->luts[image->lut - 1];
}

/* The unit that must load tables before the layer can run, as a bit, or 0. */
u32 nvdla_lut_missing(const struct nvdla_engine *engine,
		      const struct nvdla_layer_image *image)
{
	const struct nvdla_lut_owner *owner;
	const struct nvdla_lut *lut;

	if (!image->lut)
		return 0;
	lut = lut_of(engine, image);
	owner = &engine->luts[lut->unit == NVDLA_LUT_CDP];
	if (owner->serial == engine->job->serial && owner->index == image->lut)
		return 0;
	return lut->unit == NVDLA_LUT_CDP ? UNIT(CDP) : UNIT(SDP);
}

/* The index of a table counts up with each write of data. */
static void write_table(struct nvdla_engine *engine, u32 unit, u32 table,
			const u16 *entries, u32 count)
{
	u32 i;

	nvdla_reg_write(engine, unit, ACCESS_CFG, ACCESS_WRITE | table);
	for (i = 0; i < count; i++)
		nvdla_reg_write(engine, unit, ACCESS_DATA, entries[i]);
}

static u32 slope_scale(const struct nvdla_lut_slope *underflow,
		       const struct nvdla_lut_slope *overflow)
{
	return ((u32)underflow->scale & 0xffff) | (u32)overflow->scale << 16;
}

static u32 slope_shift(const struct nvdla_lut_slope *underflow,
		       const struct nvdla_lut_slope *overflow)
{
	return ((u32)underflow->shift & 0x1f) |
	       ((u32)overflow->shift & 0x1f) << 5;
}

/* Inputs start and end at 32 bits in SDP, at 38 in two words in CDP. */
static void write_range(struct nvdla_engine *engine,
			const struct nvdla_lut *lut)
{
	const u64 ends[] = { (u64)lut->le_start, (u64)lut->le_end,
			     (u64)lut->lo_start, (u64)lut->lo_end };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		if (lut->unit == NVDLA_LUT_SDP) {
			nvdla_reg_write(engine, NVDLA_UNIT_SDP,
					NVDLA_SDP_S_LUT_LE_START + 4 * i,
					(u32)ends[i]);
			continue;
		}
		nvdla_reg_write(engine, NVDLA_UNIT_CDP,
				NVDLA_CDP_S_LUT_LE_START_LOW + 8 * i,
				(u32)ends[i]);
		nvdla_reg_write(engine, NVDLA_UNIT_CDP,
				NVDLA_CDP_S_LUT_LE_START_HIGH + 8 * i,
				(u32)(ends[i] >> 32) & 0x3f);
	}
}

static void write_settings(struct nvdla_engine *engine, u32 unit,
			   const struct nvdla_lut *lut)
{
	/* LE scale, LE shift, LO scale, LO shift: one after another in both. */
	u32 slopes = unit == NVDLA_UNIT_CDP ? NVDLA_CDP_S_LUT_LE_SLOPE_SCALE :
					      NVDLA_SDP_S_LUT_LE_SLOPE_SCALE;
	u32 cfg = 0;

	if (lut->flags & NVDLA_LUT_LE_LINEAR)
		cfg |= NVDLA_SDP_S_LUT_CFG_LUT_LE_FUNCTION_MASK;
	if (lut->flags & NVDLA_LUT_UNDERFLOW_LO)
		cfg |= NVDLA_SDP_S_LUT_CFG_LUT_UFLOW_PRIORITY_MASK;
	if (lut->flags & NVDLA_LUT_OVERFLOW_LO)
		cfg |= NVDLA_SDP_S_LUT_CFG_LUT_OFLOW_PRIORITY_MASK;
	if (lut->flags & NVDLA_LUT_HYBRID_LO)
		cfg |= NVDLA_SDP_S_LUT_CFG_LUT_HYBRID_PRIORITY_MASK;
	nvdla_reg_write(engine, unit, NVDLA_SDP_S_LUT_CFG, cfg);
	nvdla_reg_write(engine, unit, NVDLA_SDP_S_LUT_INFO,
			((u32)lut->le_index_offset & 0xff) |
			((u32)lut->le_index_select & 0xff) << 8 |
			((u32)lut->lo_index_select & 0xff) << 16);
	nvdla_reg_write(engine, unit, slopes,
			slope_scale(&lut->le_underflow, &lut->le_overflow));
	nvdla_reg_write(engine, unit, slopes + 4,
			slope_shift(&lut->le_underflow, &lut->le_overflow));
	nvdla_reg_write(engine, unit, slopes + 8,
			slope_scale(&lut->lo_underflow, &lut->lo_overflow));
	nvdla_reg_write(engine, unit, slopes + 12,
			slope_shift(&lut->lo_underflow, &lut->lo_overflow));
}

/* Both groups of the unit have ended. */
void nvdla_lut_load(struct nvdla_engine *engine,
		    const struct nvdla_layer_image *image)
{
	const struct nvdla_lut *lut = lut_of(engine, image);
	bool cdp = lut->unit == NVDLA_LUT_CDP;
	u32 unit = cdp ? NVDLA_UNIT_CDP : NVDLA_UNIT_SDP;

	write_table(engine, unit, 0, lut->le, ARRAY_SIZE(lut->le));
	write_table(engine, unit, ACCESS_LO, lut->lo, ARRAY_SIZE(lut->lo));
	write_settings(engine, unit, lut);
	write_range(engine, lut);
	engine->luts[cdp].serial = engine->job->serial;
	engine->luts[cdp].index = image->lut;
	engine->debug.lut_loads++;
}
