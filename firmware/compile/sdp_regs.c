// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Register image of single point processing: SDP, and SDP_RDMA where anything
 * comes from memory.
 *
 * Every writable register of a group is written; those of an operator that is
 * off hold its bypass bits and zeros. Reset values cannot be relied on: an
 * operator is on after reset in the first generation, off in the second.
 */
#include "compile.h"

/* X1 and X2 are the same unit twice, at different offsets. */
struct x_regs {
	u32 cfg;
	u32 alu_cfg;
	u32 alu_value;
	u32 mul_cfg;
	u32 mul_value;
	u32 rdma_cfg;
	u32 base_low;
	u32 base_high;
	u32 line_stride;
	u32 surface_stride;
	u32 batch_stride;
};

static const struct x_regs x1_regs = {
	.cfg = NVDLA_SDP_D_DP_BS_CFG,
	.alu_cfg = NVDLA_SDP_D_DP_BS_ALU_CFG,
	.alu_value = NVDLA_SDP_D_DP_BS_ALU_SRC_VALUE,
	.mul_cfg = NVDLA_SDP_D_DP_BS_MUL_CFG,
	.mul_value = NVDLA_SDP_D_DP_BS_MUL_SRC_VALUE,
	.rdma_cfg = NVDLA_SDP_RDMA_D_BRDMA_CFG,
	.base_low = NVDLA_SDP_RDMA_D_BS_BASE_ADDR_LOW,
	.base_high = NVDLA_SDP_RDMA_D_BS_BASE_ADDR_HIGH,
	.line_stride = NVDLA_SDP_RDMA_D_BS_LINE_STRIDE,
	.surface_stride = NVDLA_SDP_RDMA_D_BS_SURFACE_STRIDE,
	.batch_stride = NVDLA_SDP_RDMA_D_BS_BATCH_STRIDE,
};

static const struct x_regs x2_regs = {
	.cfg = NVDLA_SDP_D_DP_BN_CFG,
	.alu_cfg = NVDLA_SDP_D_DP_BN_ALU_CFG,
	.alu_value = NVDLA_SDP_D_DP_BN_ALU_SRC_VALUE,
	.mul_cfg = NVDLA_SDP_D_DP_BN_MUL_CFG,
	.mul_value = NVDLA_SDP_D_DP_BN_MUL_SRC_VALUE,
	.rdma_cfg = NVDLA_SDP_RDMA_D_NRDMA_CFG,
	.base_low = NVDLA_SDP_RDMA_D_BN_BASE_ADDR_LOW,
	.base_high = NVDLA_SDP_RDMA_D_BN_BASE_ADDR_HIGH,
	.line_stride = NVDLA_SDP_RDMA_D_BN_LINE_STRIDE,
	.surface_stride = NVDLA_SDP_RDMA_D_BN_SURFACE_STRIDE,
	.batch_stride = NVDLA_SDP_RDMA_D_BN_BATCH_STRIDE,
};

/* Y is like the others in its DMA alone. */
static const struct x_regs y_regs = {
	.rdma_cfg = NVDLA_SDP_RDMA_D_ERDMA_CFG,
	.base_low = NVDLA_SDP_RDMA_D_EW_BASE_ADDR_LOW,
	.base_high = NVDLA_SDP_RDMA_D_EW_BASE_ADDR_HIGH,
	.line_stride = NVDLA_SDP_RDMA_D_EW_LINE_STRIDE,
	.surface_stride = NVDLA_SDP_RDMA_D_EW_SURFACE_STRIDE,
	.batch_stride = NVDLA_SDP_RDMA_D_EW_BATCH_STRIDE,
};

/* DATA_USE of an operand DMA. */
enum {
	DATA_USE_MUL = 0,
	DATA_USE_ALU = 1,
	DATA_USE_BOTH = 2,
};

