// SPDX-License-Identifier: MIT
//
// Operands of the fp16 multipliers as HalfTile wants them.
#ifndef NVDLA_MODEL_HALF_OPERAND_HPP
#define NVDLA_MODEL_HALF_OPERAND_HPP

#include <bit>
#include <cstdint>

#include "model/kernels/kernels.hpp"

namespace nvdla::model {

struct HalfOperand {
  std::int16_t mantissa;
  std::int16_t group;
};

// Of anything but a NaN. An infinity is nothing special: exponent 31 with mantissa 0.
constexpr HalfOperand half_operand(std::uint16_t value) noexcept {
  const int exponent = value >> 10 & 31;
  const int fraction = value & 0x3ff;
  const int mantissa = exponent == 0 ? fraction << 1 : (fraction | 0x400) << (exponent & 3);
  const bool zero = (value & 0x7fff) == 0;
  return {static_cast<std::int16_t>((value & 0x8000) != 0 ? -mantissa : mantissa),
          zero ? kNoGroup : static_cast<std::int16_t>(exponent >> 2)};
}

// The same as a number.
inline float half_value(std::uint16_t value) noexcept {
  const std::uint32_t exponent = value >> 10 & 31, fraction = value & 0x3ff;
  constexpr float kLeast = 0x1p-24F;
  const float magnitude = exponent == 0
                              ? static_cast<float>(static_cast<std::int32_t>(fraction)) * kLeast
                              : std::bit_cast<float>((exponent + 112) << 23 | fraction << 13);
  return (value & 0x8000) != 0 ? -magnitude : magnitude;
}

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_HALF_OPERAND_HPP
