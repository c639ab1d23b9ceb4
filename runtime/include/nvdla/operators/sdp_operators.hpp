// SPDX-License-Identifier: MIT
//
/// @file
/// Operators of SDP, single point processing: what layers do to each element.
#ifndef NVDLA_OPERATORS_SDP_OPERATORS_HPP
#define NVDLA_OPERATORS_SDP_OPERATORS_HPP

#include <drm/nvdla_layer.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "nvdla/operators/tensor_handle.hpp"
#include "nvdla/types/conversion.hpp"
#include "nvdla/types/export.hpp"

namespace nvdla {

/// One SDP operator, X1 or X2:
/// @code{.unparsed}
///   y = (alu(x, a << alu_shift) * m) >> mul_shift, then ReLU (int32, halves away from zero).
/// @endcode
/// The number of values says what they are for: 1 for the layer, `channels` for channels,
/// channels * height * width (CHW) for elements. When both parts are active both have the same
/// number. PReLU multiplies negative values only; of sums beyond 32 bits that pass it the low 32
/// bits are left. Layers that work in int8 or int16 take values, those that work in fp16 take
/// reals, which are rounded to fp16, and no shifts.
struct Operator {
  nvdla_alu alu = NVDLA_ALU_NONE;                 ///< MAX, MIN or SUM
  nvdla_mul mul = NVDLA_MUL_NONE;                 ///< product, or PReLU
  std::span<const std::int16_t> alu_values = {};  ///< operands of the ALU, of integer layers
  std::span<const std::int16_t> mul_values = {};  ///< factors, of integer layers
  std::span<const float> alu_reals = {};          ///< operands of the ALU, of fp16 layers
  std::span<const float> mul_reals = {};          ///< factors, of fp16 layers
  /// Operands from another tensor, in place of values of the one active part: the elements of
  /// another tensor of the precision that the layer works in. One of the output's shape has an
  /// operand for each element, one of a single position and as many channels an operand for each
  /// channel; both of as many cubes.
  Tensor tensor = {};
  std::uint32_t alu_shift = 0;  ///< 0..30
  std::uint32_t mul_shift = 0;  ///< 0..63, also without a multiplier
  bool relu = false;            ///< negative results of the operator become zero
};

/// The third SDP operator, which follows X2 on devices that have it (DeviceInfo::has_sdp_y):
/// @code{.unparsed}
///   y = lut(alu((x * m) >> mul_shift, a)), saturated to int32 (fp16: without shift).
/// @endcode
/// The number of values says what they are for, as above. One value for the layer is 32 bits wide,
/// more are 16; reals alike, fp32 or rounded to fp16.
struct OperatorY {
  nvdla_alu alu = NVDLA_ALU_NONE;                 ///< MAX, MIN or SUM
  nvdla_mul mul = NVDLA_MUL_NONE;                 ///< product, or PReLU
  std::span<const std::int32_t> alu_values = {};  ///< operands of the ALU, of integer layers
  std::span<const std::int32_t> mul_values = {};  ///< factors, of integer layers
  std::span<const float> alu_reals = {};          ///< operands of the ALU, of fp16 layers
  std::span<const float> mul_reals = {};          ///< factors, of fp16 layers
  Tensor tensor = {};  ///< Elements of another tensor instead of values, as of Operator.
  /// Conversion of integer operands for channels and elements, shift 0..48.
  std::optional<Converter> alu_converter = {};
  std::optional<Converter> mul_converter = {};  ///< The same for factors.
  std::uint32_t mul_shift = 0;                  ///< 0..1023, with a multiplier
  /// Copied when the layer is added; nvdla_lut.unit is NVDLA_LUT_SDP. DeviceInfo::has_lut.
  const nvdla_lut* lut = nullptr;
};

// Sums of the operators above; the spans given must live until the layer is added.

/// x + (value << left_shift)
inline Operator bias(std::span<const std::int16_t> values, std::uint32_t left_shift = 0) {
  Operator op;
  op.alu = NVDLA_ALU_SUM;
  op.alu_values = values;
  op.alu_shift = left_shift;
  return op;
}
/// x * value >> right_shift
inline Operator scale(std::span<const std::int16_t> values, std::uint32_t right_shift = 0) {
  Operator op;
  op.mul = NVDLA_MUL_MUL;
  op.mul_values = values;
  op.mul_shift = right_shift;
  return op;
}
/// (x + shift[c] << left_shift) * scale[c] >> right_shift
inline Operator batch_norm(std::span<const std::int16_t> shifts,
                           std::span<const std::int16_t> scales, std::uint32_t right_shift,
                           std::uint32_t left_shift = 0) {
  Operator op = scale(scales, right_shift);
  op.alu = NVDLA_ALU_SUM;
  op.alu_values = shifts;
  op.alu_shift = left_shift;
  return op;
}
/// x, or x * slope >> right_shift where x is negative.
inline Operator prelu(std::span<const std::int16_t> slopes, std::uint32_t right_shift) {
  Operator op;
  op.mul = NVDLA_MUL_PRELU;
  op.mul_values = slopes;
  op.mul_shift = right_shift;
  return op;
}
/// x, or 0 where x is negative.
inline Operator relu() {
  Operator op;
  op.relu = true;
  return op;
}
/// alu: NVDLA_ALU_SUM, _MAX, _MIN with the elements of another tensor.
inline Operator elementwise(nvdla_alu alu, Tensor tensor, std::uint32_t left_shift = 0) {
  Operator op;
  op.alu = alu;
  op.tensor = tensor;
  op.alu_shift = left_shift;
  return op;
}
/// x * the elements of another tensor >> right_shift. Each channel by a factor of its own, as
/// squeeze and excitation does, where the other tensor is of one position.
inline Operator multiply(Tensor tensor, std::uint32_t right_shift = 0) {
  Operator op;
  op.mul = NVDLA_MUL_MUL;
  op.tensor = tensor;
  op.mul_shift = right_shift;
  return op;
}

}  // namespace nvdla

#endif  // NVDLA_OPERATORS_SDP_OPERATORS_HPP
