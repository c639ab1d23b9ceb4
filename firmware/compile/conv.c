// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Checks of a convolution: that its fields fit the registers, that it ends,
 * and what follows from the descriptor.
 *
 * Direct mode and images, batch 1. Everything else is refused as missing, in
 * the hardware or here.
 */
#include "compile.h"

#define FIELD(member) NVDLA_FIELD(conv.member)

/*
 * The sequencer counts lines in 12 bits, and frees at most as many. So high an
 * input is one of very few entries a line.
 */
#define MAX_LINES	4095
/* CDMA.D_WEIGHT_SIZE_0. */
#define MAX_KERNEL_BYTES	(1u << 18)
/* Weights that are fetched are a multiple of at most this. */
#define WEIGHT_PADDING	128
/* A group may start in the middle of an entry, unless it is the only one. */
#define WEIGHT_MARGIN	128
/* CDMA counts the atoms of a grain in 14 bits. */
#define MAX_GRAIN_ATOMS	16383
/* Atoms that the memory interface fetches at once. */
#define BURST_ATOMS	8

/* Which arithmetic and which way into it. */
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
	    nvdla_check_range(c, FIELD(stride_x), conv->stride_x, 1, 8) ||
	    nvdla_check_range(c, FIELD(stride_y), conv->stride_y, 1, 8) ||
	    nvdla_check_range(c, FIELD(dilation_x), conv->dilation_x, 1, 32) ||
	    nvdla_check_range(c, FIELD(dilation_y), conv->dilation_y, 1, 32))
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
 * That needs no check: check_data_banks() finds room for all of the input, and
 * no buffer has room for more than 2^19 positions, so with paddings below 32
 * and 64 and sides of at most 8192 the output has less than 2^21.
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
		.dilation = conv->dilation_x,
		.stride = conv->stride_x,
		.stride_field = FIELD(stride_x),
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
		.dilation = conv->dilation_y,
		.stride = conv->stride_y,
		.stride_field = FIELD(stride_y),
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

/*
 * Entries of the convolution buffer that one line takes: whole entries for
 * each full group of surfaces, and the rest packed side by side where an even
 * number of them fits into an entry.
 */
static u32 entries_per_line(const struct nvdla_compile *c,
			    const struct nvdla_conv_plan *plan)
{
	const u32 per_entry = c->hw->cbuf_entry_bytes / c->hw->atom;
	const struct nvdla_conv *conv = &c->layer->conv;
	const u32 width = conv->width;
	const u32 full = plan->surfaces / per_entry;
	const u32 rest = plan->surfaces % per_entry;

	if (conv->mode == NVDLA_CONV_WINOGRAD)
		return nvdla_winograd_entries(c, plan);
	/* Padding lies in the buffer, too, and pixels without gaps. */
	if (conv->mode == NVDLA_CONV_IMAGE)
		return nvdla_div_up((conv->pad_left + width + conv->pad_right) *
					    conv->channels *
					    nvdla_bpe(conv->proc_precision),
				    c->hw->cbuf_entry_bytes);
	if (!rest)
		return full * width;
	return full * width + nvdla_div_up(width, per_entry / rest);
}

/* The last bank holds the mask of compressed weights. */
static u32 usable_banks(const struct nvdla_compile *c)
{
	return c->hw->cbuf_banks -
	       !!(c->layer->conv.flags & NVDLA_CONV_COMPRESSED);
}

/*
 * The sequencer starts a layer only when all of its lines are in the buffer,
 * and none is freed before the end.
 */
static int check_data_banks(struct nvdla_compile *c,
			    struct nvdla_conv_plan *plan)
{
	const struct nvdla_conv *conv = &c->layer->conv;
	const u32 banks = usable_banks(c);
	u32 need;

	if (nvdla_check_range(c, FIELD(data_banks), conv->data_banks, 1,
			      (s64)banks - 1) ||
	    nvdla_check_range(c, FIELD(weight_banks), conv->weight_banks, 1,
			      (s64)banks - 1))
		return -1;
	if (conv->data_banks + conv->weight_banks > banks)
		return nvdla_refuse(c, NVDLA_RULE_BANK_SUM, FIELD(weight_banks),
				    conv->data_banks + conv->weight_banks, 0,
				    banks);

