// SPDX-License-Identifier: MIT
#include "model/cdp/cdp_layer.hpp"

#include "model/core/machine.hpp"

namespace nvdla::model {
namespace {

std::int64_t sign_extend(std::uint64_t value, unsigned bits) {
  return static_cast<std::int64_t>(value << (64 - bits)) >> (64 - bits);
}

// The width of what the tables are asked for.
unsigned index_bits(Precision precision) { return precision == Precision::kInt8 ? 22 : 38; }

LutConfig read_cdp_lut(const RegisterFile& registers, Precision precision) {
  LutConfig config = read_lut(registers, NVDLA_UNIT_CDP, NVDLA_CDP_S_LUT_LE_SLOPE_SCALE,
                              NVDLA_CDP_S_LUT_LO_SLOPE_SCALE);
  const auto bound = [&](std::uint32_t high, std::uint32_t low) -> std::int64_t {
    const auto word = [&](std::uint32_t at) { return registers.single(NVDLA_UNIT_CDP, at); };
    if (precision == Precision::kFp16) return word(low);
    return sign_extend(join_address(word(high), word(low)), index_bits(precision));
  };
  config.le.start = bound(NVDLA_CDP_S_LUT_LE_START_HIGH, NVDLA_CDP_S_LUT_LE_START_LOW);
  config.le.end = bound(NVDLA_CDP_S_LUT_LE_END_HIGH, NVDLA_CDP_S_LUT_LE_END_LOW);
  config.lo.start = bound(NVDLA_CDP_S_LUT_LO_START_HIGH, NVDLA_CDP_S_LUT_LO_START_LOW);
  config.lo.end = bound(NVDLA_CDP_S_LUT_LO_END_HIGH, NVDLA_CDP_S_LUT_LO_END_LOW);
  return config;
}

}  // namespace

// Fields by the names that they have in nvdla_regs.h.
#define CDP_RDMA(reg, name) NVDLA_VIEW_FIELD(view, CDP_RDMA_D_##reg, name)
#define CDP(reg, name) NVDLA_VIEW_FIELD(view, CDP_D_##reg, name)

CdpRdma read_cdp_rdma(const GroupView& view) {
  CdpRdma rdma;
  rdma.width = CDP_RDMA(DATA_CUBE_WIDTH, WIDTH) + 1;
  rdma.height = CDP_RDMA(DATA_CUBE_HEIGHT, HEIGHT) + 1;
  rdma.channels = CDP_RDMA(DATA_CUBE_CHANNEL, CHANNEL) + 1;
  rdma.precision = static_cast<Precision>(CDP_RDMA(DATA_FORMAT, INPUT_DATA));
  rdma.source = NVDLA_VIEW_SURFACE(view, CDP_RDMA_D_SRC, CDP_RDMA_D_SRC_DMA_CFG, SRC_RAM_TYPE);
  return rdma;
}

CdpLayer read_cdp(const RegisterFile& registers) {
  const GroupView view = registers.view(NVDLA_UNIT_CDP);
  CdpLayer layer;
  layer.precision = static_cast<Precision>(CDP(DATA_FORMAT, INPUT_DATA_TYPE));
  layer.destination = NVDLA_VIEW_SURFACE(view, CDP_D_DST, CDP_D_DST_DMA_CFG, DST_RAM_TYPE);
  layer.flush_nan = CDP(NAN_FLUSH_TO_ZERO, NAN_TO_ZERO) != 0;
  layer.bypass_square_sum = CDP(FUNC_BYPASS, SQSUM_BYPASS) != 0;
  layer.bypass_multiplier = CDP(FUNC_BYPASS, MUL_BYPASS) != 0;
  layer.reach = CDP(LRN_CFG, NORMALZ_LEN) + 1;
  // In int8 the offsets are narrower than their registers.
  const bool bytes = layer.precision == Precision::kInt8;
  layer.in = {sign_extend(CDP(DATIN_OFFSET, DATIN_OFFSET), bytes ? 8 : 16),
              sign_extend(CDP(DATIN_SCALE, DATIN_SCALE), 16), CDP(DATIN_SHIFTER, DATIN_SHIFTER)};
  layer.out = {sign_extend(view.word(NVDLA_CDP_D_DATOUT_OFFSET), bytes ? 25 : 32),
               sign_extend(CDP(DATOUT_SCALE, DATOUT_SCALE), 16),
               CDP(DATOUT_SHIFTER, DATOUT_SHIFTER)};
  layer.lut = read_cdp_lut(registers, layer.precision);
  layer.count_lut = CDP(PERF_ENABLE, LUT_EN) != 0;
  layer.has_rdma = registers.running(NVDLA_UNIT_CDP_RDMA);
  if (layer.has_rdma) layer.rdma = read_cdp_rdma(registers.view(NVDLA_UNIT_CDP_RDMA));
  return layer;
}

#undef CDP_RDMA
#undef CDP

std::string cdp_fault(const nvdla_hw& hw, const CdpLayer& layer) {
  if (layer.rdma.precision != layer.precision)
    return std::string("CDP INPUT_DATA_TYPE ") + precision_name(layer.precision) +
           " but CDP_RDMA INPUT_DATA " + precision_name(layer.rdma.precision);
  const std::uint32_t needs = layer.precision == Precision::kInt8    ? 0
                              : layer.precision == Precision::kInt16 ? NVDLA_HW_INT16
                                                                     : NVDLA_HW_FP16;
  if (layer.precision > Precision::kFp16 || (hw.features & needs) != needs)
    return std::string("INPUT_DATA_TYPE ") + precision_name(layer.precision) + ": " + hw.name +
           " has no such precision";
  if ((hw.features & NVDLA_HW_SRAM) == 0) {
    const std::string none = std::string(" is in secondary memory but ") + hw.name + " has none";
    if (layer.rdma.source.ram == Ram::kSecondary) return "CDP_RDMA source" + none;
    if (layer.destination.ram == Ram::kSecondary) return "CDP destination" + none;
  }
  return {};
}

cost::CdpGeometry geometry(const CdpLayer& layer) {
  return {.width = layer.rdma.width,
          .height = layer.rdma.height,
          .channels = layer.rdma.channels,
          .element_bytes = precision_bytes(layer.precision),
          .source = interface_of(layer.rdma.source.ram),
          .destination = interface_of(layer.destination.ram)};
}

}  // namespace nvdla::model
