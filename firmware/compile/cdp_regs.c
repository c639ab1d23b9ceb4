// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Register image of normalisation across channels: CDP_RDMA and CDP. The
 * table is loaded by the engine.
 */
#include "compile.h"

static void emit_rdma(struct nvdla_compile *c, u32 stats)
{
	const struct nvdla_cdp *cdp = &c->layer->cdp;

	nvdla_emit_unit(c, NVDLA_UNIT_CDP_RDMA);
	nvdla_emit(c, NVDLA_CDP_RDMA_D_DATA_CUBE_WIDTH, cdp->width - 1);
	nvdla_emit(c, NVDLA_CDP_RDMA_D_DATA_CUBE_HEIGHT, cdp->height - 1);
	nvdla_emit(c, NVDLA_CDP_RDMA_D_DATA_CUBE_CHANNEL, cdp->channels - 1);
	nvdla_emit_address(c, NVDLA_CDP_RDMA_D_SRC_BASE_ADDR_LOW,
			   NVDLA_CDP_RDMA_D_SRC_BASE_ADDR_HIGH,
			   cdp->input.slot, cdp->input.offset);
	nvdla_emit(c, NVDLA_CDP_RDMA_D_SRC_LINE_STRIDE, cdp->input.line_stride);
	nvdla_emit(c, NVDLA_CDP_RDMA_D_SRC_SURFACE_STRIDE,
		   cdp->input.surface_stride);
	nvdla_emit(c, NVDLA_CDP_RDMA_D_SRC_DMA_CFG,
		   nvdla_ram_type(c, cdp->input.slot));
	nvdla_emit(c, NVDLA_CDP_RDMA_D_DATA_FORMAT, cdp->precision);
	nvdla_emit(c, NVDLA_CDP_RDMA_D_PERF_ENABLE, stats);
	nvdla_emit(c, NVDLA_CDP_RDMA_D_CYA, 0);
}

static void emit_cdp(struct nvdla_compile *c, u32 stats)
{
	const struct nvdla_cdp *cdp = &c->layer->cdp;
	const u32 bypass = !!(cdp->flags & NVDLA_CDP_BYPASS_SQUARE_SUM);

	nvdla_emit_unit(c, NVDLA_UNIT_CDP);
	nvdla_emit(c, NVDLA_CDP_D_FUNC_BYPASS,
		   NVDLA_SET(CDP_D_FUNC_BYPASS_SQSUM_BYPASS, bypass) |
		   NVDLA_SET(CDP_D_FUNC_BYPASS_MUL_BYPASS,
			     !!(cdp->flags & NVDLA_CDP_BYPASS_MUL)));
	nvdla_emit_address(c, NVDLA_CDP_D_DST_BASE_ADDR_LOW,
			   NVDLA_CDP_D_DST_BASE_ADDR_HIGH, cdp->output.slot,
			   cdp->output.offset);
	nvdla_emit(c, NVDLA_CDP_D_DST_LINE_STRIDE, cdp->output.line_stride);
	nvdla_emit(c, NVDLA_CDP_D_DST_SURFACE_STRIDE,
		   cdp->output.surface_stride);
	nvdla_emit(c, NVDLA_CDP_D_DST_DMA_CFG,
		   nvdla_ram_type(c, cdp->output.slot));
	nvdla_emit(c, NVDLA_CDP_D_DATA_FORMAT, cdp->precision);
	nvdla_emit(c, NVDLA_CDP_D_NAN_FLUSH_TO_ZERO,
		   !!(cdp->flags & NVDLA_CDP_NAN_TO_ZERO));
	/* 3, 5, 7, 9 */
	nvdla_emit(c, NVDLA_CDP_D_LRN_CFG, bypass ? 0 : cdp->window / 2 - 1);
	nvdla_emit(c, NVDLA_CDP_D_DATIN_OFFSET,
		   NVDLA_SET(CDP_D_DATIN_OFFSET_DATIN_OFFSET,
			     cdp->in_cvt.offset));
	nvdla_emit(c, NVDLA_CDP_D_DATIN_SCALE,
		   NVDLA_SET(CDP_D_DATIN_SCALE_DATIN_SCALE, cdp->in_cvt.scale));
	nvdla_emit(c, NVDLA_CDP_D_DATIN_SHIFTER, cdp->in_cvt.truncate);
	nvdla_emit(c, NVDLA_CDP_D_DATOUT_OFFSET, (u32)cdp->out_cvt.offset);
	nvdla_emit(c, NVDLA_CDP_D_DATOUT_SCALE,
		   NVDLA_SET(CDP_D_DATOUT_SCALE_DATOUT_SCALE,
			     cdp->out_cvt.scale));
	nvdla_emit(c, NVDLA_CDP_D_DATOUT_SHIFTER, cdp->out_cvt.truncate);
	nvdla_emit(c, NVDLA_CDP_D_PERF_ENABLE,
		   NVDLA_SET(CDP_D_PERF_ENABLE_DMA_EN, stats) |
		   NVDLA_SET(CDP_D_PERF_ENABLE_LUT_EN, stats));
	nvdla_emit(c, NVDLA_CDP_D_CYA, 0);
}

static u64 counters(u32 precision)
{
	u64 mask = 1ull << NVDLA_COUNTER_CDP_RDMA_STALL |
		   1ull << NVDLA_COUNTER_CDP_SATURATION |
		   1ull << NVDLA_COUNTER_CDP_WRITE_STALL |
		   1ull << NVDLA_COUNTER_CDP_LUT_UNDERFLOW |
		   1ull << NVDLA_COUNTER_CDP_LUT_OVERFLOW |
		   1ull << NVDLA_COUNTER_CDP_LUT_HYBRID |
		   1ull << NVDLA_COUNTER_CDP_LUT_LE_HIT |
		   1ull << NVDLA_COUNTER_CDP_LUT_LO_HIT;

	if (precision == NVDLA_PRECISION_FP16)
		mask |= 1ull << NVDLA_COUNTER_CDP_NAN_IN |
			1ull << NVDLA_COUNTER_CDP_INF_IN |
			1ull << NVDLA_COUNTER_CDP_NAN_OUT;
	return mask;
}

void nvdla_cdp_emit(struct nvdla_compile *c)
{
	const u32 stats = !!(c->program->flags & NVDLA_PROGRAM_STATS);

	emit_rdma(c, stats);
	emit_cdp(c, stats);
	if (stats)
		c->image->counters |= counters(c->layer->cdp.precision);
}
