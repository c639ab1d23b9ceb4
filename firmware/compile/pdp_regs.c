// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Register image of pooling: PDP, and PDP_RDMA where its input is in memory.
 */
#include "compile.h"

static u32 band_widths(const struct nvdla_pdp *pdp, const u32 *widths)
{
	u32 value;

	if (pdp->bands == 1)
		return 0;
	value = NVDLA_SET(PDP_D_PARTIAL_WIDTH_IN_PARTIAL_WIDTH_IN_FIRST,
			  widths[0] - 1) |
		NVDLA_SET(PDP_D_PARTIAL_WIDTH_IN_PARTIAL_WIDTH_IN_LAST,
			  widths[2] - 1);
	if (pdp->bands > 2)
		value |= NVDLA_SET(PDP_D_PARTIAL_WIDTH_IN_PARTIAL_WIDTH_IN_MID,
				   widths[1] - 1);
	return value;
}

/* In both units at different offsets. */
static void emit_source(struct nvdla_compile *c,
			const struct nvdla_pdp_plan *plan, u32 low, u32 high,
			u32 line, u32 surface)
{
	const struct nvdla_pdp *pdp = &c->layer->pdp;

	if (plan->flying) {
		nvdla_emit(c, low, 0);
		nvdla_emit(c, high, 0);
	} else {
		nvdla_emit_address(c, low, high, pdp->input.slot,
				   pdp->input.offset);
	}
	nvdla_emit(c, line, pdp->input.line_stride);
	nvdla_emit(c, surface, pdp->input.surface_stride);
}

static void emit_rdma(struct nvdla_compile *c,
		      const struct nvdla_pdp_plan *plan)
{
	const struct nvdla_pdp *pdp = &c->layer->pdp;

	nvdla_emit_unit(c, NVDLA_UNIT_PDP_RDMA);
	nvdla_emit(c, NVDLA_PDP_RDMA_D_DATA_CUBE_IN_WIDTH, plan->width - 1);
	nvdla_emit(c, NVDLA_PDP_RDMA_D_DATA_CUBE_IN_HEIGHT, plan->height - 1);
	nvdla_emit(c, NVDLA_PDP_RDMA_D_DATA_CUBE_IN_CHANNEL,
		   plan->channels - 1);
	nvdla_emit(c, NVDLA_PDP_RDMA_D_FLYING_MODE,
		   NVDLA_PDP_RDMA_D_FLYING_MODE_FLYING_MODE_OFF_FLYING);
	emit_source(c, plan, NVDLA_PDP_RDMA_D_SRC_BASE_ADDR_LOW,
		    NVDLA_PDP_RDMA_D_SRC_BASE_ADDR_HIGH,
		    NVDLA_PDP_RDMA_D_SRC_LINE_STRIDE,
		    NVDLA_PDP_RDMA_D_SRC_SURFACE_STRIDE);
	nvdla_emit(c, NVDLA_PDP_RDMA_D_SRC_RAM_CFG,
		   nvdla_ram_type(c, pdp->input.slot));
	nvdla_emit(c, NVDLA_PDP_RDMA_D_DATA_FORMAT, plan->precision);
	nvdla_emit(c, NVDLA_PDP_RDMA_D_OPERATION_MODE_CFG, pdp->bands - 1);
	nvdla_emit(c, NVDLA_PDP_RDMA_D_POOLING_KERNEL_CFG,
		   NVDLA_SET(PDP_RDMA_D_POOLING_KERNEL_CFG_KERNEL_WIDTH,
			     pdp->kernel_width - 1) |
		   NVDLA_SET(PDP_RDMA_D_POOLING_KERNEL_CFG_KERNEL_STRIDE_WIDTH,
			     pdp->stride_width - 1));
	nvdla_emit(c, NVDLA_PDP_RDMA_D_POOLING_PADDING_CFG, pdp->pad_left);
	nvdla_emit(c, NVDLA_PDP_RDMA_D_PARTIAL_WIDTH_IN,
		   band_widths(pdp, plan->in));
	nvdla_emit(c, NVDLA_PDP_RDMA_D_PERF_ENABLE,
		   !!(c->program->flags & NVDLA_PROGRAM_STATS));
	nvdla_emit(c, NVDLA_PDP_RDMA_D_CYA, 0);
}

static void emit_kernel(struct nvdla_compile *c,
			const struct nvdla_pdp_plan *plan)
{
	const struct nvdla_pdp *pdp = &c->layer->pdp;
	u32 i;

	nvdla_emit(c, NVDLA_PDP_D_POOLING_KERNEL_CFG,
		   NVDLA_SET(PDP_D_POOLING_KERNEL_CFG_KERNEL_WIDTH,
			     pdp->kernel_width - 1) |
		   NVDLA_SET(PDP_D_POOLING_KERNEL_CFG_KERNEL_HEIGHT,
			     pdp->kernel_height - 1) |
		   NVDLA_SET(PDP_D_POOLING_KERNEL_CFG_KERNEL_STRIDE_WIDTH,
			     pdp->stride_width - 1) |
		   NVDLA_SET(PDP_D_POOLING_KERNEL_CFG_KERNEL_STRIDE_HEIGHT,
			     pdp->stride_height - 1));
	nvdla_emit(c, NVDLA_PDP_D_RECIP_KERNEL_WIDTH, pdp->recip_width);
	nvdla_emit(c, NVDLA_PDP_D_RECIP_KERNEL_HEIGHT, pdp->recip_height);
	nvdla_emit(c, NVDLA_PDP_D_POOLING_PADDING_CFG,
		   NVDLA_SET(PDP_D_POOLING_PADDING_CFG_PAD_LEFT,
			     pdp->pad_left) |
		   NVDLA_SET(PDP_D_POOLING_PADDING_CFG_PAD_TOP, pdp->pad_top) |
		   NVDLA_SET(PDP_D_POOLING_PADDING_CFG_PAD_RIGHT,
			     plan->pad_right) |
		   NVDLA_SET(PDP_D_POOLING_PADDING_CFG_PAD_BOTTOM,
			     plan->pad_bottom));
	/* Seven registers, one after another, alike. */
	for (i = 0; i < ARRAY_SIZE(pdp->pad_value); i++)
		nvdla_emit(c, NVDLA_PDP_D_POOLING_PADDING_VALUE_1_CFG + 4 * i,
			   NVDLA_SET(PDP_D_POOLING_PADDING_VALUE_1_CFG_PAD_VALUE_1X,
				     pdp->pad_value[i]));
}

