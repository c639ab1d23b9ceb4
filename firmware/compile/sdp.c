// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Checks of single point processing: operators X1 and X2, the output
 * converter, the cubes that it reads and writes. Operator Y is in sdp_y.c, and
 * the operands of all three in sdp_operand.c.
 */
#include "compile.h"

#define FIELD(member) NVDLA_FIELD(sdp.member)

/* Input, processing and output precisions that complete together. */
static const struct {
	u8 in, proc, out;
	/* of an accumulator too: there is no conversion before the operators */
	u8 flying;
} precisions[] = {
	{ NVDLA_PRECISION_INT8, NVDLA_PRECISION_INT8, NVDLA_PRECISION_INT8, 1 },
	{ NVDLA_PRECISION_INT8, NVDLA_PRECISION_INT8, NVDLA_PRECISION_INT16,
	  1 },
	{ NVDLA_PRECISION_INT16, NVDLA_PRECISION_INT8, NVDLA_PRECISION_INT8,
	  0 },
	{ NVDLA_PRECISION_INT16, NVDLA_PRECISION_INT16, NVDLA_PRECISION_INT16,
	  1 },
	{ NVDLA_PRECISION_INT16, NVDLA_PRECISION_INT16, NVDLA_PRECISION_FP16,
	  1 },
	{ NVDLA_PRECISION_FP16, NVDLA_PRECISION_FP16, NVDLA_PRECISION_FP16, 1 },
	{ NVDLA_PRECISION_FP16, NVDLA_PRECISION_FP16, NVDLA_PRECISION_INT16,
	  1 },
};

static int check_precisions(struct nvdla_compile *c,
			    const struct nvdla_sdp_plan *plan)
{
	const struct nvdla_sdp *sdp = &c->layer->sdp;
	u32 i;

	if (nvdla_check_precision(c, FIELD(in_precision), sdp->in_precision) ||
	    nvdla_check_precision(c, FIELD(proc_precision),
				  sdp->proc_precision) ||
	    nvdla_check_precision(c, FIELD(out_precision), sdp->out_precision))
		return -1;
	for (i = 0; i < ARRAY_SIZE(precisions); i++) {
		if (precisions[i].in == plan->in &&
		    precisions[i].proc == plan->proc &&
		    precisions[i].out == plan->out &&
		    (precisions[i].flying || !plan->flying) &&
		    /* Neither before a pooling nor with tiles or batches. */
		    (plan->proc == plan->out ||
		     !(plan->pooled || plan->winograd || plan->batch > 1)))
			return 0;
	}
	return nvdla_refuse(c, NVDLA_RULE_PRECISIONS, FIELD(proc_precision),
			    plan->in, plan->proc, plan->out);
}

/* Size and precision of what comes in. */
static int check_source(struct nvdla_compile *c, struct nvdla_sdp_plan *plan)
{
	const struct nvdla_sdp *sdp = &c->layer->sdp;
	u32 flags = 0;

	if (plan->in == NVDLA_PRECISION_FP16)
		flags = NVDLA_SDP_NAN_TO_ZERO;
	plan->proc = sdp->proc_precision;
	plan->out = sdp->out_precision;
	if (plan->flying) {
		if (nvdla_check_zero(c, FIELD(in_precision),
				     sdp->in_precision) ||
		    check_precisions(c, plan) ||
		    nvdla_check_zero_bytes(c, FIELD(width),
					   FIELD(x1) - FIELD(width)) ||
		    nvdla_check_zero_bytes(c, FIELD(input),
					   sizeof(sdp->input)))
			return -1;
		return nvdla_check_flags(c, FIELD(flags), sdp->flags, flags);
	}
	plan->in = sdp->in_precision;
	plan->width = sdp->width;
	plan->height = sdp->height;
	plan->channels = sdp->channels;
	if (plan->in == NVDLA_PRECISION_FP16)
		flags = NVDLA_SDP_NAN_TO_ZERO;
	if (check_precisions(c, plan) ||
	    nvdla_check_flags(c, FIELD(flags), sdp->flags, flags) ||
	    nvdla_check_range(c, FIELD(width), sdp->width, 1, 8192) ||
	    nvdla_check_range(c, FIELD(height), sdp->height, 1, 8192) ||
	    nvdla_check_range(c, FIELD(channels), sdp->channels, 1, 8192))
		return -1;
	return nvdla_check_zero(c, FIELD(pad), sdp->pad);
}

static u32 parts(const struct nvdla_sdp_x *x)
{
	return (x->alu != NVDLA_ALU_NONE) + (x->mul != NVDLA_MUL_NONE);
}

/*
 * True if the operator's DMA runs: exactly when a part takes an operand from
 * memory, because an idle DMA or a starved operator never ends.
 */
u32 nvdla_sdp_x_reads(const struct nvdla_sdp_x *x)
{
	return (x->flags & NVDLA_SDP_ENABLE) &&
	       x->mode != NVDLA_OPERAND_LAYER && parts(x);
}

