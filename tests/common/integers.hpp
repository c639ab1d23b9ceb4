// SPDX-License-Identifier: MIT
//
// Arithmetic of whole numbers for references, written apart from the model's.
#ifndef NVDLA_TESTS_COMMON_INTEGERS_HPP
#define NVDLA_TESTS_COMMON_INTEGERS_HPP

#include <algorithm>
#include <cstdint>

namespace nvdla::test {

using Wide = __int128;

constexpr std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }
constexpr std::uint64_t round_up(std::uint64_t a, std::uint64_t b) { return ceil_div(a, b) * b; }

// Shift right, halves away from zero; left if negative. Nothing is left of more than 100 bits.
constexpr Wide round_shift(Wide value, int shift) {
  if (shift < 0) return value * (static_cast<Wide>(1) << -shift);
  if (shift > 100) return 0;
  const Wide unit = static_cast<Wide>(1) << shift;
  const Wide magnitude = value < 0 ? -value : value;
  const Wide rounded = (magnitude + unit / 2) / unit;
  return value < 0 ? -rounded : rounded;
}

// To a signed number of so many bits, 64 at most.
constexpr std::int64_t saturate(Wide value, unsigned bits) {
  const Wide high = (static_cast<Wide>(1) << (bits - 1)) - 1;
  return static_cast<std::int64_t>(std::clamp(value, -high - 1, high));
}

}  // namespace nvdla::test

#endif  // NVDLA_TESTS_COMMON_INTEGERS_HPP