	plan->surfaces = nvdla_div_up(conv->channels *
				      nvdla_bpe(conv->proc_precision),
				      c->hw->atom);
	/* At most 2^11 surfaces of 2^13 atoms, less than 2^12 lines. */
	plan->entries = entries_per_line(c, plan);
	if (plan->entries > banks * c->hw->cbuf_entries) {
		/* Not even one line: spares the product from overflowing. */
		need = nvdla_div_up(plan->entries, c->hw->cbuf_entries);
	} else {
		/* At most 2^14 entries, 2^12 lines, 2^5 cubes. */
		need = nvdla_div_up(plan->entries * plan->ext_height *
					    conv->batch,
				    c->hw->cbuf_entries);
	}
	if (conv->data_banks < need)
		return nvdla_refuse(c, NVDLA_RULE_DATA_BANKS, FIELD(data_banks),
				    conv->data_banks, need,
				    (s64)banks - conv->weight_banks);
	return 0;
}

static u32 bank_bytes(const struct nvdla_compile *c)
{
	return c->hw->cbuf_entries * c->hw->cbuf_entry_bytes;
}

static int check_plain_weights(struct nvdla_compile *c,
			       struct nvdla_conv_plan *plan)
{
	const struct nvdla_conv *conv = &c->layer->conv;
	const struct nvdla_hw *hw = c->hw;
	const u32 bpe = nvdla_bpe(conv->proc_precision);
	const u32 group = nvdla_min(conv->kernels, hw->atomic_k / bpe);
	u32 packed, least, most, need;

	packed = plan->kernel_bytes * conv->kernels;
	least = nvdla_round_up(packed, hw->weight_align);
	most = nvdla_round_up(packed, WEIGHT_PADDING);
	plan->weight_bytes = conv->weights.bytes ? conv->weights.bytes : most;
	if (plan->weight_bytes < least || plan->weight_bytes > most) {
		nvdla_refuse(c, NVDLA_RULE_RANGE, FIELD(weights.bytes),
			     plan->weight_bytes, least, most);
		c->error->multiple = hw->weight_align;
		return -1;
	}
	if (nvdla_check_multiple(c, FIELD(weights.bytes), plan->weight_bytes,
				 hw->weight_align))
		return -1;

	/* The whole of the largest group; at most 2^23 bytes. */
	need = nvdla_round_up(plan->kernel_bytes * group, hw->cbuf_entry_bytes);
	if (conv->kernels > group)
		need += WEIGHT_MARGIN;
	if (conv->weight_banks * bank_bytes(c) < need)
		return nvdla_refuse(c, NVDLA_RULE_WEIGHT_BANKS,
				    FIELD(weight_banks), conv->weight_banks,
				    nvdla_div_up(need, bank_bytes(c)),
				    (s64)hw->cbuf_banks - conv->data_banks);
	return 0;
}

static int check_weights(struct nvdla_compile *c, struct nvdla_conv_plan *plan)
{
	const struct nvdla_conv *conv = &c->layer->conv;
	u32 need;

	/* At most 2^24; times 2^13 kernels after the check at most 2^31. */
	plan->kernel_bytes = plan->weight_width * plan->weight_height *
			     plan->weight_channels *
			     nvdla_bpe(conv->proc_precision);
	if (plan->kernel_bytes > MAX_KERNEL_BYTES)
		return nvdla_refuse(c, NVDLA_RULE_KERNEL_BYTES, FIELD(channels),
				    plan->kernel_bytes, 1, MAX_KERNEL_BYTES);
	plan->table_bytes = 0;
	plan->mask_bytes = 0;
	if (conv->flags & NVDLA_CONV_COMPRESSED) {
		if (nvdla_compressed_check(c, plan))
			return -1;
	} else if (check_plain_weights(c, plan)) {
		return -1;
	}

	if (!(conv->flags & NVDLA_CONV_KEEP_WEIGHTS))
		return 0;
	need = plan->weight_bytes + WEIGHT_MARGIN;
	if (conv->weight_banks * bank_bytes(c) < need)
		return nvdla_refuse(c, NVDLA_RULE_KEEP_WEIGHTS,
				    FIELD(weight_banks), conv->weight_banks,
				    nvdla_div_up(need, bank_bytes(c)),
				    (s64)usable_banks(c) - conv->data_banks);
	return 0;
}

