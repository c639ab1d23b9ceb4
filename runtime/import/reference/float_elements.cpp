// SPDX-License-Identifier: MIT
//
// Operators on each element in floats. The usual ones have a loop of their own.
#include <algorithm>

#include "import/operators/elements.hpp"
#include "import/reference/float_operators.hpp"

namespace nvdla::import {
namespace {

template <typename Compute>
void change_all(std::vector<float>& values, const Compute& compute) {
  for (float& v : values) v = static_cast<float>(compute(static_cast<double>(v)));
}

void apply_step(const Step& step, std::vector<float>& values) {
  const double operand = step.has_operand() ? step.operand.real(0) : 0;
  switch (step.kind) {
    case StepKind::kScale:
      return change_all(values, [&](double x) { return x * operand; });
    case StepKind::kShift:
      return change_all(values, [&](double x) { return x + operand; });
    case StepKind::kRelu:
      return change_all(values, [](double x) { return x < 0 ? 0 : x; });
    case StepKind::kMax:
      return change_all(values, [&](double x) { return x < operand ? operand : x; });
    case StepKind::kMin:
      return change_all(values, [&](double x) { return x > operand ? operand : x; });
    case StepKind::kPrelu:
      return change_all(values, [&](double x) { return x < 0 ? x * operand : x; });
    default:
      return change_all(values, step.function);
  }
}

bool is_scalar(const Steps& steps) {
  return std::all_of(steps.steps.begin(), steps.steps.end(),
                     [](const Step& s) { return s.is_scalar(); });
}

}  // namespace

std::vector<float> compute_elements(const Operation& op, const Inputs& inputs, const Dims& dims) {
  if (const auto steps = steps_of(op); steps && is_scalar(*steps)) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!op.has(i) || op.input(i) != steps->input || op.dims(i) != dims) continue;
      std::vector<float> out(inputs[i].begin(), inputs[i].end());
      for (const Step& step : steps->steps) apply_step(step, out);
      return out;
    }
  }
  const BinaryOperator* const row = find_binary(op);
  if (row == nullptr) return {};
  std::vector<float> out(static_cast<std::size_t>(elements(dims)));
  for (std::size_t i = 0; i < op.inputs(); ++i) {
    const std::span<const float> in = inputs[i];
    const bool first = i == 0;
    const bool sum = row->name == "Add" || row->name == "Sum";
    if (!first && sum && op.dims(i) == dims) {
      for (std::size_t e = 0; e < out.size(); ++e) out[e] += in[e];
      continue;
    }
    for_each_broadcast(dims, op.dims(i), [&](std::int64_t to, std::int64_t from) {
      float& v = out[static_cast<std::size_t>(to)];
      const float x = in[static_cast<std::size_t>(from)];
      v = first ? x
                : static_cast<float>(row->compute(static_cast<double>(v), static_cast<double>(x)));
    });
  }
  return out;
}

}  // namespace nvdla::import
