// SPDX-License-Identifier: MIT
//
// Random stand-alone SDP layers, small ones that use whatever their configuration has, and the
// bytes that they read.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "support/sdp_reference.hpp"

namespace nvdla::test {

class SdpGenerator {
 public:
  SdpGenerator(const nvdla_hw& hw, std::uint64_t seed) : hw_(hw), random_(seed) {}

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
    layer.width = any(1, any(0, 7) == 0 ? 60 : 5);
    layer.height = any(1, 4);
    layer.channels = any(1, 70);
    for (unsigned i = 0; i < 3; ++i)
      if (i < 2 || (hw_.features & NVDLA_HW_SDP_Y) != 0) unit(layer, i);
    layer.flush_nan = any(0, 1) != 0;
    layer.offset = integer(any(2, 32));
    layer.scale = integer(any(2, 16));
    layer.shift = any(0, any(0, 3) == 0 ? 63 : 16);
    if (any(0, 2) == 0) {
      layer.offset = 0;
      layer.scale = 1;
      layer.shift = 0;
    }
    if (layer.uses_lut()) {
      table(layer, layer.le, true);
      table(layer, layer.lo, false);
      layer.under_priority = any(0, 1);
      layer.over_priority = any(0, 1);
      layer.hybrid_priority = any(0, 1);
    }
    layer.count_saturation = any(0, 7) != 0;
    layer.count_specials = any(0, 7) != 0;
    layer.count_input = any(0, 7) != 0;
    layer.count_lut = any(0, 7) != 0;
    place_sdp(layer, random_, any(0, 1) != 0);
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
  std::uint16_t half() {
    if (any(0, 5) == 0) return static_cast<std::uint16_t>(random_());
    return static_cast<std::uint16_t>(any(0, 1) << 15 | any(8, 22) << 10 | any(0, 1023));
  }
  std::uint32_t single() { return any(0, 1) << 31 | any(110, 145) << 23 | any(0, 0x7fffff); }
  std::uint16_t finite_half() {
    const std::uint16_t bits = half();
    return (bits & 0x7c00) == 0x7c00 ? static_cast<std::uint16_t>(bits ^ 0x4000) : bits;
  }

  void part(SdpCase& layer, SdpPart& part, unsigned index, Source source) {
    part.active = any(0, 1) != 0;
    part.source = source;
    if (layer.proc == kRefFp16) {
      part.value = index == 2 ? single() : half();
    } else {
      part.value = static_cast<std::uint32_t>(integer(index == 2 ? any(2, 32) : 16));
      if (index < 2) part.value &= 0xffff;
    }
    part.bypass_converter = any(0, 1) != 0;
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
    unit.alu_shift = any(0, any(0, 3) == 0 ? 30 : 8);
    unit.mul_shift = any(0, any(0, 3) == 0 ? (index == 2 ? 1023 : 63) : 16);
    unit.prelu = unit.mul.active && any(0, 2) == 0;
    unit.relu = index < 2 && any(0, 1) != 0;
    unit.two_bytes = layer.proc != kRefInt8 || any(0, 1) != 0;
    if (index < 2) return;
    unit.lut = (hw_.features & NVDLA_HW_LUT) != 0 && any(0, 1) != 0;
    if (!unit.alu.active || any(0, 7) != 0 || layer.out != layer.proc) return;
    unit.algorithm = 3;
    unit.mul.active = unit.prelu = unit.lut = false;
  }

  void table(const SdpCase& layer, SdpTable& table, bool le) {
    const bool floats = layer.proc == kRefFp16;
    table.entries.resize(le ? 65 : 257);
    for (std::uint16_t& entry : table.entries)
      entry = floats ? finite_half() : static_cast<std::uint16_t>(random_());
    table.exponential = le && any(0, 1) != 0;
    if (floats) {
      table.start = single() | 0x80000000u;
      table.end = single();
      table.offset = static_cast<int>(pick(random_, -30, any(0, 7) == 0 ? 127 : 15));
      table.select = static_cast<int>(pick(random_, -12, 12));
      if (any(0, 7) == 0) table.select = static_cast<int>(pick(random_, -128, 121));
      table.under_scale = finite_half();
      table.over_scale = finite_half();
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
    while (bytes.size() < size) {
      const std::uint16_t bits = half();
      bytes.push_back(static_cast<std::byte>(bits));
      bytes.push_back(static_cast<std::byte>(bits >> 8));
    }
    rig.memory.load(model::Ram::kPrimary, address, bytes);
  }

  const nvdla_hw& hw_;
  std::mt19937_64 random_;
};

}  // namespace nvdla::test
