// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Register image of a convolution: CDMA, CSC, both CMAC, CACC.
 *
 * Every writable register of a group is written, so that nothing of an
 * earlier layer survives in it; what the layer does not use is 0.
 */
#include "compile.h"

/* Two modes for the units behind the first: an image is direct to them. */
static u32 is_winograd(const struct nvdla_conv *conv)
{
	return conv->mode == NVDLA_CONV_WINOGRAD;
}

/* Precision, mode and reuse, as CDMA and CSC share them. */
static u32 misc_cfg(const struct nvdla_conv *conv,
		    const struct nvdla_conv_plan *plan, u32 in_precision)
{
	const u32 flags = conv->flags;

	return NVDLA_SET(CDMA_D_MISC_CFG_CONV_MODE, is_winograd(conv)) |
	       NVDLA_SET(CDMA_D_MISC_CFG_IN_PRECISION, in_precision) |
	       NVDLA_SET(CDMA_D_MISC_CFG_PROC_PRECISION,
			 conv->proc_precision) |
	       NVDLA_SET(CDMA_D_MISC_CFG_DATA_REUSE,
			 !!(flags & NVDLA_CONV_REUSE_DATA)) |
	       NVDLA_SET(CDMA_D_MISC_CFG_WEIGHT_REUSE,
			 !!(flags & NVDLA_CONV_REUSE_WEIGHTS)) |
	       NVDLA_SET(CDMA_D_MISC_CFG_SKIP_DATA_RLS,
			 !!(flags & NVDLA_CONV_KEEP_DATA)) |
	       NVDLA_SET(CDMA_D_MISC_CFG_SKIP_WEIGHT_RLS, plan->resident);
}

static u32 banks(const struct nvdla_conv *conv)
{
	return NVDLA_SET(CDMA_D_BANK_DATA_BANK, conv->data_banks - 1) |
	       NVDLA_SET(CDMA_D_BANK_WEIGHT_BANK, conv->weight_banks - 1);
}

static void emit_cdma_input(struct nvdla_compile *c,
			    const struct nvdla_conv_plan *plan)
{
	const struct nvdla_conv *conv = &c->layer->conv;
	const struct nvdla_surface *input = &conv->input;
	/* The kept lines are there: fetch those that follow. */
	const u64 offset = input->offset +
			   (u64)plan->kept * input->line_stride;
	const u32 lines = plan->fetched - 1;
	const u32 ext_lines = is_winograd(conv) ? plan->ext_height - 1 : lines;

	nvdla_emit(c, NVDLA_CDMA_D_MISC_CFG,
		   misc_cfg(conv, plan, conv->in_precision));
	nvdla_emit(c, NVDLA_CDMA_D_DATAIN_FORMAT,
		   NVDLA_SET(CDMA_D_DATAIN_FORMAT_DATAIN_FORMAT,
			     conv->mode == NVDLA_CONV_IMAGE) |
		   NVDLA_SET(CDMA_D_DATAIN_FORMAT_PIXEL_FORMAT,
			     conv->pixel_format) |
		   NVDLA_SET(CDMA_D_DATAIN_FORMAT_PIXEL_SIGN_OVERRIDE,
			     !!(conv->flags & NVDLA_CONV_SIGNED_PIXELS)));
	nvdla_emit(c, NVDLA_CDMA_D_DATAIN_SIZE_0,
		   NVDLA_SET(CDMA_D_DATAIN_SIZE_0_DATAIN_WIDTH,
			     conv->width - 1) |
		   NVDLA_SET(CDMA_D_DATAIN_SIZE_0_DATAIN_HEIGHT, lines));
	nvdla_emit(c, NVDLA_CDMA_D_DATAIN_SIZE_1, conv->channels - 1);
	nvdla_emit(c, NVDLA_CDMA_D_DATAIN_SIZE_EXT_0,
		   NVDLA_SET(CDMA_D_DATAIN_SIZE_EXT_0_DATAIN_WIDTH_EXT,
			     plan->ext_width - 1) |
		   NVDLA_SET(CDMA_D_DATAIN_SIZE_EXT_0_DATAIN_HEIGHT_EXT,
			     ext_lines));
	nvdla_emit(c, NVDLA_CDMA_D_PIXEL_OFFSET,
		   NVDLA_SET(CDMA_D_PIXEL_OFFSET_PIXEL_X_OFFSET,
			     conv->pixel_offset));
	nvdla_emit(c, NVDLA_CDMA_D_DAIN_RAM_TYPE,
		   nvdla_ram_type(c, input->slot));
	nvdla_emit_address(c, NVDLA_CDMA_D_DAIN_ADDR_LOW_0,
			   NVDLA_CDMA_D_DAIN_ADDR_HIGH_0, input->slot, offset);
	if (conv->mode == NVDLA_CONV_IMAGE && nvdla_image_planes(conv) == 2) {
		nvdla_emit_address(c, NVDLA_CDMA_D_DAIN_ADDR_LOW_1,
				   NVDLA_CDMA_D_DAIN_ADDR_HIGH_1,
				   conv->input_uv.slot,
				   conv->input_uv.offset +
					   (u64)plan->kept *
						   conv->input_uv.line_stride);
	} else {
		nvdla_emit(c, NVDLA_CDMA_D_DAIN_ADDR_HIGH_1, 0);
		nvdla_emit(c, NVDLA_CDMA_D_DAIN_ADDR_LOW_1, 0);
	}
	nvdla_emit(c, NVDLA_CDMA_D_LINE_STRIDE, input->line_stride);
	nvdla_emit(c, NVDLA_CDMA_D_LINE_UV_STRIDE,
		   conv->input_uv.line_stride);
	nvdla_emit(c, NVDLA_CDMA_D_SURF_STRIDE, input->surface_stride);
	nvdla_emit(c, NVDLA_CDMA_D_DAIN_MAP,
		   NVDLA_SET(CDMA_D_DAIN_MAP_LINE_PACKED, plan->line_packed) |
		   NVDLA_SET(CDMA_D_DAIN_MAP_SURF_PACKED,
			     plan->surface_packed));
	nvdla_emit(c, NVDLA_CDMA_D_RESERVED_X_CFG, 0);
	nvdla_emit(c, NVDLA_CDMA_D_RESERVED_Y_CFG, 0);
	nvdla_emit(c, NVDLA_CDMA_D_BATCH_NUMBER, conv->batch - 1);
	nvdla_emit(c, NVDLA_CDMA_D_BATCH_STRIDE, input->batch_stride);
	nvdla_emit(c, NVDLA_CDMA_D_ENTRY_PER_SLICE, plan->entries - 1);
	nvdla_emit(c, NVDLA_CDMA_D_FETCH_GRAIN, plan->grain - 1);
}

