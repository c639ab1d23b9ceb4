// SPDX-License-Identifier: MIT
#include <algorithm>

#include "common/lift/lift_units.hpp"

namespace nvdla::test {

// Registers whose number does not count: an exponential table has no step, a
// linear one no exponent, fp16 no shift of slopes.
nvdla_lut lift_lut(const LaunchRegisters& registers, std::uint32_t lut_unit,
                   std::uint32_t precision) {
  const model::Unit unit = lut_unit == NVDLA_LUT_CDP ? NVDLA_UNIT_CDP : NVDLA_UNIT_SDP;
  const bool real = precision == NVDLA_PRECISION_FP16;
  nvdla_lut lut{};
  lut.unit = lut_unit;
  const std::uint32_t cfg = registers.read(unit, NVDLA_SDP_S_LUT_CFG);
  if (cfg & NVDLA_SDP_S_LUT_CFG_LUT_LE_FUNCTION_MASK) lut.flags |= NVDLA_LUT_LE_LINEAR;
  if (cfg & NVDLA_SDP_S_LUT_CFG_LUT_UFLOW_PRIORITY_MASK) lut.flags |= NVDLA_LUT_UNDERFLOW_LO;
  if (cfg & NVDLA_SDP_S_LUT_CFG_LUT_OFLOW_PRIORITY_MASK) lut.flags |= NVDLA_LUT_OVERFLOW_LO;
  if (cfg & NVDLA_SDP_S_LUT_CFG_LUT_HYBRID_PRIORITY_MASK) lut.flags |= NVDLA_LUT_HYBRID_LO;
  const std::uint32_t info = registers.read(unit, NVDLA_SDP_S_LUT_INFO);
  if (lut.flags & NVDLA_LUT_LE_LINEAR)
    lut.le_index_select = sign_extend(info >> 8, 8);
  else
    lut.le_index_offset = sign_extend(info, 8);
  lut.lo_index_select = sign_extend(info >> 16, 8);

  const auto input = [&](std::uint32_t index) -> std::int64_t {
    if (unit == NVDLA_UNIT_SDP) {
      const std::uint32_t value = registers.read(unit, NVDLA_SDP_S_LUT_LE_START + 4 * index);
      return real ? std::int64_t{value} : std::int64_t{static_cast<std::int32_t>(value)};
    }
    const std::uint64_t low = registers.read(unit, NVDLA_CDP_S_LUT_LE_START_LOW + 8 * index);
    const std::uint64_t high = registers.read(unit, NVDLA_CDP_S_LUT_LE_START_HIGH + 8 * index);
    if (real) return static_cast<std::int64_t>(low);
    const unsigned shift = precision == NVDLA_PRECISION_INT8 ? 64 - 22 : 64 - 38;
    return static_cast<std::int64_t>((high << 32 | low) << shift) >> shift;
  };
  lut.le_start = input(0);
  lut.le_end = input(1);
  lut.lo_start = input(2);
  lut.lo_end = input(3);
  const std::uint32_t slopes =
      unit == NVDLA_UNIT_CDP ? NVDLA_CDP_S_LUT_LE_SLOPE_SCALE : NVDLA_SDP_S_LUT_LE_SLOPE_SCALE;
  const auto slope = [&](std::uint32_t at, bool over) {
    const std::uint32_t scale = registers.read(unit, slopes + at) >> (over ? 16 : 0) & 0xffff;
    const std::uint32_t shift = registers.read(unit, slopes + at + 4) >> (over ? 5 : 0) & 0x1f;
    if (real) return nvdla_lut_slope{static_cast<std::int32_t>(scale), 0};
    return nvdla_lut_slope{sign_extend(scale, 16), sign_extend(shift, 5)};
  };
  lut.le_underflow = slope(0, false);
  lut.le_overflow = slope(0, true);
  lut.lo_underflow = slope(8, false);
  lut.lo_overflow = slope(8, true);
  const auto& tables = registers.tables(unit);
  std::copy(tables.le.begin(), tables.le.end(), lut.le);
  std::copy(tables.lo.begin(), tables.lo.end(), lut.lo);
  return lut;
}

}  // namespace nvdla::test
