// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * This file checks what one convolution leaves in the buffer for the next one.
 *
 * Both sides of the buffer count what is in it, and disagree for ever if a
 * layer promises to reuse what is not there. So reuse is legal only after a
 * convolution of the same program that kept, with everything unchanged that
 * decides how data lie in the buffer. That also means that no layer sees what
 * another program left.
 */
#include "compile.h"

#define FIELD(member) NVDLA_FIELD(conv.member)

/* A setting of the layer, as it was when the kept data were loaded. */
struct setting {
	u32 field;
	s64 now;
	s64 then;
};

static int check_same(struct nvdla_compile *c, const struct setting *settings,
		      u32 count)
{
	u32 i;

	for (i = 0; i < count; i++) {
		if (settings[i].now != settings[i].then)
			return nvdla_refuse(c, NVDLA_RULE_REUSE_DIFFERS,
					    settings[i].field, settings[i].now,
					    settings[i].then, settings[i].then);
	}
	return 0;
}

/* Common to both: a change of any of these empties the whole buffer. */
static int check_buffer(struct nvdla_compile *c)
{
	const struct nvdla_conv *now = &c->layer->conv;
	const struct nvdla_conv *then = &c->program->kept.conv;
	const struct setting settings[] = {
		{ FIELD(mode), now->mode, then->mode },
		{ FIELD(in_precision), now->in_precision, then->in_precision },
		{ FIELD(proc_precision), now->proc_precision,
		  then->proc_precision },
		{ FIELD(channels), now->channels, then->channels },
		{ FIELD(pixel_format), now->pixel_format, then->pixel_format },
		{ FIELD(data_banks), now->data_banks, then->data_banks },
		{ FIELD(weight_banks), now->weight_banks, then->weight_banks },
	};

	return check_same(c, settings, ARRAY_SIZE(settings));
}

/*
 * Kept lines are the first ones of this layer. After NVDLA_CONV_KEEP_DATA the
 * hardware fetches nothing, so they must be all of them; after a partial
 * release it fetches the lines that follow, so there must be at least one.
 */
static int check_data(struct nvdla_compile *c, struct nvdla_conv_plan *plan)
{
	const struct nvdla_conv *now = &c->layer->conv;
	const struct nvdla_conv_kept *kept = &c->program->kept;
	const struct setting settings[] = {
		{ FIELD(width), now->width, kept->conv.width },
		{ FIELD(batch), now->batch, kept->conv.batch },
	};
	/* Pixels and tiles are padded on their way into the buffer, ... */
	const struct setting padding[] = {
		{ FIELD(pad_left), now->pad_left, kept->conv.pad_left },
		{ FIELD(pad_right), now->pad_right, kept->conv.pad_right },
		{ FIELD(pad_value), now->pad_value, kept->conv.pad_value },
	};
	/* ... and tiles are folded. */
	const struct setting folds[] = {
		{ FIELD(pad_top), now->pad_top, kept->conv.pad_top },
		{ FIELD(pad_bottom), now->pad_bottom, kept->conv.pad_bottom },
		{ FIELD(stride_width), now->stride_width, kept->conv.stride_width },
		{ FIELD(stride_height), now->stride_height, kept->conv.stride_height },
	};

	if (!kept->lines)
		return nvdla_refuse(c, NVDLA_RULE_REUSE_NOTHING, FIELD(flags),
				    NVDLA_CONV_REUSE_DATA, 0, 0);
	if (check_buffer(c) || check_same(c, settings, ARRAY_SIZE(settings)))
		return -1;
	if (now->mode != NVDLA_CONV_DIRECT &&
	    check_same(c, padding, ARRAY_SIZE(padding)))
		return -1;
	if (now->mode == NVDLA_CONV_WINOGRAD &&
	    check_same(c, folds, ARRAY_SIZE(folds)))
		return -1;
	if (kept->conv.flags & NVDLA_CONV_KEEP_DATA) {
		if (now->height != kept->lines)
			return nvdla_refuse(c, NVDLA_RULE_REUSE_LINES,
					    FIELD(height), kept->lines,
					    now->height, now->height);
		return 0;
	}
	if (now->height <= kept->lines)
		return nvdla_refuse(c, NVDLA_RULE_REUSE_LINES, FIELD(height),
				    kept->lines, 1, (s64)now->height - 1);
	plan->kept = kept->lines;
	plan->fetched = now->height - kept->lines;
	return 0;
}