static void emit_cdma_weights(struct nvdla_compile *c,
			      const struct nvdla_conv_plan *plan)
{
	const struct nvdla_conv *conv = &c->layer->conv;

	nvdla_emit(c, NVDLA_CDMA_D_WEIGHT_FORMAT,
		   !!(conv->flags & NVDLA_CONV_COMPRESSED));
	nvdla_emit(c, NVDLA_CDMA_D_WEIGHT_SIZE_0, plan->kernel_bytes - 1);
	nvdla_emit(c, NVDLA_CDMA_D_WEIGHT_SIZE_1, conv->kernels - 1);
	nvdla_emit(c, NVDLA_CDMA_D_WEIGHT_RAM_TYPE,
		   nvdla_ram_type(c, conv->weights.slot));
	nvdla_emit_address(c, NVDLA_CDMA_D_WEIGHT_ADDR_LOW,
			   NVDLA_CDMA_D_WEIGHT_ADDR_HIGH, conv->weights.slot,
			   conv->weights.offset);
	nvdla_emit(c, NVDLA_CDMA_D_WEIGHT_BYTES, plan->weight_bytes);
	if (conv->flags & NVDLA_CONV_COMPRESSED) {
		nvdla_emit_address(c, NVDLA_CDMA_D_WGS_ADDR_LOW,
				   NVDLA_CDMA_D_WGS_ADDR_HIGH, conv->wgs.slot,
				   conv->wgs.offset);
		nvdla_emit_address(c, NVDLA_CDMA_D_WMB_ADDR_LOW,
				   NVDLA_CDMA_D_WMB_ADDR_HIGH, conv->wmb.slot,
				   conv->wmb.offset);
	} else {
		nvdla_emit(c, NVDLA_CDMA_D_WGS_ADDR_HIGH, 0);
		nvdla_emit(c, NVDLA_CDMA_D_WGS_ADDR_LOW, 0);
		nvdla_emit(c, NVDLA_CDMA_D_WMB_ADDR_HIGH, 0);
		nvdla_emit(c, NVDLA_CDMA_D_WMB_ADDR_LOW, 0);
	}
	nvdla_emit(c, NVDLA_CDMA_D_WMB_BYTES, plan->mask_bytes);
}

