// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Checks of SDP's operator Y: multiplier, ALU, look-up table, and comparison.
 *
 * A comparison writes nothing, so nothing may follow it.
 */
#include "compile.h"

#define FIELD(member) NVDLA_FIELD(sdp.member)

static u32 parts(const struct nvdla_sdp_y *y)
{
	return (y->alu != NVDLA_ALU_NONE) + (y->mul != NVDLA_MUL_NONE);
}

/* True if the operator's DMA runs. */
u32 nvdla_sdp_y_reads(const struct nvdla_sdp_y *y)
{
	return (y->flags & NVDLA_SDP_ENABLE) &&
	       y->mode != NVDLA_OPERAND_LAYER && parts(y);
}

/* The flags that mean something with these parts. */
static u32 used_flags(const struct nvdla_sdp_y *y,
		      const struct nvdla_sdp_plan *plan)
{
	u32 flags = NVDLA_SDP_ENABLE;

	if (y->alu != NVDLA_ALU_EQUAL)
		flags |= NVDLA_SDP_LUT;
	/* fp16 operands are widened, and no more. */
	if (y->mode == NVDLA_OPERAND_LAYER ||
	    plan->proc == NVDLA_PRECISION_FP16)
		return flags;
	if (y->alu != NVDLA_ALU_NONE && y->alu != NVDLA_ALU_EQUAL)
		flags |= NVDLA_SDP_CONVERT_ALU;
	if (y->mul != NVDLA_MUL_NONE)
		flags |= NVDLA_SDP_CONVERT_MUL;
	return flags;
}

static int check_converter(struct nvdla_compile *c, u32 field,
			   const struct nvdla_convert *convert, u32 active)
{
	if (!active)
		return nvdla_check_zero_bytes(c, field, sizeof(*convert));
	return nvdla_check_convert(c, field, convert, 48);
}

/* The verdict alone comes out, so nothing may change what is compared. */
static int check_equal(struct nvdla_compile *c,
		       const struct nvdla_sdp_plan *plan)
{
	const struct nvdla_sdp *sdp = &c->layer->sdp;

	if (sdp->y.mul != NVDLA_MUL_NONE)
		return nvdla_refuse(c, NVDLA_RULE_CHOICE, FIELD(y.mul),
				    sdp->y.mul, 0, NVDLA_MUL_NONE);
	if (plan->pooled || plan->winograd || plan->batch > 1)
		return nvdla_refuse(c, NVDLA_RULE_CHOICE, FIELD(y.alu),
				    sdp->y.alu, 0, NVDLA_ALU_SUM);
	if (plan->proc != plan->out)
		return nvdla_refuse(c, NVDLA_RULE_PRECISIONS,
				    FIELD(out_precision), plan->in, plan->proc,
				    plan->out);
	if (plan->proc == NVDLA_PRECISION_FP16)
		return 0;
	if (nvdla_check_zero(c, FIELD(out_cvt.offset), sdp->out_cvt.offset) ||
	    nvdla_check_range(c, FIELD(out_cvt.scale), sdp->out_cvt.scale, 1,
			      1))
		return -1;
	return nvdla_check_zero(c, FIELD(out_cvt.truncate),
				sdp->out_cvt.truncate);
}

static int check_parts(struct nvdla_compile *c,
		       const struct nvdla_sdp_plan *plan)
{
	const struct nvdla_sdp_y *y = &c->layer->sdp.y;
	const int layer = y->mode == NVDLA_OPERAND_LAYER;

	if (nvdla_check_choice(c, FIELD(y.alu), y->alu, NVDLA_ALU_EQUAL) ||
	    nvdla_check_choice(c, FIELD(y.mul), y->mul, NVDLA_MUL_PRELU) ||
	    nvdla_check_choice(c, FIELD(y.mode), y->mode,
			       NVDLA_OPERAND_ELEMENT))
		return -1;
	if (!layer && !parts(y))
		return nvdla_refuse(c, NVDLA_RULE_OPERAND, FIELD(y.mode),
				    y->mode, 0, NVDLA_OPERAND_LAYER);
	if (y->alu == NVDLA_ALU_EQUAL && check_equal(c, plan))
		return -1;
	if (nvdla_check_flags(c, FIELD(y.flags), y->flags,
			      used_flags(y, plan)))
		return -1;
	/* Values are 32 bits wide, as wide as their fields. */
	if (!(layer && y->alu != NVDLA_ALU_NONE) &&
	    nvdla_check_zero(c, FIELD(y.alu_value), y->alu_value))
		return -1;
	if (!(layer && y->mul != NVDLA_MUL_NONE) &&
	    nvdla_check_zero(c, FIELD(y.mul_value), y->mul_value))
		return -1;
	return 0;
}

int nvdla_sdp_check_y(struct nvdla_compile *c,
		      const struct nvdla_sdp_plan *plan)
{
	const struct nvdla_sdp_y *y = &c->layer->sdp.y;
	const u32 all = NVDLA_SDP_ENABLE | NVDLA_SDP_LUT |
			NVDLA_SDP_CONVERT_ALU | NVDLA_SDP_CONVERT_MUL;
	const int real = plan->proc == NVDLA_PRECISION_FP16;
	const struct nvdla_operand operand = {
		.surface = &y->operand,
		.surface_field = FIELD(y.operand),
		.mode = y->mode,
		.mode_field = FIELD(y.mode),
		.bytes = y->operand_bytes,
		.bytes_field = FIELD(y.operand_bytes),
		.parts = parts(y),
		.dma = NVDLA_DMA_SDP_ERDMA,
	};

	if (nvdla_check_flags(c, FIELD(y.flags), y->flags, all))
		return -1;
	if (!(y->flags & NVDLA_SDP_ENABLE))
		return nvdla_check_zero_bytes(c, FIELD(y), sizeof(*y));
	if (!(c->hw->features & NVDLA_HW_SDP_Y))
		return nvdla_refuse_feature(c, FIELD(y.flags),
					    NVDLA_FEATURE_SDP_Y);
	if ((y->flags & NVDLA_SDP_LUT) && !(c->hw->features & NVDLA_HW_LUT))
		return nvdla_refuse_feature(c, FIELD(y.flags),
					    NVDLA_FEATURE_LUT);
	if (check_parts(c, plan) ||
	    nvdla_check_range(c, FIELD(y.mul_truncate), y->mul_truncate, 0,
			      y->mul != NVDLA_MUL_NONE && !real ? 1023 : 0) ||
	    check_converter(c, FIELD(y.alu_cvt), &y->alu_cvt,
			    y->flags & NVDLA_SDP_CONVERT_ALU) ||
	    check_converter(c, FIELD(y.mul_cvt), &y->mul_cvt,
			    y->flags & NVDLA_SDP_CONVERT_MUL) ||
	    nvdla_sdp_check_operand(c, &operand, plan))
		return -1;
	if (y->flags & NVDLA_SDP_LUT)
		return nvdla_lut_use(c, NVDLA_LUT_SDP, plan->proc);
	return 0;
}
