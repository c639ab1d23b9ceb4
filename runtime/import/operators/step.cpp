// SPDX-License-Identifier: MIT
//
// Steps as functions.
#include "import/operators/step.hpp"

#include <algorithm>
#include <utility>

#include "import/operators/elements.hpp"

namespace nvdla::import {

Step make_step(StepKind kind, double operand) {
  return make_step(kind, Constant::of_doubles(Type::kDouble, {}, {&operand, 1}));
}

Step make_step(StepKind kind, Constant operand) {
  Step step;
  step.kind = kind;
  step.operand = std::move(operand);
  return step;
}

Step make_table(Function function, const Range& domain) {
  Step step;
  step.kind = StepKind::kTable;
  step.function = std::move(function);
  step.domain = domain;
  return step;
}

Step make_jump(Function function) {
  Step step = make_table(std::move(function));
  step.jumps = true;
  return step;
}

Function Step::scalar() const {
  const double value = has_operand() ? operand.real(0) : 0;
  switch (kind) {
    case StepKind::kScale:
      return [value](double x) { return x * value; };
    case StepKind::kShift:
      return [value](double x) { return x + value; };
    case StepKind::kRelu:
      return [](double x) { return x < 0 ? 0 : x; };
    case StepKind::kMax:
      return [value](double x) { return x < value ? value : x; };
    case StepKind::kMin:
      return [value](double x) { return x > value ? value : x; };
    case StepKind::kPrelu:
      return [value](double x) { return x < 0 ? x * value : x; };
    default:
      return function;
  }
}

std::optional<Steps> steps_of(const Operation& op, ValueId input) {
  if (const UnaryOperator* const unary = find_unary(op)) {
    if (input != kNoValue && input != op.input(0)) return std::nullopt;
    for (std::size_t i = 1; i < op.inputs(); ++i)
      if (op.has(i) && op.constant(i) == nullptr) return std::nullopt;
    return Steps{op.input(0), unary->steps(op)};
  }
  if (const BinaryOperator* const binary = find_binary(op)) return binary_steps(*binary, op, input);
  return std::nullopt;
}

std::optional<Function> unary_function(const Operation& op) {
  const auto steps = steps_of(op);
  if (!steps) return std::nullopt;
  Function whole;
  for (const Step& step : steps->steps) {
    if (!step.is_scalar()) return std::nullopt;
    Function next = step.scalar();
    whole = whole ? Function([first = std::move(whole), next = std::move(next)](double x) {
      return next(first(x));
    })
                  : std::move(next);
  }
  if (!whole) whole = [](double x) { return x; };
  return whole;
}

}  // namespace nvdla::import
