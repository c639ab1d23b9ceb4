// SPDX-License-Identifier: MIT
//
// Look-up tables, the inverse of convert_lut.cpp.
#include <algorithm>

#include "loadable/write/save_parts.hpp"

namespace nvdla::loadable {

LutParam make_lut(const nvdla_lut& lut) {
  LutParam p;
  const bool linear = (lut.flags & NVDLA_LUT_LE_LINEAR) != 0;
  const auto offset = [](std::int32_t value) { return static_cast<std::uint16_t>(value & 0xff); };
  p.method = linear ? 1 : 0;
  p.linear_exp_offset = offset(linear ? lut.le_index_select : lut.le_index_offset);
  p.linear_only_offset = offset(lut.lo_index_select);
  p.underflow_priority = (lut.flags & NVDLA_LUT_UNDERFLOW_LO) != 0;
  p.overflow_priority = (lut.flags & NVDLA_LUT_OVERFLOW_LO) != 0;
  p.hybrid_priority = (lut.flags & NVDLA_LUT_HYBRID_LO) != 0;
  p.linear_exp_start = static_cast<std::uint64_t>(lut.le_start);
  p.linear_exp_end = static_cast<std::uint64_t>(lut.le_end);
  p.linear_only_start = static_cast<std::uint64_t>(lut.lo_start);
  p.linear_only_end = static_cast<std::uint64_t>(lut.lo_end);
  const auto slope = [](const nvdla_lut_slope& s) {
    return LutSlope{.scale = static_cast<std::int16_t>(s.scale),
                    .shifter = static_cast<std::int8_t>(s.shift)};
  };
  p.linear_exp_underflow_slope = slope(lut.le_underflow);
  p.linear_exp_overflow_slope = slope(lut.le_overflow);
  p.linear_only_underflow_slope = slope(lut.lo_underflow);
  p.linear_only_overflow_slope = slope(lut.lo_overflow);
  std::copy(std::begin(lut.le), std::end(lut.le), p.linear_exp_table.begin());
  std::copy(std::begin(lut.lo), std::end(lut.lo), p.linear_only_table.begin());
  return p;
}

}  // namespace nvdla::loadable
