// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * One layer: its header, the sections that it may have, its time, and the
 * units that make it up.
 */
#include "compile.h"

#define KIND(name)	(1u << NVDLA_LAYER_##name)

/* Sections of struct nvdla_layer, by the kinds that use them. */
static const struct {
	u32 field;
	u32 bytes;
	u32 kinds;
} sections[] = {
	{ NVDLA_FIELD(conv), sizeof(struct nvdla_conv),
	  KIND(CONV_SDP) | KIND(CONV_SDP_PDP) },
	{ NVDLA_FIELD(sdp), sizeof(struct nvdla_sdp),
	  KIND(CONV_SDP) | KIND(CONV_SDP_PDP) | KIND(SDP) | KIND(SDP_PDP) },
	{ NVDLA_FIELD(pdp), sizeof(struct nvdla_pdp),
	  KIND(CONV_SDP_PDP) | KIND(SDP_PDP) | KIND(PDP) },
	{ NVDLA_FIELD(cdp), sizeof(struct nvdla_cdp), KIND(CDP) },
	{ NVDLA_FIELD(rubik), sizeof(struct nvdla_rubik), KIND(RUBIK) },
	{ NVDLA_FIELD(bdma), sizeof(struct nvdla_bdma), KIND(BDMA) },
};

static int check_kind(struct nvdla_compile *c)
{
	const u32 field = NVDLA_FIELD(kind);
	const u32 kind = c->layer->kind;
	const u32 features = c->hw->features;

	if (kind < NVDLA_LAYER_CONV_SDP || kind > NVDLA_LAYER_BDMA)
		return nvdla_refuse(c, NVDLA_RULE_CHOICE, field, kind,
				    NVDLA_LAYER_CONV_SDP, NVDLA_LAYER_BDMA);
	if (kind == NVDLA_LAYER_RUBIK && !(features & NVDLA_HW_RUBIK))
		return nvdla_refuse_feature(c, field, NVDLA_FEATURE_RUBIK);
	if (kind == NVDLA_LAYER_BDMA && !(features & NVDLA_HW_BDMA))
		return nvdla_refuse_feature(c, field, NVDLA_FEATURE_BDMA);
	return 0;
}

static int check_waits(struct nvdla_compile *c)
{
	const struct nvdla_layer *layer = c->layer;
	u32 field = NVDLA_FIELD(waits);
	u32 i;

	if (nvdla_check_range(c, NVDLA_FIELD(num_waits), layer->num_waits, 0,
			      NVDLA_MAX_WAITS))
		return -1;
	for (i = 0; i < layer->num_waits; i++, field += sizeof(u32)) {
		if (layer->waits[i] >= c->index)
			return nvdla_refuse(c, NVDLA_RULE_WAIT_ORDER, field,
					    layer->waits[i], 0,
					    (s64)c->index - 1);
		c->image->waits[i] = layer->waits[i];
	}
	c->image->num_waits = layer->num_waits;
	return nvdla_check_zero_bytes(c, field,
				      (NVDLA_MAX_WAITS - layer->num_waits) *
					      (u32)sizeof(u32));
}

/* The units that look up check the table that they are to use. */
static int check_lut(struct nvdla_compile *c)
{
	const u32 lut = c->layer->lut;
	u32 used = c->layer->kind == NVDLA_LAYER_CDP;

	if (nvdla_check_range(c, NVDLA_FIELD(lut), lut, 0,
			      c->program->num_luts))
		return -1;
	if (c->layer->sdp.y.flags & NVDLA_SDP_LUT)
		used = 1;
	if (lut && !used)
		return nvdla_refuse(c, NVDLA_RULE_LUT_NAMED, NVDLA_FIELD(lut),
				    lut, 0, 0);
	return 0;
}

static int check_sections(struct nvdla_compile *c)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(sections); i++) {
		if (sections[i].kinds & 1u << c->layer->kind)
			continue;
		if (nvdla_check_zero_bytes(c, sections[i].field,
					   sections[i].bytes))
			return -1;
	}
	return 0;
}

static int check_cycles(struct nvdla_compile *c)
{
	const u64 max = nvdla_max_cycles(c->program);

	if (c->image->cycles > max)
		return nvdla_refuse(c, NVDLA_RULE_CYCLES, NVDLA_FIELD(kind),
				    nvdla_clamp(c->image->cycles), 0,
				    nvdla_clamp(max));
	return 0;
}

