// SPDX-License-Identifier: MIT
#include "nvdla/types/half.hpp"

#include <cmath>
#include <limits>

namespace nvdla {
namespace {

constexpr std::uint16_t kSign = 0x8000, kInfinity = 0x7c00, kNan = 0x7e00, kLargest = 0x7bff;
constexpr int kBias = 15, kMantissaBits = 10;

}  // namespace

std::uint16_t to_half(double value) noexcept {
  const std::uint16_t sign = std::signbit(value) ? kSign : 0;
  const double magnitude = std::fabs(value);
  if (std::isnan(magnitude)) return sign | kNan;
  if (std::isinf(magnitude)) return sign | kInfinity;
  // Half way from 65504 to what would be the next number, which is even.
  if (magnitude >= 65520.0) return sign | kLargest;
  if (magnitude < std::ldexp(1.0, 1 - kBias)) {
    // Rounding up to the smallest normal number gives its pattern by itself.
    return static_cast<std::uint16_t>(
        sign | static_cast<unsigned>(std::nearbyint(std::ldexp(magnitude, 24))));
  }
  int exponent = 0;
  const double fraction = std::frexp(magnitude, &exponent);  // 0.5 up to 1
  const auto significand =
      static_cast<unsigned>(std::nearbyint(std::ldexp(fraction, kMantissaBits + 1)));
  // A carry out of the mantissa goes into the exponent by itself.
  return static_cast<std::uint16_t>(
      sign | ((static_cast<unsigned>(exponent - 2 + kBias) << kMantissaBits) + significand));
}

float from_half(std::uint16_t bits) noexcept {
  const int exponent = bits >> kMantissaBits & 0x1f;
  const int mantissa = bits & ((1 << kMantissaBits) - 1);
  float magnitude = 0;
  if (exponent == 0x1f) {
    magnitude = mantissa == 0 ? std::numeric_limits<float>::infinity()
                              : std::numeric_limits<float>::quiet_NaN();
  } else if (exponent == 0) {
    magnitude = std::ldexp(static_cast<float>(mantissa), 1 - kBias - kMantissaBits);
  } else {
    magnitude = std::ldexp(static_cast<float>(mantissa | 1 << kMantissaBits),
                           exponent - kBias - kMantissaBits);
  }
  return std::copysign(magnitude, (bits & kSign) != 0 ? -1.0F : 1.0F);
}

}  // namespace nvdla
