// SPDX-License-Identifier: MIT
//
// SDP operators of a network: checked, with values of their own, and put into the two places that
// the hardware has.
#ifndef NVDLA_COMPILER_GRAPH_OPERATORS_HPP
#define NVDLA_COMPILER_GRAPH_OPERATORS_HPP

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "nvdla/network.hpp"
#include "nvdla/types/conversion.hpp"
#include "nvdla/types/precision.hpp"
#include "nvdla/types/shape.hpp"

namespace nvdla::detail {

// An operator whose parts agree in mode; values are one for the layer, one per channel or one per
// element (CHW), as the mode says: integers, or in fp16 processing the bits of fp16.
struct OperatorNode {
  nvdla_alu alu = NVDLA_ALU_NONE;
  nvdla_mul mul = NVDLA_MUL_NONE;
  nvdla_operand_mode mode = NVDLA_OPERAND_LAYER;
  std::vector<std::int32_t> alu_values;
  std::vector<std::int32_t> mul_values;
  std::optional<std::uint32_t> tensor;
  std::uint32_t alu_shift = 0;
  std::uint32_t mul_shift = 0;
  bool relu = false;

  bool active() const noexcept {
    return alu != NVDLA_ALU_NONE || mul != NVDLA_MUL_NONE || mul_shift != 0 || relu;
  }
  bool has_memory() const noexcept {
    return (alu != NVDLA_ALU_NONE || mul != NVDLA_MUL_NONE) && mode != NVDLA_OPERAND_LAYER;
  }
};

struct OperatorPair {
  OperatorNode x1, x2;
};

// Operator Y; one value for the layer is an integer of 32 bits or the bits of fp32.
struct OperatorYNode : OperatorNode {
  std::optional<Converter> alu_converter;
  std::optional<Converter> mul_converter;
  std::optional<std::uint32_t> lut;  // index in the network

  bool active() const noexcept {
    return alu != NVDLA_ALU_NONE || mul != NVDLA_MUL_NONE || lut.has_value();
  }
};

// The tensor that an operator names.
struct OperandTensor {
  std::uint32_t index = 0;
  Shape shape;
  Precision precision = Precision::kInt8;
};

// `what` names the operator in errors ("x1"); it works in `processing`.
OperatorNode check_operator(const char* what, const Operator& op, const Shape& shape,
                            Precision processing, const std::optional<OperandTensor>& tensor);

// The look-up table is the caller's. `compares`: the ALU is EQUAL.
OperatorYNode check_operator_y(const OperatorY& op, bool compares, const Shape& shape,
                               Precision processing, const std::optional<OperandTensor>& tensor);

// Operators in fp16 have no converter after them: it must do nothing.
Converter check_converter(const Converter& converter, Precision processing);

// Elements of `result` have bounds if they are integers, and all of them are meant by those that
// hold nothing back.
ElementBounds check_bounds(const ElementBounds& bounds, Precision result);

// First the bias, then what is in `x1` and `x2`, then ReLU if asked for.
OperatorPair place_operators(std::span<const std::int32_t> bias, OperatorNode x1, OperatorNode x2,
                             bool relu, const Shape& shape);

// Brings the values of both parts to the wider number of them, and sets the mode.
void unify(OperatorNode& op, const Shape& shape);

// Checks that the parts exclude each other where they must, and that each has its operands: values,
// which are unified, or `tensor`. `what` names the operator in errors.
void check_operands(const char* what, OperatorNode& op, const Shape& shape, Precision processing,
                    const std::optional<OperandTensor>& tensor);

// Refuses reals where the layer works in integers, and integers where it works in fp16.
void check_kind(const char* what, const char* part, bool integers, bool reals,
                Precision processing);

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_GRAPH_OPERATORS_HPP