static void emit_pdp(struct nvdla_compile *c, const struct nvdla_pdp_plan *plan)
{
	const struct nvdla_pdp *pdp = &c->layer->pdp;

	nvdla_emit_unit(c, NVDLA_UNIT_PDP);
	nvdla_emit(c, NVDLA_PDP_D_DATA_CUBE_IN_WIDTH, plan->width - 1);
	nvdla_emit(c, NVDLA_PDP_D_DATA_CUBE_IN_HEIGHT, plan->height - 1);
	nvdla_emit(c, NVDLA_PDP_D_DATA_CUBE_IN_CHANNEL, plan->channels - 1);
	nvdla_emit(c, NVDLA_PDP_D_DATA_CUBE_OUT_WIDTH, plan->out_width - 1);
	nvdla_emit(c, NVDLA_PDP_D_DATA_CUBE_OUT_HEIGHT, plan->out_height - 1);
	nvdla_emit(c, NVDLA_PDP_D_DATA_CUBE_OUT_CHANNEL, plan->channels - 1);
	/* 0 is on the fly here, 1 in SDP. */
	nvdla_emit(c, NVDLA_PDP_D_OPERATION_MODE_CFG,
		   NVDLA_SET(PDP_D_OPERATION_MODE_CFG_POOLING_METHOD,
			     pdp->method) |
		   NVDLA_SET(PDP_D_OPERATION_MODE_CFG_FLYING_MODE,
			     !plan->flying) |
		   NVDLA_SET(PDP_D_OPERATION_MODE_CFG_SPLIT_NUM,
			     pdp->bands - 1));
	nvdla_emit(c, NVDLA_PDP_D_NAN_FLUSH_TO_ZERO,
		   !!(pdp->flags & NVDLA_PDP_NAN_TO_ZERO));
	nvdla_emit(c, NVDLA_PDP_D_PARTIAL_WIDTH_IN, band_widths(pdp, plan->in));
	nvdla_emit(c, NVDLA_PDP_D_PARTIAL_WIDTH_OUT,
		   band_widths(pdp, plan->out));
	emit_kernel(c, plan);
	emit_source(c, plan, NVDLA_PDP_D_SRC_BASE_ADDR_LOW,
		    NVDLA_PDP_D_SRC_BASE_ADDR_HIGH, NVDLA_PDP_D_SRC_LINE_STRIDE,
		    NVDLA_PDP_D_SRC_SURFACE_STRIDE);
	nvdla_emit_address(c, NVDLA_PDP_D_DST_BASE_ADDR_LOW,
			   NVDLA_PDP_D_DST_BASE_ADDR_HIGH, pdp->output.slot,
			   pdp->output.offset);
	nvdla_emit(c, NVDLA_PDP_D_DST_LINE_STRIDE, pdp->output.line_stride);
	nvdla_emit(c, NVDLA_PDP_D_DST_SURFACE_STRIDE,
		   pdp->output.surface_stride);
	nvdla_emit(c, NVDLA_PDP_D_DST_RAM_CFG,
		   nvdla_ram_type(c, pdp->output.slot));
	nvdla_emit(c, NVDLA_PDP_D_DATA_FORMAT, plan->precision);
	nvdla_emit(c, NVDLA_PDP_D_PERF_ENABLE,
		   !!(c->program->flags & NVDLA_PROGRAM_STATS));
	nvdla_emit(c, NVDLA_PDP_D_CYA, 0);
}

static u64 counters(const struct nvdla_pdp_plan *plan)
{
	u64 mask = 1ull << NVDLA_COUNTER_PDP_WRITE_STALL;

	if (!plan->flying)
		mask |= 1ull << NVDLA_COUNTER_PDP_RDMA_STALL;
	if (plan->precision == NVDLA_PRECISION_FP16)
		mask |= 1ull << NVDLA_COUNTER_PDP_NAN_IN |
			1ull << NVDLA_COUNTER_PDP_INF_IN |
			1ull << NVDLA_COUNTER_PDP_NAN_OUT;
	return mask;
}

void nvdla_pdp_emit(struct nvdla_compile *c, const struct nvdla_pdp_plan *plan)
{
	if (!plan->flying)
		emit_rdma(c, plan);
	emit_pdp(c, plan);
	if (c->program->flags & NVDLA_PROGRAM_STATS)
		c->image->counters |= counters(plan);
}
