// SPDX-License-Identifier: MIT
//
// Arithmetic of whole numbers that units share.
#ifndef NVDLA_SUPPORT_INTEGERS_HPP
#define NVDLA_SUPPORT_INTEGERS_HPP

#include <algorithm>
#include <cstdint>
#include <limits>

namespace nvdla::arith {

using Wide = __int128;

constexpr std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) noexcept {
  return (a + b - 1) / b;
}

constexpr std::uint64_t round_up(std::uint64_t a, std::uint64_t multiple) noexcept {
  return ceil_div(a, multiple) * multiple;
}

constexpr std::uint64_t magnitude(std::int64_t value) noexcept {
  const auto bits = static_cast<std::uint64_t>(value);
  return value < 0 ? 0 - bits : bits;
}

constexpr std::int32_t saturate32(Wide value) noexcept {
  constexpr Wide kLow = std::numeric_limits<std::int32_t>::min();
  constexpr Wide kHigh = std::numeric_limits<std::int32_t>::max();
  return static_cast<std::int32_t>(std::clamp(value, kLow, kHigh));
}

// Shift right with rounding half away from zero; left if negative.
template <typename Integer>
constexpr Integer round_shift(Integer value, int shift) noexcept {
  if (shift <= 0) return value << -shift;
  const Integer half = Integer{1} << (shift - 1);
  return value < 0 ? -((-value + half) >> shift) : (value + half) >> shift;
}

}  // namespace nvdla::arith

#endif  // NVDLA_SUPPORT_INTEGERS_HPP
