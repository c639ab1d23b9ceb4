// SPDX-License-Identifier: MIT
//
// SDP's operator Y. One operand for the layer goes into a register of 32 bits, more lie in memory
// with 16 bits each.
#include <algorithm>
#include <bit>
#include <limits>

#include "compiler/graph/operators.hpp"
#include "nvdla/types/half.hpp"
#include "support/check.hpp"

namespace nvdla::detail {
namespace {

using Limits16 = std::numeric_limits<std::int16_t>;

std::vector<std::int32_t> operand_values(const char* part, std::span<const std::int32_t> values,
                                         std::span<const float> reals, bool in_memory,
                                         Precision processing) {
  check_kind("y", part, !values.empty(), !reals.empty(), processing);
  std::vector<std::int32_t> list;
  for (const std::int32_t value : values) {
    if (in_memory && (value < Limits16::min() || value > Limits16::max())) {
      throw_invalid_argument(
          "y: {} value {} does not fit 16 bits, which only one for the layer need not", part,
          value);
    }
    list.push_back(value);
  }
  for (const float real : reals) {
    list.push_back(in_memory ? to_half(real) : std::bit_cast<std::int32_t>(real));
  }
  return list;
}

void check_operand_converter(const char* part, const std::optional<Converter>& converter,
                             const OperatorYNode& op, bool active, Precision processing) {
  if (!converter) return;
  if (!active || op.mode == NVDLA_OPERAND_LAYER || processing == Precision::kFp16) {
    throw_invalid_argument("y: the {} converter is for integer operands of channels or elements",
                           part);
  }
  check_range("y: shift of a converter", converter->shift, 0U, 48U);
}

}  // namespace

OperatorYNode check_operator_y(const OperatorY& op, bool compares, const Shape& shape,
                               Precision processing, const std::optional<OperandTensor>& tensor) {
  const nvdla_alu last = compares ? NVDLA_ALU_EQUAL : NVDLA_ALU_SUM;
  if (op.alu < NVDLA_ALU_NONE || op.alu > last) {
    throw_invalid_argument("y: alu {} is none of NONE, MAX, MIN, SUM", static_cast<int>(op.alu));
  }
  if (op.mul < NVDLA_MUL_NONE || op.mul > NVDLA_MUL_PRELU) {
    throw_invalid_argument("y: mul {} is none of NONE, MUL, PRELU", static_cast<int>(op.mul));
  }
  const bool mul = op.mul != NVDLA_MUL_NONE;
  if (op.mul_shift != 0 && (!mul || processing == Precision::kFp16)) {
    throw_invalid_argument("y: mul_shift {} without an integer multiplier", op.mul_shift);
  }
  const bool in_memory = std::max({op.alu_values.size(), op.mul_values.size(), op.alu_reals.size(),
                                   op.mul_reals.size()}) > 1;
  OperatorYNode node;
  node.alu = op.alu;
  node.mul = op.mul;
  node.mul_shift = op.mul_shift;
  node.alu_values = operand_values("ALU", op.alu_values, op.alu_reals, in_memory, processing);
  node.mul_values = operand_values("MUL", op.mul_values, op.mul_reals, in_memory, processing);
  check_operands("y", node, shape, processing, tensor);
  const bool alu = op.alu != NVDLA_ALU_NONE && !compares;
  check_operand_converter("ALU", op.alu_converter, node, alu, processing);
  check_operand_converter("MUL", op.mul_converter, node, mul, processing);
  node.alu_converter = op.alu_converter;
  node.mul_converter = op.mul_converter;
  return node;
}

}  // namespace nvdla::detail
