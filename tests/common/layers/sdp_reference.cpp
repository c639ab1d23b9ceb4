// SPDX-License-Identifier: MIT
#include "common/layers/sdp_reference.hpp"

#include <cmath>

#include "common/layers/table_reference.hpp"

namespace nvdla::test {
namespace {

std::int32_t signed32(std::uint32_t value) { return static_cast<std::int32_t>(value); }

// An operand as the operator takes it: fp32 in fp16 processing, else an integer.
class Operand {
 public:
  Operand(const SdpCase& layer, UnitRig& rig) : layer_(layer), rig_(rig) {}

  std::int64_t get(unsigned index, bool mul, unsigned x, unsigned y, unsigned lane) {
    const SdpUnit& unit = layer_.units[index];
    const SdpPart& part = mul ? unit.mul : unit.alu;
    const bool single = layer_.proc == kRefFp16;
    if (!part.in_memory()) {
      if (index == 2) return single ? std::int64_t{part.value} : signed32(part.value);
      if (single) return half(part.value & 0xffff);
      return static_cast<std::int16_t>(part.value);
    }
    std::uint64_t address = layer_.operand_at(unit, x, y, lane);
    if (unit.components() == 2 && mul) address += unit.two_bytes ? 2 : 1;
    if (single) return half(rig_.half(address));
    const std::int64_t raw = unit.two_bytes ? static_cast<std::int16_t>(rig_.half(address))
                                            : static_cast<std::int8_t>(rig_.byte(address));
    if (index != 2 || part.bypass_converter) return raw;
    return static_cast<std::int64_t>(saturate(
        round_shift((Wide{raw} - part.offset) * part.scale, static_cast<int>(part.truncate)), 32));
  }

 private:
  std::int64_t half(std::uint32_t bits) const {
    if (layer_.flush_nan && kHalf.nan(bits)) return 0;
    return float_convert(kHalf, kSingle, bits);
  }

