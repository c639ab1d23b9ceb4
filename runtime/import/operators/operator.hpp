// SPDX-License-Identifier: MIT
//
// The table of all operators. Each family of operators has a file and a span of rows in it; an
// operator is one row.
#ifndef NVDLA_IMPORT_OPERATORS_OPERATOR_HPP
#define NVDLA_IMPORT_OPERATORS_OPERATOR_HPP

#include <span>
#include <string_view>
#include <vector>

#include "import/nodes/operation.hpp"

namespace nvdla::import {

class Lowering;

struct OperatorRow {
  std::string_view name;
  // Returns types and sizes of all outputs; inputs have theirs.
  std::vector<Inferred> (*infer)(const Operation& op);
  // Computes the outputs of constants; nullptr: a node whose inputs are all constants is refused.
  std::vector<Constant> (*fold)(const Operation& op) = nullptr;
  // Adds layers; nullptr: the operator is folded or refused.
  void (*lower)(Lowering& lowering, const Operation& op) = nullptr;
  // A sentence for docs/operators.md about where it is computed and what is not possible.
  std::string_view about = {};
  bool is_tail = false;  // CpuUse::kTail allows it
  std::string_view domain = {};
};

std::span<const OperatorRow> element_rows() noexcept;
std::span<const OperatorRow> move_rows() noexcept;
std::span<const OperatorRow> shape_rows() noexcept;
std::span<const OperatorRow> constant_rows() noexcept;
std::span<const OperatorRow> conv_rows() noexcept;
std::span<const OperatorRow> product_rows() noexcept;
std::span<const OperatorRow> block_rows() noexcept;
std::span<const OperatorRow> pool_rows() noexcept;
std::span<const OperatorRow> reduce_rows() noexcept;
std::span<const OperatorRow> channel_rows() noexcept;
std::span<const OperatorRow> resize_rows() noexcept;
std::span<const OperatorRow> quantization_rows() noexcept;

// Lowers a node that has an int8 tensor among its inputs, if the operator has a form for that;
// returns false for operators that work alike in any precision.
bool lower_quantized(Lowering& lowering, const Operation& op);
// Returns true if an operator can be computed in int8.
bool has_quantized_form(std::string_view name) noexcept;

// Refuses a node whose results are integers of 32 bits.
void refuse_int32(Lowering& lowering, const Operation& op);

// Returns the row of a node's operator, or nullptr.
const OperatorRow* find_operator(const Operation& op) noexcept;
// Returns all rows, family by family.
std::vector<const OperatorRow*> all_operators();

// Infers sizes of a node that has one output of the type and sizes of input 0.
std::vector<Inferred> infer_same(const Operation& op);

}  // namespace nvdla::import

#endif  // NVDLA_IMPORT_OPERATORS_OPERATOR_HPP
