// SPDX-License-Identifier: MIT
//
// Operators on each element, in two tables: those of one input, and those of two.
#ifndef NVDLA_IMPORT_OPERATORS_ELEMENTS_HPP
#define NVDLA_IMPORT_OPERATORS_ELEMENTS_HPP

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "import/nodes/operation.hpp"
#include "import/operators/step.hpp"

namespace nvdla::import {

// An operator that computes a function of each element; inputs but the first are constants.
struct UnaryOperator {
  std::string_view name;
  std::vector<Step> (*steps)(const Operation& op);
};

// An operator of two elements.
struct BinaryOperator {
  std::string_view name;
  double (*compute)(double, double);
  std::int64_t (*integers)(std::int64_t, std::int64_t);  // nullptr: computed as real numbers
  bool gives_bool;
};

std::span<const UnaryOperator> unary_operators() noexcept;
std::span<const BinaryOperator> binary_operators() noexcept;
// Return the row of a node's operator, or nullptr.
const UnaryOperator* find_unary(const Operation& op) noexcept;
const BinaryOperator* find_binary(const Operation& op) noexcept;
// Returns the steps of one of the two inputs, with the other as the operand; nothing if the
// operator has none.
std::optional<Steps> binary_steps(const BinaryOperator& row, const Operation& op, ValueId input);

// Returns true for a node of either table.
bool find_elements(const Operation& op) noexcept;
// Returns true for these, and for operators of any number of inputs, choices, conversions and
// scales: those whose result has sizes that the inputs are broadcast to.
bool is_of_elements(const Operation& op) noexcept;
// Returns type and sizes of the result of a node of either table.
std::vector<Inferred> infer_elements(const Operation& op);
// Returns the two steps of a batch normalisation, whose inputs but the first are constants.
std::vector<Step> batch_normalization_steps(const Operation& op);

// Returns an input as one number for each channel, or none if the node leaves it out.
std::vector<float> channel_list(const Operation& op, std::size_t index, std::string_view what,
                                std::uint32_t channels);

std::vector<Inferred> infer_unary(const Operation& op);
std::vector<Inferred> infer_binary(const Operation& op);
std::vector<Inferred> infer_where(const Operation& op);
std::vector<Constant> fold_unary(const Operation& op);
std::vector<Constant> fold_binary(const Operation& op);
std::vector<Constant> fold_where(const Operation& op);
// Throws Refusal for a constant that is too large.
void check_constant_size(const Dims& dims);

// Calls `visit` with the number of each element of a result of sizes `dims`, and the number of the
// element of an operand of sizes `own` that goes with it.
template <typename Visit>
void for_each_broadcast(const Dims& dims, const Dims& own, const Visit& visit) {
  const std::int64_t count = elements(dims);
  const Dims step = strides(own);
  const std::size_t shift = dims.size() - own.size();
  std::vector<std::int64_t> at(dims.size(), 0);
  std::int64_t from = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    visit(i, from);
    for (std::size_t axis = dims.size(); axis-- > 0;) {
      const std::int64_t stride = axis >= shift && own[axis - shift] != 1 ? step[axis - shift] : 0;
      from += stride;
      if (++at[axis] < dims[axis]) break;
      from -= stride * dims[axis];
      at[axis] = 0;
    }
  }
}

}  // namespace nvdla::import

#endif  // NVDLA_IMPORT_OPERATORS_ELEMENTS_HPP
