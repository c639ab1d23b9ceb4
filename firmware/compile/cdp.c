// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Checks of normalisation across channels. Any size ends, and the cubes have
 * the same size; every layer goes through the unit's look-up table.
 */
#include "compile.h"

#define FIELD(member) NVDLA_FIELD(cdp.member)

/* Input offsets take 16 bits, of which int8 uses 8; scales take 16. */
static int check_converters(struct nvdla_compile *c)
{
	const struct nvdla_cdp *cdp = &c->layer->cdp;
	const int narrow = cdp->precision == NVDLA_PRECISION_INT8;

	if (cdp->precision == NVDLA_PRECISION_FP16)
		return nvdla_check_zero_bytes(c, FIELD(in_cvt),
					      sizeof(cdp->in_cvt) +
						      sizeof(cdp->out_cvt));
	if (nvdla_check_range(c, FIELD(in_cvt.offset), cdp->in_cvt.offset,
			      narrow ? -128 : -32768, narrow ? 127 : 32767) ||
	    nvdla_check_convert(c, FIELD(in_cvt), &cdp->in_cvt, 31))
		return -1;
	if (narrow && nvdla_check_range(c, FIELD(out_cvt.offset),
					cdp->out_cvt.offset, -0x1000000,
					0xffffff))
		return -1;
	return nvdla_check_convert(c, FIELD(out_cvt), &cdp->out_cvt, 63);
}

static int check_function(struct nvdla_compile *c)
{
	const struct nvdla_cdp *cdp = &c->layer->cdp;
	u32 flags = NVDLA_CDP_BYPASS_SQUARE_SUM | NVDLA_CDP_BYPASS_MUL;

	if (nvdla_check_precision(c, FIELD(precision), cdp->precision))
		return -1;
	if (cdp->precision == NVDLA_PRECISION_FP16)
		flags |= NVDLA_CDP_NAN_TO_ZERO;
	if (nvdla_check_flags(c, FIELD(flags), cdp->flags, flags) ||
	    nvdla_check_range(c, FIELD(width), cdp->width, 1, 8192) ||
	    nvdla_check_range(c, FIELD(height), cdp->height, 1, 8192) ||
	    nvdla_check_range(c, FIELD(channels), cdp->channels, 1, 8192))
		return -1;
	if (cdp->flags & NVDLA_CDP_BYPASS_SQUARE_SUM)
		return nvdla_check_zero(c, FIELD(window), cdp->window);
	if (cdp->window < 3 || cdp->window > 9 || !(cdp->window & 1))
		return nvdla_refuse(c, NVDLA_RULE_CHOICE, FIELD(window),
				    cdp->window, 3, 9);
	return 0;
}

static int same_surface(const struct nvdla_surface *a,
			const struct nvdla_surface *b)
{
	return a->offset == b->offset && a->slot == b->slot &&
	       a->line_stride == b->line_stride &&
	       a->surface_stride == b->surface_stride;
}

int nvdla_cdp_check(struct nvdla_compile *c)
{
	const struct nvdla_cdp *cdp = &c->layer->cdp;
	const u32 atom = c->hw->atom;
	struct nvdla_cube cube;
	u32 in_place = 0;
	u32 cycles;

	if (check_function(c) || check_converters(c) ||
	    nvdla_lut_use(c, NVDLA_LUT_CDP, cdp->precision))
		return -1;
	cube = (struct nvdla_cube){
		.surfaces = nvdla_div_up(cdp->channels *
					 nvdla_bpe(cdp->precision), atom),
		.lines = cdp->height,
		.line_bytes = cdp->width * atom,
	};
	/* Each atom is read before its result is written. */
	if (same_surface(&cdp->input, &cdp->output))
		in_place = 1u << NVDLA_DMA_CDP_RDMA;
	if (nvdla_claim_cube(c, FIELD(input), &cdp->input, &cube,
			     NVDLA_DMA_CDP_RDMA) ||
	    nvdla_claim_cube(c, FIELD(output), &cdp->output, &cube,
			     NVDLA_DMA_CDP_WDMA) ||
	    nvdla_check_overlap(c, FIELD(output), in_place))
		return -1;
	cycles = nvdla_div_up(atom, c->hw->cdp_throughput);
	c->image->cycles += (u64)(cdp->width * cdp->height) *
			    (cube.surfaces * cycles);
	return 0;
}