static void emit_cdma_rest(struct nvdla_compile *c)
{
	const struct nvdla_conv *conv = &c->layer->conv;

	nvdla_emit(c, NVDLA_CDMA_D_MEAN_FORMAT,
		   !!(conv->flags & NVDLA_CONV_MEAN));
	nvdla_emit(c, NVDLA_CDMA_D_MEAN_GLOBAL_0,
		   NVDLA_SET(CDMA_D_MEAN_GLOBAL_0_MEAN_RY, conv->mean[0]) |
		   NVDLA_SET(CDMA_D_MEAN_GLOBAL_0_MEAN_GU, conv->mean[1]));
	nvdla_emit(c, NVDLA_CDMA_D_MEAN_GLOBAL_1,
		   NVDLA_SET(CDMA_D_MEAN_GLOBAL_1_MEAN_BV, conv->mean[2]) |
		   NVDLA_SET(CDMA_D_MEAN_GLOBAL_1_MEAN_AX, conv->mean[3]));
	nvdla_emit(c, NVDLA_CDMA_D_CVT_CFG,
		   NVDLA_SET(CDMA_D_CVT_CFG_CVT_EN,
			     !!(conv->flags & NVDLA_CONV_CONVERT)) |
		   NVDLA_SET(CDMA_D_CVT_CFG_CVT_TRUNCATE, conv->cvt_truncate));
	nvdla_emit(c, NVDLA_CDMA_D_CVT_OFFSET,
		   NVDLA_SET(CDMA_D_CVT_OFFSET_CVT_OFFSET, conv->cvt_offset));
	nvdla_emit(c, NVDLA_CDMA_D_CVT_SCALE,
		   NVDLA_SET(CDMA_D_CVT_SCALE_CVT_SCALE, conv->cvt_scale));
	nvdla_emit(c, NVDLA_CDMA_D_CONV_STRIDE,
		   NVDLA_SET(CDMA_D_CONV_STRIDE_CONV_X_STRIDE,
			     conv->stride_width - 1) |
		   NVDLA_SET(CDMA_D_CONV_STRIDE_CONV_Y_STRIDE,
			     conv->stride_height - 1));
	nvdla_emit(c, NVDLA_CDMA_D_ZERO_PADDING,
		   NVDLA_SET(CDMA_D_ZERO_PADDING_PAD_LEFT, conv->pad_left) |
		   NVDLA_SET(CDMA_D_ZERO_PADDING_PAD_RIGHT, conv->pad_right) |
		   NVDLA_SET(CDMA_D_ZERO_PADDING_PAD_TOP, conv->pad_top) |
		   NVDLA_SET(CDMA_D_ZERO_PADDING_PAD_BOTTOM,
			     conv->pad_bottom));
	nvdla_emit(c, NVDLA_CDMA_D_ZERO_PADDING_VALUE,
		   NVDLA_SET(CDMA_D_ZERO_PADDING_VALUE_PAD_VALUE,
			     conv->pad_value));
	nvdla_emit(c, NVDLA_CDMA_D_BANK, banks(conv));
	nvdla_emit(c, NVDLA_CDMA_D_NAN_FLUSH_TO_ZERO,
		   !!(conv->flags & NVDLA_CONV_NAN_TO_ZERO));
	nvdla_emit(c, NVDLA_CDMA_D_PERF_ENABLE,
		   !!(c->program->flags & NVDLA_PROGRAM_STATS));
	nvdla_emit(c, NVDLA_CDMA_D_CYA, 0);
}

