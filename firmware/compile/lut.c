// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Checks of look-up tables. Nothing in a table can stop a unit, as every index
 * is clamped; these are the settings that a register cannot hold, or for which
 * the result is not defined.
 *
 * What depends on the precision is checked where a layer uses the table.
 */
#include "compile.h"

#define FIELD(member) ((u32)offsetof(struct nvdla_lut, member))

/* Tables have 2^6 and 2^8 steps. */
#define LE_STEPS	6
#define LO_STEPS	8

/* Exponents and inputs that a unit takes in a precision. */
struct limits {
	s16 offset[2];
	s16 le_select[2];
	s16 lo_select[2];
	/* bits of an input, with the sign */
	u32 bits;
};

static const struct limits sdp_int = { { -64, 31 }, { -6, 25 }, { -8, 23 },
				       32 };
static const struct limits cdp_int8 = { { -64, 20 }, { -6, 15 }, { -8, 13 },
					22 };
static const struct limits cdp_int16 = { { -64, 36 }, { -6, 31 }, { -8, 29 },
					 38 };
static const struct limits real = { { -126, 127 }, { -128, 121 },
				    { -128, 119 }, 32 };

static const struct limits *limits_of(u32 unit, u32 precision)
{
	if (precision == NVDLA_PRECISION_FP16)
		return &real;
	if (unit == NVDLA_LUT_SDP)
		return &sdp_int;
	return precision == NVDLA_PRECISION_INT8 ? &cdp_int8 : &cdp_int16;
}

/* Whatever uses it. */
int nvdla_lut_check(struct nvdla_compile *c, const struct nvdla_lut *lut)
{
	const u32 all = NVDLA_LUT_LE_LINEAR | NVDLA_LUT_UNDERFLOW_LO |
			NVDLA_LUT_OVERFLOW_LO | NVDLA_LUT_HYBRID_LO;
	u32 i;

	if (nvdla_check_choice(c, FIELD(unit), lut->unit, NVDLA_LUT_CDP))
		return -1;
	if (lut->unit == NVDLA_LUT_SDP && !(c->hw->features & NVDLA_HW_LUT))
		return nvdla_refuse_feature(c, FIELD(unit), NVDLA_FEATURE_LUT);
	if (nvdla_check_flags(c, FIELD(flags), lut->flags, all))
		return -1;
	if (lut->flags & NVDLA_LUT_LE_LINEAR) {
		if (nvdla_check_zero(c, FIELD(le_index_offset),
				     lut->le_index_offset))
			return -1;
	} else if (nvdla_check_zero(c, FIELD(le_index_select),
				    lut->le_index_select)) {
		return -1;
	}
	for (i = 0; i < ARRAY_SIZE(lut->pad2); i++) {
		if (nvdla_check_zero(c, FIELD(pad2) + i * (u32)sizeof(u16),
				     lut->pad2[i]))
			return -1;
	}
	return nvdla_check_zero(c, FIELD(pad), lut->pad);
}

/* A number, neither denormal nor infinite, in fp32. */
static int is_normal(u32 bits)
{
	const u32 exponent = bits >> 23 & 0xff;

	return !(bits & 0x7fffffff) || (exponent && exponent != 0xff);
}

/* Neither infinite nor no number, in fp16. */
static int is_finite(u32 bits)
{
	return (bits & 0x7c00) != 0x7c00;
}

/* Orders numbers in fp32, both zeros alike, as integers. */
static s64 order(s64 bits)
{
	const s64 magnitude = bits & 0x7fffffff;

	return bits & 0x80000000 ? -magnitude : magnitude;
}

static int check_input(struct nvdla_compile *c, u32 field, s64 value,
		       u32 precision, u32 bits)
{
	const s64 half = (s64)1 << (bits - 1);

	if (precision != NVDLA_PRECISION_FP16)
		return nvdla_check_range(c, field, value, -half, half - 1);
	if (nvdla_check_range(c, field, value, 0, 0xffffffff))
		return -1;
	if (!is_normal((u32)value))
		return nvdla_refuse(c, NVDLA_RULE_LUT_RANGE, field, value, 0,
				    0);
	return 0;
}

static int check_slope(struct nvdla_compile *c, u32 field,
		       const struct nvdla_lut_slope *slope, u32 precision)
{
	const int is_real = precision == NVDLA_PRECISION_FP16;

	if (nvdla_check_range(c, field, slope->scale, is_real ? 0 : -32768,
			      is_real ? 0xffff : 32767))
		return -1;
	if (is_real && !is_finite((u32)slope->scale))
		return nvdla_refuse(c, NVDLA_RULE_LUT_RANGE, field,
				    slope->scale, 0, 0);
	return nvdla_check_range(c,
				 field + offsetof(struct nvdla_lut_slope,
						  shift),
				 slope->shift, is_real ? 0 : -16,
				 is_real ? 0 : 15);
}

