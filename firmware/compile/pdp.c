// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Checks of pooling: that it ends, that its line buffer is large enough, that
 * vertical bands neither leave columns over nor reach beyond the cube.
 */
#include "compile.h"

#define FIELD(member) NVDLA_FIELD(pdp.member)

/* The line buffer holds so many atoms of so many lines. */
#define BUFFER_ATOMS	16
#define BUFFER_LINES	8
/* Columns of a band, in registers of 10 bits. */
#define MAX_BAND	1024

/* Bands in nvdla_pdp_plan.in and .out. */
enum {
	FIRST = 0,
	MID = 1,
	LAST = 2,
};

static int check_source(struct nvdla_compile *c, struct nvdla_pdp_plan *plan)
{
	const struct nvdla_pdp *pdp = &c->layer->pdp;

	if (plan->flying) {
		/* precision, width, height, channels */
		if (nvdla_check_zero_bytes(c, FIELD(precision),
					   4 * sizeof(u32)))
			return -1;
		return nvdla_check_zero_bytes(c, FIELD(input),
					      sizeof(pdp->input));
	}
	plan->precision = pdp->precision;
	plan->width = pdp->width;
	plan->height = pdp->height;
	plan->channels = pdp->channels;
	if (nvdla_check_precision(c, FIELD(precision), pdp->precision) ||
	    nvdla_check_range(c, FIELD(width), pdp->width, 1, 8192) ||
	    nvdla_check_range(c, FIELD(height), pdp->height, 1, 8192))
		return -1;
	return nvdla_check_range(c, FIELD(channels), pdp->channels, 1, 8192);
}

/*
 * Input behind the last window would never be consumed. Padding there does not
 * count: the unit is not told of it. @after becomes what it is told.
 */
static int check_direction(struct nvdla_compile *c,
			   const struct nvdla_window *w, u32 *out, u32 *after)
{
	u32 rest;

	if (nvdla_check_padding(c, w) || nvdla_check_window(c, w, out))
		return -1;
	rest = nvdla_window_rest(w);
	if (rest > w->after) {
		nvdla_refuse(c, NVDLA_RULE_EXACT_DIVISION, w->stride_field,
			     rest, 0, w->after);
		c->error->multiple = w->stride;
		return -1;
	}
	*after = w->after - rest;
	return 0;
}

static int check_window(struct nvdla_compile *c, struct nvdla_pdp_plan *plan)
{
	const struct nvdla_pdp *pdp = &c->layer->pdp;
	const struct nvdla_window x = {
		.size = plan->width,
		.size_field = FIELD(width),
		.before = pdp->pad_left,
		.before_field = FIELD(pad_left),
		.after = pdp->pad_right,
		.after_field = FIELD(pad_right),
		.kernel = pdp->kernel_width,
		.kernel_field = FIELD(kernel_width),
		.dilation = 1,
		.stride = pdp->stride_width,
		.stride_field = FIELD(stride_width),
	};
	const struct nvdla_window y = {
		.size = plan->height,
		.size_field = FIELD(height),
		.before = pdp->pad_top,
		.before_field = FIELD(pad_top),
		.after = pdp->pad_bottom,
		.after_field = FIELD(pad_bottom),
		.kernel = pdp->kernel_height,
		.kernel_field = FIELD(kernel_height),
		.dilation = 1,
		.stride = pdp->stride_height,
		.stride_field = FIELD(stride_height),
	};

	if (nvdla_check_range(c, FIELD(kernel_width), pdp->kernel_width, 1,
			      8) ||
	    nvdla_check_range(c, FIELD(kernel_height), pdp->kernel_height, 1,
			      8) ||
	    nvdla_check_range(c, FIELD(stride_width), pdp->stride_width, 1, 16) ||
	    nvdla_check_range(c, FIELD(stride_height), pdp->stride_height, 1, 16) ||
	    nvdla_check_range(c, FIELD(pad_left), pdp->pad_left, 0, 7) ||
	    nvdla_check_range(c, FIELD(pad_right), pdp->pad_right, 0, 7) ||
	    nvdla_check_range(c, FIELD(pad_top), pdp->pad_top, 0, 7) ||
	    nvdla_check_range(c, FIELD(pad_bottom), pdp->pad_bottom, 0, 7))
		return -1;
	if (check_direction(c, &x, &plan->out_width, &plan->pad_right))
		return -1;
	return check_direction(c, &y, &plan->out_height, &plan->pad_bottom);
}

