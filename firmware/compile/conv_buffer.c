// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Checks of what a convolution puts into the convolution buffer: that input
 * and weights have room in their banks, in which portions they come, and how
 * much is freed.
 */
#include "compile.h"

#define FIELD(member) NVDLA_FIELD(conv.member)

/* CDMA.D_WEIGHT_SIZE_0. */
#define MAX_KERNEL_BYTES	(1u << 18)
/* A group may start in the middle of an entry, unless it is the only one. */
#define WEIGHT_MARGIN	128
/* CDMA counts the atoms of a grain in 14 bits. */
#define MAX_GRAIN_ATOMS	16383
/* Atoms that the memory interface fetches at once. */
#define BURST_ATOMS	8

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
int nvdla_conv_check_data_banks(struct nvdla_compile *c,
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

/* Kernels of the largest group. */
static u32 largest_group(const struct nvdla_compile *c)
{
	const struct nvdla_conv *conv = &c->layer->conv;
	const u32 bpe = nvdla_bpe(conv->proc_precision);

	return nvdla_min(conv->kernels, c->hw->atomic_k / bpe);
}

/*
 * The sequencer frees the entries that it has read and no others: what is
 * fetched beyond the last kernel stays in the banks for ever, and the next
 * layer takes it for its own weights.
 */
static int check_plain_weights(struct nvdla_compile *c,
			       struct nvdla_conv_plan *plan)
{
	const struct nvdla_conv *conv = &c->layer->conv;
	const struct nvdla_hw *hw = c->hw;
	const u32 group = largest_group(c);
	u32 need;

	plan->weight_bytes = nvdla_round_up(plan->kernel_bytes * conv->kernels,
					    hw->weight_align);
	if (conv->weights.bytes &&
	    nvdla_check_range(c, FIELD(weights.bytes), conv->weights.bytes,
			      plan->weight_bytes, plan->weight_bytes))
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

/*
 * Weights that stay are kept as a whole. Behind several groups, whose limits
 * lie anywhere in an entry, it is proven to end with a margin only; a single
 * group may fill its banks. The sizes of compressed groups are not looked at.
 */
static int check_resident(struct nvdla_compile *c,
			  const struct nvdla_conv_plan *plan)
{
	const struct nvdla_conv *conv = &c->layer->conv;
	const u32 rule = conv->flags & NVDLA_CONV_KEEP_WEIGHTS ?
				 NVDLA_RULE_KEEP_WEIGHTS :
				 NVDLA_RULE_RESIDENT_WEIGHTS;
	/* At most 2^31. */
	u32 need = plan->weight_bytes;

	if (conv->kernels > largest_group(c) ||
	    (conv->flags & NVDLA_CONV_COMPRESSED))
		need += WEIGHT_MARGIN;
	if (conv->weight_banks * bank_bytes(c) < need)
		return nvdla_refuse(c, rule, FIELD(weight_banks),
				    conv->weight_banks,
				    nvdla_div_up(need, bank_bytes(c)),
				    (s64)usable_banks(c) - conv->data_banks);
	return 0;
}

int nvdla_conv_check_weights(struct nvdla_compile *c,
			     struct nvdla_conv_plan *plan)
{
	const struct nvdla_conv *conv = &c->layer->conv;

	/* At most 2^24; times 2^13 kernels after the check at most 2^31. */
	plan->kernel_bytes = plan->weight_width * plan->weight_height *
			     plan->weight_channels *
			     nvdla_bpe(conv->proc_precision);
	if (plan->kernel_bytes > MAX_KERNEL_BYTES)
		return nvdla_refuse(c, NVDLA_RULE_KERNEL_BYTES, FIELD(channels),
				    plan->kernel_bytes, 1, MAX_KERNEL_BYTES);
	/* A clock that stops loses what is freed at the end of a layer. */
	plan->resident = (conv->flags & NVDLA_CONV_KEEP_WEIGHTS) ||
			 (c->hw->features & NVDLA_HW_WEIGHT_GATING);
	plan->table_bytes = 0;
	plan->mask_bytes = 0;
	if (conv->flags & NVDLA_CONV_COMPRESSED) {
		if (nvdla_compressed_check(c, plan))
			return -1;
	} else if (check_plain_weights(c, plan)) {
		return -1;
	}

	return plan->resident ? check_resident(c, plan) : 0;
}

/*
 * Lines per fetch. The unit waits for room for all of them; without gaps
 * between the lines it fetches them as one run. With gaps it fetches line by
 * line. It counts the entries of a grain in as many bits as the buffer has,
 * which needs no check: all lines fit the data banks, and those are not all.
 *
 * Whether surfaces follow each other without a gap is asked where a single
 * position is fetched, which may be the last line of several.
 */
int nvdla_conv_check_grain(struct nvdla_compile *c,
			   struct nvdla_conv_plan *plan)
{
	const struct nvdla_conv *conv = &c->layer->conv;
	u32 max = 1;

	/* At most 2^12 lines of 2^18 bytes. */
	plan->line_packed =
		conv->mode != NVDLA_CONV_IMAGE &&
		conv->input.line_stride == conv->width * c->hw->atom;
	plan->surface_packed = conv->mode != NVDLA_CONV_IMAGE &&
			       conv->input.surface_stride ==
				       conv->width * plan->fetched *
					       c->hw->atom;
	/* Lines of images and tiles come one by one. */
	if (plan->line_packed && conv->mode == NVDLA_CONV_DIRECT)
		max = nvdla_min(plan->fetched, MAX_GRAIN_ATOMS / conv->width);
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

int nvdla_conv_check_release(struct nvdla_compile *c,
			     struct nvdla_conv_plan *plan)
{
	const struct nvdla_conv *conv = &c->layer->conv;

	/* It is not known which lines a part of the tiles would be. */
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