static void emit_x(struct nvdla_compile *c, const struct x_regs *regs,
		   const struct nvdla_sdp_x *x)
{
	const u32 off = !(x->flags & NVDLA_SDP_ENABLE);
	const u32 alu = x->alu != NVDLA_ALU_NONE;
	const u32 mul = x->mul != NVDLA_MUL_NONE;
	const u32 memory = nvdla_sdp_x_reads(x);

	nvdla_emit(c, regs->cfg,
		   NVDLA_SET(SDP_D_DP_BS_CFG_BS_BYPASS, off) |
		   NVDLA_SET(SDP_D_DP_BS_CFG_BS_ALU_BYPASS, !alu) |
		   NVDLA_SET(SDP_D_DP_BS_CFG_BS_ALU_ALGO,
			     alu ? x->alu - NVDLA_ALU_MAX : 0) |
		   NVDLA_SET(SDP_D_DP_BS_CFG_BS_MUL_BYPASS, !mul) |
		   NVDLA_SET(SDP_D_DP_BS_CFG_BS_MUL_PRELU,
			     x->mul == NVDLA_MUL_PRELU) |
		   NVDLA_SET(SDP_D_DP_BS_CFG_BS_RELU_BYPASS,
			     !(x->flags & NVDLA_SDP_RELU)));
	nvdla_emit(c, regs->alu_cfg,
		   NVDLA_SET(SDP_D_DP_BS_ALU_CFG_BS_ALU_SRC, memory && alu) |
		   NVDLA_SET(SDP_D_DP_BS_ALU_CFG_BS_ALU_SHIFT_VALUE,
			     x->alu_shift));
	nvdla_emit(c, regs->alu_value,
		   NVDLA_SET(SDP_D_DP_BS_ALU_SRC_VALUE_BS_ALU_OPERAND,
			     x->alu_value));
	nvdla_emit(c, regs->mul_cfg,
		   NVDLA_SET(SDP_D_DP_BS_MUL_CFG_BS_MUL_SRC, memory && mul) |
		   NVDLA_SET(SDP_D_DP_BS_MUL_CFG_BS_MUL_SHIFT_VALUE,
			     x->mul_shift));
	nvdla_emit(c, regs->mul_value,
		   NVDLA_SET(SDP_D_DP_BS_MUL_SRC_VALUE_BS_MUL_OPERAND,
			     x->mul_value));
}

static void emit_y_convert(struct nvdla_compile *c, u32 offset, u32 scale,
			   u32 truncate, const struct nvdla_convert *convert)
{
	nvdla_emit(c, offset, (u32)convert->offset);
	nvdla_emit(c, scale,
		   NVDLA_SET(SDP_D_DP_EW_ALU_CVT_SCALE_VALUE_EW_ALU_CVT_SCALE,
			     convert->scale));
	nvdla_emit(c, truncate, convert->truncate);
}

