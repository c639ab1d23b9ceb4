// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Checks of a convolution: that its fields fit the registers, that it ends,
 * and what follows from the descriptor.
 */
#include "compile.h"

#define FIELD(member) NVDLA_FIELD(conv.member)

/*
 * The sequencer counts lines in 12 bits, and frees at most as many. So high an
 * input is one of very few entries a line.
 */
#define MAX_LINES	4095

/* Checks the arithmetic, and the way of the input into it. */
static int check_mode(struct nvdla_compile *c)
{
	const struct nvdla_conv *conv = &c->layer->conv;
	const u32 all = NVDLA_CONV_COMPRESSED | NVDLA_CONV_REUSE_DATA |
			NVDLA_CONV_REUSE_WEIGHTS | NVDLA_CONV_KEEP_DATA |
			NVDLA_CONV_KEEP_WEIGHTS | NVDLA_CONV_CONVERT |
			NVDLA_CONV_MEAN | NVDLA_CONV_SIGNED_PIXELS |
			NVDLA_CONV_NAN_TO_ZERO;
	u32 used = all & ~(NVDLA_CONV_CONVERT | NVDLA_CONV_MEAN |
			   NVDLA_CONV_SIGNED_PIXELS);

	if (nvdla_check_choice(c, FIELD(mode), conv->mode, NVDLA_CONV_WINOGRAD))
		return -1;
	if (nvdla_check_flags(c, FIELD(flags), conv->flags, all))
		return -1;
	if ((conv->flags & NVDLA_CONV_COMPRESSED) &&
	    !(c->hw->features & NVDLA_HW_COMPRESSION))
		return nvdla_refuse_feature(c, FIELD(flags),
					    NVDLA_FEATURE_COMPRESSION);
	if (nvdla_check_precision(c, FIELD(in_precision), conv->in_precision) ||
	    nvdla_check_precision(c, FIELD(proc_precision),
				  conv->proc_precision))
		return -1;
	/*
	 * The number of surfaces fetched follows the processing precision;
	 * pixels are widened and narrowed on their way.
	 */
	if ((conv->mode == NVDLA_CONV_DIRECT &&
	     nvdla_bpe(conv->in_precision) !=
		     nvdla_bpe(conv->proc_precision)) ||
	    (conv->in_precision == NVDLA_PRECISION_FP16 &&
	     conv->proc_precision != NVDLA_PRECISION_FP16))
		return nvdla_refuse(c, NVDLA_RULE_PRECISIONS,
				    FIELD(in_precision), conv->in_precision,
				    conv->proc_precision, conv->proc_precision);
	if (conv->mode == NVDLA_CONV_IMAGE && nvdla_image_check(c))
		return -1;
	if (nvdla_winograd_check(c))
		return -1;
	used |= nvdla_image_flags(conv);
	if (conv->proc_precision != NVDLA_PRECISION_FP16)
		used &= ~NVDLA_CONV_NAN_TO_ZERO;
	if (nvdla_check_flags(c, FIELD(flags), conv->flags, used))
		return -1;
	return nvdla_image_check_converter(c);
}

/* In processing precision; both units take 16 bits. */
static int check_pad_value(struct nvdla_compile *c)
{
	const struct nvdla_conv *conv = &c->layer->conv;

	switch (conv->proc_precision) {
	case NVDLA_PRECISION_INT8:
		return nvdla_check_range(c, FIELD(pad_value), conv->pad_value,
					 -128, 127);
	case NVDLA_PRECISION_INT16:
		return nvdla_check_range(c, FIELD(pad_value), conv->pad_value,
					 -32768, 32767);
	default:
		return nvdla_check_range(c, FIELD(pad_value), conv->pad_value,
					 0, 0xffff);
	}
}