static void emit_csc(struct nvdla_compile *c,
		     const struct nvdla_conv_plan *plan)
{
	const struct nvdla_conv *conv = &c->layer->conv;
	const u32 image = conv->mode == NVDLA_CONV_IMAGE;
	/* Strides are folded into channels, and padding lies in the buffer. */
	const u32 folded = is_winograd(conv);

	nvdla_emit_unit(c, NVDLA_UNIT_CSC);
	nvdla_emit(c, NVDLA_CSC_D_MISC_CFG,
		   misc_cfg(conv, plan, conv->proc_precision));
	nvdla_emit(c, NVDLA_CSC_D_DATAIN_FORMAT, image);
	nvdla_emit(c, NVDLA_CSC_D_DATAIN_SIZE_EXT_0,
		   NVDLA_SET(CSC_D_DATAIN_SIZE_EXT_0_DATAIN_WIDTH_EXT,
			     plan->ext_width - 1) |
		   NVDLA_SET(CSC_D_DATAIN_SIZE_EXT_0_DATAIN_HEIGHT_EXT,
			     plan->ext_height - 1));
	nvdla_emit(c, NVDLA_CSC_D_DATAIN_SIZE_EXT_1, plan->ext_channels - 1);
	nvdla_emit(c, NVDLA_CSC_D_BATCH_NUMBER, conv->batch - 1);
	/* 1, 2, 4 lines */
	nvdla_emit(c, NVDLA_CSC_D_POST_Y_EXTENSION, conv->post_extension / 2);
	nvdla_emit(c, NVDLA_CSC_D_ENTRY_PER_SLICE, plan->entries - 1);
	nvdla_emit(c, NVDLA_CSC_D_WEIGHT_FORMAT,
		   !!(conv->flags & NVDLA_CONV_COMPRESSED));
	nvdla_emit(c, NVDLA_CSC_D_WEIGHT_SIZE_EXT_0,
		   NVDLA_SET(CSC_D_WEIGHT_SIZE_EXT_0_WEIGHT_WIDTH_EXT,
			     plan->weight_width - 1) |
		   NVDLA_SET(CSC_D_WEIGHT_SIZE_EXT_0_WEIGHT_HEIGHT_EXT,
			     plan->weight_height - 1));
	nvdla_emit(c, NVDLA_CSC_D_WEIGHT_SIZE_EXT_1,
		   NVDLA_SET(CSC_D_WEIGHT_SIZE_EXT_1_WEIGHT_CHANNEL_EXT,
			     plan->weight_channels - 1) |
		   NVDLA_SET(CSC_D_WEIGHT_SIZE_EXT_1_WEIGHT_KERNEL,
			     conv->kernels - 1));
	nvdla_emit(c, NVDLA_CSC_D_WEIGHT_BYTES, plan->weight_bytes);
	nvdla_emit(c, NVDLA_CSC_D_WMB_BYTES, plan->mask_bytes);
	nvdla_emit(c, NVDLA_CSC_D_DATAOUT_SIZE_0,
		   NVDLA_SET(CSC_D_DATAOUT_SIZE_0_DATAOUT_WIDTH,
			     plan->out_width - 1) |
		   NVDLA_SET(CSC_D_DATAOUT_SIZE_0_DATAOUT_HEIGHT,
			     plan->out_height - 1));
	nvdla_emit(c, NVDLA_CSC_D_DATAOUT_SIZE_1, conv->kernels - 1);
	nvdla_emit(c, NVDLA_CSC_D_ATOMICS,
		   plan->out_width * plan->out_height - 1);
	nvdla_emit(c, NVDLA_CSC_D_RELEASE, plan->release - 1);
	nvdla_emit(c, NVDLA_CSC_D_CONV_STRIDE_EXT,
		   NVDLA_SET(CSC_D_CONV_STRIDE_EXT_CONV_X_STRIDE_EXT,
			     folded ? 0 : conv->stride_width - 1) |
		   NVDLA_SET(CSC_D_CONV_STRIDE_EXT_CONV_Y_STRIDE_EXT,
			     folded ? 0 : conv->stride_height - 1));
	nvdla_emit(c, NVDLA_CSC_D_DILATION_EXT,
		   NVDLA_SET(CSC_D_DILATION_EXT_X_DILATION_EXT,
			     conv->dilation_width - 1) |
		   NVDLA_SET(CSC_D_DILATION_EXT_Y_DILATION_EXT,
			     conv->dilation_height - 1));
	nvdla_emit(c, NVDLA_CSC_D_ZERO_PADDING,
		   NVDLA_SET(CSC_D_ZERO_PADDING_PAD_LEFT,
			     folded ? 0 : conv->pad_left) |
		   NVDLA_SET(CSC_D_ZERO_PADDING_PAD_TOP,
			     folded ? 0 : conv->pad_top));
	nvdla_emit(c, NVDLA_CSC_D_ZERO_PADDING_VALUE,
		   NVDLA_SET(CSC_D_ZERO_PADDING_VALUE_PAD_VALUE,
			     conv->pad_value));
	nvdla_emit(c, NVDLA_CSC_D_BANK, banks(conv));
	nvdla_emit(c, NVDLA_CSC_D_PRA_CFG, conv->pra_truncate);
	nvdla_emit(c, NVDLA_CSC_D_CYA, 0);
}

static void emit_cmac(struct nvdla_compile *c, u32 unit)
{
	nvdla_emit_unit(c, unit);
	nvdla_emit(c, NVDLA_CMAC_D_MISC_CFG,
		   NVDLA_SET(CMAC_D_MISC_CFG_CONV_MODE,
			     is_winograd(&c->layer->conv)) |
		   NVDLA_SET(CMAC_D_MISC_CFG_PROC_PRECISION,
			     c->layer->conv.proc_precision));
}

/*
 * Address and strides repeat SDP's. They steer delivery with several batches
 * only, and there only their lowest bits, so the fields that are narrower than
 * SDP's lose nothing. A single position is packed, with strides of an atom.
 */
