// SPDX-License-Identifier: MIT
//
// The floats of the first generation worked out with this processor's doubles, from the description
// and sharing nothing with the model: fp16, fp17 and fp32 as patterns, one rounding per operation,
// no infinities, denormals in fp16 only.
#pragma once

#include <cstdint>

namespace nvdla::test {

struct FloatFormat {
  int exponent_bits, mantissa_bits;

  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  constexpr std::uint32_t sign() const { return 1u << (exponent_bits + mantissa_bits); }
  constexpr std::uint32_t infinity() const { return ((1u << exponent_bits) - 1) << mantissa_bits; }
  constexpr bool nan(std::uint32_t bits) const { return (bits & (sign() - 1)) > infinity(); }
};

inline constexpr FloatFormat kHalf{5, 10}, kFp17{6, 10}, kSingle{8, 23};

// Not of a NaN. An infinity counts as the largest number of `to`.
double float_value(const FloatFormat& format, std::uint32_t bits);
// To nearest even; the sign apart, since a zero has one.
std::uint32_t float_bits(const FloatFormat& format, bool negative, double magnitude);
std::uint32_t float_convert(const FloatFormat& from, const FloatFormat& to, std::uint32_t bits);

std::uint32_t float_add(const FloatFormat& format, std::uint32_t a, std::uint32_t b);
std::uint32_t float_mul(const FloatFormat& format, std::uint32_t a, std::uint32_t b);
std::uint32_t float_max(const FloatFormat& format, std::uint32_t a, std::uint32_t b);
std::uint32_t float_min(const FloatFormat& format, std::uint32_t a, std::uint32_t b);

// Half away from zero, saturated; a NaN gives the most negative number.
std::int32_t half_to_int16(std::uint32_t bits);

}  // namespace nvdla::test