/*
 * Lines per fetch. The unit waits for room for all of them, and counts the
 * entries of a grain in as many bits as the buffer has; without gaps between
 * the lines it fetches them as one run. With gaps it fetches line by line.
 */
static int check_grain(struct nvdla_compile *c, struct nvdla_conv_plan *plan)
{
	const struct nvdla_conv *conv = &c->layer->conv;
	const u32 all = c->hw->cbuf_banks * c->hw->cbuf_entries - 1;
	u32 max = 1;

	/* At most 2^12 lines of 2^18 bytes. */
	plan->line_packed =
		conv->mode != NVDLA_CONV_IMAGE &&
		conv->input.line_stride == conv->width * c->hw->atom;
	plan->surface_packed = conv->mode != NVDLA_CONV_IMAGE &&
			       conv->input.surface_stride ==
				       conv->width * conv->height *
					       c->hw->atom;
	/* Of images and tiles lines come one by one. */
	if (plan->line_packed && conv->mode == NVDLA_CONV_DIRECT)
		max = nvdla_min(nvdla_min(plan->fetched,
					  all / (plan->entries * conv->batch)),
				MAX_GRAIN_ATOMS / conv->width);
	if (conv->fetch_grain > max)
		return nvdla_refuse(c, NVDLA_RULE_GRAIN, FIELD(fetch_grain),
				    conv->fetch_grain, 1, max);
	plan->grain = conv->fetch_grain;
	if (!plan->grain)
		/* Enough lines for a burst. */
		plan->grain = nvdla_min(max, nvdla_div_up(BURST_ATOMS,
							  conv->width));
	return 0;
}

static int check_release(struct nvdla_compile *c, struct nvdla_conv_plan *plan)
{
	const struct nvdla_conv *conv = &c->layer->conv;

	/* Which lines a part of the tiles would be is not known. */
	if ((conv->flags & NVDLA_CONV_KEEP_DATA) ||
	    conv->mode == NVDLA_CONV_WINOGRAD) {
		if (nvdla_check_zero(c, FIELD(release), conv->release))
			return -1;
	} else if (nvdla_check_range(c, FIELD(release), conv->release, 0,
				     conv->height)) {
		return -1;
	}
	plan->release = conv->release ? conv->release : plan->ext_height;
	return 0;
}

/* What only images, Winograd, fp16 or compressed weights use. */
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
	     nvdla_check_zero(c, FIELD(pixel_x_offset),
			      conv->pixel_x_offset) ||
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
 * kernels of a group.
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

	/* There a stripe ends with its line. */
	if (conv->mode == NVDLA_CONV_IMAGE)
		outputs = nvdla_round_up(plan->out_width, 16) *
			  plan->out_height;
	/* Four channels of a tile, read line by line for its four results. */
	if (conv->mode == NVDLA_CONV_WINOGRAD)
		blocks = plan->ext_channels / 4;
	c->image->cycles += (u64)nvdla_div_up(conv->kernels, group) * blocks *
			    nvdla_max(nvdla_round_up(outputs, 16), group);
}

int nvdla_conv_check(struct nvdla_compile *c, struct nvdla_conv_plan *plan)
{
	if (check_mode(c) || check_ranges(c) || check_geometry(c, plan) ||
	    check_data_banks(c, plan) || check_weights(c, plan) ||
	    nvdla_conv_check_reuse(c, plan) || check_grain(c, plan) ||
	    check_release(c, plan) || check_unused(c) || claim_memory(c, plan))
		return -1;
	account_cycles(c, plan);
	return 0;
}
