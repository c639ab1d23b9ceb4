// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Pixels, and elements that pass the converter, reach the multipliers other
 * than as they lie in memory.
 */
#include "compile.h"

#define FIELD(member) NVDLA_FIELD(conv.member)

/* Formats of the second generation have components of 8 bits only. */
static const struct nvdla_pixel formats[] = {
	[NVDLA_PIXEL_R8] = { NVDLA_PRECISION_INT8, 1, { 1, 0 } },
	[NVDLA_PIXEL_R10] = { NVDLA_PRECISION_INT16, 1, { 2, 0 } },
	[NVDLA_PIXEL_R12] = { NVDLA_PRECISION_INT16, 1, { 2, 0 } },
	[NVDLA_PIXEL_R16] = { NVDLA_PRECISION_INT16, 1, { 2, 0 } },
	[NVDLA_PIXEL_R16_I] = { NVDLA_PRECISION_INT16, 1, { 2, 0 } },
	[NVDLA_PIXEL_R16_F] = { NVDLA_PRECISION_FP16, 1, { 2, 0 } },
	[NVDLA_PIXEL_A16B16G16R16] = { NVDLA_PRECISION_INT16, 4, { 8, 0 } },
	[NVDLA_PIXEL_X16B16G16R16] = { NVDLA_PRECISION_INT16, 4, { 8, 0 } },
	[NVDLA_PIXEL_A16B16G16R16_F] = { NVDLA_PRECISION_FP16, 4, { 8, 0 } },
	[NVDLA_PIXEL_A16Y16U16V16] = { NVDLA_PRECISION_INT16, 4, { 8, 0 } },
	[NVDLA_PIXEL_V16U16Y16A16] = { NVDLA_PRECISION_INT16, 4, { 8, 0 } },
	[NVDLA_PIXEL_A16Y16U16V16_F] = { NVDLA_PRECISION_FP16, 4, { 8, 0 } },
	[NVDLA_PIXEL_A8B8G8R8] = { NVDLA_PRECISION_INT8, 4, { 4, 0 } },
	[NVDLA_PIXEL_A8R8G8B8] = { NVDLA_PRECISION_INT8, 4, { 4, 0 } },
	[NVDLA_PIXEL_B8G8R8A8] = { NVDLA_PRECISION_INT8, 4, { 4, 0 } },
	[NVDLA_PIXEL_R8G8B8A8] = { NVDLA_PRECISION_INT8, 4, { 4, 0 } },
	[NVDLA_PIXEL_X8B8G8R8] = { NVDLA_PRECISION_INT8, 4, { 4, 0 } },
	[NVDLA_PIXEL_X8R8G8B8] = { NVDLA_PRECISION_INT8, 4, { 4, 0 } },
	[NVDLA_PIXEL_B8G8R8X8] = { NVDLA_PRECISION_INT8, 4, { 4, 0 } },
	[NVDLA_PIXEL_R8G8B8X8] = { NVDLA_PRECISION_INT8, 4, { 4, 0 } },
	[NVDLA_PIXEL_A2B10G10R10] = { NVDLA_PRECISION_INT16, 4, { 4, 0 } },
	[NVDLA_PIXEL_A2R10G10B10] = { NVDLA_PRECISION_INT16, 4, { 4, 0 } },
	[NVDLA_PIXEL_B10G10R10A2] = { NVDLA_PRECISION_INT16, 4, { 4, 0 } },
	[NVDLA_PIXEL_R10G10B10A2] = { NVDLA_PRECISION_INT16, 4, { 4, 0 } },
	[NVDLA_PIXEL_A2Y10U10V10] = { NVDLA_PRECISION_INT16, 4, { 4, 0 } },
	[NVDLA_PIXEL_V10U10Y10A2] = { NVDLA_PRECISION_INT16, 4, { 4, 0 } },
	[NVDLA_PIXEL_A8Y8U8V8] = { NVDLA_PRECISION_INT8, 4, { 4, 0 } },
	[NVDLA_PIXEL_V8U8Y8A8] = { NVDLA_PRECISION_INT8, 4, { 4, 0 } },
	[NVDLA_PIXEL_Y8_U8V8_N444] = { NVDLA_PRECISION_INT8, 3, { 1, 2 } },
	[NVDLA_PIXEL_Y8_V8U8_N444] = { NVDLA_PRECISION_INT8, 3, { 1, 2 } },
	[NVDLA_PIXEL_Y10_U10V10_N444] = { NVDLA_PRECISION_INT16, 3, { 2, 4 } },
	[NVDLA_PIXEL_Y10_V10U10_N444] = { NVDLA_PRECISION_INT16, 3, { 2, 4 } },
	[NVDLA_PIXEL_Y12_U12V12_N444] = { NVDLA_PRECISION_INT16, 3, { 2, 4 } },
	[NVDLA_PIXEL_Y12_V12U12_N444] = { NVDLA_PRECISION_INT16, 3, { 2, 4 } },
	[NVDLA_PIXEL_Y16_U16V16_N444] = { NVDLA_PRECISION_INT16, 3, { 2, 4 } },
	[NVDLA_PIXEL_Y16_V16U16_N444] = { NVDLA_PRECISION_INT16, 3, { 2, 4 } },
};

