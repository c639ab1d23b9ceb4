// SPDX-License-Identifier: MIT
//
// What the look-up tables of SDP and CDP have in common: wide integers, and where fp32 numbers lie
// in a table. Their fractions have other widths, so each reference interpolates for itself.
#pragma once

#include <cmath>
#include <cstdint>

#include "common/integers.hpp"
#include "common/layers/host_float.hpp"

namespace nvdla::test {

enum Side { kUnder, kHit, kOver };

// fp16 to fp17
inline std::uint32_t fp17_of(int half) {
  return float_convert(kHalf, kFp17, static_cast<std::uint16_t>(half));
}

// fp32: a - b
inline std::uint32_t fp32_minus(std::uint32_t a, std::uint32_t b) {
  return float_add(kSingle, a, b ^ kSingle.sign());
}

// Beyond an end, from fp32 to fp17.
template <typename Table>
std::uint32_t miss_real(const Table& table, std::uint32_t x, bool over) {
  auto anchor = static_cast<std::uint32_t>(over ? table.end : table.start);
  if (!over && table.exponential)
    anchor = float_add(kSingle, anchor, float_bits(kSingle, false, std::ldexp(1.0, table.offset)));
  const std::uint32_t distance = float_convert(kSingle, kFp17, fp32_minus(x, anchor));
  const std::uint32_t step =
      float_mul(kFp17, distance, fp17_of(over ? table.over_scale : table.under_scale));
  return float_add(kFp17, fp17_of(over ? table.entries.back() : table.entries.front()), step);
}

// Between entry `index` and the next where `side` is kHit.
struct RealPlace {
  Side side = kHit;
  std::size_t index = 0;
  double fraction = 0;  // exact
};

template <typename Table>
RealPlace place_real(const Table& table, std::uint32_t x) {
  const std::uint32_t bits = fp32_minus(x, static_cast<std::uint32_t>(table.start));
  if (kSingle.nan(bits) || !(float_value(kSingle, bits) > 0)) return {.side = kUnder};
  const double distance = float_value(kSingle, bits);
  double index, fraction;
  if (table.exponential) {
    const int log = std::ilogb(distance);
    index = log - table.offset;
    if (index < 0) return {.side = kUnder};
    fraction = std::ldexp(distance, -log) - 1;
  } else {
    const double steps = std::ldexp(distance, -table.select);
    index = std::floor(steps);
    fraction = steps - index;
  }
  if (index >= static_cast<double>(table.entries.size() - 1)) return {.side = kOver};
  return {kHit, static_cast<std::size_t>(index), fraction};
}

}  // namespace nvdla::test