/* @at: field of the operator; the fields of struct nvdla_sdp_x follow. */
#define X_FIELD(member) (at + (u32)offsetof(struct nvdla_sdp_x, member))

/* A value in a register, 16 bits wide. */
static int check_value(struct nvdla_compile *c, u32 field, s32 value,
		       int active, u32 proc)
{
	if (!active)
		return nvdla_check_zero(c, field, value);
	if (proc == NVDLA_PRECISION_FP16)
		return nvdla_check_range(c, field, value, 0, 0xffff);
	return nvdla_check_range(c, field, value, -32768, 32767);
}

static int check_x(struct nvdla_compile *c, u32 at,
		   const struct nvdla_sdp_x *x,
		   const struct nvdla_sdp_plan *plan, u32 dma)
{
	const int real = plan->proc == NVDLA_PRECISION_FP16;
	const int alu = x->alu != NVDLA_ALU_NONE;
	const int mul = x->mul != NVDLA_MUL_NONE;
	const int layer = x->mode == NVDLA_OPERAND_LAYER;
	const struct nvdla_operand operand = {
		.surface = &x->operand,
		.surface_field = X_FIELD(operand),
		.mode = x->mode,
		.mode_field = X_FIELD(mode),
		.bytes = x->operand_bytes,
		.bytes_field = X_FIELD(operand_bytes),
		.parts = parts(x),
		.dma = dma,
	};

	if (nvdla_check_flags(c, X_FIELD(flags), x->flags,
			      NVDLA_SDP_ENABLE | NVDLA_SDP_RELU))
		return -1;
	if (!(x->flags & NVDLA_SDP_ENABLE))
		return nvdla_check_zero_bytes(c, at, sizeof(*x));

	if (nvdla_check_choice(c, X_FIELD(alu), x->alu, NVDLA_ALU_SUM) ||
	    nvdla_check_choice(c, X_FIELD(mul), x->mul, NVDLA_MUL_PRELU) ||
	    nvdla_check_choice(c, X_FIELD(mode), x->mode,
			       NVDLA_OPERAND_ELEMENT))
		return -1;
	if (!layer && !alu && !mul)
		return nvdla_refuse(c, NVDLA_RULE_OPERAND, X_FIELD(mode),
				    x->mode, 0, NVDLA_OPERAND_LAYER);

	if (check_value(c, X_FIELD(alu_value), x->alu_value, layer && alu,
			plan->proc) ||
	    check_value(c, X_FIELD(mul_value), x->mul_value, layer && mul,
			plan->proc))
		return -1;
	/* The right shift acts without a multiplier, too. */
	if (nvdla_check_range(c, X_FIELD(alu_shift), x->alu_shift, 0,
			      alu && !real ? 63 : 0) ||
	    nvdla_check_range(c, X_FIELD(mul_shift), x->mul_shift, 0,
			      real ? 0 : 63) ||
	    nvdla_check_zero(c, X_FIELD(pad), x->pad))
		return -1;
	return nvdla_sdp_check_operand(c, &operand, plan);
}

/*
 * Surfaces of a cube with elements of @precision. Where processing in int8
 * meets int16 in memory the unit walks pairs of surfaces, even if the upper
 * half holds no channel.
 */
static u32 surfaces(const struct nvdla_compile *c,
		    const struct nvdla_sdp_plan *plan, u32 precision)
{
	const u32 atom = c->hw->atom;

	if (nvdla_bpe(precision) == 1)
		return nvdla_div_up(plan->channels, atom);
	if (nvdla_bpe(plan->proc) == 1)
		return 2 * nvdla_div_up(plan->channels, atom);
	return nvdla_div_up(plan->channels, atom / 2);
}

static int claim_cube(struct nvdla_compile *c, u32 field,
		      const struct nvdla_surface *surface,
		      const struct nvdla_sdp_plan *plan, u32 precision, u32 dma)
{
	const struct nvdla_cube cube = {
		.surfaces = surfaces(c, plan, precision),
		.lines = plan->height,
		.line_bytes = plan->width * c->hw->atom,
		/* A single position is one run of atoms: no stride is used. */
		.packed = plan->width == 1 && plan->height == 1 &&
			  plan->batch == 1,
		.batch = plan->batch,
	};

	return nvdla_claim_cube(c, field, surface, &cube, dma);
}

static int check_batch_output(struct nvdla_compile *c,
			      const struct nvdla_sdp_plan *plan)
{
	const struct nvdla_surface *output = &c->layer->sdp.output;

	if (plan->batch == 1)
		return 0;
	if (nvdla_check_multiple(c, FIELD(output.line_stride),
				 output->line_stride,
				 NVDLA_SDP_BATCH_ALIGN) ||
	    nvdla_check_multiple(c, FIELD(output.surface_stride),
				 output->surface_stride,
				 NVDLA_SDP_BATCH_ALIGN) ||
	    nvdla_check_multiple(c, FIELD(output.batch_stride),
				 output->batch_stride,
				 NVDLA_SDP_BATCH_ALIGN))
		return -1;
	return nvdla_check_placed(c, FIELD(output), output->slot,
				  output->offset, NVDLA_SDP_BATCH_ALIGN,
				  NVDLA_DMA_SDP_WDMA);
}