/*
 * An entry stands for a number of padded elements. In int8 the logic takes 11
 * bits of one across and 14 of its product down, the reference model as many
 * as the sum of so many int8 has: only such sums are the same to both. In
 * int16 all 19 bits of the register count, in fp16 it holds fp17.
 */
static int check_pad_value(struct nvdla_compile *c, u32 precision, u32 i)
{
	const u32 field = FIELD(pad_value) + i * sizeof(s32);
	const s64 count = i + 1;
	s64 min = -0x40000;
	s64 max = 0x3ffff;

	if (precision == NVDLA_PRECISION_INT8) {
		min = count * -128;
		max = count * 127;
	} else if (precision == NVDLA_PRECISION_FP16) {
		min = 0;
		max = 0x1ffff;
	}
	return nvdla_check_range(c, field, c->layer->pdp.pad_value[i], min,
				 max);
}

/* Checks fields of averages alone, some of those with padding alone. */
static int check_average(struct nvdla_compile *c, u32 precision)
{
	const struct nvdla_pdp *pdp = &c->layer->pdp;
	const int padded = pdp->pad_left || pdp->pad_right || pdp->pad_top ||
			   pdp->pad_bottom;
	const u32 field = FIELD(pad_value);
	u32 i;

	if (pdp->method != NVDLA_POOL_AVERAGE)
		/* pad_value, recip_width, recip_height */
		return nvdla_check_zero_bytes(c, field, FIELD(bands) - field);
	if (!padded) {
		if (nvdla_check_zero_bytes(c, field, sizeof(pdp->pad_value)))
			return -1;
	}
	for (i = 0; i < ARRAY_SIZE(pdp->pad_value); i++) {
		if (check_pad_value(c, precision, i))
			return -1;
	}
	if (nvdla_check_range(c, FIELD(recip_width), pdp->recip_width, 0,
			      0x1ffff))
		return -1;
	return nvdla_check_range(c, FIELD(recip_height), pdp->recip_height, 0,
				 0x1ffff);
}

static int check_band(struct nvdla_compile *c, u32 field, u32 value, u32 min,
		      u32 max)
{
	if (value < min || value > max)
		return nvdla_refuse(c, NVDLA_RULE_BANDS, field, value, min,
				    max);
	return 0;
}

/*
 * A band starts where the kernel of its first output column starts: kernel
 * less stride columns before what it newly consumes, or, with a stride that is
 * the greater one, as many after. That must lie in the columns of the band
 * before, or the unit computes an address below the cube, or a size that
 * wraps: this is a proof of extent as well as of ending.
 */
static int check_bands(struct nvdla_compile *c, struct nvdla_pdp_plan *plan,
		       u32 max_out)
{
	const struct nvdla_pdp *pdp = &c->layer->pdp;
	const u32 kernel = pdp->kernel_width;
	const u32 stride = pdp->stride_width;
	const u32 overlap = kernel > stride ? kernel - stride : 0;
	const u32 gap = stride > kernel ? stride - kernel : 0;
	const u32 inner = pdp->bands - 2;
	u32 used;

	max_out = nvdla_min(max_out, MAX_BAND);
	if (check_band(c, FIELD(first_out), pdp->first_out, 1, max_out))
		return -1;
	/* With inner bands the outer ones may not be wider. */
	if (!inner) {
		if (nvdla_check_zero(c, FIELD(mid_out), pdp->mid_out))
			return -1;
	} else if (check_band(c, FIELD(mid_out), pdp->mid_out, pdp->first_out,
			      max_out)) {
		return -1;
	}
	/* At most 62 bands of 128 columns. */
	used = pdp->first_out + inner * pdp->mid_out;
	if (inner)
		max_out = pdp->mid_out;
	if (used >= plan->out_width || plan->out_width - used > max_out)
		return nvdla_refuse(c, NVDLA_RULE_BANDS, FIELD(bands),
				    (s64)plan->out_width - used, 1, max_out);

	plan->out[FIRST] = pdp->first_out;
	plan->out[MID] = pdp->mid_out;
	plan->out[LAST] = plan->out_width - used;
	/* Less than the kernel is padded on the left: this is at least 1. */
	plan->in[FIRST] = (pdp->first_out - 1) * stride + kernel -
			  pdp->pad_left;
	plan->in[MID] = pdp->mid_out * stride;
	if (check_band(c, FIELD(first_out), plan->in[FIRST],
		       nvdla_max(overlap, 1), MAX_BAND))
		return -1;
	if (inner && check_band(c, FIELD(mid_out), plan->in[MID],
				nvdla_max(overlap, gap + 1), MAX_BAND))
		return -1;
	/* May be below 1, where all that is new is padding. */
	used = plan->out[LAST] * stride;
	if (used < plan->pad_right + gap + 1 ||
	    used - plan->pad_right > MAX_BAND)
		return nvdla_refuse(c, NVDLA_RULE_BANDS, FIELD(bands),
				    (s64)used - plan->pad_right, (s64)gap + 1,
				    MAX_BAND);
	plan->in[LAST] = used - plan->pad_right;
	return 0;
}

