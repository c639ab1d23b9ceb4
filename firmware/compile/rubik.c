// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Checks of reshaping: contract, split, merge. Planes are walked in whole
 * atoms of 32 bytes, and lie on 64.
 */
#include "compile.h"

#define FIELD(member) NVDLA_FIELD(rubik.member)

#define MAX_SIDE	8192
/* Planar base addresses and strides are multiples of this. */
#define PLANE_ALIGN	64

static int check_ranges(struct nvdla_compile *c)
{
	const struct nvdla_rubik *rubik = &c->layer->rubik;

	if (nvdla_check_choice(c, FIELD(mode), rubik->mode,
			       NVDLA_RUBIK_MERGE) ||
	    nvdla_check_precision(c, FIELD(precision), rubik->precision) ||
	    nvdla_check_range(c, FIELD(width), rubik->width, 1, MAX_SIDE) ||
	    nvdla_check_range(c, FIELD(height), rubik->height, 1, MAX_SIDE) ||
	    nvdla_check_range(c, FIELD(channels), rubik->channels, 1, 8192) ||
	    nvdla_check_zero(c, FIELD(pad), rubik->pad))
		return -1;
	if (rubik->mode == NVDLA_RUBIK_CONTRACT) {
		if (nvdla_check_range(c, FIELD(stride_width), rubik->stride_width, 1,
				      32))
			return -1;
		return nvdla_check_range(c, FIELD(stride_height), rubik->stride_height, 1,
					 32);
	}
	if (nvdla_check_zero(c, FIELD(stride_width), rubik->stride_width))
		return -1;
	return nvdla_check_zero(c, FIELD(stride_height), rubik->stride_height);
}

/* A stride that is multiplied must fit its register. */
static int check_product(struct nvdla_compile *c, u32 field, u32 stride,
			 u32 factor)
{
	const u32 max = ~0u / factor;

	if (stride > max)
		return nvdla_refuse(c, NVDLA_RULE_RANGE, field, stride, 0, max);
	return 0;
}

static int check_contract(struct nvdla_compile *c,
			  struct nvdla_rubik_plan *plan)
{
	const struct nvdla_rubik *rubik = &c->layer->rubik;
	const u32 atom = c->hw->atom;
	const u32 blocks = rubik->stride_width * rubik->stride_height;
	struct nvdla_cube in, out;

	/* Blocks of output channels are whole atoms. */
	if (nvdla_check_multiple(c, FIELD(channels), rubik->channels,
				 blocks * (atom / nvdla_bpe(rubik->precision))))
		return -1;
	if (rubik->width * rubik->stride_width > MAX_SIDE)
		return nvdla_refuse(c, NVDLA_RULE_OUTPUT_SIZE, FIELD(width),
				    rubik->width * rubik->stride_width, 1,
				    MAX_SIDE);
	if (rubik->height * rubik->stride_height > MAX_SIDE)
		return nvdla_refuse(c, NVDLA_RULE_OUTPUT_SIZE, FIELD(height),
				    rubik->height * rubik->stride_height, 1,
				    MAX_SIDE);
	plan->out_channels = rubik->channels / blocks;
	out = (struct nvdla_cube){
		.surfaces = plan->out_channels * nvdla_bpe(rubik->precision) /
			    atom,
		.lines = rubik->height * rubik->stride_height,
		.line_bytes = rubik->width * rubik->stride_width * atom,
	};
	in = (struct nvdla_cube){
		.surfaces = out.surfaces * blocks,
		.lines = rubik->height,
		.line_bytes = rubik->width * atom,
	};
	if (check_product(c, FIELD(input.surface_stride),
			  rubik->input.surface_stride, out.surfaces) ||
	    check_product(c, FIELD(output.line_stride),
			  rubik->output.line_stride, rubik->stride_height))
		return -1;
	plan->contract_stride = rubik->input.surface_stride * out.surfaces;
	if (nvdla_claim_cube(c, FIELD(input), &rubik->input, &in,
			     NVDLA_DMA_RUBIK_READ))
		return -1;
	return nvdla_claim_cube(c, FIELD(output), &rubik->output, &out,
				NVDLA_DMA_RUBIK_WRITE);
}

/* A line of a plane is elements side by side, in whole atoms. */
static int claim_planes(struct nvdla_compile *c, u32 field,
			const struct nvdla_surface *surface, u32 dma)
{
	const struct nvdla_rubik *rubik = &c->layer->rubik;
	const u32 line_field =
		field + offsetof(struct nvdla_surface, line_stride);
	const u32 plane_field =
		field + offsetof(struct nvdla_surface, surface_stride);
	const struct nvdla_cube planes = {
		.surfaces = rubik->channels,
		.lines = rubik->height,
		.line_bytes = nvdla_round_up(rubik->width *
						     nvdla_bpe(rubik->precision),
					     c->hw->atom),
	};

	if (nvdla_check_multiple(c, line_field, surface->line_stride,
				 PLANE_ALIGN) ||
	    nvdla_check_multiple(c, plane_field, surface->surface_stride,
				 PLANE_ALIGN) ||
	    nvdla_claim_cube(c, field, surface, &planes, dma))
		return -1;
	return nvdla_check_placed(c, field, surface->slot, surface->offset,
				  PLANE_ALIGN, dma);
}

static int claim_cube(struct nvdla_compile *c, u32 field,
		      const struct nvdla_surface *surface, u32 dma)
{
	const struct nvdla_rubik *rubik = &c->layer->rubik;
	const u32 atom = c->hw->atom;
	const struct nvdla_cube cube = {
		.surfaces = nvdla_div_up(rubik->channels *
					 nvdla_bpe(rubik->precision), atom),
		.lines = rubik->height,
		.line_bytes = rubik->width * atom,
	};

	return nvdla_claim_cube(c, field, surface, &cube, dma);
}

int nvdla_rubik_check(struct nvdla_compile *c, struct nvdla_rubik_plan *plan)
{
	const struct nvdla_rubik *rubik = &c->layer->rubik;
	int ret;

	if (check_ranges(c))
		return -1;
	plan->out_channels = rubik->channels;
	plan->contract_stride = 0;
	if (rubik->mode == NVDLA_RUBIK_CONTRACT) {
		ret = check_contract(c, plan);
	} else if (rubik->mode == NVDLA_RUBIK_SPLIT) {
		ret = claim_cube(c, FIELD(input), &rubik->input,
				 NVDLA_DMA_RUBIK_READ);
		if (!ret)
			ret = claim_planes(c, FIELD(output), &rubik->output,
					   NVDLA_DMA_RUBIK_WRITE);
	} else {
		ret = claim_planes(c, FIELD(input), &rubik->input,
				   NVDLA_DMA_RUBIK_READ);
		if (!ret)
			ret = claim_cube(c, FIELD(output), &rubik->output,
					 NVDLA_DMA_RUBIK_WRITE);
	}
	if (ret)
		return -1;
	return nvdla_check_overlap(c, FIELD(output), 0);
}