/* Operands in fp16 from memory always pass the converter, which widens them. */
static void emit_y_on(struct nvdla_compile *c,
		      const struct nvdla_sdp_plan *plan)
{
	const struct nvdla_sdp_y *y = &c->layer->sdp.y;
	const u32 alu = y->alu != NVDLA_ALU_NONE;
	const u32 mul = y->mul != NVDLA_MUL_NONE;
	const u32 memory = nvdla_sdp_y_reads(y);
	const u32 widen = memory && plan->proc == NVDLA_PRECISION_FP16;
	const u32 convert_alu = (widen && alu) ||
				(y->flags & NVDLA_SDP_CONVERT_ALU);
	const u32 convert_mul = (widen && mul) ||
				(y->flags & NVDLA_SDP_CONVERT_MUL);

	nvdla_emit(c, NVDLA_SDP_D_DP_EW_CFG,
		   NVDLA_SET(SDP_D_DP_EW_CFG_EW_ALU_BYPASS, !alu) |
		   NVDLA_SET(SDP_D_DP_EW_CFG_EW_ALU_ALGO,
			     alu ? y->alu - NVDLA_ALU_MAX : 0) |
		   NVDLA_SET(SDP_D_DP_EW_CFG_EW_MUL_BYPASS, !mul) |
		   NVDLA_SET(SDP_D_DP_EW_CFG_EW_MUL_PRELU,
			     y->mul == NVDLA_MUL_PRELU) |
		   NVDLA_SET(SDP_D_DP_EW_CFG_EW_LUT_BYPASS,
			     !(y->flags & NVDLA_SDP_LUT)));
	nvdla_emit(c, NVDLA_SDP_D_DP_EW_ALU_CFG,
		   NVDLA_SET(SDP_D_DP_EW_ALU_CFG_EW_ALU_SRC, memory && alu) |
		   NVDLA_SET(SDP_D_DP_EW_ALU_CFG_EW_ALU_CVT_BYPASS,
			     !convert_alu));
	nvdla_emit(c, NVDLA_SDP_D_DP_EW_ALU_SRC_VALUE, (u32)y->alu_value);
	emit_y_convert(c, NVDLA_SDP_D_DP_EW_ALU_CVT_OFFSET_VALUE,
		       NVDLA_SDP_D_DP_EW_ALU_CVT_SCALE_VALUE,
		       NVDLA_SDP_D_DP_EW_ALU_CVT_TRUNCATE_VALUE, &y->alu_cvt);
	nvdla_emit(c, NVDLA_SDP_D_DP_EW_MUL_CFG,
		   NVDLA_SET(SDP_D_DP_EW_MUL_CFG_EW_MUL_SRC, memory && mul) |
		   NVDLA_SET(SDP_D_DP_EW_MUL_CFG_EW_MUL_CVT_BYPASS,
			     !convert_mul));
	nvdla_emit(c, NVDLA_SDP_D_DP_EW_MUL_SRC_VALUE, (u32)y->mul_value);
	emit_y_convert(c, NVDLA_SDP_D_DP_EW_MUL_CVT_OFFSET_VALUE,
		       NVDLA_SDP_D_DP_EW_MUL_CVT_SCALE_VALUE,
		       NVDLA_SDP_D_DP_EW_MUL_CVT_TRUNCATE_VALUE, &y->mul_cvt);
	nvdla_emit(c, NVDLA_SDP_D_DP_EW_TRUNCATE_VALUE, y->mul_truncate);
}

static void emit_y_off(struct nvdla_compile *c)
{
	nvdla_emit(c, NVDLA_SDP_D_DP_EW_CFG,
		   NVDLA_SET(SDP_D_DP_EW_CFG_EW_BYPASS, 1) |
		   NVDLA_SET(SDP_D_DP_EW_CFG_EW_ALU_BYPASS, 1) |
		   NVDLA_SET(SDP_D_DP_EW_CFG_EW_MUL_BYPASS, 1) |
		   NVDLA_SET(SDP_D_DP_EW_CFG_EW_LUT_BYPASS, 1));
	nvdla_emit(c, NVDLA_SDP_D_DP_EW_ALU_CFG,
		   NVDLA_SET(SDP_D_DP_EW_ALU_CFG_EW_ALU_CVT_BYPASS, 1));
	nvdla_emit(c, NVDLA_SDP_D_DP_EW_ALU_SRC_VALUE, 0);
	nvdla_emit(c, NVDLA_SDP_D_DP_EW_ALU_CVT_OFFSET_VALUE, 0);
	nvdla_emit(c, NVDLA_SDP_D_DP_EW_ALU_CVT_SCALE_VALUE, 0);
	nvdla_emit(c, NVDLA_SDP_D_DP_EW_ALU_CVT_TRUNCATE_VALUE, 0);
	nvdla_emit(c, NVDLA_SDP_D_DP_EW_MUL_CFG,
		   NVDLA_SET(SDP_D_DP_EW_MUL_CFG_EW_MUL_CVT_BYPASS, 1));
	nvdla_emit(c, NVDLA_SDP_D_DP_EW_MUL_SRC_VALUE, 0);
	nvdla_emit(c, NVDLA_SDP_D_DP_EW_MUL_CVT_OFFSET_VALUE, 0);
	nvdla_emit(c, NVDLA_SDP_D_DP_EW_MUL_CVT_SCALE_VALUE, 0);
	nvdla_emit(c, NVDLA_SDP_D_DP_EW_MUL_CVT_TRUNCATE_VALUE, 0);
	nvdla_emit(c, NVDLA_SDP_D_DP_EW_TRUNCATE_VALUE, 0);
}

