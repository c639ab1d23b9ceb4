// SPDX-License-Identifier: MIT
//
// Operators in floats. Those that are not in the table are computed as constants are folded.
#ifndef NVDLA_IMPORT_REFERENCE_FLOAT_OPERATORS_HPP
#define NVDLA_IMPORT_REFERENCE_FLOAT_OPERATORS_HPP

#include <span>
#include <string_view>
#include <vector>

#include "import/nodes/operation.hpp"

namespace nvdla::import {

// The elements of a node's inputs; empty where the node leaves one out.
using Inputs = std::vector<std::span<const float>>;

struct FloatOperator {
  std::string_view name;
  // Computes the first output, which has the sizes `dims`.
  std::vector<float> (*compute)(const Operation& op, const Inputs& inputs, const Dims& dims);
};

std::span<const FloatOperator> float_sum_operators() noexcept;
std::span<const FloatOperator> float_pool_operators() noexcept;
std::span<const FloatOperator> float_channel_operators() noexcept;
// Returns the row of a node's operator, or nullptr.
const FloatOperator* find_float_operator(const Operation& op) noexcept;
// Returns what an operator on each element makes of floats; an empty list for other operators.
std::vector<float> compute_elements(const Operation& op, const Inputs& inputs, const Dims& dims);

}  // namespace nvdla::import

#endif  // NVDLA_IMPORT_REFERENCE_FLOAT_OPERATORS_HPP