static int check_weights(struct nvdla_compile *c,
			 const struct nvdla_conv_plan *plan)
{
	const struct nvdla_conv *now = &c->layer->conv;
	const struct nvdla_conv *then = &c->program->kept.conv;
	const struct setting settings[] = {
		{ FIELD(kernels), now->kernels, then->kernels },
		{ FIELD(kernel_width), now->kernel_width, then->kernel_width },
		{ FIELD(kernel_height), now->kernel_height,
		  then->kernel_height },
		{ FIELD(weights.bytes), plan->weight_bytes,
		  then->weights.bytes },
		{ FIELD(flags), now->flags & NVDLA_CONV_COMPRESSED,
		  then->flags & NVDLA_CONV_COMPRESSED },
		{ FIELD(weights.slot), now->weights.slot, then->weights.slot },
	};

	if (!c->program->kept.weights)
		return nvdla_refuse(c, NVDLA_RULE_REUSE_NOTHING, FIELD(flags),
				    NVDLA_CONV_REUSE_WEIGHTS, 0, 0);
	if (check_buffer(c) || check_same(c, settings, ARRAY_SIZE(settings)))
		return -1;
	/* Whoever names other weights would not get them. */
	if (now->weights.offset != then->weights.offset)
		return nvdla_refuse(c, NVDLA_RULE_REUSE_DIFFERS, FIELD(weights),
				    nvdla_clamp(now->weights.offset),
				    nvdla_clamp(then->weights.offset),
				    nvdla_clamp(then->weights.offset));
	return 0;
}

int nvdla_conv_check_reuse(struct nvdla_compile *c,
			   struct nvdla_conv_plan *plan)
{
	const struct nvdla_conv *conv = &c->layer->conv;

	plan->kept = 0;
	plan->fetched = conv->height;
	if ((conv->flags & NVDLA_CONV_REUSE_DATA) && check_data(c, plan))
		return -1;
	if ((conv->flags & NVDLA_CONV_REUSE_WEIGHTS) && check_weights(c, plan))
		return -1;
	return 0;
}

/*
 * Others wait until all tied layers have ended, so together these may take as
 * long as a layer. If this one reuses, all since the last convolution are tied.
 */
int nvdla_conv_check_run(struct nvdla_compile *c)
{
	const struct nvdla_conv_kept *kept = &c->program->kept;
	const u64 cycles = kept->cycles + c->image->cycles;
	const u64 max = nvdla_max_cycles(c->program);

	if (!(c->layer->conv.flags & NVDLA_CONV_REUSE) || cycles <= max)
		return 0;
	return nvdla_refuse(c, NVDLA_RULE_TIED_CYCLES, FIELD(flags),
			    nvdla_clamp(cycles), kept->first, nvdla_clamp(max));
}

/*
 * The last convolution has left something for this layer: nobody else may use
 * the buffer in between. Each layer is tied once at most.
 */
static void tie(struct nvdla_compile *c)
{
	u32 i;

	for (i = c->program->kept.layer + 1; i <= c->index; i++)
		c->program->layers[i].tied = 1;
}

/* The layer was compiled: this is what it takes, and what it leaves. */
void nvdla_conv_keep(struct nvdla_compile *c,
		     const struct nvdla_conv_plan *plan)
{
	const struct nvdla_conv *conv = &c->layer->conv;
	struct nvdla_conv_kept *kept = &c->program->kept;

	if (conv->flags & NVDLA_CONV_REUSE) {
		tie(c);
	} else {
		kept->first = c->index;
		kept->cycles = 0;
	}
	kept->conv = *conv;
	kept->layer = c->index;
	kept->conv.weights.bytes = plan->weight_bytes;
	kept->lines = conv->flags & NVDLA_CONV_KEEP_DATA ?
			      conv->height :
			      plan->ext_height - plan->release;
	kept->weights = !!(conv->flags & NVDLA_CONV_KEEP_WEIGHTS);
}