static int check_ranges(struct nvdla_compile *c)
{
	const struct nvdla_conv *conv = &c->layer->conv;

	if (nvdla_check_range(c, FIELD(width), conv->width, 1, 8192) ||
	    nvdla_check_range(c, FIELD(height), conv->height, 1, MAX_LINES) ||
	    nvdla_check_range(c, FIELD(channels), conv->channels, 1, 8192) ||
	    nvdla_check_range(c, FIELD(batch), conv->batch, 1, 32))
		return -1;
	if (conv->batch > 1 && !(c->hw->features & NVDLA_HW_BATCH))
		return nvdla_refuse_feature(c, FIELD(batch),
					    NVDLA_FEATURE_BATCH);
	/* A pooling knows of one cube only. */
	if (c->layer->kind == NVDLA_LAYER_CONV_SDP_PDP &&
	    nvdla_check_range(c, FIELD(batch), conv->batch, 1, 1))
		return -1;
	if (nvdla_check_range(c, FIELD(kernels), conv->kernels, 1, 8192) ||
	    nvdla_check_range(c, FIELD(kernel_width), conv->kernel_width, 1,
			      32) ||
	    nvdla_check_range(c, FIELD(kernel_height), conv->kernel_height, 1,
			      32) ||
	    nvdla_check_range(c, FIELD(stride_width), conv->stride_width, 1, 8) ||
	    nvdla_check_range(c, FIELD(stride_height), conv->stride_height, 1, 8) ||
	    nvdla_check_range(c, FIELD(dilation_width), conv->dilation_width, 1, 32) ||
	    nvdla_check_range(c, FIELD(dilation_height), conv->dilation_height, 1, 32))
		return -1;
	if (nvdla_check_range(c, FIELD(pad_left), conv->pad_left, 0, 31) ||
	    nvdla_check_range(c, FIELD(pad_right), conv->pad_right, 0, 63) ||
	    nvdla_check_range(c, FIELD(pad_top), conv->pad_top, 0, 31) ||
	    nvdla_check_range(c, FIELD(pad_bottom), conv->pad_bottom, 0, 63))
		return -1;
	return check_pad_value(c);
}

/*
 * The sequencer counts results, and takes padding for whatever a position of
 * the kernel does not find in the buffer: a stride may leave input over, and
 * features may be padded by more than the kernel. Only the image path, which
 * lays padding into the buffer, is not known to end with that.
 *
 * CSC.D_ATOMICS holds the number of output positions, less one, in 21 bits.
 * That needs no check: nvdla_conv_check_data_banks() finds room for all of the
 * input, and no buffer has room for more than 2^19 positions, so with paddings
 * below 32 and 64 and sides of at most 8192 the output has less than 2^21.
 */
static int check_geometry(struct nvdla_compile *c, struct nvdla_conv_plan *plan)
{
	const struct nvdla_conv *conv = &c->layer->conv;
	const struct nvdla_window x = {
		.size = conv->width,
		.size_field = FIELD(width),
		.before = conv->pad_left,
		.before_field = FIELD(pad_left),
		.after = conv->pad_right,
		.after_field = FIELD(pad_right),
		.kernel = conv->kernel_width,
		.dilation = conv->dilation_width,
		.stride = conv->stride_width,
		.stride_field = FIELD(stride_width),
		.kernel_field = FIELD(kernel_width),
	};
	const struct nvdla_window y = {
		.size = conv->height,
		.size_field = FIELD(height),
		.before = conv->pad_top,
		.before_field = FIELD(pad_top),
		.after = conv->pad_bottom,
		.after_field = FIELD(pad_bottom),
		.kernel = conv->kernel_height,
		.dilation = conv->dilation_height,
		.stride = conv->stride_height,
		.stride_field = FIELD(stride_height),
		.kernel_field = FIELD(kernel_height),
	};

	if (conv->mode == NVDLA_CONV_WINOGRAD)
		return nvdla_winograd_extend(c, &x, &y, plan);
	if (conv->mode == NVDLA_CONV_IMAGE &&
	    (nvdla_check_padding(c, &x) || nvdla_check_padding(c, &y)))
		return -1;
	plan->ext_width = conv->width;
	plan->ext_height = conv->height;
	plan->ext_channels = conv->channels;
	plan->weight_width = conv->kernel_width;
	plan->weight_height = conv->kernel_height;
	plan->weight_channels = conv->channels;
	if (conv->mode == NVDLA_CONV_IMAGE) {
		/* The width of the kernel is folded into its channels. */
		plan->weight_width = 1;
		plan->weight_channels = conv->kernel_width * conv->channels;
	}
	if (nvdla_check_window(c, &x, &plan->out_width))
		return -1;
	return nvdla_check_window(c, &y, &plan->out_height);
}