static void emit_sdp(struct nvdla_compile *c, const struct nvdla_sdp_plan *plan)
{
	const struct nvdla_sdp *sdp = &c->layer->sdp;
	const u32 stats = !!(c->program->flags & NVDLA_PROGRAM_STATS);

	nvdla_emit_unit(c, NVDLA_UNIT_SDP);
	nvdla_emit(c, NVDLA_SDP_D_DATA_CUBE_WIDTH, plan->width - 1);
	nvdla_emit(c, NVDLA_SDP_D_DATA_CUBE_HEIGHT, plan->height - 1);
	nvdla_emit(c, NVDLA_SDP_D_DATA_CUBE_CHANNEL, plan->channels - 1);
	if (plan->silent) {
		nvdla_emit(c, NVDLA_SDP_D_DST_BASE_ADDR_LOW, 0);
		nvdla_emit(c, NVDLA_SDP_D_DST_BASE_ADDR_HIGH, 0);
	} else {
		nvdla_emit_address(c, NVDLA_SDP_D_DST_BASE_ADDR_LOW,
				   NVDLA_SDP_D_DST_BASE_ADDR_HIGH,
				   sdp->output.slot, sdp->output.offset);
	}
	nvdla_emit(c, NVDLA_SDP_D_DST_LINE_STRIDE, sdp->output.line_stride);
	nvdla_emit(c, NVDLA_SDP_D_DST_SURFACE_STRIDE,
		   sdp->output.surface_stride);
	emit_x(c, &x1_regs, &sdp->x1);
	emit_x(c, &x2_regs, &sdp->x2);
	if (sdp->y.flags & NVDLA_SDP_ENABLE)
		emit_y_on(c, plan);
	else
		emit_y_off(c);
	nvdla_emit(c, NVDLA_SDP_D_FEATURE_MODE_CFG,
		   NVDLA_SET(SDP_D_FEATURE_MODE_CFG_FLYING_MODE,
			     plan->flying) |
		   NVDLA_SET(SDP_D_FEATURE_MODE_CFG_OUTPUT_DST, plan->pooled) |
		   NVDLA_SET(SDP_D_FEATURE_MODE_CFG_WINOGRAD, plan->winograd) |
		   NVDLA_SET(SDP_D_FEATURE_MODE_CFG_NAN_TO_ZERO,
			     !!(sdp->flags & NVDLA_SDP_NAN_TO_ZERO)) |
		   NVDLA_SET(SDP_D_FEATURE_MODE_CFG_BATCH_NUMBER,
			     plan->batch - 1));
	nvdla_emit(c, NVDLA_SDP_D_DST_DMA_CFG,
		   plan->silent ? 1 : nvdla_ram_type(c, sdp->output.slot));
	nvdla_emit(c, NVDLA_SDP_D_DST_BATCH_STRIDE, sdp->output.batch_stride);
	nvdla_emit(c, NVDLA_SDP_D_DATA_FORMAT,
		   NVDLA_SET(SDP_D_DATA_FORMAT_PROC_PRECISION, plan->proc) |
		   NVDLA_SET(SDP_D_DATA_FORMAT_OUT_PRECISION, plan->out));
	nvdla_emit(c, NVDLA_SDP_D_CVT_OFFSET, (u32)sdp->out_cvt.offset);
	nvdla_emit(c, NVDLA_SDP_D_CVT_SCALE,
		   NVDLA_SET(SDP_D_CVT_SCALE_CVT_SCALE, sdp->out_cvt.scale));
	nvdla_emit(c, NVDLA_SDP_D_CVT_SHIFT, sdp->out_cvt.truncate);
	nvdla_emit(c, NVDLA_SDP_D_PERF_ENABLE,
		   NVDLA_SET(SDP_D_PERF_ENABLE_PERF_DMA_EN, stats) |
		   NVDLA_SET(SDP_D_PERF_ENABLE_PERF_LUT_EN,
			     stats && (sdp->y.flags & NVDLA_SDP_LUT)) |
		   NVDLA_SET(SDP_D_PERF_ENABLE_PERF_SAT_EN, stats) |
		   NVDLA_SET(SDP_D_PERF_ENABLE_PERF_NAN_INF_COUNT_EN, stats));
}

