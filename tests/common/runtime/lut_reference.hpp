// SPDX-License-Identifier: MIT
//
// Look-up tables of SDP and CDP for integers with two linear tables, one number at a time.
#ifndef NVDLA_TESTS_COMMON_RUNTIME_LUT_REFERENCE_HPP
#define NVDLA_TESTS_COMMON_RUNTIME_LUT_REFERENCE_HPP

#include <drm/nvdla_layer.h>

#include <cstddef>
#include <cstdint>
#include <random>

#include "common/runtime/reference.hpp"

namespace nvdla::test {

// Where a number meets a table: -1 below, 0 in it, 1 above, and what comes out.
struct LutResult {
  int side = 0;
  std::int64_t value = 0;
};

struct LutTable {
  const std::uint16_t* entries;
  int count;
  std::int64_t start, end;
  int select;
  nvdla_lut_slope under, over;
};

inline LutResult lut_table(const LutTable& t, std::int64_t x, bool cdp) {
  const auto entry = [&](std::int64_t i) {
    return std::int64_t{static_cast<std::int16_t>(t.entries[i])};
  };
  const int bits = cdp ? 16 : 32;
  const auto beyond = [&](std::int64_t from, std::int64_t anchor, const nvdla_lut_slope& slope) {
    __int128 step = static_cast<__int128>(x - anchor) * slope.scale;
    step = slope.shift >= 0 ? round_shift(step, static_cast<unsigned>(slope.shift))
                            : step * (std::int64_t{1} << -slope.shift);
    return saturate(from + static_cast<__int128>(saturate(step, cdp ? 56 : 32)), bits);
  };
  if (x <= t.start) return {-1, beyond(entry(0), t.start, t.under)};
  const auto offset = static_cast<std::uint64_t>(x - t.start);
  const std::uint64_t index = offset >> t.select;
  if (index >= static_cast<std::uint64_t>(t.count - 1)) {
    return {1, beyond(entry(t.count - 1), t.end, t.over)};
  }
  const auto i = static_cast<std::int64_t>(index);
  const std::uint64_t rest = offset & ((std::uint64_t{1} << t.select) - 1);
  if (cdp) {
    const std::int64_t f = static_cast<std::int64_t>(rest << 16 >> t.select);
    return {0,
            saturate(entry(i) + round_shift(static_cast<__int128>(entry(i + 1) - entry(i)) * f, 16),
                     16)};
  }
  const __int128 f = static_cast<__int128>(rest) << 35 >> t.select;
  const __int128 one = static_cast<__int128>(1) << 35;
  return {0, saturate(round_shift(entry(i) * (one - f) + entry(i + 1) * f, 35), 32)};
}

inline std::int64_t look_up(const nvdla_lut& lut, std::int64_t x) {
  const bool cdp = lut.unit == NVDLA_LUT_CDP;
  const LutResult le = lut_table({lut.le, NVDLA_LUT_LE_ENTRIES, lut.le_start, lut.le_end,
                                  lut.le_index_select, lut.le_underflow, lut.le_overflow},
                                 x, cdp);
  const LutResult lo = lut_table({lut.lo, NVDLA_LUT_LO_ENTRIES, lut.lo_start, lut.lo_end,
                                  lut.lo_index_select, lut.lo_underflow, lut.lo_overflow},
                                 x, cdp);
  std::uint32_t flag = NVDLA_LUT_HYBRID_LO;
  if (le.side == lo.side) {
    if (le.side < 0) flag = NVDLA_LUT_UNDERFLOW_LO;
    if (le.side > 0) flag = NVDLA_LUT_OVERFLOW_LO;
  } else if (le.side == 0) {
    return le.value;
  } else if (lo.side == 0) {
    return lo.value;
  }
  return (lut.flags & flag) != 0 ? lo.value : le.value;
}

// All zero but the unit.
inline nvdla_lut empty_lut(nvdla_lut_unit unit) {
  nvdla_lut lut = {};
  lut.unit = unit;
  return lut;
}

// Tables around numbers of `bits` bits.
template <typename Numbers>
nvdla_lut random_lut(nvdla_lut_unit unit, unsigned bits, Numbers& random) {
  nvdla_lut lut = empty_lut(unit);
  const auto within = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  const std::int64_t half = std::int64_t{1} << (bits - 1);
  lut.flags = NVDLA_LUT_LE_LINEAR | (random() % 2 != 0 ? NVDLA_LUT_UNDERFLOW_LO : 0U) |
              (random() % 2 != 0 ? NVDLA_LUT_OVERFLOW_LO : 0U) |
              (random() % 2 != 0 ? NVDLA_LUT_HYBRID_LO : 0U);
  // LE covers all of the numbers or a part of them, LO a smaller part.
  lut.le_index_select = static_cast<std::int32_t>(within(2, bits - 6));
  lut.lo_index_select = static_cast<std::int32_t>(within(0, bits > 10 ? bits - 9 : 0));
  lut.le_start = within(-half, half / 2);
  lut.le_end = lut.le_start + (std::int64_t{64} << lut.le_index_select);
  lut.lo_start = within(-half, half / 2);
  lut.lo_end = lut.lo_start + (std::int64_t{256} << lut.lo_index_select);
  for (nvdla_lut_slope* slope :
       {&lut.le_underflow, &lut.le_overflow, &lut.lo_underflow, &lut.lo_overflow}) {
    slope->scale = static_cast<std::int32_t>(within(-300, 300));
    slope->shift = static_cast<std::int32_t>(within(-2, 8));
  }
  std::mt19937 entries(static_cast<std::uint32_t>(random()));
  for (std::uint16_t& entry : lut.le) entry = static_cast<std::uint16_t>(entries());
  for (std::uint16_t& entry : lut.lo) entry = static_cast<std::uint16_t>(entries());
  return lut;
}

}  // namespace nvdla::test

#endif  // NVDLA_TESTS_COMMON_RUNTIME_LUT_REFERENCE_HPP
