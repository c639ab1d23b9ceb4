// SPDX-License-Identifier: MIT
//
// Operators X and Y have these checks of their operands in common: their number and their origin.
#ifndef NVDLA_COMPILER_GRAPH_OPERANDS_HPP
#define NVDLA_COMPILER_GRAPH_OPERANDS_HPP

#include <optional>

#include "compiler/graph/operators.hpp"

namespace nvdla::detail {

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

#endif  // NVDLA_COMPILER_GRAPH_OPERANDS_HPP