/* Checks fields that only images, Winograd, fp16 or compressed weights use. */
static int check_unused(struct nvdla_compile *c)
{
	const struct nvdla_conv *conv = &c->layer->conv;
	const u32 real = conv->proc_precision == NVDLA_PRECISION_FP16;
	const u32 max_clip = real ? 0 : 16;
	const u32 max_pra = conv->mode == NVDLA_CONV_WINOGRAD && !real ? 2 : 0;

	if (nvdla_image_check_extension(c) ||
	    nvdla_check_range(c, FIELD(pra_truncate), conv->pra_truncate, 0,
			      max_pra) ||
	    nvdla_check_range(c, FIELD(clip_truncate), conv->clip_truncate, 0,
			      max_clip))
		return -1;
	if (conv->mode != NVDLA_CONV_IMAGE &&
	    (nvdla_check_zero(c, FIELD(pixel_format), conv->pixel_format) ||
	     nvdla_check_zero(c, FIELD(pixel_offset),
			      conv->pixel_offset) ||
	     nvdla_check_zero_bytes(c, FIELD(input_uv),
				    sizeof(conv->input_uv))))
		return -1;
	if (conv->flags & NVDLA_CONV_COMPRESSED)
		return 0;
	return nvdla_check_zero_bytes(c, FIELD(wgs), sizeof(conv->wgs) +
							 sizeof(conv->wmb));
}

/*
 * The input is claimed as if nothing of it were in the buffer already: the
 * hardware decides by its own state whether it fetches.
 */
static int claim_memory(struct nvdla_compile *c,
			const struct nvdla_conv_plan *plan)
{
	const struct nvdla_conv *conv = &c->layer->conv;
	const struct nvdla_cube cube = {
		.surfaces = plan->surfaces,
		.lines = conv->height,
		.line_bytes = conv->width * c->hw->atom,
		.batch = conv->batch,
	};

	if (conv->mode == NVDLA_CONV_IMAGE) {
		if (nvdla_image_claim(c))
			return -1;
	} else if (nvdla_claim_cube(c, FIELD(input), &conv->input, &cube,
				    NVDLA_DMA_CDMA_DATA)) {
		return -1;
	}
	if (nvdla_claim_run(c, FIELD(weights), conv->weights.slot,
			    conv->weights.offset, plan->weight_bytes,
			    NVDLA_DMA_CDMA_WEIGHT))
		return -1;
	if (!(conv->flags & NVDLA_CONV_COMPRESSED))
		return 0;
	if (nvdla_compressed_claim(c, plan))
		return -1;
	return nvdla_compressed_check_tables(c, plan);
}

/*
 * Every step - kernel group, channel block, kernel position - takes a cycle
 * per output position, in stripes of 16, but at least the time to load the
 * kernels of a group; of an image, whose stripes end with their lines, each
 * line of it.
 */
static void account_cycles(struct nvdla_compile *c,
			   const struct nvdla_conv_plan *plan)
{
	const struct nvdla_conv *conv = &c->layer->conv;
	const struct nvdla_hw *hw = c->hw;
	const u32 group = hw->atomic_k / nvdla_bpe(conv->proc_precision);
	u32 outputs = plan->out_width * plan->out_height * conv->batch;
	u32 blocks = nvdla_div_up(conv->channels, hw->atomic_c) *
		     conv->kernel_width * conv->kernel_height;

	if (conv->mode == NVDLA_CONV_IMAGE)
		outputs = nvdla_max(nvdla_round_up(plan->out_width, 16),
				    group) * plan->out_height;
	/* Four channels of a tile, read line by line for its four results. */
	if (conv->mode == NVDLA_CONV_WINOGRAD)
		blocks = plan->ext_channels / 4;
	c->image->cycles += (u64)nvdla_div_up(conv->kernels, group) * blocks *
			    nvdla_max(nvdla_round_up(outputs, 16), group);
}

int nvdla_conv_check(struct nvdla_compile *c, struct nvdla_conv_plan *plan)
{
	if (check_mode(c) || check_ranges(c) || check_geometry(c, plan) ||
	    nvdla_conv_check_data_banks(c, plan) ||
	    nvdla_conv_check_weights(c, plan) ||
	    nvdla_conv_check_reuse(c, plan) ||
	    nvdla_conv_check_grain(c, plan) ||
	    nvdla_conv_check_release(c, plan) || check_unused(c) ||
	    claim_memory(c, plan))
		return -1;
	account_cycles(c, plan);
	return 0;
}