/*
 * The engine knows the end of a layer by its bit, and a comparison raises
 * SDP's at once, while one that writes waits for its memory: of two that are
 * behind one another the later one could end first. So it waits.
 */
static void order_comparison(struct nvdla_compile *c)
{
	const u32 writer = c->program->sdp_writer;
	struct nvdla_layer_image *image = c->image;
	u32 i;

	if (c->layer->sdp.y.alu != NVDLA_ALU_EQUAL) {
		if (c->layer->kind == NVDLA_LAYER_SDP ||
		    c->layer->kind == NVDLA_LAYER_CONV_SDP)
			c->program->sdp_writer = c->index + 1;
		return;
	}
	if (!writer)
		return;
	for (i = 0; i < image->num_waits; i++) {
		if (image->waits[i] == writer - 1)
			return;
	}
	image->waits[image->num_waits++] = writer - 1;
}

/* With or without a convolution before, and a pooling behind. */
static int compile_sdp(struct nvdla_compile *c)
{
	const u32 kind = 1u << c->layer->kind;
	const u32 flying = !!(kind & (KIND(CONV_SDP) | KIND(CONV_SDP_PDP)));
	const u32 pooled = !!(kind & (KIND(CONV_SDP_PDP) | KIND(SDP_PDP)));
	struct nvdla_sdp_plan sdp = {
		.flying = flying,
		.pooled = pooled,
		.batch = 1,
	};
	struct nvdla_pdp_plan pdp = { .flying = 1 };
	struct nvdla_conv_plan conv;

	if (flying) {
		if (nvdla_conv_check(c, &conv))
			return -1;
		sdp.width = conv.out_width;
		sdp.height = conv.out_height;
		sdp.channels = c->layer->conv.kernels;
		sdp.in = c->layer->conv.proc_precision;
		sdp.winograd = c->layer->conv.mode == NVDLA_CONV_WINOGRAD;
		sdp.batch = c->layer->conv.batch;
	}
	if (nvdla_sdp_check(c, &sdp))
		return -1;
	if (pooled) {
		pdp.width = sdp.width;
		pdp.height = sdp.height;
		pdp.channels = sdp.channels;
		pdp.precision = sdp.out;
		if (nvdla_pdp_check(c, &pdp))
			return -1;
	}
	if (check_cycles(c) || (flying && nvdla_conv_check_run(c)))
		return -1;

	if (flying)
		nvdla_conv_emit(c, &conv);
	nvdla_sdp_emit(c, &sdp);
	if (pooled)
		nvdla_pdp_emit(c, &pdp);
	if (flying)
		nvdla_conv_keep(c, &conv);
	order_comparison(c);
	return 0;
}

static int compile_pdp(struct nvdla_compile *c)
{
	struct nvdla_pdp_plan pdp = { .flying = 0 };

	if (nvdla_pdp_check(c, &pdp) || check_cycles(c))
		return -1;
	nvdla_pdp_emit(c, &pdp);
	return 0;
}

static int compile_cdp(struct nvdla_compile *c)
{
	if (nvdla_cdp_check(c) || check_cycles(c))
		return -1;
	nvdla_cdp_emit(c);
	return 0;
}

static int compile_rubik(struct nvdla_compile *c)
{
	struct nvdla_rubik_plan rubik;

	if (nvdla_rubik_check(c, &rubik) || check_cycles(c))
		return -1;
	nvdla_rubik_emit(c, &rubik);
	return 0;
}

static int compile_bdma(struct nvdla_compile *c)
{
	if (nvdla_bdma_check(c))
		return -1;
	return check_cycles(c);
}

/* Start and end of a layer in the pipelines, measured below 200. */
#define CYCLES_PER_LAYER	1000

int nvdla_layer_compile(struct nvdla_compile *c)
{
	c->image->kind = c->layer->kind;
	c->image->cycles = CYCLES_PER_LAYER;
	if (check_kind(c) ||
	    nvdla_check_zero(c, NVDLA_FIELD(flags), c->layer->flags) ||
	    check_waits(c) || check_lut(c) || check_sections(c))
		return -1;
	switch (c->layer->kind) {
	case NVDLA_LAYER_PDP:
		return compile_pdp(c);
	case NVDLA_LAYER_CDP:
		return compile_cdp(c);
	case NVDLA_LAYER_RUBIK:
		return compile_rubik(c);
	case NVDLA_LAYER_BDMA:
		return compile_bdma(c);
	default:
		return compile_sdp(c);
	}
}
