// SPDX-License-Identifier: MIT
//
// Steps: operators on each element of a tensor, in the form in which SDP computes them.
#ifndef NVDLA_IMPORT_OPERATORS_STEP_HPP
#define NVDLA_IMPORT_OPERATORS_STEP_HPP

#include <optional>
#include <vector>

#include "import/nodes/operation.hpp"
#include "nvdla/lowlevel/lut.hpp"

namespace nvdla::import {

enum class StepKind {
  kScale,      // x * operand
  kShift,      // x + operand
  kRelu,       // max(x, 0)
  kMax,        // max(x, operand)
  kMin,        // min(x, operand)
  kPrelu,      // x, or x * operand where x is negative
  kAddTensor,  // x + the elements of `tensor`
  kMulTensor,
  kMaxTensor,
  kMinTensor,
  kTable,  // function(x)
};

// One step. Operands are constants of sizes that are broadcast to those of the result.
struct Step {
  StepKind kind = StepKind::kRelu;
  Constant operand = {};
  ValueId tensor = kNoValue;
  Function function = {};
  Range domain = {};   // of a table: arguments for which the function is defined
  bool jumps = false;  // the function is not continuous, so that no table can be right

  // Returns true if all elements have the same operand, and no other tensor is needed.
  bool is_scalar() const { return tensor == kNoValue && (!has_operand() || operand.size() == 1); }
  bool has_operand() const {
    return kind != StepKind::kRelu && kind != StepKind::kTable && tensor == kNoValue;
  }
  // Returns the step as a function of a number; it has to be scalar.
  Function scalar() const;
};

Step make_step(StepKind kind, double operand);
Step make_step(StepKind kind, Constant operand);
Step make_table(Function function, const Range& domain = {});
Step make_jump(Function function);

// `Steps` are what a node does to one of its inputs.
struct Steps {
  ValueId input = kNoValue;
  std::vector<Step> steps;
};

// Returns the steps of a node of elements, with `input` as the tensor that they are of if that is
// possible; kNoValue leaves the choice to the node. Returns nothing for all other nodes.
std::optional<Steps> steps_of(const Operation& op, ValueId input = kNoValue);

// Returns the function of a node that has one input, or whose other inputs are scalar constants;
// nothing for all other nodes.
std::optional<Function> unary_function(const Operation& op);

}  // namespace nvdla::import

#endif  // NVDLA_IMPORT_OPERATORS_STEP_HPP
