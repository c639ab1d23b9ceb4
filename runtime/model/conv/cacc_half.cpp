// SPDX-License-Identifier: MIT
#include "model/conv/cacc_half.hpp"

#include <bit>

#include "support/float.hpp"
#include "support/integers.hpp"

namespace nvdla::model {
namespace {

constexpr int kFraction = 38;

// Sign bits of a number of `bits` bits that the sign does not need.
int redundant_signs(std::int64_t value, int bits) noexcept {
  const auto magnitude = static_cast<std::uint64_t>(value < 0 ? ~value : value);
  return std::countl_zero(magnitude) - 1 - (64 - bits);
}

int redundant_signs(__int128 value, int bits) noexcept {
  const auto magnitude = static_cast<unsigned __int128>(value < 0 ? ~value : value);
  const auto high = static_cast<std::uint64_t>(magnitude >> 64);
  const int zeros = high != 0 ? std::countl_zero(high)
                              : 64 + std::countl_zero(static_cast<std::uint64_t>(magnitude));
  return zeros - 1 - (128 - bits);
}

struct Number {
  std::int64_t mantissa;
  std::int32_t exponent;
};

// The sum, normalised and rounded; `exponent` is that of `large`, `distance` below which is that of
// `small`. It is exact before that: `kKept` bits are kept below the mantissa's 40.
template <typename Wide, int kKept>
Number sum_of(std::int64_t large, std::int64_t small, int distance,
              std::int32_t exponent) noexcept {
  constexpr arith::Wide kOne = 1;
  arith::Wide sum = large * (kOne << kKept);
  if (distance <= kKept) sum += small * (kOne << (kKept - distance));
  if (sum == 0) return {0, 0};
  // A carry gives -1, what cancels more than that.
  const int shift = redundant_signs(sum, kFraction + 2 + kKept);
  exponent -= shift;
  const int below = kKept - shift;
  if (below <= 0) return {static_cast<std::int64_t>(sum * (kOne << -below)), exponent};
  // Half away from zero: a negative number that ends in exactly a half stays below.
  const bool guard = (sum >> (below - 1) & 1) != 0;
  const bool sticky = (sum & ((kOne << (below - 1)) - 1)) != 0;
  const std::int64_t rounded =
      static_cast<std::int64_t>(sum >> below) + (guard && (sum > 0 || sticky) ? 1 : 0);
  if (rounded == std::int64_t{1} << (kFraction + 1)) return {rounded >> 1, exponent + 1};
  if (rounded == -(std::int64_t{1} << kFraction)) return {rounded * 2, exponent - 1};
  return {rounded, exponent};
}

}  // namespace

void HalfAccumulator::add_nan(std::uint16_t nan) noexcept {
  if (nan_ == 0) nan_ = nan;
}

void HalfAccumulator::add(std::int64_t mantissa, std::uint32_t exponent) noexcept {
  if (mantissa == 0 || nan_ != 0) return;
  constexpr int kProductBits = 38;
  const int unused = redundant_signs(mantissa, kProductBits);
  const std::int64_t addend = mantissa * (std::int64_t{1} << (unused + 2));
  const std::int32_t addend_exponent = static_cast<std::int32_t>(exponent) - unused + 49;
  if (mantissa_ == 0) {
    mantissa_ = addend;
    exponent_ = addend_exponent;
    return;
  }
  const bool larger = addend_exponent > exponent_;
  const std::int64_t large = larger ? addend : mantissa_;
  const std::int64_t small = larger ? mantissa_ : addend;
  const int distance = larger ? addend_exponent - exponent_ : exponent_ - addend_exponent;
  const std::int32_t exponent_of_large = larger ? addend_exponent : exponent_;

  // Most sums fit the processor's words.
  constexpr int kNear = 22, kFar = 40;
  const Number sum = distance <= kNear
                         ? sum_of<std::int64_t, kNear>(large, small, distance, exponent_of_large)
                         : sum_of<__int128, kFar>(large, small, distance, exponent_of_large);
  mantissa_ = sum.mantissa;
  exponent_ = sum.exponent;
}

std::uint32_t HalfAccumulator::deliver() const noexcept {
  using fp::Fp16;
  using fp::Fp32;
  if (nan_ != 0)
    return ((nan_ & Fp16::kSign) != 0 ? Fp32::kSign : 0) | Fp32::kExponent |
           (nan_ & Fp16::kMantissa);
  if (mantissa_ == 0) return 0;
  const std::uint32_t sign = mantissa_ < 0 ? Fp32::kSign : 0;
  auto magnitude = static_cast<std::uint64_t>(mantissa_ < 0 ? -mantissa_ : mantissa_);
  std::int32_t exponent = exponent_ + Fp32::kBias - 63;
  if (magnitude >> (kFraction + 1) != 0) {  // -2.0
    magnitude >>= 1;
    ++exponent;
  }
  constexpr unsigned kShift = kFraction - Fp32::kMantissaBits;
  std::uint64_t rounded = ((magnitude >> (kShift - 1)) + 1) >> 1;
  if (rounded >> (Fp32::kMantissaBits + 1) != 0) {
    rounded >>= 1;
    ++exponent;
  }
  return sign | static_cast<std::uint32_t>(exponent) << Fp32::kMantissaBits |
         (static_cast<std::uint32_t>(rounded) & Fp32::kMantissa);
}

}  // namespace nvdla::model