/* The end anchors what lies beyond it; it may be the start. */
static int check_ends(struct nvdla_compile *c, u32 field, s64 start, s64 end,
		      u32 precision)
{
	const int is_real = precision == NVDLA_PRECISION_FP16;

	if (is_real ? order(end) < order(start) : end < start)
		return nvdla_refuse(c, NVDLA_RULE_LUT_RANGE, field, end, start,
				    0);
	return 0;
}

/* 2^@exponent and more is not finite in fp32. */
#define REAL_EXPONENTS	128

/*
 * A linear table of 2^@entries steps of 2^@select each: its start must still
 * tell its end apart, in a number of 24 bits. A table without a length is one
 * that is not used, whose start may be anything.
 */
static int check_real_start(struct nvdla_compile *c, u32 field, s64 start,
			    s64 end, s32 select, s32 entries)
{
	const s32 exponent = select + entries + 24;
	s64 limit;

	if (exponent >= REAL_EXPONENTS || order(start) == order(end))
		return 0;
	/* The exponent is above -128 + 30: a normal number. */
	limit = (s64)(exponent + 127) << 23;
	if (order(start) >= limit)
		return nvdla_refuse(c, NVDLA_RULE_LUT_RANGE, field, start, 0,
				    limit - 1);
	return 0;
}

/* A unit passes on what it finds in a table, and computes with it. */
static int check_entries(struct nvdla_compile *c, u32 field,
			 const u16 *entries, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++) {
		if (!is_finite(entries[i]))
			return nvdla_refuse(c, NVDLA_RULE_LUT_RANGE,
					    field + i * (u32)sizeof(u16),
					    entries[i], 0, 0);
	}
	return 0;
}

static int check_use(struct nvdla_compile *c, const struct nvdla_lut *lut,
		     u32 precision)
{
	const struct limits *l = limits_of(lut->unit, precision);

	if (!(lut->flags & NVDLA_LUT_LE_LINEAR)) {
		if (nvdla_check_range(c, FIELD(le_index_offset),
				      lut->le_index_offset, l->offset[0],
				      l->offset[1]))
			return -1;
	} else if (nvdla_check_range(c, FIELD(le_index_select),
				     lut->le_index_select, l->le_select[0],
				     l->le_select[1])) {
		return -1;
	}
	if (nvdla_check_range(c, FIELD(lo_index_select), lut->lo_index_select,
			      l->lo_select[0], l->lo_select[1]) ||
	    check_input(c, FIELD(le_start), lut->le_start, precision,
			l->bits) ||
	    check_input(c, FIELD(le_end), lut->le_end, precision, l->bits) ||
	    check_input(c, FIELD(lo_start), lut->lo_start, precision,
			l->bits) ||
	    check_input(c, FIELD(lo_end), lut->lo_end, precision, l->bits))
		return -1;
	if (check_ends(c, FIELD(le_end), lut->le_start, lut->le_end,
		       precision) ||
	    check_ends(c, FIELD(lo_end), lut->lo_start, lut->lo_end, precision))
		return -1;
	if (check_slope(c, FIELD(le_underflow), &lut->le_underflow,
			precision) ||
	    check_slope(c, FIELD(le_overflow), &lut->le_overflow, precision) ||
	    check_slope(c, FIELD(lo_underflow), &lut->lo_underflow,
			precision) ||
	    check_slope(c, FIELD(lo_overflow), &lut->lo_overflow, precision))
		return -1;
	if (precision != NVDLA_PRECISION_FP16)
		return 0;
	if ((lut->flags & NVDLA_LUT_LE_LINEAR) &&
	    check_real_start(c, FIELD(le_start), lut->le_start, lut->le_end,
			     lut->le_index_select, LE_STEPS))
		return -1;
	if (check_real_start(c, FIELD(lo_start), lut->lo_start, lut->lo_end,
			     lut->lo_index_select, LO_STEPS))
		return -1;
	if (check_entries(c, FIELD(le), lut->le, ARRAY_SIZE(lut->le)))
		return -1;
	return check_entries(c, FIELD(lo), lut->lo, ARRAY_SIZE(lut->lo));
}

/* The layer takes the table that it names for @unit, in @precision. */
int nvdla_lut_use(struct nvdla_compile *c, u32 unit, u32 precision)
{
	const u32 lut = c->layer->lut;
	const u32 layer = c->index;
	const u32 field = NVDLA_FIELD(lut);
	int ret;

	if (!lut)
		return nvdla_refuse(c, NVDLA_RULE_LUT_NAMED, field, 0, 1,
				    c->program->num_luts);
	if (c->program->luts[lut - 1].unit != unit)
		return nvdla_refuse(c, NVDLA_RULE_CHOICE, field, lut, 0, 0);
	c->object = NVDLA_OBJECT_LUT;
	c->index = lut - 1;
	ret = check_use(c, &c->program->luts[lut - 1], precision);
	c->object = NVDLA_OBJECT_LAYER;
	c->index = layer;
	c->image->lut = lut;
	return ret;
}
