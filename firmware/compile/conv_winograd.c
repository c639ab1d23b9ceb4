// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Checks of Winograd mode, and what it makes of the sizes of a convolution.
 *
 * The unit works on tiles of 4 x 4 inputs, of which each gives 2 x 2 results.
 * A stride is folded into the channels first, so that what is left is a kernel
 * of 3 x 3 with a stride of 1; its weights come transformed, 4 x 4.
 */
#include "compile.h"

#define FIELD(member) NVDLA_FIELD(conv.member)

/* Columns and lines come four at a time, four more than go out. */
#define TILE		4
/* The input has registers of 13 bits for them; lines are counted in 12. */
#define MAX_COLUMNS	8192
#define MAX_LINES	4092
/* Channels with a stride folded into them, in registers of 13 bits. */
#define MAX_CHANNELS	8192

int nvdla_winograd_check(struct nvdla_compile *c)
{
	const struct nvdla_conv *conv = &c->layer->conv;

	if (conv->mode != NVDLA_CONV_WINOGRAD)
		return 0;
	if (!(c->hw->features & NVDLA_HW_WINOGRAD))
		return nvdla_refuse_feature(c, FIELD(mode),
					    NVDLA_FEATURE_WINOGRAD);
	/* Results leave in blocks of four lines, not line by line. */
	if (c->layer->kind == NVDLA_LAYER_CONV_SDP_PDP)
		return nvdla_refuse(c, NVDLA_RULE_CHOICE, FIELD(mode),
				    conv->mode, 0, NVDLA_CONV_IMAGE);
	if (nvdla_check_range(c, FIELD(batch), conv->batch, 1, 1) ||
	    nvdla_check_range(c, FIELD(dilation_width), conv->dilation_width, 1, 1) ||
	    nvdla_check_range(c, FIELD(dilation_height), conv->dilation_height, 1, 1))
		return -1;
	/* There is no way through the converter. */
	if (conv->in_precision != conv->proc_precision)
		return nvdla_refuse(c, NVDLA_RULE_PRECISIONS,
				    FIELD(in_precision), conv->in_precision,
				    conv->proc_precision, conv->proc_precision);
	return 0;
}

/*
 * One direction. The kernel takes three positions after folding; what it lacks
 * to that is zero in the weights. Padding on both sides is part of the tiles.
 */
static int check_direction(struct nvdla_compile *c,
			   const struct nvdla_window *w, u32 max, u32 *extended)
{
	const u32 padded = w->before + w->size + w->after;
	const u32 step = TILE * w->stride;

	if (nvdla_check_range(c, w->kernel_field, w->kernel,
			      2 * (s64)w->stride + 1, 3 * (s64)w->stride) ||
	    nvdla_check_range(c, w->before_field, w->before, 0,
			      w->stride == 1 ? 1 : 3 * (s64)w->stride - 1))
		return -1;
	if (padded % step || padded < 2 * step || padded > max * w->stride) {
		nvdla_refuse(c, NVDLA_RULE_WINOGRAD_TILES, w->after_field,
			     padded, 2 * (s64)step, (s64)max * w->stride);
		c->error->multiple = step;
		return -1;
	}
	*extended = padded / w->stride;
	return 0;
}

int nvdla_winograd_extend(struct nvdla_compile *c, const struct nvdla_window *x,
			  const struct nvdla_window *y,
			  struct nvdla_conv_plan *plan)
{
	const struct nvdla_conv *conv = &c->layer->conv;
	const u32 lanes = c->hw->atom / nvdla_bpe(conv->proc_precision);
	const u32 folds = conv->stride_width * conv->stride_height;

	if (check_direction(c, x, MAX_COLUMNS, &plan->ext_width) ||
	    check_direction(c, y, MAX_LINES, &plan->ext_height) ||
	    nvdla_check_range(c, FIELD(channels), conv->channels, 1,
			      MAX_CHANNELS / folds / lanes * lanes))
		return -1;
	plan->ext_channels = nvdla_round_up(conv->channels, lanes) * folds;
	plan->weight_width = TILE;
	plan->weight_height = TILE;
	plan->weight_channels = plan->ext_channels;
	plan->out_width = plan->ext_width - TILE;
	plan->out_height = plan->ext_height - TILE;
	return 0;
}

/*
 * Entries of the convolution buffer per line. The register holds 1024, and
 * that needs no check: at least eight lines must fit into a buffer of 4096.
 */
u32 nvdla_winograd_entries(const struct nvdla_compile *c,
			   const struct nvdla_conv_plan *plan)
{
	const struct nvdla_conv *conv = &c->layer->conv;

	return plan->ext_width / TILE * plan->surfaces * conv->stride_width *
	       conv->stride_height;
}
