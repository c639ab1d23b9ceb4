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

	if (kind < NVDLA_LAYER_CONV_SDP || kind > NVDLA_LAYER_BDMA)
		return nvdla_refuse(c, NVDLA_RULE_CHOICE, field, kind,
				    NVDLA_LAYER_CONV_SDP, NVDLA_LAYER_BDMA);
	switch (kind) {
	case NVDLA_LAYER_CONV_SDP:
	case NVDLA_LAYER_SDP:
		return 0;
	case NVDLA_LAYER_RUBIK:
		return nvdla_refuse_missing(c, field, NVDLA_HW_RUBIK,
					    NVDLA_FEATURE_RUBIK);
	case NVDLA_LAYER_BDMA:
		return nvdla_refuse_missing(c, field, NVDLA_HW_BDMA,
					    NVDLA_FEATURE_BDMA);
	default:
		return nvdla_refuse_feature(c, field,
					    NVDLA_FEATURE_NOT_IMPLEMENTED);
	}
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

/* No kind here has a unit with a table in use. */
static int check_lut(struct nvdla_compile *c)
{
	const u32 lut = c->layer->lut;

	if (nvdla_check_range(c, NVDLA_FIELD(lut), lut, 0,
			      c->program->num_luts))
		return -1;
	if (lut)
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
	/* kHz times 1000 is cycles in a second. */
	const u64 max = (u64)c->program->clock_khz *
			(1000 * NVDLA_MAX_LAYER_SECONDS);

	if (c->image->cycles > max)
		return nvdla_refuse(c, NVDLA_RULE_CYCLES, NVDLA_FIELD(kind),
				    nvdla_clamp(c->image->cycles), 0,
				    nvdla_clamp(max));
	return 0;
}

static int compile_conv_sdp(struct nvdla_compile *c)
{
	struct nvdla_conv_plan conv;
	struct nvdla_sdp_plan sdp = { .flying = 1 };

	if (nvdla_conv_check(c, &conv))
		return -1;
	sdp.width = conv.out_width;
	sdp.height = conv.out_height;
	sdp.channels = c->layer->conv.kernels;
	sdp.in = c->layer->conv.proc_precision;
	if (nvdla_sdp_check(c, &sdp) || check_cycles(c))
		return -1;
	nvdla_conv_emit(c, &conv);
	nvdla_sdp_emit(c, &sdp);
	nvdla_conv_keep(c, &conv);
	return 0;
}

static int compile_sdp(struct nvdla_compile *c)
{
	struct nvdla_sdp_plan sdp = { .flying = 0 };

	if (nvdla_sdp_check(c, &sdp) || check_cycles(c))
		return -1;
	nvdla_sdp_emit(c, &sdp);
	return 0;
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
	if (c->layer->kind == NVDLA_LAYER_CONV_SDP)
		return compile_conv_sdp(c);
	return compile_sdp(c);
}