const struct nvdla_pixel *nvdla_pixel_find(u32 format)
{
	return format < ARRAY_SIZE(formats) ? &formats[format] : NULL;
}

/* In two planes. */
u32 nvdla_image_planes(const struct nvdla_conv *conv)
{
	return formats[conv->pixel_format].bytes[1] ? 2 : 1;
}

/*
 * Kernel lines per step: their channels share the lanes of one step. The
 * kernel's width is folded into its channels.
 */
static int check_extension(struct nvdla_compile *c)
{
	const struct nvdla_conv *conv = &c->layer->conv;
	const u32 lanes = nvdla_max(conv->kernel_width, conv->stride_width) *
			  conv->channels;
	u32 max = 1;

	if (conv->post_extension == 3)
		return nvdla_refuse(c, NVDLA_RULE_CHOICE, FIELD(post_extension),
				    3, 1, 4);
	while (max < 4 && lanes <= c->hw->atomic_c / (2 * max))
		max *= 2;
	return nvdla_check_range(c, FIELD(post_extension), conv->post_extension,
				 1, max);
}

int nvdla_image_check(struct nvdla_compile *c)
{
	const struct nvdla_conv *conv = &c->layer->conv;
	const u32 format = conv->pixel_format;
	u32 components;

	if (nvdla_check_choice(c, FIELD(pixel_format), format,
			       ARRAY_SIZE(formats) - 1))
		return -1;
	components = formats[format].components;
	if (formats[format].precision != NVDLA_PRECISION_INT8 &&
	    !(c->hw->features & NVDLA_HW_PIXEL_16))
		return nvdla_refuse_feature(c, FIELD(pixel_format),
					    NVDLA_FEATURE_PIXEL_FORMAT);
	if (conv->in_precision != formats[format].precision)
		return nvdla_refuse(c, NVDLA_RULE_PRECISIONS,
				    FIELD(in_precision), conv->in_precision,
				    conv->proc_precision,
				    conv->proc_precision);
	if (nvdla_check_range(c, FIELD(channels), conv->channels, components,
			      components) ||
	    nvdla_check_range(c, FIELD(pixel_offset), conv->pixel_offset, 0,
			      (s64)(c->hw->atom / formats[format].bytes[0]) -
				      1) ||
	    nvdla_check_range(c, FIELD(batch), conv->batch, 1, 1) ||
	    nvdla_check_range(c, FIELD(dilation_width), conv->dilation_width, 1, 1) ||
	    nvdla_check_range(c, FIELD(dilation_height), conv->dilation_height, 1, 1))
		return -1;
	return 0;
}

/* After the ranges of the kernel are known. */
int nvdla_image_check_extension(struct nvdla_compile *c)
{
	const struct nvdla_conv *conv = &c->layer->conv;

	if (conv->mode != NVDLA_CONV_IMAGE)
		return nvdla_check_range(c, FIELD(post_extension),
					 conv->post_extension, 1, 1);
	return check_extension(c);
}

/*
 * Integers become fp16, or bytes words, in the converter only; fp16 passes it
 * unchanged. Pixels are unsigned until it extends them.
 */
static u32 needs_converter(const struct nvdla_conv *conv)
{
	if (conv->in_precision == NVDLA_PRECISION_FP16)
		return 0;
	if (conv->in_precision != conv->proc_precision)
		return 1;
	return conv->mode == NVDLA_CONV_IMAGE &&
	       conv->pixel_format != NVDLA_PIXEL_R16_I;
}

