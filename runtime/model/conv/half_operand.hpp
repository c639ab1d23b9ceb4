// SPDX-License-Identifier: MIT
//
// Converts operands of the fp16 multipliers for HalfTile.
#ifndef NVDLA_MODEL_CONV_HALF_OPERAND_HPP
#define NVDLA_MODEL_CONV_HALF_OPERAND_HPP

#include <bit>
#include <cstdint>

#include "model/simd/kernels.hpp"

namespace nvdla::model {

struct HalfOperand {
  std::int16_t mantissa;
  std::int16_t group;
};

// Converts a value that is not a NaN. An infinity needs no special case: exponent 31 with mantissa
// 0.
constexpr HalfOperand half_operand(std::uint16_t value) noexcept {
  const int exponent = value >> 10 & 31;
  const int fraction = value & 0x3ff;
  const int mantissa = exponent == 0 ? fraction << 1 : (fraction | 0x400) << (exponent & 3);
  const bool zero = (value & 0x7fff) == 0;
  return {static_cast<std::int16_t>((value & 0x8000) != 0 ? -mantissa : mantissa),
          zero ? kNoGroup : static_cast<std::int16_t>(exponent >> 2)};
}

// Returns the number that a value other than a NaN stands for. Has no branch, so that loops
// vectorise.
inline float half_value(std::uint16_t value) noexcept {
  constexpr std::uint32_t kExponent = 112u << 23, kExponentStep = 1u << 23;
  const std::uint32_t bits = (value & 0x7fffu) << 13;
  // For a denormal: its fraction with the least normal exponent, minus the least normal number.
  const float denormal = std::bit_cast<float>(bits + kExponent + kExponentStep) - 0x1p-14F;
  const std::uint32_t is_denormal = 0u - static_cast<std::uint32_t>((value & 0x7c00) == 0);
  const std::uint32_t magnitude =
      (std::bit_cast<std::uint32_t>(denormal) & is_denormal) | ((bits + kExponent) & ~is_denormal);
  return std::bit_cast<float>(magnitude | (value & 0x8000u) << 16);
}

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_CONV_HALF_OPERAND_HPP
