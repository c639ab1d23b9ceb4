// SPDX-License-Identifier: MIT
#include <algorithm>
#include <string_view>
#include <utility>

#include "compiler/graph/operators.hpp"
#include "packing/precision.hpp"
#include "support/check.hpp"

namespace nvdla::detail {
namespace {

std::size_t area(const Shape& shape) { return std::size_t{shape.height} * shape.width; }

Shape one_position(const Shape& shape) { return {shape.channels, 1, 1, shape.batch}; }

nvdla_operand_mode mode_of(std::size_t count, const Shape& shape) {
  if (count == 1) return NVDLA_OPERAND_LAYER;
  return count == shape.channels ? NVDLA_OPERAND_CHANNEL : NVDLA_OPERAND_ELEMENT;
}

void check_count(const char* what, const char* part, bool active, std::size_t count,
                 const Shape& shape) {
  if (active != (count != 0)) {
    throw_invalid_argument("{}: {} {} values for {} that is {}", what, count, part,
                           part == std::string_view("ALU") ? "an ALU" : "a multiplier",
                           active ? "active" : "not active");
  }
  const std::size_t elements = shape.channels * area(shape);
  if (active && count != 1 && count != shape.channels && count != elements) {
    throw_invalid_argument(
        "{}: {} {} values; right are 1, one per channel ({}) or one per element ({})", what, count,
        part, shape.channels, elements);
  }
}

void check_tensor(const char* what, const OperatorNode& op, const Shape& shape,
                  Precision processing, const OperandTensor& tensor) {
  const bool alu = op.alu != NVDLA_ALU_NONE;
  if (alu == (op.mul != NVDLA_MUL_NONE)) {
    throw_invalid_argument("{}: a tensor is the operand of exactly one part, here {} are active",
                           what, alu ? "both" : "none");
  }
  if (!op.alu_values.empty() || !op.mul_values.empty()) {
    throw_invalid_argument("{}: operands are values or a tensor, not both", what);
  }
  // A comparison takes an operand for each element.
  const bool channels = op.alu != NVDLA_ALU_EQUAL && tensor.shape == one_position(shape);
  if (tensor.shape != shape && !channels) {
    throw_invalid_argument(
        "{}: the operand tensor is {}x{}x{}x{} (NCHW), the layer's output {}x{}x{}x{}", what,
        tensor.shape.batch, tensor.shape.channels, tensor.shape.height, tensor.shape.width,
        shape.batch, shape.channels, shape.height, shape.width);
  }
  if (tensor.precision != processing) {
    throw_invalid_argument("{}: the operand tensor is {}, the layer works in {}", what,
                           precision_name(tensor.precision), precision_name(processing));
  }
}

// Repeats operands for every channel or element.
void spread(std::vector<std::int32_t>& values, std::size_t count, const Shape& shape) {
  if (values.empty() || values.size() == count) return;
  if (values.size() == 1) {
    values.resize(count, values[0]);
    return;
  }
  std::vector<std::int32_t> wide;
  wide.reserve(count);
  for (const std::int32_t value : values) wide.insert(wide.end(), area(shape), value);
  values = std::move(wide);
}

}  // namespace

void unify(OperatorNode& op, const Shape& shape) {
  const std::size_t count = std::max(op.alu_values.size(), op.mul_values.size());
  if (count == 0) return;
  spread(op.alu_values, count, shape);
  spread(op.mul_values, count, shape);
  op.mode = mode_of(count, shape);
}

void check_operands(const char* what, OperatorNode& op, const Shape& shape, Precision processing,
                    const std::optional<OperandTensor>& tensor) {
  const bool alu = op.alu != NVDLA_ALU_NONE;
  const bool mul = op.mul != NVDLA_MUL_NONE;
  if (tensor) {
    check_tensor(what, op, shape, processing, *tensor);
    op.tensor = tensor->index;
    // A single pixel lies like operands per channel. Where the output is one, too, the hardware
    // wants it called so.
    op.mode = area(tensor->shape) == 1 ? NVDLA_OPERAND_CHANNEL : NVDLA_OPERAND_ELEMENT;
    return;
  }
  check_count(what, "ALU", alu, op.alu_values.size(), shape);
  check_count(what, "MUL", mul, op.mul_values.size(), shape);
  unify(op, shape);
}

void check_kind(const char* what, const char* part, bool integers, bool reals,
                Precision processing) {
  const bool real = processing == Precision::kFp16;
  if (real ? integers : reals) {
    throw_invalid_argument("{}: {} {} operands for a layer that works in {}, which takes {}", what,
                           real ? "integer" : "real", part, precision_name(processing),
                           real ? "reals" : "integers");
  }
}

}  // namespace nvdla::detail