  const SdpCase& layer_;
  UnitRig& rig_;
};

struct Answer {
  Side side;
  std::int64_t value;
};

std::int64_t miss(const SdpTable& table, std::int64_t x, bool over) {
  Wide distance = Wide{x} - signed32(over ? table.end : table.start);
  if (!over && table.exponential && table.offset > 0)
    distance -= static_cast<Wide>(1) << table.offset;
  const auto slope = static_cast<std::int16_t>(over ? table.over_scale : table.under_scale);
  const Wide step =
      saturate(round_shift(distance * slope, over ? table.over_shift : table.under_shift), 32);
  const auto entry = static_cast<std::int16_t>(over ? table.entries.back() : table.entries.front());
  return static_cast<std::int64_t>(saturate(entry + step, 32));
}

Answer look_up(const SdpTable& table, std::int64_t x) {
  constexpr Wide kOne = static_cast<Wide>(1) << 35;
  const Wide distance = Wide{x} - signed32(table.start);
  if (distance <= 0) return {kUnder, miss(table, x, false)};
  Wide index, fraction = 0;
  if (table.exponential) {
    int log = 0;
    while (distance >> (log + 1) != 0) ++log;
    index = log - table.offset;
    if (index < 0) return {kUnder, miss(table, x, false)};
    fraction = (distance - (static_cast<Wide>(1) << log)) * kOne / (static_cast<Wide>(1) << log);
  } else if (table.select > 0) {
    const Wide step = static_cast<Wide>(1) << table.select;
    index = distance / step;
    fraction = distance % step * kOne / step;
  } else {
    index = distance * (static_cast<Wide>(1) << -table.select);
  }
  if (index >= static_cast<int>(table.entries.size()) - 1) return {kOver, miss(table, x, true)};
  const auto at = static_cast<std::size_t>(index);
  const Wide low = static_cast<std::int16_t>(table.entries[at]);
  const Wide high = static_cast<std::int16_t>(table.entries[at + 1]);
  return {kHit, static_cast<std::int64_t>(
                    saturate(round_shift(low * (kOne - fraction) + high * fraction, 35), 32))};
}

Answer look_up_float(const SdpTable& table, std::uint32_t x) {
  const RealPlace place = place_real(table, x);
  if (place.side != kHit)
    return {place.side, float_convert(kFp17, kSingle, miss_real(table, x, place.side == kOver))};
  // 35 bits of the fraction take part.
  const double fraction = std::ldexp(std::floor(std::ldexp(place.fraction, 35)), -35);
  const std::uint32_t low =
      float_mul(kFp17, float_bits(kFp17, false, 1 - fraction), fp17_of(table.entries[place.index]));
  const std::uint32_t high =
      float_mul(kFp17, float_bits(kFp17, false, fraction), fp17_of(table.entries[place.index + 1]));
  return {kHit, float_convert(kFp17, kSingle, float_add(kFp17, low, high))};
}

std::int64_t use_table(const SdpCase& layer, std::int64_t x, SdpOutcome& outcome) {
  const bool single = layer.proc == kRefFp16;
  const auto answer = [&](const SdpTable& table) {
    return single ? look_up_float(table, static_cast<std::uint32_t>(x)) : look_up(table, x);
  };
  const Answer le = answer(layer.le), lo = answer(layer.lo);
  outcome.le_hit += le.side == kHit;
  outcome.lo_hit += lo.side == kHit;
  unsigned priority = layer.hybrid_priority;
  if (le.side == kUnder && lo.side == kUnder) priority = layer.under_priority;
  if (le.side == kOver && lo.side == kOver) priority = layer.over_priority;
  if (le.side == kHit && lo.side != kHit) priority = 0;
  if (lo.side == kHit && le.side != kHit) priority = 1;
  const Answer& chosen = priority == 0 ? le : lo;
  outcome.under += chosen.side == kUnder;
  outcome.over += chosen.side == kOver;
  outcome.hit += chosen.side == kHit;
  return chosen.value;
}

Wide choose(unsigned algorithm, Wide value, Wide other) {
  if (algorithm == 0) return value > other ? value : other;
  if (algorithm == 1) return value < other ? value : other;
  return value + other;
}

std::uint32_t choose_float(unsigned algorithm, std::uint32_t value, std::uint32_t other) {
  if (algorithm == 0) return float_max(kSingle, value, other);
  if (algorithm == 1) return float_min(kSingle, value, other);
  return float_add(kSingle, value, other);
}

// X1 or X2.
std::int64_t operator_x(const SdpCase& layer, unsigned index, std::int64_t value,
                        std::int64_t addend, std::int64_t factor) {
  const SdpUnit& unit = layer.units[index];
  if (layer.proc == kRefFp16) {
    auto bits = static_cast<std::uint32_t>(value);
    if (unit.alu.active)
      bits = choose_float(unit.algorithm, bits, static_cast<std::uint32_t>(addend));
    if (unit.mul.active && !(unit.prelu && (bits & kSingle.sign()) == 0))
      bits = float_mul(kSingle, bits, static_cast<std::uint32_t>(factor));
    if (unit.relu && !kSingle.nan(bits) && (bits & kSingle.sign()) != 0) bits = 0;
    return bits;
  }
  Wide wide = value;
  if (unit.alu.active)
    wide = choose(unit.algorithm, wide,
                  saturate(Wide{addend} * (static_cast<Wide>(1) << unit.alu_shift), 32));
  if (unit.mul.active && unit.prelu && wide >= 0) {
    wide = static_cast<std::int32_t>(wide);
  } else {
    if (unit.mul.active) wide *= factor;
    wide = saturate(round_shift(wide, static_cast<int>(unit.mul_shift)), 32);
  }
  if (unit.relu && wide < 0) wide = 0;
  return static_cast<std::int64_t>(wide);
}

// Y up to its ALU, which does not compare here.
std::int64_t operator_y(const SdpCase& layer, std::int64_t value, std::int64_t addend,
                        std::int64_t factor) {
  const SdpUnit& unit = layer.units[2];
  const bool alu = unit.alu.active && unit.algorithm != 3;
  if (layer.proc == kRefFp16) {
    auto bits = static_cast<std::uint32_t>(value);
    if (unit.mul.active && !(unit.prelu && (bits & kSingle.sign()) == 0))
      bits = float_mul(kSingle, bits, static_cast<std::uint32_t>(factor));
    if (alu) bits = choose_float(unit.algorithm, bits, static_cast<std::uint32_t>(addend));
    return bits;
  }
  Wide wide = value;
  if (unit.mul.active && !(unit.prelu && wide >= 0))
    wide = saturate(round_shift(wide * factor, static_cast<int>(unit.mul_shift)), 32);
  if (alu) wide = saturate(choose(unit.algorithm, wide, addend), 32);
  return static_cast<std::int64_t>(wide);
}

// The bits that are written.
std::uint32_t convert_output(const SdpCase& layer, std::int64_t value, SdpOutcome& outcome) {
  std::uint32_t half = 0;
  if (layer.proc == kRefFp16) {
    half = float_convert(kSingle, kHalf, static_cast<std::uint32_t>(value));
    if (layer.out == kRefInt16) return static_cast<std::uint32_t>(half_to_int16(half));
  } else {
    const Wide product = (Wide{value} - layer.offset) * layer.scale;
    const Wide result = saturate(round_shift(product, static_cast<int>(layer.shift)), 17);
    if (layer.out != kRefFp16) {
      outcome.saturated +=
          counts_as_saturated(layer.hw->regmap == NVDLA_REGMAP_NV_FULL, product, layer.shift);
      return static_cast<std::uint32_t>(saturate(result, 8 * ref_bytes(layer.out)));
    }
    half = float_bits(kHalf, result < 0, std::fabs(static_cast<double>(result)));
  }
  outcome.nan_out += kHalf.nan(half);
  outcome.saturated += (half & 0x7fff) == 0x7bff;
  return half;
}

}  // namespace

std::uint64_t SdpCase::at(const Cube& cube, unsigned bytes, unsigned x, unsigned y,
                          unsigned c) const {
  const unsigned elements = hw->atom / bytes;
  // Strides of a single position are not used.
  const bool single = width == 1 && height == 1;
  return cube.base + c / elements * (single ? hw->atom : cube.surface) + y * cube.line +
         std::uint64_t{x} * hw->atom + std::uint64_t{c % elements} * bytes;
}

std::uint64_t SdpCase::operand_at(const SdpUnit& unit, unsigned x, unsigned y, unsigned c) const {
  const unsigned bytes = unit.element_bytes();
  if (unit.source() == Source::kPerChannel || (width == 1 && height == 1))
    return unit.operands.base + std::uint64_t{c} * bytes;
  return unit.operands.base + c / column() * unit.operands.surface + y * unit.operands.line +
         std::uint64_t{x} * column() * bytes + std::uint64_t{c % column()} * bytes;
}

void place_sdp(SdpCase& layer, Random& random, bool gaps) {
  const std::uint64_t atom = layer.hw->atom;
  const auto gap = [&] { return gaps ? atom * static_cast<std::uint64_t>(pick(random, 0, 2)) : 0; };
  for (Cube* cube : {&layer.source, &layer.destination}) {
    cube->base = cube == &layer.source ? kSdpIn : kSdpOut;
    cube->line = layer.width * atom + gap();
    cube->surface = cube->line * layer.height + gap();
  }
  for (unsigned i = 0; i < 3; ++i) {
    SdpUnit& unit = layer.units[i];
    unit.operands.base = sdp_operands(i);
    unit.operands.line = std::uint64_t{layer.width} * layer.column() * unit.element_bytes() + gap();
    unit.operands.surface = unit.operands.line * layer.height + gap();
  }
}

std::uint64_t sdp_region(const SdpCase& layer) {
  // Four bytes an element at most, and the gaps.
  return (std::uint64_t{layer.width} * 4 + 16) * layer.hw->atom * (layer.height + 1) *
         (layer.lanes() * 2 / layer.hw->atom + 2);
}

namespace {

void load_table(Registers& regs, const SdpTable& table, bool lo) {
  regs.set("SDP.S_LUT_ACCESS_CFG", {{"LUT_TABLE_ID", lo}, {"LUT_ACCESS_TYPE", 1}});
  for (const std::uint16_t entry : table.entries) regs.write("SDP.S_LUT_ACCESS_DATA", entry);
  const std::string name = lo ? "SDP.S_LUT_LO_" : "SDP.S_LUT_LE_";
  regs.write(name + "START", table.start);
  regs.write(name + "END", table.end);
  regs.write(name + "SLOPE_SCALE", table.under_scale | static_cast<std::uint32_t>(table.over_scale)
                                                           << 16);
  regs.write(name + "SLOPE_SHIFT", (static_cast<std::uint32_t>(table.under_shift) & 31) |
                                       (static_cast<std::uint32_t>(table.over_shift) & 31) << 5);
}

void program_x(const SdpUnit& unit, const std::string& n, Registers& regs) {
  const std::string reg = "SDP.D_DP_" + n;
  regs.set(reg + "_CFG", {{n + "_BYPASS", !unit.active},
                          {n + "_ALU_BYPASS", !unit.alu.active},
                          {n + "_ALU_ALGO", unit.algorithm},
                          {n + "_MUL_BYPASS", !unit.mul.active},
                          {n + "_MUL_PRELU", unit.prelu},
                          {n + "_RELU_BYPASS", !unit.relu}});
  regs.set(reg + "_ALU_CFG",
           {{n + "_ALU_SRC", unit.alu.in_memory()}, {n + "_ALU_SHIFT_VALUE", unit.alu_shift}});
  regs.write(reg + "_ALU_SRC_VALUE", unit.alu.value);
  regs.set(reg + "_MUL_CFG",
           {{n + "_MUL_SRC", unit.mul.in_memory()}, {n + "_MUL_SHIFT_VALUE", unit.mul_shift}});
  regs.write(reg + "_MUL_SRC_VALUE", unit.mul.value);
}

void program_y(const SdpUnit& unit, Registers& regs) {
  regs.set("SDP.D_DP_EW_CFG", {{"EW_BYPASS", !unit.active},
                               {"EW_ALU_BYPASS", !unit.alu.active},
                               {"EW_ALU_ALGO", unit.algorithm},
                               {"EW_MUL_BYPASS", !unit.mul.active},
                               {"EW_MUL_PRELU", unit.prelu},
                               {"EW_LUT_BYPASS", !unit.lut}});
  regs.write("SDP.D_DP_EW_TRUNCATE_VALUE", unit.mul_shift);
  for (const bool mul : {false, true}) {
    const SdpPart& part = mul ? unit.mul : unit.alu;
    const std::string n = mul ? "EW_MUL" : "EW_ALU";
    const std::string reg = "SDP.D_DP_" + n;
    regs.set(reg + "_CFG",
             {{n + "_SRC", part.in_memory()}, {n + "_CVT_BYPASS", part.bypass_converter}});
    regs.write(reg + "_SRC_VALUE", part.value);
    regs.write(reg + "_CVT_OFFSET_VALUE", static_cast<std::uint32_t>(part.offset));
    regs.write(reg + "_CVT_SCALE_VALUE", static_cast<std::uint16_t>(part.scale));
    regs.write(reg + "_CVT_TRUNCATE_VALUE", part.truncate);
  }
}

}  // namespace

void program_sdp(const SdpCase& layer, Registers& regs) {
  for (const std::string unit : {"SDP", "SDP_RDMA"}) {
    regs.write(unit + ".D_DATA_CUBE_WIDTH", layer.width - 1);
    regs.write(unit + ".D_DATA_CUBE_HEIGHT", layer.height - 1);
    regs.write(unit + ".D_DATA_CUBE_CHANNEL", layer.channels - 1);
  }
  const auto low = [](std::uint64_t value) { return static_cast<std::uint32_t>(value); };
  regs.write("SDP.D_DST_BASE_ADDR_LOW", low(layer.destination.base));
  regs.write("SDP.D_DST_LINE_STRIDE", low(layer.destination.line));
  regs.write("SDP.D_DST_SURFACE_STRIDE", low(layer.destination.surface));
  program_x(layer.units[0], "BS", regs);
  program_x(layer.units[1], "BN", regs);
  program_y(layer.units[2], regs);
  regs.set("SDP.D_FEATURE_MODE_CFG", {{"NAN_TO_ZERO", layer.flush_nan}});
  regs.set("SDP.D_DST_DMA_CFG", {{"DST_RAM_TYPE", 1}});
  regs.set("SDP.D_DATA_FORMAT", {{"PROC_PRECISION", layer.proc}, {"OUT_PRECISION", layer.out}});
  regs.write("SDP.D_CVT_OFFSET", static_cast<std::uint32_t>(layer.offset));
  regs.write("SDP.D_CVT_SCALE", static_cast<std::uint16_t>(layer.scale));
  regs.write("SDP.D_CVT_SHIFT", layer.shift);
  regs.set("SDP.D_PERF_ENABLE", {{"PERF_LUT_EN", layer.count_lut},
                                 {"PERF_SAT_EN", layer.count_saturation},
                                 {"PERF_NAN_INF_COUNT_EN", layer.count_specials}});
  if (layer.uses_lut()) {
    load_table(regs, layer.le, false);
    load_table(regs, layer.lo, true);
    regs.set("SDP.S_LUT_CFG", {{"LUT_LE_FUNCTION", !layer.le.exponential},
                               {"LUT_UFLOW_PRIORITY", layer.under_priority},
                               {"LUT_OFLOW_PRIORITY", layer.over_priority},
                               {"LUT_HYBRID_PRIORITY", layer.hybrid_priority}});
    regs.set("SDP.S_LUT_INFO",
             {{"LUT_LE_INDEX_OFFSET", static_cast<std::uint8_t>(layer.le.offset)},
              {"LUT_LE_INDEX_SELECT", static_cast<std::uint8_t>(layer.le.select)},
              {"LUT_LO_INDEX_SELECT", static_cast<std::uint8_t>(layer.lo.select)}});
  }

  regs.write("SDP_RDMA.D_SRC_BASE_ADDR_LOW", low(layer.source.base));
  regs.write("SDP_RDMA.D_SRC_LINE_STRIDE", low(layer.source.line));
  regs.write("SDP_RDMA.D_SRC_SURFACE_STRIDE", low(layer.source.surface));
  regs.set("SDP_RDMA.D_SRC_DMA_CFG", {{"SRC_RAM_TYPE", 1}});
  regs.set(
      "SDP_RDMA.D_FEATURE_MODE_CFG",
      {{"IN_PRECISION", layer.in}, {"PROC_PRECISION", layer.proc}, {"OUT_PRECISION", layer.out}});
  regs.set("SDP_RDMA.D_PERF_ENABLE", {{"PERF_NAN_INF_COUNT_EN", layer.count_input}});
  const char* const dmas[3] = {"BRDMA", "NRDMA", "ERDMA"};
  const char* const names[3] = {"BS", "BN", "EW"};
  for (unsigned i = 0; i < 3; ++i) {
    const SdpUnit& unit = layer.units[i];
    const std::string n = dmas[i];
    const unsigned use = unit.components() == 2 ? 2 : unit.alu.in_memory() ? 1 : 0;
    regs.set("SDP_RDMA.D_" + n + "_CFG", {{n + "_DISABLE", !unit.in_memory()},
                                          {n + "_DATA_USE", use},
                                          {n + "_DATA_SIZE", unit.two_bytes},
                                          {n + "_DATA_MODE", unit.source() == Source::kPerElement},
                                          {n + "_RAM_TYPE", 1}});
    const std::string reg = std::string("SDP_RDMA.D_") + names[i];
    regs.write(reg + "_BASE_ADDR_LOW", low(unit.operands.base));
    regs.write(reg + "_LINE_STRIDE", low(unit.operands.line));
    regs.write(reg + "_SURFACE_STRIDE", low(unit.operands.surface));
  }
}

void enable_sdp(Registers& regs) {
  regs.write("SDP_RDMA.D_OP_ENABLE", 1);
  regs.write("SDP.D_OP_ENABLE", 1);
}

SdpOutcome sdp_reference(const SdpCase& layer, UnitRig& rig) {
  SdpOutcome outcome;
  Operand operand(layer, rig);
  const unsigned in_bytes = ref_bytes(layer.in), out_bytes = ref_bytes(layer.out);
  for (unsigned y = 0; y < layer.height; ++y)
    for (unsigned x = 0; x < layer.width; ++x)
      for (unsigned lane = 0; lane < layer.lanes(); ++lane) {
        const std::uint64_t from = layer.at(layer.source, in_bytes, x, y, lane);
        std::int64_t value = in_bytes == 1 ? static_cast<std::int8_t>(rig.byte(from))
                                           : static_cast<std::int16_t>(rig.half(from));
        if (layer.in == kRefFp16) {
          const std::uint32_t half = rig.half(from);
          outcome.nan_in += kHalf.nan(half);
          outcome.infinite_in += (half & 0x7fff) == 0x7c00;
          value = layer.flush_nan && kHalf.nan(half) ? 0 : float_convert(kHalf, kSingle, half);
        }
        for (unsigned i = 0; i < 3; ++i) {
          const SdpUnit& unit = layer.units[i];
          if (!unit.active) continue;
          const std::int64_t addend = unit.alu.active ? operand.get(i, false, x, y, lane) : 0;
          const std::int64_t factor = unit.mul.active ? operand.get(i, true, x, y, lane) : 0;
          value = i < 2 ? operator_x(layer, i, value, addend, factor)
                        : operator_y(layer, value, addend, factor);
          if (i == 2 && layer.equal()) outcome.unequal |= value != addend;
        }
        if (layer.equal()) continue;
        if (layer.uses_lut()) value = use_table(layer, value, outcome);
        const std::uint32_t bits = convert_output(layer, value, outcome);
        const std::uint64_t to = layer.at(layer.destination, out_bytes, x, y, lane);
        for (unsigned i = 0; i < out_bytes; ++i)
          outcome.bytes[to + i] = static_cast<std::uint8_t>(bits >> (8 * i));
      }
  return outcome;
}

namespace {

// What the description of the extents says of the layer's reads.
Bytes expected_reads(const SdpCase& layer) {
  Bytes bytes;
  const std::uint64_t atom = layer.hw->atom;
  const bool single = layer.width == 1 && layer.height == 1;
  const std::uint64_t surfaces = layer.lanes() * ref_bytes(layer.in) / atom;
  if (single) {
    bytes.add(layer.source.base, surfaces * atom);
  } else {
    add_cube(bytes, layer.source, surfaces, layer.height, layer.width * atom);
  }
  for (const SdpUnit& unit : layer.units) {
    if (!unit.in_memory()) continue;
    const std::uint64_t columns = layer.lanes() / layer.column();
    const std::uint64_t column = std::uint64_t{layer.column()} * unit.element_bytes();
    if (single || unit.source() == Source::kPerChannel) {
      bytes.add(unit.operands.base, columns * column);
    } else {
      add_cube(bytes, unit.operands, columns, layer.height, layer.width * column);
    }
  }
  return bytes;
}

}  // namespace

std::string check_sdp(const SdpCase& layer, UnitRig& rig) {
  const std::uint64_t region = sdp_region(layer);
  rig.memory.fill(model::Ram::kPrimary, kSdpOut - 4096, region + 8192, std::byte{kUntouched});
  const SdpOutcome want = sdp_reference(layer, rig);
  program_sdp(layer, rig.regs);
  enable_sdp(rig.regs);
  rig.run();
  if (const std::string reason = rig.blocked(); !reason.empty()) return "blocked: " + reason;
  if (const std::string wrong = rig.compare(kSdpOut - 4096, region + 8192, want.bytes);
      !wrong.empty())
    return wrong;
  if (!rig.recorder.open && rig.recorder.reads.merged() != expected_reads(layer).merged())
    return "reads other bytes than it should";
  Bytes written;
  for (const auto& byte : want.bytes) written.add(byte.first, 1);
  if (!rig.recorder.open && rig.recorder.writes.merged() != written.merged())
    return "writes other bytes than it should";
  const struct {
    const char* name;
    std::uint32_t value;
  } counters[] = {
      {"SDP.D_STATUS", want.unequal},
      {"SDP.D_STATUS_NAN_INPUT_NUM", 0},
      {"SDP.D_STATUS_INF_INPUT_NUM", 0},
      {"SDP.D_STATUS_NAN_OUTPUT_NUM", layer.count_specials ? want.nan_out : 0},
      {"SDP.D_PERF_OUT_SATURATION", layer.count_saturation ? want.saturated : 0},
      {"SDP.D_PERF_LUT_UFLOW", layer.count_lut ? want.under : 0},
      {"SDP.D_PERF_LUT_OFLOW", layer.count_lut ? want.over : 0},
      {"SDP.D_PERF_LUT_HYBRID", layer.count_lut ? want.hit : 0},
      {"SDP.D_PERF_LUT_LE_HIT", layer.count_lut ? want.le_hit : 0},
      {"SDP.D_PERF_LUT_LO_HIT", layer.count_lut ? want.lo_hit : 0},
      {"SDP_RDMA.D_STATUS_NAN_INPUT_NUM", layer.count_input ? want.nan_in : 0},
      {"SDP_RDMA.D_STATUS_INF_INPUT_NUM", layer.count_input ? want.infinite_in : 0},
      {"GLB.S_INTR_STATUS", 1},
  };
  for (const auto& counter : counters)
    if (const std::uint32_t got = rig.regs.read(counter.name); got != counter.value)
      return std::string(counter.name) + " is " + std::to_string(got) + ", not " +
             std::to_string(counter.value);
  return {};
}

}  // namespace nvdla::test
