// SPDX-License-Identifier: MIT
//
// fp17, the format of the first generation's poolings: 1 sign, 6 exponent (bias 31), 10 mantissa.
#ifndef NVDLA_SUPPORT_FP17_HPP
#define NVDLA_SUPPORT_FP17_HPP

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace nvdla::arith {

// The nearest, halves to even. There are no denormals, a smaller number is zero; a greater one than
// the largest is that. Not for NaN.
inline std::uint32_t to_fp17(double value) noexcept {
  constexpr std::uint32_t kLargest = 0xfbff;
  const std::uint32_t sign = std::signbit(value) ? 0x10000 : 0;
  const double magnitude = std::fabs(value);
  int exponent = 0;
  const double fraction = std::frexp(magnitude, &exponent);  // 0.5 up to 1
  const auto significand = static_cast<std::int64_t>(std::nearbyint(std::ldexp(fraction, 11)));
  if (significand == 0) return sign;
  // A carry out of the mantissa goes into the exponent by itself.
  const std::int64_t bits = (std::int64_t{exponent} - 2 + 31) * 1024 + significand;
  if (bits < 1024) return sign;
  return sign | static_cast<std::uint32_t>(std::min<std::int64_t>(bits, kLargest));
}

}  // namespace nvdla::arith

#endif  // NVDLA_SUPPORT_FP17_HPP
