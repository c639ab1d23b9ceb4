// SPDX-License-Identifier: MIT
#include "common/lift/lift_units.hpp"

namespace nvdla::test {
namespace {

// One of the operators that differ in nothing but where their registers are.
struct XRegisters {
  std::uint32_t cfg, alu_cfg, alu_value, mul_cfg, mul_value;
  std::uint32_t rdma_cfg, low, high, line, surface;
};

void lift_x(const LaunchRegisters& registers, const SurfaceAt& surface, const XRegisters& at,
            std::uint32_t proc, nvdla_sdp_x& x) {
  const std::uint32_t cfg = registers.read(NVDLA_UNIT_SDP, at.cfg);
  if (cfg & NVDLA_SDP_D_DP_BS_CFG_BS_BYPASS_MASK) return;
  const std::uint32_t alu_cfg = registers.read(NVDLA_UNIT_SDP, at.alu_cfg);
  const std::uint32_t mul_cfg = registers.read(NVDLA_UNIT_SDP, at.mul_cfg);
  const bool alu = (cfg & NVDLA_SDP_D_DP_BS_CFG_BS_ALU_BYPASS_MASK) == 0;
  const bool mul = (cfg & NVDLA_SDP_D_DP_BS_CFG_BS_MUL_BYPASS_MASK) == 0;
  const bool alu_memory = alu && (alu_cfg & 1) != 0;
  const bool mul_memory = mul && (mul_cfg & 1) != 0;

  x.flags = NVDLA_SDP_ENABLE;
  if ((cfg & NVDLA_SDP_D_DP_BS_CFG_BS_RELU_BYPASS_MASK) == 0) x.flags |= NVDLA_SDP_RELU;
  if (alu) {
    x.alu = NVDLA_ALU_MAX + (cfg >> NVDLA_SDP_D_DP_BS_CFG_BS_ALU_ALGO_SHIFT & 3);
    x.alu_shift = proc == NVDLA_PRECISION_FP16
                      ? 0
                      : alu_cfg >> NVDLA_SDP_D_DP_BS_ALU_CFG_BS_ALU_SHIFT_VALUE_SHIFT & 0x3f;
  }
  if (mul) x.mul = cfg & NVDLA_SDP_D_DP_BS_CFG_BS_MUL_PRELU_MASK ? NVDLA_MUL_PRELU : NVDLA_MUL_MUL;
  if (proc != NVDLA_PRECISION_FP16)
    x.mul_shift = mul_cfg >> NVDLA_SDP_D_DP_BS_MUL_CFG_BS_MUL_SHIFT_VALUE_SHIFT & 0xff;
  if (alu && mul && alu_memory != mul_memory)
    throw LiftError("operands of one operator from a register and from memory");
  if (alu_memory || mul_memory) {
    const std::uint32_t dma = registers.read(NVDLA_UNIT_SDP_RDMA, at.rdma_cfg);
    const bool element = (dma & NVDLA_SDP_RDMA_D_BRDMA_CFG_BRDMA_DATA_MODE_MASK) != 0;
    x.mode = element ? NVDLA_OPERAND_ELEMENT : NVDLA_OPERAND_CHANNEL;
    x.operand_bytes = dma & NVDLA_SDP_RDMA_D_BRDMA_CFG_BRDMA_DATA_SIZE_MASK ? 2 : 1;
    x.operand = surface(dma & NVDLA_SDP_RDMA_D_BRDMA_CFG_BRDMA_RAM_TYPE_MASK,
                        registers.read(NVDLA_UNIT_SDP_RDMA, at.high),
                        registers.read(NVDLA_UNIT_SDP_RDMA, at.low),
                        element ? registers.read(NVDLA_UNIT_SDP_RDMA, at.line) : 0,
                        element ? registers.read(NVDLA_UNIT_SDP_RDMA, at.surface) : 0);
    return;
  }
  const auto value = [&](std::uint32_t offset) {
    const std::uint32_t raw = registers.read(NVDLA_UNIT_SDP, offset) & 0xffff;
    return proc == NVDLA_PRECISION_FP16 ? static_cast<std::int32_t>(raw) : sign_extend(raw, 16);
  };
  if (alu) x.alu_value = value(at.alu_value);
  if (mul) x.mul_value = value(at.mul_value);
}

void lift_y(const LaunchRegisters& registers, const SurfaceAt& surface, std::uint32_t proc,
            nvdla_sdp_y& y) {
  if (GET(SDP, D_DP_EW_CFG, EW_BYPASS)) return;
  const bool real = proc == NVDLA_PRECISION_FP16;
  const bool alu = !GET(SDP, D_DP_EW_CFG, EW_ALU_BYPASS);
  const bool mul = !GET(SDP, D_DP_EW_CFG, EW_MUL_BYPASS);
  const bool alu_memory = alu && GET(SDP, D_DP_EW_ALU_CFG, EW_ALU_SRC);
  const bool mul_memory = mul && GET(SDP, D_DP_EW_MUL_CFG, EW_MUL_SRC);
  y.flags = NVDLA_SDP_ENABLE;
  if (alu) y.alu = NVDLA_ALU_MAX + GET(SDP, D_DP_EW_CFG, EW_ALU_ALGO);
  if (mul) y.mul = GET(SDP, D_DP_EW_CFG, EW_MUL_PRELU) ? NVDLA_MUL_PRELU : NVDLA_MUL_MUL;
  if (mul && !real) y.mul_truncate = GET(SDP, D_DP_EW_TRUNCATE_VALUE, EW_TRUNCATE);
  if (alu && mul && alu_memory != mul_memory)
    throw LiftError("operands of one operator from a register and from memory");
  if (alu_memory || mul_memory) {
    const bool element = GET(SDP_RDMA, D_ERDMA_CFG, ERDMA_DATA_MODE);
    y.mode = element ? NVDLA_OPERAND_ELEMENT : NVDLA_OPERAND_CHANNEL;
    y.operand_bytes = GET(SDP_RDMA, D_ERDMA_CFG, ERDMA_DATA_SIZE) + 1;
    y.operand = surface(GET(SDP_RDMA, D_ERDMA_CFG, ERDMA_RAM_TYPE),
                        WHOLE(SDP_RDMA, D_EW_BASE_ADDR_HIGH), WHOLE(SDP_RDMA, D_EW_BASE_ADDR_LOW),
                        element ? WHOLE(SDP_RDMA, D_EW_LINE_STRIDE) : 0,
                        element ? WHOLE(SDP_RDMA, D_EW_SURFACE_STRIDE) : 0);
    if (alu && !real && !GET(SDP, D_DP_EW_ALU_CFG, EW_ALU_CVT_BYPASS)) {
      y.flags |= NVDLA_SDP_CONVERT_ALU;
      y.alu_cvt.offset = static_cast<std::int32_t>(WHOLE(SDP, D_DP_EW_ALU_CVT_OFFSET_VALUE));
      y.alu_cvt.scale = sign_extend(WHOLE(SDP, D_DP_EW_ALU_CVT_SCALE_VALUE), 16);
      y.alu_cvt.truncate = WHOLE(SDP, D_DP_EW_ALU_CVT_TRUNCATE_VALUE);
    }
    if (mul && !real && !GET(SDP, D_DP_EW_MUL_CFG, EW_MUL_CVT_BYPASS)) {
      y.flags |= NVDLA_SDP_CONVERT_MUL;
      y.mul_cvt.offset = static_cast<std::int32_t>(WHOLE(SDP, D_DP_EW_MUL_CVT_OFFSET_VALUE));
      y.mul_cvt.scale = sign_extend(WHOLE(SDP, D_DP_EW_MUL_CVT_SCALE_VALUE), 16);
      y.mul_cvt.truncate = WHOLE(SDP, D_DP_EW_MUL_CVT_TRUNCATE_VALUE);
    }
  } else {
    if (alu) y.alu_value = static_cast<std::int32_t>(WHOLE(SDP, D_DP_EW_ALU_SRC_VALUE));
    if (mul) y.mul_value = static_cast<std::int32_t>(WHOLE(SDP, D_DP_EW_MUL_SRC_VALUE));
  }
  if (!GET(SDP, D_DP_EW_CFG, EW_LUT_BYPASS)) y.flags |= NVDLA_SDP_LUT;
}

}  // namespace

nvdla_sdp lift_sdp(const LaunchRegisters& registers, const SurfaceAt& surface, bool flying,
                   bool pooled) {
  nvdla_sdp sdp{};
  sdp.proc_precision = GET(SDP, D_DATA_FORMAT, PROC_PRECISION);
  sdp.out_precision = GET(SDP, D_DATA_FORMAT, OUT_PRECISION);
  const bool real = sdp.proc_precision == NVDLA_PRECISION_FP16;
  if (real && GET(SDP, D_FEATURE_MODE_CFG, NAN_TO_ZERO)) sdp.flags |= NVDLA_SDP_NAN_TO_ZERO;
  if (!flying) {
    sdp.in_precision = GET(SDP_RDMA, D_FEATURE_MODE_CFG, IN_PRECISION);
    sdp.width = GET(SDP, D_DATA_CUBE_WIDTH, WIDTH) + 1;
    sdp.height = GET(SDP, D_DATA_CUBE_HEIGHT, HEIGHT) + 1;
    sdp.channels = GET(SDP, D_DATA_CUBE_CHANNEL, CHANNEL) + 1;
    sdp.input = surface(GET(SDP_RDMA, D_SRC_DMA_CFG, SRC_RAM_TYPE),
                        WHOLE(SDP_RDMA, D_SRC_BASE_ADDR_HIGH), WHOLE(SDP_RDMA, D_SRC_BASE_ADDR_LOW),
                        WHOLE(SDP_RDMA, D_SRC_LINE_STRIDE), WHOLE(SDP_RDMA, D_SRC_SURFACE_STRIDE));
  }
  lift_x(registers, surface,
         {NVDLA_SDP_D_DP_BS_CFG, NVDLA_SDP_D_DP_BS_ALU_CFG, NVDLA_SDP_D_DP_BS_ALU_SRC_VALUE,
          NVDLA_SDP_D_DP_BS_MUL_CFG, NVDLA_SDP_D_DP_BS_MUL_SRC_VALUE, NVDLA_SDP_RDMA_D_BRDMA_CFG,
          NVDLA_SDP_RDMA_D_BS_BASE_ADDR_LOW, NVDLA_SDP_RDMA_D_BS_BASE_ADDR_HIGH,
          NVDLA_SDP_RDMA_D_BS_LINE_STRIDE, NVDLA_SDP_RDMA_D_BS_SURFACE_STRIDE},
         sdp.proc_precision, sdp.x1);
  lift_x(registers, surface,
         {NVDLA_SDP_D_DP_BN_CFG, NVDLA_SDP_D_DP_BN_ALU_CFG, NVDLA_SDP_D_DP_BN_ALU_SRC_VALUE,
          NVDLA_SDP_D_DP_BN_MUL_CFG, NVDLA_SDP_D_DP_BN_MUL_SRC_VALUE, NVDLA_SDP_RDMA_D_NRDMA_CFG,
          NVDLA_SDP_RDMA_D_BN_BASE_ADDR_LOW, NVDLA_SDP_RDMA_D_BN_BASE_ADDR_HIGH,
          NVDLA_SDP_RDMA_D_BN_LINE_STRIDE, NVDLA_SDP_RDMA_D_BN_SURFACE_STRIDE},
         sdp.proc_precision, sdp.x2);
  lift_y(registers, surface, sdp.proc_precision, sdp.y);
  if (!real) {
    sdp.out_cvt.offset = static_cast<std::int32_t>(WHOLE(SDP, D_CVT_OFFSET));
    sdp.out_cvt.scale = sign_extend(WHOLE(SDP, D_CVT_SCALE), 16);
    sdp.out_cvt.truncate = GET(SDP, D_CVT_SHIFT, CVT_SHIFT);
  }
  if (pooled || sdp.y.alu == NVDLA_ALU_EQUAL) return sdp;
  sdp.output = surface(GET(SDP, D_DST_DMA_CFG, DST_RAM_TYPE), WHOLE(SDP, D_DST_BASE_ADDR_HIGH),
                       WHOLE(SDP, D_DST_BASE_ADDR_LOW), WHOLE(SDP, D_DST_LINE_STRIDE),
                       WHOLE(SDP, D_DST_SURFACE_STRIDE));
  if (flying && WHOLE(CDMA, D_BATCH_NUMBER) != 0)
    sdp.output.batch_stride = WHOLE(SDP, D_DST_BATCH_STRIDE);
  return sdp;
}

}  // namespace nvdla::test