static int same_surface(const struct nvdla_surface *a,
			const struct nvdla_surface *b)
{
	return a->offset == b->offset && a->slot == b->slot &&
	       a->line_stride == b->line_stride &&
	       a->surface_stride == b->surface_stride;
}

/* One column of operands is one atom of the output. */
static int column_in_place(const struct nvdla_sdp *sdp,
			   const struct nvdla_sdp_plan *plan, u32 mode,
			   u32 count, u32 bytes,
			   const struct nvdla_surface *operand)
{
	return mode == NVDLA_OPERAND_ELEMENT && count == 1 &&
	       bytes == nvdla_bpe(plan->proc) &&
	       nvdla_bpe(plan->proc) == nvdla_bpe(plan->out) &&
	       same_surface(operand, &sdp->output);
}

/*
 * Returns the clients that read exactly what is written: each atom is read
 * before its result is written, so they may work in place.
 */
static u32 in_place(const struct nvdla_compile *c,
		    const struct nvdla_sdp_plan *plan)
{
	const struct nvdla_sdp *sdp = &c->layer->sdp;
	const struct nvdla_sdp_x *x[] = { &sdp->x1, &sdp->x2 };
	const u32 dma[] = { NVDLA_DMA_SDP_BRDMA, NVDLA_DMA_SDP_NRDMA };
	const struct nvdla_sdp_y *y = &sdp->y;
	const u32 y_parts = !!y->alu + !!y->mul;
	u32 mask = 0;
	u32 i;

	/* Blocks of lines and cubes are written before all is read. */
	if (plan->winograd || plan->batch > 1)
		return 0;
	if (!plan->flying && same_surface(&sdp->input, &sdp->output) &&
	    nvdla_bpe(plan->in) == nvdla_bpe(plan->out))
		mask |= 1u << NVDLA_DMA_SDP_RDMA;
	for (i = 0; i < ARRAY_SIZE(x); i++) {
		if (column_in_place(sdp, plan, x[i]->mode, parts(x[i]),
				    x[i]->operand_bytes, &x[i]->operand))
			mask |= 1u << dma[i];
	}
	if (column_in_place(sdp, plan, y->mode, y_parts, y->operand_bytes,
			    &y->operand))
		mask |= 1u << NVDLA_DMA_SDP_ERDMA;
	return mask;
}

/* The slowest operator that works takes a few elements a cycle. */
static void account_cycles(struct nvdla_compile *c,
			   const struct nvdla_sdp_plan *plan)
{
	const u32 lanes = c->hw->atom / nvdla_bpe(plan->proc);
	const u32 columns = nvdla_div_up(plan->channels, lanes);
	const u32 throughput = c->layer->sdp.y.flags & NVDLA_SDP_ENABLE ?
				       c->hw->sdp_throughput :
				       c->hw->sdp_x_throughput;
	const u32 cycles = nvdla_div_up(lanes, throughput);

	c->image->cycles +=
		(u64)(plan->width * plan->height) * (columns * cycles) *
		plan->batch;
}

int nvdla_sdp_check(struct nvdla_compile *c, struct nvdla_sdp_plan *plan)
{
	const struct nvdla_sdp *sdp = &c->layer->sdp;

	if (check_source(c, plan))
		return -1;
	plan->rdma = !plan->flying || nvdla_sdp_x_reads(&sdp->x1) ||
		     nvdla_sdp_x_reads(&sdp->x2) || nvdla_sdp_y_reads(&sdp->y);
	plan->silent = plan->pooled || sdp->y.alu == NVDLA_ALU_EQUAL;

	if (check_x(c, FIELD(x1), &sdp->x1, plan, NVDLA_DMA_SDP_BRDMA) ||
	    check_x(c, FIELD(x2), &sdp->x2, plan, NVDLA_DMA_SDP_NRDMA) ||
	    nvdla_sdp_check_y(c, plan))
		return -1;
	/* In fp16 processing the converter passes values on. */
	if (plan->proc == NVDLA_PRECISION_FP16) {
		if (nvdla_check_zero_bytes(c, FIELD(out_cvt),
					   sizeof(sdp->out_cvt)))
			return -1;
	} else if (nvdla_check_convert(c, FIELD(out_cvt), &sdp->out_cvt, 63)) {
		return -1;
	}
	if (!plan->flying && claim_cube(c, FIELD(input), &sdp->input, plan,
					plan->in, NVDLA_DMA_SDP_RDMA))
		return -1;
	account_cycles(c, plan);
	if (plan->silent)
		return nvdla_check_zero_bytes(c, FIELD(output),
					      sizeof(sdp->output));
	if (claim_cube(c, FIELD(output), &sdp->output, plan, plan->out,
		       NVDLA_DMA_SDP_WDMA) ||
	    check_batch_output(c, plan))
		return -1;
	return nvdla_check_overlap(c, FIELD(output), in_place(c, plan));
}
