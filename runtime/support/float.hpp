// SPDX-License-Identifier: MIT
//
// The floating-point primitives of the first generation, bit for bit, on patterns: fp16 (1/5/10),
// fp17 (1/6/10, bias 31) and fp32 (1/8/23).
//
// None of them knows an infinity: overflow gives the largest finite number, and an infinite fp16
// becomes the largest finite number of the format that it is widened to. Only fp16 has denormals;
// elsewhere a result below the normal range is a signed zero. The payload of a NaN is its low ten
// bits in every format. Rounding is to nearest even, once per operation.
#ifndef NVDLA_SUPPORT_FLOAT_HPP
#define NVDLA_SUPPORT_FLOAT_HPP

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace nvdla::fp {

template <unsigned kExponentBitsOf, unsigned kMantissaBitsOf>
struct Format {
  static constexpr unsigned kExponentBits = kExponentBitsOf;
  static constexpr unsigned kMantissaBits = kMantissaBitsOf;
  static constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  static constexpr std::uint32_t kExponentMax = (1u << kExponentBits) - 1;
  static constexpr std::uint32_t kMantissa = (1u << kMantissaBits) - 1;
  static constexpr std::uint32_t kExponent = kExponentMax << kMantissaBits;
  static constexpr std::uint32_t kSign = 1u << (kExponentBits + kMantissaBits);
  static constexpr std::uint32_t kMagnitude = kSign - 1;
  static constexpr std::uint32_t kMaxFinite = kExponent - 1;
};

using Fp16 = Format<5, 10>;
using Fp17 = Format<6, 10>;
using Fp32 = Format<8, 23>;

// All formats keep what a NaN says in as many bits as fp16 has.
inline constexpr std::uint32_t kPayload = Fp16::kMantissa;

template <typename F>
constexpr bool is_nan(std::uint32_t value) noexcept {
  return (value & F::kMagnitude) > F::kExponent;
}

template <typename F>
constexpr bool is_infinite(std::uint32_t value) noexcept {
  return (value & F::kMagnitude) == F::kExponent;
}

template <typename F>
constexpr bool is_zero(std::uint32_t value) noexcept {
  return (value & F::kMagnitude) == 0;
}

// A number or a NaN as operations give them in formats without infinities and denormals.
template <typename F>
constexpr bool is_regular(std::uint32_t value) noexcept {
  const std::uint32_t magnitude = value & F::kMagnitude;
  if (is_nan<F>(value)) return (magnitude & F::kMantissa) <= kPayload;
  return magnitude == 0 || (magnitude > F::kMantissa && magnitude != F::kExponent);
}

namespace detail {

// `value` / 2^shift to nearest even; shift 1..63.
constexpr std::uint64_t round_even(std::uint64_t value, unsigned shift) noexcept {
  const std::uint64_t odd = value >> shift & 1;
  return (value + (std::uint64_t{1} << (shift - 1)) - 1 + odd) >> shift;
}

// The mantissa with its leading one. A zero exponent stands for zero only if the mantissa is zero
// too, since there are no denormals.
template <typename F>
constexpr std::uint64_t significand(std::uint32_t value) noexcept {
  if (is_zero<F>(value)) return 0;
  return (value & F::kMantissa) | std::uint64_t{1} << F::kMantissaBits;
}

template <typename F>
constexpr int exponent(std::uint32_t value) noexcept {
  return static_cast<int>(value >> F::kMantissaBits & F::kExponentMax);
}

// Puts a result together; `significand` has its leading one at bit kMantissaBits, or one above
// where rounding carried.
template <typename F>
constexpr std::uint32_t compose(std::uint32_t sign, int exponent,
                                std::uint64_t significand) noexcept {
  if (significand >> (F::kMantissaBits + 1) != 0) {
    significand >>= 1;
    ++exponent;
  }
  if (exponent <= 0) return sign;
  if (exponent >= static_cast<int>(F::kExponentMax)) return sign | F::kMaxFinite;
  return sign | static_cast<std::uint32_t>(exponent) << F::kMantissaBits |
         (static_cast<std::uint32_t>(significand) & F::kMantissa);
}

}  // namespace detail

// fp16 to fp17 or fp32, exact.
template <typename To>
constexpr std::uint32_t widen(std::uint32_t value) noexcept {
  constexpr unsigned kShift = To::kMantissaBits - Fp16::kMantissaBits;
  constexpr int kDelta = To::kBias - Fp16::kBias;
  const std::uint32_t sign = (value & Fp16::kSign) != 0 ? To::kSign : 0;
  const std::uint32_t magnitude = value & Fp16::kMagnitude;
  if (magnitude > Fp16::kExponent) return sign | To::kExponent | (magnitude & kPayload);
  if (magnitude == Fp16::kExponent) return sign | To::kMaxFinite;
  if (magnitude == 0) return sign;
  std::uint32_t mantissa = magnitude & Fp16::kMantissa;
  int exponent = detail::exponent<Fp16>(magnitude);
  if (exponent == 0) {
    const int shift = std::countl_zero(mantissa) - (31 - static_cast<int>(Fp16::kMantissaBits));
    mantissa = mantissa << shift & Fp16::kMantissa;
    exponent = 1 - shift;
  }
  return sign | static_cast<std::uint32_t>(exponent + kDelta) << To::kMantissaBits |
         mantissa << kShift;
}

// fp17 or fp32 to fp16, with denormals.
template <typename From>
constexpr std::uint16_t narrow(std::uint32_t value) noexcept {
  constexpr int kShift = From::kMantissaBits - Fp16::kMantissaBits;
  constexpr int kDelta = From::kBias - Fp16::kBias;
  const std::uint32_t sign = (value & From::kSign) != 0 ? Fp16::kSign : 0;
  if (is_nan<From>(value))
    return static_cast<std::uint16_t>(sign | Fp16::kExponent | (value & kPayload));
  const int exponent = detail::exponent<From>(value) - kDelta;
  const std::uint64_t significand = detail::significand<From>(value);
  // Below half of the smallest denormal.
  if (exponent < -static_cast<int>(Fp16::kMantissaBits)) return static_cast<std::uint16_t>(sign);
  const unsigned shift = static_cast<unsigned>(exponent > 0 ? kShift : kShift + 1 - exponent);
  const std::uint64_t rounded = shift == 0 ? significand : detail::round_even(significand, shift);
  if (exponent <= 0)  // Rounding up to the smallest normal gives its pattern by itself.
    return static_cast<std::uint16_t>(sign | static_cast<std::uint32_t>(rounded));
  return static_cast<std::uint16_t>(detail::compose<Fp16>(sign, exponent, rounded));
}

// fp32 to fp17. What would be a denormal is a zero, unless it rounds up to the smallest normal.
constexpr std::uint32_t fp32_to_fp17(std::uint32_t value) noexcept {
  constexpr int kShift = Fp32::kMantissaBits - Fp17::kMantissaBits;
  constexpr int kDelta = Fp32::kBias - Fp17::kBias;
  const std::uint32_t sign = (value & Fp32::kSign) != 0 ? Fp17::kSign : 0;
  if (is_nan<Fp32>(value)) return sign | Fp17::kExponent | (value & kPayload);
  const int exponent = detail::exponent<Fp32>(value) - kDelta;
  const std::uint64_t significand = detail::significand<Fp32>(value);
  if (exponent < 0) return sign;
  if (exponent == 0) {
    const std::uint64_t denormal = detail::round_even(significand, kShift + 1);
    return denormal > Fp17::kMantissa ? sign | 1u << Fp17::kMantissaBits : sign;
  }
  return detail::compose<Fp17>(sign, exponent, detail::round_even(significand, kShift));
}

// fp17 to fp32, exact.
constexpr std::uint32_t fp17_to_fp32(std::uint32_t value) noexcept {
  constexpr int kShift = Fp32::kMantissaBits - Fp17::kMantissaBits;
  constexpr std::uint32_t kDelta = Fp32::kBias - Fp17::kBias;
  const std::uint32_t sign = (value & Fp17::kSign) != 0 ? Fp32::kSign : 0;
  if (is_nan<Fp17>(value)) return sign | Fp32::kExponent | (value & kPayload);
  if (is_infinite<Fp17>(value)) return sign | Fp32::kMaxFinite;
  if (is_zero<Fp17>(value)) return sign;
  const std::uint32_t magnitude = value & Fp17::kMagnitude;
  return sign | (magnitude + (kDelta << Fp17::kMantissaBits)) << kShift;
}

// A sum takes the sign of the operand with the greater magnitude (the first where they are equal),
// a zero too. The smaller operand is aligned over as many extra bits as the mantissa has with its
// leading one; what is shifted out below is dropped.
template <typename F>
constexpr std::uint32_t add(std::uint32_t a, std::uint32_t b) noexcept {
  constexpr unsigned kExtra = F::kMantissaBits + 1;
  if (is_nan<F>(a)) return a;
  if (is_nan<F>(b)) return b;
  const bool swap = (b & F::kMagnitude) > (a & F::kMagnitude);
  const std::uint32_t large = swap ? b : a;
  const std::uint32_t small = swap ? a : b;
  const std::uint32_t sign = large & F::kSign;
  const int exponent = detail::exponent<F>(large);
  const unsigned distance = static_cast<unsigned>(exponent - detail::exponent<F>(small));
  const std::uint64_t augend = detail::significand<F>(large) << kExtra;
  const std::uint64_t addend =
      distance > 2 * kExtra ? 0 : detail::significand<F>(small) << kExtra >> distance;
  const std::uint64_t sum = ((a ^ b) & F::kSign) != 0 ? augend - addend : augend + addend;
  if (sum == 0) return sign;
  // Normalised to one bit more than the aligned operands, the carry.
  const int lead = std::countl_zero(sum) - static_cast<int>(63 - 2 * kExtra);
  return detail::compose<F>(sign, exponent + 1 - lead, detail::round_even(sum << lead, kExtra + 1));
}

// A NaN that is subtracted comes out with its sign inverted.
template <typename F>
constexpr std::uint32_t sub(std::uint32_t a, std::uint32_t b) noexcept {
  return add<F>(a, b ^ F::kSign);
}

template <typename F>
constexpr std::uint32_t mul(std::uint32_t a, std::uint32_t b) noexcept {
  if (is_nan<F>(a)) return a;
  if (is_nan<F>(b)) return b;
  const std::uint32_t sign = (a ^ b) & F::kSign;
  const std::uint64_t product = detail::significand<F>(a) * detail::significand<F>(b);
  if (product == 0) return sign;
  const int exponent = detail::exponent<F>(a) + detail::exponent<F>(b) - F::kBias;
  if (exponent < 0) return sign;
  const unsigned carry = static_cast<unsigned>(product >> (2 * F::kMantissaBits + 1));
  return detail::compose<F>(sign, exponent + static_cast<int>(carry),
                            detail::round_even(product, F::kMantissaBits + carry));
}

// Orders numbers by sign and magnitude: -0 lies below +0. Not for NaN.
template <typename F>
constexpr std::int32_t order(std::uint32_t value) noexcept {
  const std::int32_t magnitude = static_cast<std::int32_t>(value & F::kMagnitude);
  return (value & F::kSign) != 0 ? ~magnitude : magnitude;
}

// A NaN wins, the first one where both are.
template <typename F>
constexpr std::uint32_t max(std::uint32_t a, std::uint32_t b) noexcept {
  if (is_nan<F>(a)) return a;
  if (is_nan<F>(b)) return b;
  return order<F>(a) >= order<F>(b) ? a : b;
}

template <typename F>
constexpr std::uint32_t min(std::uint32_t a, std::uint32_t b) noexcept {
  if (is_nan<F>(a)) return a;
  if (is_nan<F>(b)) return b;
  return order<F>(a) <= order<F>(b) ? a : b;
}

// `value` times 2^exponent.
template <typename F>
constexpr std::uint32_t from_integer(std::uint64_t value, int exponent) noexcept {
  if (value == 0) return 0;
  constexpr int kBits = F::kMantissaBits;
  const int lead = 63 - std::countl_zero(value);
  const std::uint64_t significand =
      lead <= kBits ? value << (kBits - lead)
                    : detail::round_even(value, static_cast<unsigned>(lead - kBits));
  return detail::compose<F>(0, lead + exponent + F::kBias, significand);
}

// Any 32-bit integer to fp16; saturates at 65504.
constexpr std::uint16_t int_to_fp16(std::int32_t value) noexcept {
  const std::int64_t wide = value;
  const std::uint32_t sign = value < 0 ? Fp16::kSign : 0;
  return static_cast<std::uint16_t>(
      sign | from_integer<Fp16>(static_cast<std::uint64_t>(value < 0 ? -wide : wide), 0));
}

// Rounds half away from zero and saturates; NaN gives the most negative number.
constexpr std::int16_t fp16_to_int16(std::uint32_t value) noexcept {
  if (is_nan<Fp16>(value)) return INT16_MIN;
  const bool negative = (value & Fp16::kSign) != 0;
  const int exponent = detail::exponent<Fp16>(value);
  const int shift = exponent - Fp16::kBias - static_cast<int>(Fp16::kMantissaBits);
  const std::uint32_t significand = (value & Fp16::kMantissa) | 1u << Fp16::kMantissaBits;
  std::uint32_t magnitude = 0;
  if (shift >= 0) {
    magnitude = significand << shift;
  } else if (exponent >= Fp16::kBias - 1) {  // less than a half is 0, denormals too
    magnitude = ((significand >> (-shift - 1)) + 1) >> 1;
  }
  if (negative)
    return static_cast<std::int16_t>(-static_cast<int>(magnitude < 32768 ? magnitude : 32768));
  return static_cast<std::int16_t>(magnitude < 32767 ? magnitude : 32767);
}

// Returns +0 for every NaN, as NAN_TO_ZERO does.
template <typename F>
constexpr std::uint32_t flush_nan(std::uint32_t value) noexcept {
  return is_nan<F>(value) ? 0 : value;
}

// NaNs and infinities of an input, as the counters count them.
struct Specials {
  std::uint32_t nan = 0;
  std::uint32_t infinite = 0;
};
Specials count_specials(std::span<const std::uint16_t> values) noexcept;

}  // namespace nvdla::fp

#endif  // NVDLA_SUPPORT_FLOAT_HPP
