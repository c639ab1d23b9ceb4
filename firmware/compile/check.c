// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Checks of single fields.
 */
#include "compile.h"

int nvdla_check_range(struct nvdla_compile *c, u32 field, s64 value, s64 min,
		      s64 max)
{
	if (value < min || value > max)
		return nvdla_refuse(c, NVDLA_RULE_RANGE, field, value, min,
				    max);
	return 0;
}

int nvdla_check_choice(struct nvdla_compile *c, u32 field, u32 value, u32 max)
{
	if (value > max)
		return nvdla_refuse(c, NVDLA_RULE_CHOICE, field, value, 0, max);
	return 0;
}

int nvdla_check_flags(struct nvdla_compile *c, u32 field, u32 value, u32 mask)
{
	if (value & ~mask)
		return nvdla_refuse(c, NVDLA_RULE_FLAGS, field, value, 0, mask);
	return 0;
}

int nvdla_check_zero(struct nvdla_compile *c, u32 field, s64 value)
{
	if (value)
		return nvdla_refuse(c, NVDLA_RULE_ZERO, field, value, 0, 0);
	return 0;
}

int nvdla_check_multiple(struct nvdla_compile *c, u32 field, u32 value,
			 u32 multiple)
{
	if (value % multiple)
		return nvdla_refuse_multiple(c, field, value, multiple);
	return 0;
}

int nvdla_check_convert(struct nvdla_compile *c, u32 field,
			const struct nvdla_convert *convert, u32 max_truncate)
{
	if (nvdla_check_range(c, field + offsetof(struct nvdla_convert, scale),
			      convert->scale, -32768, 32767))
		return -1;
	if (nvdla_check_range(c,
			      field + offsetof(struct nvdla_convert, truncate),
			      convert->truncate, 0, max_truncate))
		return -1;
	return nvdla_check_zero(c, field + offsetof(struct nvdla_convert, pad),
				convert->pad);
}

int nvdla_check_precision(struct nvdla_compile *c, u32 field, u32 precision)
{
	if (nvdla_check_choice(c, field, precision, NVDLA_PRECISION_FP16))
		return -1;
	if (precision == NVDLA_PRECISION_INT16 &&
	    !(c->hw->features & NVDLA_HW_INT16))
		return nvdla_refuse_feature(c, field, NVDLA_FEATURE_INT16);
	if (precision == NVDLA_PRECISION_FP16 &&
	    !(c->hw->features & NVDLA_HW_FP16))
		return nvdla_refuse_feature(c, field, NVDLA_FEATURE_FP16);
	return 0;
}

/* 64-bit fields of a layer: an error names the field, not half of it. */
static const u16 wide_fields[] = {
	NVDLA_FIELD(conv.input.offset),	     NVDLA_FIELD(conv.input_uv.offset),
	NVDLA_FIELD(conv.weights.offset),    NVDLA_FIELD(conv.wgs.offset),
	NVDLA_FIELD(conv.wmb.offset),	     NVDLA_FIELD(sdp.x1.operand.offset),
	NVDLA_FIELD(sdp.x2.operand.offset),  NVDLA_FIELD(sdp.y.operand.offset),
	NVDLA_FIELD(sdp.input.offset),	     NVDLA_FIELD(sdp.output.offset),
	NVDLA_FIELD(pdp.input.offset),	     NVDLA_FIELD(pdp.output.offset),
	NVDLA_FIELD(cdp.input.offset),	     NVDLA_FIELD(cdp.output.offset),
	NVDLA_FIELD(rubik.input.offset),     NVDLA_FIELD(rubik.output.offset),
};

static int is_wide(u32 field)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(wide_fields); i++) {
		if (wide_fields[i] == field)
			return 1;
	}
	return 0;
}

/* Bytewise, as fields of several types are read through one pointer. */
static u32 load_word(const u8 *bytes)
{
	return (u32)bytes[0] | (u32)bytes[1] << 8 | (u32)bytes[2] << 16 |
	       (u32)bytes[3] << 24;
}

/*
 * Whole words of the layer from @field on. The value of the error is the
 * word's, as a signed number for a 32-bit field.
 */
int nvdla_check_zero_bytes(struct nvdla_compile *c, u32 field, u32 bytes)
{
	const u8 *layer = (const u8 *)c->layer;
	u32 end = field + bytes;
	u32 at;

	for (at = field; at < end; at += 4) {
		u32 word = load_word(layer + at);
		u32 low = at & ~4u;

		if (!word)
			continue;
		if (is_wide(low)) {
			u64 wide = load_word(layer + low) |
				   (u64)load_word(layer + low + 4) << 32;

			return nvdla_refuse(c, NVDLA_RULE_ZERO, low,
					    nvdla_clamp(wide), 0, 0);
		}
		return nvdla_refuse(c, NVDLA_RULE_ZERO, at, word, 0, 0);
	}
	return 0;
}
