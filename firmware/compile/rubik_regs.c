// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Register image of reshaping. Cubes and planes have strides of their own.
 */
#include "compile.h"

void nvdla_rubik_emit(struct nvdla_compile *c,
		      const struct nvdla_rubik_plan *plan)
{
	const struct nvdla_rubik *rubik = &c->layer->rubik;
	const u32 stats = !!(c->program->flags & NVDLA_PROGRAM_STATS);
	const u32 contract = rubik->mode == NVDLA_RUBIK_CONTRACT;
	const u32 merge = rubik->mode == NVDLA_RUBIK_MERGE;
	const u32 split = rubik->mode == NVDLA_RUBIK_SPLIT;
	const u32 in = rubik->input.surface_stride;
	const u32 out = rubik->output.surface_stride;

	nvdla_emit_unit(c, NVDLA_UNIT_RBK);
	nvdla_emit(c, NVDLA_RBK_D_MISC_CFG,
		   NVDLA_SET(RBK_D_MISC_CFG_RUBIK_MODE, rubik->mode) |
		   NVDLA_SET(RBK_D_MISC_CFG_IN_PRECISION, rubik->precision));
	nvdla_emit(c, NVDLA_RBK_D_DAIN_RAM_TYPE,
		   nvdla_ram_type(c, rubik->input.slot));
	nvdla_emit(c, NVDLA_RBK_D_DATAIN_SIZE_0,
		   NVDLA_SET(RBK_D_DATAIN_SIZE_0_DATAIN_WIDTH,
			     rubik->width - 1) |
		   NVDLA_SET(RBK_D_DATAIN_SIZE_0_DATAIN_HEIGHT,
			     rubik->height - 1));
	nvdla_emit(c, NVDLA_RBK_D_DATAIN_SIZE_1, rubik->channels - 1);
	nvdla_emit_address(c, NVDLA_RBK_D_DAIN_ADDR_LOW,
			   NVDLA_RBK_D_DAIN_ADDR_HIGH, rubik->input.slot,
			   rubik->input.offset);
	nvdla_emit(c, NVDLA_RBK_D_DAIN_LINE_STRIDE, rubik->input.line_stride);
	nvdla_emit(c, NVDLA_RBK_D_DAIN_SURF_STRIDE, merge ? 0 : in);
	nvdla_emit(c, NVDLA_RBK_D_DAIN_PLANAR_STRIDE, merge ? in : 0);
	nvdla_emit(c, NVDLA_RBK_D_DAOUT_RAM_TYPE,
		   nvdla_ram_type(c, rubik->output.slot));
	nvdla_emit(c, NVDLA_RBK_D_DATAOUT_SIZE_1, plan->out_channels - 1);
	nvdla_emit_address(c, NVDLA_RBK_D_DAOUT_ADDR_LOW,
			   NVDLA_RBK_D_DAOUT_ADDR_HIGH, rubik->output.slot,
			   rubik->output.offset);
	nvdla_emit(c, NVDLA_RBK_D_DAOUT_LINE_STRIDE,
		   rubik->output.line_stride);
	nvdla_emit(c, NVDLA_RBK_D_CONTRACT_STRIDE_0, plan->contract_stride);
	nvdla_emit(c, NVDLA_RBK_D_CONTRACT_STRIDE_1,
		   contract ? rubik->stride_height * rubik->output.line_stride : 0);
	nvdla_emit(c, NVDLA_RBK_D_DAOUT_SURF_STRIDE, split ? 0 : out);
	nvdla_emit(c, NVDLA_RBK_D_DAOUT_PLANAR_STRIDE, split ? out : 0);
	nvdla_emit(c, NVDLA_RBK_D_DECONV_STRIDE,
		   contract ? NVDLA_SET(RBK_D_DECONV_STRIDE_DECONV_X_STRIDE,
					rubik->stride_width - 1) |
				      NVDLA_SET(RBK_D_DECONV_STRIDE_DECONV_Y_STRIDE,
						rubik->stride_height - 1) :
			      0);
	nvdla_emit(c, NVDLA_RBK_D_PERF_ENABLE, stats);
	if (stats)
		c->image->counters |= 1ull << NVDLA_COUNTER_RUBIK_READ_STALL |
				      1ull << NVDLA_COUNTER_RUBIK_WRITE_STALL;
}
