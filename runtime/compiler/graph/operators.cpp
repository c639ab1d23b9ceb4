// SPDX-License-Identifier: MIT
#include "compiler/graph/operators.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "nvdla/types/half.hpp"
#include "support/check.hpp"
#include "support/element_range.hpp"

namespace nvdla::detail {
namespace {

constexpr std::int32_t kLow16 = std::numeric_limits<std::int16_t>::min();
constexpr std::int32_t kHigh16 = std::numeric_limits<std::int16_t>::max();

bool fits16(std::int32_t value) { return value >= kLow16 && value <= kHigh16; }

// Integers as they are, reals as bits of fp16.
std::vector<std::int32_t> operand_values(const char* what, const char* part,
                                         std::span<const std::int16_t> values,
                                         std::span<const float> reals, Precision processing) {
  check_kind(what, part, !values.empty(), !reals.empty(), processing);
  std::vector<std::int32_t> list(values.begin(), values.end());
  for (const float value : reals) list.push_back(to_half(value));
  return list;
}

OperatorNode addition(std::vector<std::int32_t> values, std::uint32_t shift, const Shape& shape) {
  OperatorNode op;
  op.alu = NVDLA_ALU_SUM;
  op.alu_values = std::move(values);
  op.alu_shift = shift;
  unify(op, shape);
  return op;
}

// One or two additions of 16-bit operands that add `bias` exactly.
std::vector<OperatorNode> bias_operators(std::span<const std::int32_t> bias, const Shape& shape) {
  if (bias.empty()) return {};
  // All bits that are used, and the zeros below them that all values share.
  std::uint32_t used = 0;
  for (const std::int32_t b : bias) used |= static_cast<std::uint32_t>(b);
  std::uint32_t shift = 0;
  while (shift < 30 && used != 0 && (used >> shift & 1) == 0) ++shift;
  if (std::all_of(bias.begin(), bias.end(), [](std::int32_t b) { return fits16(b); })) shift = 0;
  if (std::all_of(bias.begin(), bias.end(),
                  [shift](std::int32_t b) { return fits16(b >> shift); })) {
    std::vector<std::int32_t> values;
    for (const std::int32_t b : bias) values.push_back(b >> shift);
    std::vector<OperatorNode> one;
    one.push_back(addition(std::move(values), shift, shape));
    return one;
  }
  std::vector<std::int32_t> high, low;
  for (std::size_t k = 0; k < bias.size(); ++k) {
    const auto lower = static_cast<std::int16_t>(static_cast<std::uint32_t>(bias[k]) & 0xffff);
    const std::int64_t upper = (std::int64_t{bias[k]} - lower) / 65536;
    if (upper > kHigh16) {
      throw_invalid_argument("bias {} of kernel {} is more than two operators can add, {}", bias[k],
                             k, std::int64_t{kHigh16} * 65536 + kHigh16);
    }
    high.push_back(static_cast<std::int32_t>(upper));
    low.push_back(lower);
  }
  std::vector<OperatorNode> two;
  two.push_back(addition(std::move(high), 16, shape));
  two.push_back(addition(std::move(low), 0, shape));
  return two;
}

// An addition and a multiplication (or just a shift or ReLU) after it are one operator.
bool can_merge(const OperatorNode& add, const OperatorNode& next) {
  return add.alu == NVDLA_ALU_SUM && add.mul == NVDLA_MUL_NONE && add.mul_shift == 0 && !add.relu &&
         !add.tensor && next.alu == NVDLA_ALU_NONE && next.mul != NVDLA_MUL_PRELU && !next.tensor &&
         next.mode != NVDLA_OPERAND_ELEMENT;
}

OperatorNode merge(OperatorNode add, OperatorNode next, const Shape& shape) {
  next.alu = add.alu;
  next.alu_shift = add.alu_shift;
  next.alu_values = std::move(add.alu_values);
  unify(next, shape);
  return next;
}

}  // namespace

OperatorNode check_operator(const char* what, const Operator& op, const Shape& shape,
                            Precision processing, const std::optional<OperandTensor>& tensor) {
  if (op.alu != NVDLA_ALU_NONE && op.alu != NVDLA_ALU_MAX && op.alu != NVDLA_ALU_MIN &&
      op.alu != NVDLA_ALU_SUM) {
    throw_invalid_argument("{}: alu {} is none of NONE, MAX, MIN, SUM", what,
                           static_cast<int>(op.alu));
  }
  if (op.mul != NVDLA_MUL_NONE && op.mul != NVDLA_MUL_MUL && op.mul != NVDLA_MUL_PRELU) {
    throw_invalid_argument("{}: mul {} is none of NONE, MUL, PRELU", what,
                           static_cast<int>(op.mul));
  }
  if (processing == Precision::kFp16 && (op.alu_shift != 0 || op.mul_shift != 0)) {
    throw_invalid_argument("{}: fp16 has no shifts, found {} to the left and {} to the right", what,
                           op.alu_shift, op.mul_shift);
  }
  OperatorNode node;
  node.alu = op.alu;
  node.mul = op.mul;
  node.alu_shift = op.alu_shift;
  node.mul_shift = op.mul_shift;
  node.relu = op.relu;
  node.alu_values = operand_values(what, "ALU", op.alu_values, op.alu_reals, processing);
  node.mul_values = operand_values(what, "MUL", op.mul_values, op.mul_reals, processing);
  check_operands(what, node, shape, processing, tensor);
  return node;
}

Converter check_converter(const Converter& converter, Precision processing) {
  if (processing == Precision::kFp16 &&
      (converter.offset != 0 || converter.scale != 1 || converter.shift != 0)) {
    throw_invalid_argument("fp16 has no output converter, found offset {}, scale {}, shift {}",
                           converter.offset, converter.scale, converter.shift);
  }
  return converter;
}

ElementBounds check_bounds(const ElementBounds& bounds, Precision result) {
  if (result == Precision::kFp16) {
    if (bounds != ElementBounds{})
      throw_invalid_argument(
          "bounds {}..{} are of integers, the result is fp16: MAX and MIN hold that", bounds.least,
          bounds.greatest);
    return bounds;
  }
  if (bounds.least > bounds.greatest) {
    throw_invalid_argument("bounds {}..{}: the least is at most the greatest", bounds.least,
                           bounds.greatest);
  }
  const std::int32_t low = least_of(result), high = greatest_of(result);
  return {std::clamp(bounds.least, low, high), std::clamp(bounds.greatest, low, high)};
}

OperatorPair place_operators(std::span<const std::int32_t> bias, OperatorNode x1, OperatorNode x2,
                             bool relu, const Shape& shape) {
  // With a bias the operators follow each other without gaps; without one they stay where they
  // were put.
  OperatorPair pair;
  if (bias.empty()) {
    pair.x1 = std::move(x1);
    pair.x2 = std::move(x2);
  } else {
    std::vector<OperatorNode> row = bias_operators(bias, shape);
    const std::size_t additions = row.size();
    for (OperatorNode* op : {&x1, &x2}) {
      if (!op->active()) continue;
      if (can_merge(row.back(), *op)) {
        row.back() = merge(std::move(row.back()), std::move(*op), shape);
      } else {
        row.push_back(std::move(*op));
      }
    }
    if (row.size() > 2) {
      throw_invalid_argument(
          "the bias takes {} operator{}, which leaves no place for x1{}: two are there", additions,
          additions == 1 ? "" : "s", x2.active() ? " and x2" : "");
    }
    pair.x1 = std::move(row[0]);
    if (row.size() == 2) pair.x2 = std::move(row[1]);
  }
  if (relu) (pair.x2.active() ? pair.x2 : pair.x1).relu = true;
  return pair;
}

}  // namespace nvdla::detail