static int check_width(struct nvdla_compile *c, struct nvdla_pdp_plan *plan)
{
	const struct nvdla_pdp *pdp = &c->layer->pdp;
	/* Lines of the output that a line of the input is part of. */
	const u32 lines = nvdla_div_up(pdp->kernel_height, pdp->stride_height);
	const u32 max_out = BUFFER_ATOMS * (BUFFER_LINES / lines);
	u32 i;

	if (nvdla_check_range(c, FIELD(bands), pdp->bands, 1,
			      plan->flying ? 1 : 64))
		return -1;
	for (i = FIRST; i <= LAST; i++) {
		plan->in[i] = 0;
		plan->out[i] = 0;
	}
	if (pdp->bands > 1)
		return check_bands(c, plan, max_out);
	if (nvdla_check_zero(c, FIELD(first_out), pdp->first_out) ||
	    nvdla_check_zero(c, FIELD(mid_out), pdp->mid_out))
		return -1;
	if (plan->out_width > max_out)
		return nvdla_refuse(c, NVDLA_RULE_OUTPUT_SIZE, FIELD(bands),
				    plan->out_width, 1, max_out);
	return 0;
}

static int claim_cube(struct nvdla_compile *c, u32 field,
		      const struct nvdla_surface *surface,
		      const struct nvdla_pdp_plan *plan, u32 width, u32 height,
		      u32 dma)
{
	const u32 atom = c->hw->atom;
	const struct nvdla_cube cube = {
		.surfaces = nvdla_div_up(plan->channels *
					 nvdla_bpe(plan->precision), atom),
		.lines = height,
		.line_bytes = width * atom,
	};

	return nvdla_claim_cube(c, field, surface, &cube, dma);
}

/* An input column takes part in several windows, one after another. */
static void account_cycles(struct nvdla_compile *c,
			   const struct nvdla_pdp_plan *plan)
{
	const struct nvdla_pdp *pdp = &c->layer->pdp;
	const u32 lanes = c->hw->atom / nvdla_bpe(plan->precision);
	const u32 atoms = nvdla_div_up(plan->channels, lanes);
	const u32 cycles = nvdla_div_up(lanes, c->hw->pdp_throughput);
	const u32 windows = nvdla_div_up(pdp->kernel_width, pdp->stride_width);

	c->image->cycles += (u64)(plan->width * plan->height) *
			    (atoms * cycles * windows);
}

int nvdla_pdp_check(struct nvdla_compile *c, struct nvdla_pdp_plan *plan)
{
	const struct nvdla_pdp *pdp = &c->layer->pdp;
	u32 flags = 0;

	if (check_source(c, plan))
		return -1;
	/* Nothing looks at it on the fly: NaNs are flushed where it is read. */
	if (plan->precision == NVDLA_PRECISION_FP16 && !plan->flying)
		flags = NVDLA_PDP_NAN_TO_ZERO;
	if (nvdla_check_flags(c, FIELD(flags), pdp->flags, flags) ||
	    nvdla_check_choice(c, FIELD(method), pdp->method,
			       NVDLA_POOL_MIN) ||
	    check_window(c, plan) || check_average(c, plan->precision) ||
	    check_width(c, plan))
		return -1;
	if (!plan->flying &&
	    claim_cube(c, FIELD(input), &pdp->input, plan, plan->width,
		       plan->height, NVDLA_DMA_PDP_RDMA))
		return -1;
	if (claim_cube(c, FIELD(output), &pdp->output, plan, plan->out_width,
		       plan->out_height, NVDLA_DMA_PDP_WDMA) ||
	    nvdla_check_overlap(c, FIELD(output), 0))
		return -1;
	account_cycles(c, plan);
	return 0;
}
