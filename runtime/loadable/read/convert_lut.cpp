// SPDX-License-Identifier: MIT
//
// Look-up tables.
#include <algorithm>
#include <tuple>

#include "loadable/read/task_converter.hpp"

namespace nvdla::loadable {
namespace {

std::int64_t sign_extend(std::uint64_t value, unsigned bits) {
  return static_cast<std::int64_t>(value << (64 - bits)) >> (64 - bits);
}

}  // namespace

std::uint32_t TaskConverter::add_lut(std::int16_t index, std::uint32_t unit, std::uint32_t type) {
  if (index < 0 || static_cast<std::size_t>(index) >= dla_.luts.size()) {
    throw_error("lut_index {}: the task has {} tables", index, dla_.luts.size());
  }
  const auto key = std::tuple(index, unit, type);
  if (const auto found = lut_of_.find(key); found != lut_of_.end()) return found->second;
  const LutParam& from = dla_.luts[static_cast<std::size_t>(index)];
  const bool real = type == NVDLA_PRECISION_FP16;
  nvdla_lut lut = {};
  lut.unit = unit;
  const auto low = [](std::uint16_t offset) { return static_cast<std::int8_t>(offset & 0xff); };
  if (from.method == 1) {
    lut.flags |= NVDLA_LUT_LE_LINEAR;
    lut.le_index_select = low(from.linear_exp_offset);
  } else {
    lut.le_index_offset = low(from.linear_exp_offset);
  }
  if (from.underflow_priority != 0) lut.flags |= NVDLA_LUT_UNDERFLOW_LO;
  if (from.overflow_priority != 0) lut.flags |= NVDLA_LUT_OVERFLOW_LO;
  if (from.hybrid_priority != 0) lut.flags |= NVDLA_LUT_HYBRID_LO;
  lut.lo_index_select = low(from.linear_only_offset);
  const auto input = [&](std::uint64_t value) {
    if (real) return static_cast<std::int64_t>(value & 0xffffffff);
    return sign_extend(value, unit == NVDLA_LUT_CDP ? 38 : 32);
  };
  lut.le_start = input(from.linear_exp_start);
  lut.le_end = input(from.linear_exp_end);
  lut.lo_start = input(from.linear_only_start);
  lut.lo_end = input(from.linear_only_end);
  const auto slope = [&](const LutSlope& s) {
    nvdla_lut_slope out = {};
    out.scale = real ? static_cast<std::uint16_t>(s.scale) : s.scale;
    out.shift = real ? 0 : s.shifter;
    return out;
  };
  lut.le_underflow = slope(from.linear_exp_underflow_slope);
  lut.le_overflow = slope(from.linear_exp_overflow_slope);
  lut.lo_underflow = slope(from.linear_only_underflow_slope);
  lut.lo_overflow = slope(from.linear_only_overflow_slope);
  std::copy(from.linear_exp_table.begin(), from.linear_exp_table.end(), lut.le);
  std::copy(from.linear_only_table.begin(), from.linear_only_table.end(), lut.lo);
  program_.luts.push_back(lut);
  const auto number = static_cast<std::uint32_t>(program_.luts.size());
  lut_of_.emplace(key, number);
  return number;
}

}  // namespace nvdla::loadable