/* Emits the registers that all three operand DMAs have. */
static void emit_operand(struct nvdla_compile *c, const struct x_regs *regs,
			 u32 alu, u32 mul, u32 mode, u32 bytes,
			 const struct nvdla_surface *operand)
{
	u32 use = DATA_USE_BOTH;

	if (mode == NVDLA_OPERAND_LAYER || !(alu || mul)) {
		nvdla_emit(c, regs->rdma_cfg,
			   NVDLA_SET(SDP_RDMA_D_BRDMA_CFG_BRDMA_DISABLE, 1));
		nvdla_emit(c, regs->base_low, 0);
		nvdla_emit(c, regs->base_high, 0);
	} else {
		if (!mul)
			use = DATA_USE_ALU;
		else if (!alu)
			use = DATA_USE_MUL;
		nvdla_emit(c, regs->rdma_cfg,
			   NVDLA_SET(SDP_RDMA_D_BRDMA_CFG_BRDMA_DATA_USE, use) |
			   NVDLA_SET(SDP_RDMA_D_BRDMA_CFG_BRDMA_DATA_SIZE,
				     bytes - 1) |
			   NVDLA_SET(SDP_RDMA_D_BRDMA_CFG_BRDMA_DATA_MODE,
				     mode == NVDLA_OPERAND_ELEMENT) |
			   NVDLA_SET(SDP_RDMA_D_BRDMA_CFG_BRDMA_RAM_TYPE,
				     nvdla_ram_type(c, operand->slot)));
		nvdla_emit_address(c, regs->base_low, regs->base_high,
				   operand->slot, operand->offset);
	}
	/* Zero with operands per channel: those are one run. */
	nvdla_emit(c, regs->line_stride, operand->line_stride);
	nvdla_emit(c, regs->surface_stride, operand->surface_stride);
	nvdla_emit(c, regs->batch_stride, 0);
}

/* All fields of an operator that is off are zero. */
static void emit_x_rdma(struct nvdla_compile *c, const struct x_regs *regs,
			const struct nvdla_sdp_x *x)
{
	emit_operand(c, regs, x->alu, x->mul, x->mode, x->operand_bytes,
		     &x->operand);
}

static void emit_rdma(struct nvdla_compile *c,
		      const struct nvdla_sdp_plan *plan)
{
	const struct nvdla_sdp *sdp = &c->layer->sdp;
	const u32 stats = !!(c->program->flags & NVDLA_PROGRAM_STATS);

	nvdla_emit_unit(c, NVDLA_UNIT_SDP_RDMA);
	nvdla_emit(c, NVDLA_SDP_RDMA_D_DATA_CUBE_WIDTH, plan->width - 1);
	nvdla_emit(c, NVDLA_SDP_RDMA_D_DATA_CUBE_HEIGHT, plan->height - 1);
	nvdla_emit(c, NVDLA_SDP_RDMA_D_DATA_CUBE_CHANNEL, plan->channels - 1);
	if (plan->flying) {
		nvdla_emit(c, NVDLA_SDP_RDMA_D_SRC_BASE_ADDR_LOW, 0);
		nvdla_emit(c, NVDLA_SDP_RDMA_D_SRC_BASE_ADDR_HIGH, 0);
	} else {
		nvdla_emit_address(c, NVDLA_SDP_RDMA_D_SRC_BASE_ADDR_LOW,
				   NVDLA_SDP_RDMA_D_SRC_BASE_ADDR_HIGH,
				   sdp->input.slot, sdp->input.offset);
	}
	nvdla_emit(c, NVDLA_SDP_RDMA_D_SRC_LINE_STRIDE, sdp->input.line_stride);
	nvdla_emit(c, NVDLA_SDP_RDMA_D_SRC_SURFACE_STRIDE,
		   sdp->input.surface_stride);
	emit_x_rdma(c, &x1_regs, &sdp->x1);
	emit_x_rdma(c, &x2_regs, &sdp->x2);
	emit_operand(c, &y_regs, sdp->y.alu, sdp->y.mul, sdp->y.mode,
		     sdp->y.operand_bytes, &sdp->y.operand);
	nvdla_emit(c, NVDLA_SDP_RDMA_D_FEATURE_MODE_CFG,
		   NVDLA_SET(SDP_RDMA_D_FEATURE_MODE_CFG_FLYING_MODE,
			     plan->flying) |
		   NVDLA_SET(SDP_RDMA_D_FEATURE_MODE_CFG_WINOGRAD,
			     plan->winograd) |
		   NVDLA_SET(SDP_RDMA_D_FEATURE_MODE_CFG_IN_PRECISION,
			     plan->in) |
		   NVDLA_SET(SDP_RDMA_D_FEATURE_MODE_CFG_PROC_PRECISION,
			     plan->proc) |
		   NVDLA_SET(SDP_RDMA_D_FEATURE_MODE_CFG_OUT_PRECISION,
			     plan->out) |
		   NVDLA_SET(SDP_RDMA_D_FEATURE_MODE_CFG_BATCH_NUMBER,
			     plan->batch - 1));
	/* The primary memory where nothing is read: every device has it. */
	nvdla_emit(c, NVDLA_SDP_RDMA_D_SRC_DMA_CFG,
		   plan->flying ? 1 : nvdla_ram_type(c, sdp->input.slot));
	nvdla_emit(c, NVDLA_SDP_RDMA_D_PERF_ENABLE,
		   NVDLA_SET(SDP_RDMA_D_PERF_ENABLE_PERF_DMA_EN, stats) |
		   NVDLA_SET(SDP_RDMA_D_PERF_ENABLE_PERF_NAN_INF_COUNT_EN,
			     stats));
}

