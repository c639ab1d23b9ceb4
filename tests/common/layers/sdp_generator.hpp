// SPDX-License-Identifier: MIT
//
// Random stand-alone SDP layers, small ones that use whatever their configuration has, and the
// bytes that they read.
#pragma once

#include <cstdint>
#include <vector>

#include "common/layers/sdp_reference.hpp"

namespace nvdla::test {

class SdpGenerator {
 public:
  SdpGenerator(const nvdla_hw& hw, Random& random) : hw_(hw), random_(random) {}

  SdpCase layer() {
    SdpCase layer;
    layer.hw = &hw_;
    if (hw_.regmap == NVDLA_REGMAP_NV_FULL) {
      constexpr unsigned kLegal[7][3] = {{0, 0, 0}, {0, 0, 1}, {1, 0, 0}, {1, 1, 1},
                                         {1, 1, 2}, {2, 2, 2}, {2, 2, 1}};
      const auto& which = kLegal[any(0, 6)];
      layer.in = which[0];
      layer.proc = which[1];
      layer.out = which[2];
    }
    layer.width = any(1, one_in(random_, 8) ? 60 : 5);
    layer.height = any(1, 4);
    layer.channels = any(1, 70);
    for (unsigned i = 0; i < 3; ++i)
      if (i < 2 || (hw_.features & NVDLA_HW_SDP_Y) != 0) unit(layer, i);
    layer.flush_nan = one_in(random_, 2);
    if (any(0, 2) != 0) {
      layer.offset = integer(any(2, 32));
      layer.scale = integer(any(2, 16));
      layer.shift = any(0, one_in(random_, 4) ? 63 : 16);
    }
    if (layer.uses_lut()) {
      table(layer, layer.le, true);
      table(layer, layer.lo, false);
      layer.under_priority = any(0, 1);
      layer.over_priority = any(0, 1);
      layer.hybrid_priority = any(0, 1);
    }
    layer.count_saturation = !one_in(random_, 8);
    layer.count_specials = !one_in(random_, 8);
    layer.count_input = !one_in(random_, 8);
    layer.count_lut = !one_in(random_, 8);
    place_sdp(layer, random_, one_in(random_, 2));
    return layer;
  }

  void fill(const SdpCase& layer, UnitRig& rig) {
    fill(layer, rig, kSdpIn, layer.in == kRefFp16);
    for (unsigned i = 0; i < 3; ++i)
      if (layer.units[i].in_memory()) fill(layer, rig, sdp_operands(i), layer.proc == kRefFp16);
  }

 private:
  unsigned any(int low, int high) { return static_cast<unsigned>(pick(random_, low, high)); }

  std::int32_t integer(unsigned bits) {
    const std::int64_t limit = std::int64_t{1} << (bits - 1);
    return static_cast<std::int32_t>(pick(random_, -limit, limit - 1));
  }

  // Mostly of a size that leaves something of sums and products.
  static std::uint16_t half(Random& random) {
    if (one_in(random, 6)) return static_cast<std::uint16_t>(random());
    return static_cast<std::uint16_t>(pick(random, 0, 1) << 15 | pick(random, 8, 22) << 10 |
                                      pick(random, 0, 1023));
  }
  std::uint32_t single() { return any(0, 1) << 31 | any(110, 145) << 23 | any(0, 0x7fffff); }
  static std::uint16_t finite_half(Random& random) {
    const std::uint16_t bits = half(random);
    return (bits & 0x7c00) == 0x7c00 ? static_cast<std::uint16_t>(bits ^ 0x4000) : bits;
  }

  void part(SdpCase& layer, SdpPart& part, unsigned index, Source source) {
    part.active = one_in(random_, 2);
    part.source = source;
    if (layer.proc == kRefFp16) {
      part.value = index == 2 ? single() : half(random_);
    } else {
      part.value = static_cast<std::uint32_t>(integer(index == 2 ? any(2, 32) : 16));
      if (index < 2) part.value &= 0xffff;
    }
    part.bypass_converter = one_in(random_, 2);
    part.offset = integer(any(2, 32));
    part.scale = integer(any(2, 16));
    part.truncate = any(0, 48);
  }

  void unit(SdpCase& layer, unsigned index) {
    SdpUnit& unit = layer.units[index];
    unit.active = any(0, 3) != 0;
    if (!unit.active) return;
    const auto source = [&] { return static_cast<Source>(any(0, 2)); };
    const Source memory = static_cast<Source>(any(1, 2));
    const Source alu = source() == Source::kRegister ? Source::kRegister : memory;
    const Source mul = source() == Source::kRegister ? Source::kRegister : memory;
    part(layer, unit.alu, index, alu);
    part(layer, unit.mul, index, mul);
    unit.algorithm = any(0, 2);
    unit.alu_shift = any(0, one_in(random_, 4) ? 30 : 8);
    unit.mul_shift = any(0, one_in(random_, 4) ? (index == 2 ? 1023 : 63) : 16);
    unit.prelu = unit.mul.active && one_in(random_, 3);
    unit.relu = index < 2 && one_in(random_, 2);
    unit.two_bytes = layer.proc != kRefInt8 || one_in(random_, 2);
    if (index < 2) return;
    unit.lut = (hw_.features & NVDLA_HW_LUT) != 0 && one_in(random_, 2);
    if (!unit.alu.active || !one_in(random_, 8) || layer.out != layer.proc) return;
    unit.algorithm = 3;
    unit.mul.active = unit.prelu = unit.lut = false;
  }

  void table(const SdpCase& layer, SdpTable& table, bool le) {
    const bool floats = layer.proc == kRefFp16;
    table.entries.resize(le ? 65 : 257);
    Random data = random_.fork();
    for (std::uint16_t& entry : table.entries)
      entry = floats ? finite_half(data) : static_cast<std::uint16_t>(data());
    table.exponential = le && one_in(random_, 2);
    if (floats) {
      table.start = single() | 0x80000000u;
      table.end = single();
      table.offset = static_cast<int>(pick(random_, -30, one_in(random_, 8) ? 127 : 15));
      table.select = static_cast<int>(pick(random_, -12, 12));
      if (one_in(random_, 8)) table.select = static_cast<int>(pick(random_, -128, 121));
      table.under_scale = finite_half(random_);
      table.over_scale = finite_half(random_);
    } else {
      const unsigned bits = any(2, 31);
      table.start = static_cast<std::uint32_t>(integer(bits));
      table.end = static_cast<std::uint32_t>(integer(bits));
      table.offset = static_cast<int>(pick(random_, -64, 31));
      table.select = static_cast<int>(pick(random_, -8, 25));
      table.under_scale = static_cast<std::uint16_t>(random_());
      table.over_scale = static_cast<std::uint16_t>(random_());
    }
    table.under_shift = static_cast<int>(pick(random_, -16, 15));
    table.over_shift = static_cast<int>(pick(random_, -16, 15));
  }

  void fill(const SdpCase& layer, UnitRig& rig, std::uint64_t address, bool floats) {
    const std::uint64_t size = sdp_region(layer);
    if (!floats) return rig.randomise(address, size, random_);
    std::vector<std::byte> bytes;
    Random data = random_.fork();
    while (bytes.size() < size) {
      const std::uint16_t bits = half(data);
      bytes.push_back(static_cast<std::byte>(bits));
      bytes.push_back(static_cast<std::byte>(bits >> 8));
    }
    rig.memory.load(model::Ram::kPrimary, address, bytes);
  }

  const nvdla_hw& hw_;
  Random& random_;
};

}  // namespace nvdla::test
