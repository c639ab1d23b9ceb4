// SPDX-License-Identifier: MIT
#include "common/layers/host_float.hpp"

#include <cmath>

namespace nvdla::test {
namespace {

bool denormals(const FloatFormat& format) { return format.exponent_bits == kHalf.exponent_bits; }

int field(const FloatFormat& format, std::uint32_t bits) {
  return static_cast<int>((bits & format.infinity()) >> format.mantissa_bits);
}

bool below(const FloatFormat& format, std::uint32_t a, std::uint32_t b) {
  const double x = float_value(format, a), y = float_value(format, b);
  if (x != y) return x < y;
  return (a & format.sign()) > (b & format.sign());  // -0 lies below +0
}

}  // namespace

double float_value(const FloatFormat& format, std::uint32_t bits) {
  const double sign = (bits & format.sign()) != 0 ? -1.0 : 1.0;
  const std::uint32_t mantissa = bits & ((1u << format.mantissa_bits) - 1);
  const int exponent = field(format, bits);
  if (exponent == 0 && denormals(format))
    return sign * std::ldexp(mantissa, 1 - format.bias() - format.mantissa_bits);
  if (exponent == 0 && mantissa == 0) return sign * 0.0;
  return sign * std::ldexp(mantissa + std::ldexp(1.0, format.mantissa_bits),
                           exponent - format.bias() - format.mantissa_bits);
}

std::uint32_t float_bits(const FloatFormat& format, bool negative, double magnitude) {
  const std::uint32_t sign = negative ? format.sign() : 0;
  if (magnitude == 0) return sign;
  const double one = std::ldexp(1.0, format.mantissa_bits);
  int exponent = std::ilogb(magnitude) + format.bias();
  if (exponent <= 0 && denormals(format))
    // A carry gives the smallest normal number by itself.
    return sign | static_cast<std::uint32_t>(std::nearbyint(
                      std::ldexp(magnitude, format.bias() - 1 + format.mantissa_bits)));
  double scaled =
      std::nearbyint(std::ldexp(magnitude, format.bias() - exponent + format.mantissa_bits));
  if (scaled >= 2 * one) {
    scaled /= 2;
    ++exponent;
  }
  if (exponent <= 0) return sign;
  const std::uint32_t bits = static_cast<std::uint32_t>(exponent) << format.mantissa_bits;
  if (bits >= format.infinity()) return sign | (format.infinity() - 1);
  return sign | bits | static_cast<std::uint32_t>(scaled - one);
}

std::uint32_t float_convert(const FloatFormat& from, const FloatFormat& to, std::uint32_t bits) {
  const bool negative = (bits & from.sign()) != 0;
  const std::uint32_t sign = negative ? to.sign() : 0;
  if (from.nan(bits)) return sign | to.infinity() | (bits & 0x3ff);
  if ((bits & (from.sign() - 1)) == from.infinity()) return sign | (to.infinity() - 1);
  return float_bits(to, negative, std::fabs(float_value(from, bits)));
}

std::uint32_t float_add(const FloatFormat& format, std::uint32_t a, std::uint32_t b) {
  if (format.nan(a)) return a;
  if (format.nan(b)) return b;
  double x = float_value(format, a), y = float_value(format, b);
  const bool swap = std::fabs(y) > std::fabs(x);
  const bool negative = ((swap ? b : a) & format.sign()) != 0;
  double& large = swap ? y : x;
  double& small = swap ? x : y;
  if (large == 0) return negative ? format.sign() : 0;
  // The smaller one loses what lies below the aligned width.
  const double unit = std::ldexp(1.0, std::ilogb(large) - 2 * format.mantissa_bits - 1);
  small = std::trunc(small / unit) * unit;
  return float_bits(format, negative, std::fabs(large + small));
}

std::uint32_t float_mul(const FloatFormat& format, std::uint32_t a, std::uint32_t b) {
  if (format.nan(a)) return a;
  if (format.nan(b)) return b;
  return float_bits(format, ((a ^ b) & format.sign()) != 0,
                    std::fabs(float_value(format, a) * float_value(format, b)));
}

std::uint32_t float_max(const FloatFormat& format, std::uint32_t a, std::uint32_t b) {
  if (format.nan(a)) return a;
  if (format.nan(b)) return b;
  return below(format, a, b) ? b : a;
}

std::uint32_t float_min(const FloatFormat& format, std::uint32_t a, std::uint32_t b) {
  if (format.nan(a)) return a;
  if (format.nan(b)) return b;
  return below(format, b, a) ? b : a;
}

std::int32_t half_to_int16(std::uint32_t bits) {
  if (kHalf.nan(bits)) return -32768;
  const double value = std::round(float_value(kHalf, bits));  // half away from zero
  return value < -32768 ? -32768 : value > 32767 ? 32767 : static_cast<std::int32_t>(value);
}

}  // namespace nvdla::test