/* Counters that can be other than zero. */
static u64 counters(const struct nvdla_compile *c,
		    const struct nvdla_sdp_plan *plan)
{
	const struct nvdla_sdp *sdp = &c->layer->sdp;
	u64 mask = 1ull << NVDLA_COUNTER_SDP_SATURATION;

	if (!plan->silent)
		mask |= 1ull << NVDLA_COUNTER_SDP_WRITE_STALL;
	if (plan->out == NVDLA_PRECISION_FP16)
		mask |= 1ull << NVDLA_COUNTER_SDP_NAN_OUT;
	if (!plan->flying)
		mask |= 1ull << NVDLA_COUNTER_SDP_MRDMA_STALL;
	if (!plan->flying && plan->in == NVDLA_PRECISION_FP16)
		mask |= 1ull << NVDLA_COUNTER_SDP_RDMA_NAN |
			1ull << NVDLA_COUNTER_SDP_RDMA_INF;
	if (nvdla_sdp_x_reads(&sdp->x1))
		mask |= 1ull << NVDLA_COUNTER_SDP_BRDMA_STALL;
	if (nvdla_sdp_x_reads(&sdp->x2))
		mask |= 1ull << NVDLA_COUNTER_SDP_NRDMA_STALL;
	if (nvdla_sdp_y_reads(&sdp->y))
		mask |= 1ull << NVDLA_COUNTER_SDP_ERDMA_STALL;
	if (sdp->y.alu == NVDLA_ALU_EQUAL)
		mask |= 1ull << NVDLA_COUNTER_SDP_UNEQUAL;
	if (sdp->y.flags & NVDLA_SDP_LUT)
		mask |= 1ull << NVDLA_COUNTER_SDP_LUT_UNDERFLOW |
			1ull << NVDLA_COUNTER_SDP_LUT_OVERFLOW |
			1ull << NVDLA_COUNTER_SDP_LUT_HYBRID |
			1ull << NVDLA_COUNTER_SDP_LUT_LE_HIT |
			1ull << NVDLA_COUNTER_SDP_LUT_LO_HIT;
	return mask;
}

void nvdla_sdp_emit(struct nvdla_compile *c, const struct nvdla_sdp_plan *plan)
{
	if (plan->rdma)
		emit_rdma(c, plan);
	emit_sdp(c, plan);
	if (c->program->flags & NVDLA_PROGRAM_STATS)
		c->image->counters |= counters(c, plan);
}
