// SPDX-License-Identifier: MIT
#include "model/sdp/sdp_layer.hpp"

#include <algorithm>

#include "model/core/machine.hpp"
#include "model/sdp/sdp_lut.hpp"

namespace nvdla::model {
namespace {

// Winograd gives its output in tiles of this many columns and lines.
constexpr std::uint32_t kWinogradTile = 4;

constexpr const char* kOperatorNames[3] = {"BS", "BN", "EW"};

Alu alu_algorithm(std::uint32_t field) {
  switch (field) {
    case 0:
      return Alu::kMax;
    case 1:
      return Alu::kMin;
    default:
      return Alu::kSum;
  }
}

std::int16_t low16(std::uint32_t value) { return static_cast<std::int16_t>(value); }

// BS, BN and EW have the same operand DMA at different offsets.
#define OPERAND_DMA(view, x, dma)                                                   \
  (OperandDma{NVDLA_VIEW_FIELD(view, SDP_RDMA_D_##dma##_CFG, dma##_DISABLE) != 0,   \
              NVDLA_VIEW_FIELD(view, SDP_RDMA_D_##dma##_CFG, dma##_DATA_USE),       \
              NVDLA_VIEW_FIELD(view, SDP_RDMA_D_##dma##_CFG, dma##_DATA_SIZE) != 0, \
              NVDLA_VIEW_FIELD(view, SDP_RDMA_D_##dma##_CFG, dma##_DATA_MODE) != 0, \
              NVDLA_VIEW_SURFACE(view, SDP_RDMA_D_##x, SDP_RDMA_D_##dma##_CFG, dma##_RAM_TYPE)})

#define OPERATOR_X(view, x)                                                      \
  read_x({NVDLA_VIEW_FIELD(view, SDP_D_DP_##x##_CFG, x##_BYPASS),                \
          NVDLA_VIEW_FIELD(view, SDP_D_DP_##x##_CFG, x##_ALU_BYPASS),            \
          NVDLA_VIEW_FIELD(view, SDP_D_DP_##x##_CFG, x##_ALU_ALGO),              \
          NVDLA_VIEW_FIELD(view, SDP_D_DP_##x##_CFG, x##_MUL_BYPASS),            \
          NVDLA_VIEW_FIELD(view, SDP_D_DP_##x##_CFG, x##_MUL_PRELU),             \
          NVDLA_VIEW_FIELD(view, SDP_D_DP_##x##_CFG, x##_RELU_BYPASS),           \
          NVDLA_VIEW_FIELD(view, SDP_D_DP_##x##_ALU_CFG, x##_ALU_SRC),           \
          NVDLA_VIEW_FIELD(view, SDP_D_DP_##x##_ALU_CFG, x##_ALU_SHIFT_VALUE),   \
          NVDLA_VIEW_FIELD(view, SDP_D_DP_##x##_ALU_SRC_VALUE, x##_ALU_OPERAND), \
          NVDLA_VIEW_FIELD(view, SDP_D_DP_##x##_MUL_CFG, x##_MUL_SRC),           \
          NVDLA_VIEW_FIELD(view, SDP_D_DP_##x##_MUL_CFG, x##_MUL_SHIFT_VALUE),   \
          NVDLA_VIEW_FIELD(view, SDP_D_DP_##x##_MUL_SRC_VALUE, x##_MUL_OPERAND)})

struct XFields {
  std::uint32_t bypass, alu_bypass, algorithm, mul_bypass, prelu, relu_bypass;
  std::uint32_t alu_source, alu_shift, alu_value, mul_source, mul_shift, mul_value;
};

OperatorX read_x(const XFields& fields) {
  OperatorX x;
  x.active = fields.bypass == 0;
  x.alu = {x.active && fields.alu_bypass == 0, fields.alu_source != 0, low16(fields.alu_value)};
  x.mul = {x.active && fields.mul_bypass == 0, fields.mul_source != 0, low16(fields.mul_value)};
  x.algorithm = x.alu.active ? alu_algorithm(fields.algorithm) : Alu::kNone;
  x.alu_shift = fields.alu_shift;
  x.mul_shift = fields.mul_shift;
  x.prelu = x.mul.active && fields.prelu != 0;
  x.relu = x.active && fields.relu_bypass == 0;
  return x;
}

#define OPERAND_CONVERTER(view, part)                                                             \
  OperandConverter {                                                                              \
    NVDLA_VIEW_FIELD(view, SDP_D_DP_EW_##part##_CFG, EW_##part##_CVT_BYPASS) != 0,                \
        static_cast<std::int32_t>((view).word(NVDLA_SDP_D_DP_EW_##part##_CVT_OFFSET_VALUE)),      \
        low16((view).word(NVDLA_SDP_D_DP_EW_##part##_CVT_SCALE_VALUE)),                           \
        NVDLA_VIEW_FIELD(view, SDP_D_DP_EW_##part##_CVT_TRUNCATE_VALUE, EW_##part##_CVT_TRUNCATE) \
  }

// Fields by the names that they have in nvdla_regs.h.
#define SDP_RDMA(reg, name) NVDLA_VIEW_FIELD(view, SDP_RDMA_D_##reg, name)
#define SDP(reg, name) NVDLA_VIEW_FIELD(view, SDP_D_##reg, name)

OperatorY read_y(const GroupView& view) {
  OperatorY y;
  y.active = SDP(DP_EW_CFG, EW_BYPASS) == 0;
  y.alu = {y.active && SDP(DP_EW_CFG, EW_ALU_BYPASS) == 0, SDP(DP_EW_ALU_CFG, EW_ALU_SRC) != 0,
           static_cast<std::int32_t>(view.word(NVDLA_SDP_D_DP_EW_ALU_SRC_VALUE))};
  y.mul = {y.active && SDP(DP_EW_CFG, EW_MUL_BYPASS) == 0, SDP(DP_EW_MUL_CFG, EW_MUL_SRC) != 0,
           static_cast<std::int32_t>(view.word(NVDLA_SDP_D_DP_EW_MUL_SRC_VALUE))};
  const std::uint32_t algorithm = SDP(DP_EW_CFG, EW_ALU_ALGO);
  y.equal = y.alu.active && algorithm == NVDLA_SDP_D_DP_EW_CFG_EW_ALU_ALGO_EQL;
  y.algorithm = y.alu.active && !y.equal ? alu_algorithm(algorithm) : Alu::kNone;
  y.alu_converter = OPERAND_CONVERTER(view, ALU);
  y.mul_converter = OPERAND_CONVERTER(view, MUL);
  y.truncate = SDP(DP_EW_TRUNCATE_VALUE, EW_TRUNCATE);
  y.prelu = y.mul.active && SDP(DP_EW_CFG, EW_MUL_PRELU) != 0;
  y.lut = y.active && SDP(DP_EW_CFG, EW_LUT_BYPASS) == 0;
  return y;
}

Precision precision(std::uint32_t field) { return static_cast<Precision>(field); }

// The parts of BS, BN or EW that take operands from its DMA.
struct Taken {
  bool alu, mul;
};

Taken taken(const SdpLayer& layer, unsigned index) {
  const OperandPart& alu = index < 2 ? layer.x[index].alu : layer.y.alu;
  const OperandPart& mul = index < 2 ? layer.x[index].mul : layer.y.mul;
  return {alu.active && alu.from_memory, mul.active && mul.from_memory};
}

std::string disagrees(const char* what, std::uint64_t sdp, std::uint64_t rdma) {
  return std::string("SDP ") + what + " " + std::to_string(sdp) + " but SDP_RDMA " + what + " " +
         std::to_string(rdma);
}

// Returns why the layer stalls with data of these precisions; empty if it does not.
std::string conversion_fault(Precision in, Precision proc, Precision out) {
  if (in != proc && precision_bytes(in) == precision_bytes(proc))
    return "there is no conversion on the way in";
  if (precision_bytes(in) < precision_bytes(proc)) return "the data path starves";
  if (in == Precision::kFp16 && proc == Precision::kInt8) return "the data path starves";
  if (proc != Precision::kInt8 && out == Precision::kInt8)
    return "the write side waits for twice the data";
  if (proc == Precision::kInt8 && out == Precision::kFp16)
    return "the write side expects half of the data";
  if (proc == Precision::kInt8 && in == Precision::kInt16 && out != Precision::kInt8)
    return "narrowing and widening at once do not complete";
  return {};
}

std::string rdma_fault(const SdpLayer& layer, bool first_generation) {
  const SdpRdma& rdma = layer.rdma;
  if (rdma.flying != layer.flying) return disagrees("FLYING_MODE", layer.flying, rdma.flying);
  if (rdma.width != layer.width) return disagrees("width", layer.width, rdma.width);
  if (rdma.height != layer.height) return disagrees("height", layer.height, rdma.height);
  if (rdma.channels != layer.channels) return disagrees("channels", layer.channels, rdma.channels);
  if (rdma.proc != layer.proc)
    return std::string("SDP PROC_PRECISION ") + precision_name(layer.proc) + " but SDP_RDMA " +
           precision_name(rdma.proc);
  // Compiled out of the second generation, where these fields have no effect.
  if (first_generation) {
    if (rdma.winograd != layer.winograd)
      return disagrees("WINOGRAD", layer.winograd, rdma.winograd);
    if (rdma.batches != layer.batches) return disagrees("batches", layer.batches, rdma.batches);
  }
  if (!layer.flying && rdma.out != layer.out)
    return std::string("SDP OUT_PRECISION ") + precision_name(layer.out) + " but SDP_RDMA " +
           precision_name(rdma.out);
  for (unsigned i = 0; i < 3; ++i) {
    const OperandDma& dma = rdma.operands[i];
    const Taken take = taken(layer, i);
    const std::string name = kOperatorNames[i];
    if (!take.alu && !take.mul) continue;
    if (dma.disabled) return name + " takes an operand from memory but its DMA is disabled";
    const unsigned use = take.alu && take.mul ? 2 : take.alu ? 1 : 0;
    if (dma.use != use)
      return name + " takes DATA_USE " + std::to_string(use) + " but its DMA brings " +
             std::to_string(dma.use);
    if (layer.proc != Precision::kInt8 && !dma.two_bytes)
      return name + " operand DATA_SIZE is one byte, 16-bit processing needs two";
  }
  return {};
}

}  // namespace

SdpRdma read_sdp_rdma(const GroupView& view) {
  SdpRdma rdma;
  rdma.width = SDP_RDMA(DATA_CUBE_WIDTH, WIDTH) + 1;
  rdma.height = SDP_RDMA(DATA_CUBE_HEIGHT, HEIGHT) + 1;
  rdma.channels = SDP_RDMA(DATA_CUBE_CHANNEL, CHANNEL) + 1;
  rdma.flying = SDP_RDMA(FEATURE_MODE_CFG, FLYING_MODE) != 0;
  rdma.winograd = SDP_RDMA(FEATURE_MODE_CFG, WINOGRAD) != 0;
  rdma.in = precision(SDP_RDMA(FEATURE_MODE_CFG, IN_PRECISION));
  rdma.proc = precision(SDP_RDMA(FEATURE_MODE_CFG, PROC_PRECISION));
  rdma.out = precision(SDP_RDMA(FEATURE_MODE_CFG, OUT_PRECISION));
  rdma.batches = SDP_RDMA(FEATURE_MODE_CFG, BATCH_NUMBER) + 1;
  rdma.source = NVDLA_VIEW_SURFACE(view, SDP_RDMA_D_SRC, SDP_RDMA_D_SRC_DMA_CFG, SRC_RAM_TYPE);
  rdma.operands[0] = OPERAND_DMA(view, BS, BRDMA);
  rdma.operands[1] = OPERAND_DMA(view, BN, NRDMA);
  rdma.operands[2] = OPERAND_DMA(view, EW, ERDMA);
  rdma.count_specials = SDP_RDMA(PERF_ENABLE, PERF_NAN_INF_COUNT_EN) != 0;
  return rdma;
}

SdpLayer read_sdp(const RegisterFile& registers) {
  const GroupView view = registers.view(NVDLA_UNIT_SDP);
  SdpLayer layer;
  layer.width = SDP(DATA_CUBE_WIDTH, WIDTH) + 1;
  layer.height = SDP(DATA_CUBE_HEIGHT, HEIGHT) + 1;
  layer.channels = SDP(DATA_CUBE_CHANNEL, CHANNEL) + 1;
  layer.flying = SDP(FEATURE_MODE_CFG, FLYING_MODE) != 0;
  layer.to_pdp = SDP(FEATURE_MODE_CFG, OUTPUT_DST) != 0;
  layer.winograd = SDP(FEATURE_MODE_CFG, WINOGRAD) != 0;
  layer.batches = SDP(FEATURE_MODE_CFG, BATCH_NUMBER) + 1;
  layer.proc = precision(SDP(DATA_FORMAT, PROC_PRECISION));
  layer.out = precision(SDP(DATA_FORMAT, OUT_PRECISION));
  layer.destination = NVDLA_VIEW_SURFACE(view, SDP_D_DST, SDP_D_DST_DMA_CFG, DST_RAM_TYPE);
  layer.batch_stride = view.word(NVDLA_SDP_D_DST_BATCH_STRIDE);
  layer.flush_nan = SDP(FEATURE_MODE_CFG, NAN_TO_ZERO) != 0;
  layer.x[0] = OPERATOR_X(view, BS);
  layer.x[1] = OPERATOR_X(view, BN);
  layer.y = read_y(view);
  if (layer.y.lut) layer.table = read_sdp_lut(registers, layer.proc);
  layer.offset = static_cast<std::int32_t>(view.word(NVDLA_SDP_D_CVT_OFFSET));
  layer.scale = low16(view.word(NVDLA_SDP_D_CVT_SCALE));
  layer.shift = SDP(CVT_SHIFT, CVT_SHIFT);
  layer.count_saturation = SDP(PERF_ENABLE, PERF_SAT_EN) != 0;
  layer.count_specials = SDP(PERF_ENABLE, PERF_NAN_INF_COUNT_EN) != 0;
  layer.count_lut = SDP(PERF_ENABLE, PERF_LUT_EN) != 0;

  layer.needs_rdma = !layer.flying;
  for (unsigned i = 0; i < 3; ++i) layer.needs_rdma |= taken(layer, i).alu || taken(layer, i).mul;
  layer.has_rdma = layer.needs_rdma && registers.running(NVDLA_UNIT_SDP_RDMA);
  if (layer.has_rdma) layer.rdma = read_sdp_rdma(registers.view(NVDLA_UNIT_SDP_RDMA));
  return layer;
}

#undef SDP_RDMA
#undef SDP

bool reads_nothing(const SdpRdma& rdma) noexcept {
  return rdma.flying && std::all_of(std::begin(rdma.operands), std::end(rdma.operands),
                                    [](const OperandDma& dma) { return dma.disabled; });
}

std::string unconsumed_operand(const SdpLayer& layer) {
  for (unsigned i = 0; i < 3; ++i) {
    const Taken take = taken(layer, i);
    if (layer.has_rdma && !layer.rdma.operands[i].disabled && !take.alu && !take.mul)
      return std::string("the operand DMA of ") + kOperatorNames[i] +
             " is enabled but nothing takes its operands";
  }
  return {};
}

std::string sdp_fault(const nvdla_hw& hw, const SdpLayer& layer) {
  const bool first_generation = hw.regmap == NVDLA_REGMAP_NV_FULL;
  if (layer.has_rdma)
    if (std::string fault = rdma_fault(layer, first_generation); !fault.empty()) return fault;

  // Precisions that do not exist here have no logic; registers keep what was written.
  const Precision in = layer.flying ? layer.proc : layer.rdma.in;
  const auto pair = [&] {
    return "precisions " + std::string(precision_name(in)) + " -> " + precision_name(layer.proc) +
           " -> " + precision_name(layer.out) + " (in, processing, out): ";
  };
  if (!first_generation &&
      (layer.proc != Precision::kInt8 || layer.out != Precision::kInt8 || in != Precision::kInt8))
    return pair() + hw.name + " has int8 only";
  if (in > Precision::kFp16 || layer.proc > Precision::kFp16 || layer.out > Precision::kFp16)
    return pair() + "3 is reserved";
  if (std::string fault = conversion_fault(in, layer.proc, layer.out); !fault.empty())
    return pair() + fault;

  if (first_generation) {
    if (layer.winograd && !layer.flying) return "WINOGRAD with input from memory";
    if (layer.winograd && (layer.width % kWinogradTile != 0 || layer.height % kWinogradTile != 0))
      return "WINOGRAD, but " + std::to_string(layer.width) + " x " + std::to_string(layer.height) +
             " is not made of whole tiles of 4 x 4";
    if (layer.batches > 1 && !layer.flying) return "batches with input from memory";
    // Their addresses collide with those of the second surface.
    if ((layer.winograd || layer.batches > 1) &&
        precision_bytes(layer.out) != precision_bytes(layer.proc))
      return pair() + "not with WINOGRAD or batches";
  }
  if (layer.to_pdp && layer.out != layer.proc)
    return "OUTPUT_DST is PDP but OUT_PRECISION differs from PROC_PRECISION";

  if (layer.y.active && (hw.features & NVDLA_HW_SDP_Y) == 0)
    return std::string("EW is not bypassed but ") + hw.name + " has no EW";
  if (layer.y.lut && (hw.features & NVDLA_HW_LUT) == 0)
    return std::string("the table of EW is not bypassed but ") + hw.name + " has none";
  if (layer.y.equal && layer.to_pdp) return "EW compares but OUTPUT_DST is PDP";
  if (layer.y.equal && layer.out != layer.proc)
    return "EW compares but OUT_PRECISION differs from PROC_PRECISION";

  if ((hw.features & NVDLA_HW_SRAM) == 0) {
    const std::string none = std::string(" is in secondary memory but ") + hw.name + " has none";
    if (!layer.flying && layer.rdma.source.ram == Ram::kSecondary) return "SDP_RDMA source" + none;
    for (unsigned i = 0; i < 3; ++i)
      if (layer.has_rdma && !layer.rdma.operands[i].disabled &&
          layer.rdma.operands[i].memory.ram == Ram::kSecondary)
        return std::string("operand of ") + kOperatorNames[i] + none;
    if (layer.destination.ram == Ram::kSecondary && !layer.y.equal && !layer.to_pdp)
      return "SDP destination" + none;
  }
  return {};
}

cost::SdpGeometry geometry(const SdpLayer& layer) {
  cost::SdpGeometry to;
  to.width = layer.width;
  to.height = layer.height;
  to.channels = layer.channels;
  to.batches = layer.batches;
  to.element_bytes = precision_bytes(layer.proc);
  to.in_bytes = precision_bytes(layer.rdma.in);
  to.out_bytes = precision_bytes(layer.out);
  to.reads_cube = layer.has_rdma && !layer.flying;
  to.source = interface_of(layer.rdma.source.ram);
  to.destination = interface_of(layer.destination.ram);
  for (unsigned i = 0; i < 3; ++i) {
    const OperandDma& dma = layer.rdma.operands[i];
    to.operands[i] = {.read = layer.has_rdma && !dma.disabled,
                      .both = dma.use == 2,
                      .two_bytes = dma.two_bytes,
                      .per_element = dma.per_element,
                      .interface = interface_of(dma.memory.ram)};
  }
  to.x1 = layer.x[0].active;
  to.x2 = layer.x[1].active;
  to.y = layer.y.active;
  to.writes_cube = !layer.to_pdp && !layer.y.equal;
  return to;
}

}  // namespace nvdla::model