/* Returns the flags that mean something with this input. */
u32 nvdla_image_flags(const struct nvdla_conv *conv)
{
	u32 flags = 0;

	if (conv->in_precision != NVDLA_PRECISION_FP16 &&
	    conv->mode != NVDLA_CONV_WINOGRAD)
		flags |= NVDLA_CONV_CONVERT;
	if (conv->mode == NVDLA_CONV_IMAGE &&
	    (conv->flags & flags & NVDLA_CONV_CONVERT))
		flags |= NVDLA_CONV_MEAN | NVDLA_CONV_SIGNED_PIXELS;
	return flags;
}

int nvdla_image_check_converter(struct nvdla_compile *c)
{
	const struct nvdla_conv *conv = &c->layer->conv;
	const u32 mean = conv->flags & NVDLA_CONV_MEAN;
	u32 field = FIELD(mean);
	u32 i;

	if (!(conv->flags & NVDLA_CONV_CONVERT)) {
		if (needs_converter(conv))
			return nvdla_refuse(c, NVDLA_RULE_CHOICE, FIELD(flags),
					    conv->flags, NVDLA_CONV_CONVERT,
					    conv->flags | NVDLA_CONV_CONVERT);
		/* cvt_offset, cvt_scale, cvt_truncate, mean */
		return nvdla_check_zero_bytes(c, FIELD(cvt_offset),
					      FIELD(input) - FIELD(cvt_offset));
	}
	if (nvdla_check_range(c, FIELD(cvt_offset), conv->cvt_offset,
			      mean ? 0 : -32768, mean ? 0 : 32767) ||
	    nvdla_check_range(c, FIELD(cvt_scale), conv->cvt_scale, -32768,
			      32767) ||
	    nvdla_check_range(c, FIELD(cvt_truncate), conv->cvt_truncate, 0,
			      34))
		return -1;
	for (i = 0; i < ARRAY_SIZE(conv->mean); i++, field += sizeof(s32)) {
		const u32 used = mean && i < conv->channels;

		if (nvdla_check_range(c, field, conv->mean[i],
				      used ? -32768 : 0, used ? 32767 : 0))
			return -1;
	}
	return 0;
}

/* Whole atoms from the one with the first pixel on, in each line. */
static int claim_plane(struct nvdla_compile *c, u32 field,
		       const struct nvdla_surface *surface, u32 bytes, u32 dma)
{
	const struct nvdla_conv *conv = &c->layer->conv;
	const u32 atom = c->hw->atom;
	const u32 skip = conv->pixel_offset % (atom / bytes);
	const struct nvdla_cube plane = {
		.surfaces = 1,
		.lines = conv->height,
		.line_bytes = nvdla_round_up((skip + conv->width) * bytes,
					     atom),
	};

	if (nvdla_check_zero(c,
			     field + offsetof(struct nvdla_surface,
					      surface_stride),
			     surface->surface_stride))
		return -1;
	return nvdla_claim_cube(c, field, surface, &plane, dma);
}

int nvdla_image_claim(struct nvdla_compile *c)
{
	const struct nvdla_conv *conv = &c->layer->conv;
	const struct nvdla_slot *slots = c->program->slots;
	const u8 *bytes = formats[conv->pixel_format].bytes;
	u32 memory, other;

	if (claim_plane(c, FIELD(input), &conv->input, bytes[0],
			NVDLA_DMA_CDMA_DATA))
		return -1;
	if (!bytes[1])
		return nvdla_check_zero_bytes(c, FIELD(input_uv),
					      sizeof(conv->input_uv));
	if (claim_plane(c, FIELD(input_uv), &conv->input_uv, bytes[1],
			NVDLA_DMA_CDMA_DATA_UV))
		return -1;
	/* One bit says where both planes are. */
	memory = slots[conv->input.slot].memory;
	other = slots[conv->input_uv.slot].memory;
	if (other != memory)
		return nvdla_refuse_memory(c, NVDLA_RULE_SAME_MEMORY,
					   FIELD(input_uv.slot),
					   NVDLA_DMA_CDMA_DATA_UV,
					   conv->input_uv.slot, other, memory,
					   memory);
	return 0;
}