static void emit_cacc(struct nvdla_compile *c,
		      const struct nvdla_conv_plan *plan)
{
	const struct nvdla_conv *conv = &c->layer->conv;
	const struct nvdla_surface *output = &c->layer->sdp.output;
	const u32 single = plan->out_width == 1 && plan->out_height == 1;
	/* Not even that is one run with several of them. */
	const u32 run = single && conv->batch == 1;
	const u32 atom = c->hw->atom;

	nvdla_emit_unit(c, NVDLA_UNIT_CACC);
	nvdla_emit(c, NVDLA_CACC_D_MISC_CFG,
		   NVDLA_SET(CACC_D_MISC_CFG_CONV_MODE, is_winograd(conv)) |
		   NVDLA_SET(CACC_D_MISC_CFG_PROC_PRECISION,
			     conv->proc_precision));
	nvdla_emit(c, NVDLA_CACC_D_DATAOUT_SIZE_0,
		   NVDLA_SET(CACC_D_DATAOUT_SIZE_0_DATAOUT_WIDTH,
			     plan->out_width - 1) |
		   NVDLA_SET(CACC_D_DATAOUT_SIZE_0_DATAOUT_HEIGHT,
			     plan->out_height - 1));
	nvdla_emit(c, NVDLA_CACC_D_DATAOUT_SIZE_1, conv->kernels - 1);
	/* To a pooling, or compared: nothing goes to memory. */
	if (c->layer->kind == NVDLA_LAYER_CONV_SDP_PDP ||
	    c->layer->sdp.y.alu == NVDLA_ALU_EQUAL)
		nvdla_emit(c, NVDLA_CACC_D_DATAOUT_ADDR, 0);
	else
		nvdla_emit_address(c, NVDLA_CACC_D_DATAOUT_ADDR, NVDLA_NO_REG,
				   output->slot, output->offset);
	nvdla_emit(c, NVDLA_CACC_D_BATCH_NUMBER, conv->batch - 1);
	nvdla_emit(c, NVDLA_CACC_D_LINE_STRIDE,
		   NVDLA_SET(CACC_D_LINE_STRIDE_LINE_STRIDE,
			     run ? atom : output->line_stride));
	nvdla_emit(c, NVDLA_CACC_D_SURF_STRIDE,
		   NVDLA_SET(CACC_D_SURF_STRIDE_SURF_STRIDE,
			     run ? atom : output->surface_stride));
	nvdla_emit(c, NVDLA_CACC_D_DATAOUT_MAP,
		   NVDLA_SET(CACC_D_DATAOUT_MAP_LINE_PACKED, single) |
		   NVDLA_SET(CACC_D_DATAOUT_MAP_SURF_PACKED, single));
	nvdla_emit(c, NVDLA_CACC_D_CLIP_CFG, conv->clip_truncate);
	nvdla_emit(c, NVDLA_CACC_D_CYA, 0);
}

/* NaNs and infinities are counted of fp16 only. */
static u64 counters(u32 in_precision)
{
	u64 mask = 1ull << NVDLA_COUNTER_CDMA_DATA_STALL |
		   1ull << NVDLA_COUNTER_CDMA_WEIGHT_STALL |
		   1ull << NVDLA_COUNTER_CDMA_DATA_LATENCY |
		   1ull << NVDLA_COUNTER_CDMA_WEIGHT_LATENCY |
		   1ull << NVDLA_COUNTER_CACC_SATURATION;

	if (in_precision == NVDLA_PRECISION_FP16)
		mask |= 1ull << NVDLA_COUNTER_CDMA_NAN_DATA |
			1ull << NVDLA_COUNTER_CDMA_NAN_WEIGHT |
			1ull << NVDLA_COUNTER_CDMA_INF_DATA |
			1ull << NVDLA_COUNTER_CDMA_INF_WEIGHT;
	return mask;
}

void nvdla_conv_emit(struct nvdla_compile *c,
		     const struct nvdla_conv_plan *plan)
{
	nvdla_emit_unit(c, NVDLA_UNIT_CDMA);
	emit_cdma_input(c, plan);
	emit_cdma_weights(c, plan);
	emit_cdma_rest(c);
	emit_csc(c, plan);
	emit_cmac(c, NVDLA_UNIT_CMAC_A);
	emit_cmac(c, NVDLA_UNIT_CMAC_B);
	emit_cacc(c, plan);
	if (c->program->flags & NVDLA_PROGRAM_STATS)
		c->image->counters |= counters(c->layer->conv.in_precision);
}
