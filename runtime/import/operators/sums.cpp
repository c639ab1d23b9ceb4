// SPDX-License-Identifier: MIT
//
// Affine operators behind sums go into weights and bias, others into SDP.
#include "import/operators/sums.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "import/operators/elements.hpp"

namespace nvdla::import {
namespace {

// Takes a step into weights and bias; returns false if it has no place there.
bool absorb(Sums& sums, const Step& step, const Dims& dims, const View& view) {
  if (step.kind != StepKind::kScale && step.kind != StepKind::kShift) return false;
  const auto operand = kernel_operand(step, dims, view, sums.kernels());
  if (!operand) return false;
  const std::size_t size = sums.weights.size() / sums.kernels();
  for (std::size_t k = 0; k < sums.kernels(); ++k) {
    const double v = (*operand)[k];
    if (step.kind == StepKind::kShift) {
      sums.bias[k] += v;
      continue;
    }
    sums.bias[k] *= v;
    for (std::size_t i = k * size; i < (k + 1) * size; ++i)
      sums.weights[i] = static_cast<float>(static_cast<double>(sums.weights[i]) * v);
  }
  sums.has_bias = sums.has_bias || step.kind == StepKind::kShift;
  return true;
}

// Batch normalisation as two steps.
std::optional<std::vector<Step>> normalization_steps(const Operation& op) {
  if (op.op() != "BatchNormalization" || op.inputs() != 5) return std::nullopt;
  for (std::size_t i = 1; i < 5; ++i)
    if (op.constant(i) == nullptr) return std::nullopt;
  return batch_normalization_steps(op);
}

// Returns the steps of the nodes that alone read a value, one behind the other, as long as they are
// scalar.
std::vector<Step> scalar_steps_behind(const Lowering& l, ValueId id, const Dims& dims) {
  std::vector<Step> steps;
  for (const Node* node = l.next(id); node != nullptr; node = l.next(id)) {
    const Operation op(l.graph(), *node);
    if (node->outputs.size() != 1 || node->outputs[0] == kNoValue || is_integer(op.type(0)) ||
        !find_elements(op) || infer_elements(op)[0].dims != dims)
      break;
    const auto found = steps_of(op, id);
    if (!found || !std::all_of(found->steps.begin(), found->steps.end(),
                               [](const Step& step) { return step.is_scalar(); }))
      break;
    steps.insert(steps.end(), found->steps.begin(), found->steps.end());
    id = node->outputs[0];
  }
  return steps;
}

}  // namespace

// Takes what follows the sums into weights, bias and epilogue; returns the last value.
ValueId follow_sums(Lowering& l, ValueId out, const Dims& dims, const View& view, Sums& sums,
                    Epilogue& epilogue) {
  bool affine = true;
  const auto begin = [&] {
    if (!affine) return;
    affine = false;
    if (!sums.has_bias) return;
    const Constant bias = Constant::of_doubles(
        Type::kDouble, {static_cast<std::int64_t>(sums.bias.size())}, sums.bias);
    epilogue.add_channels(bias);
  };
  const ValueId last = l.follow(out, [&](const Operation& next, ValueId now) {
    auto steps = normalization_steps(next);
    if (!steps) {
      if (is_integer(next.type(0)) || (find_elements(next) && infer_elements(next)[0].dims != dims))
        return false;
      const auto found = steps_of(next, now);
      if (!found) return false;
      steps = found->steps;
    }
    for (const Step& step : *steps)
      if (step.tensor == now) return false;
    if (affine) {
      Sums changed = sums;
      std::size_t taken = 0;
      while (taken < steps->size() && absorb(changed, (*steps)[taken], dims, view)) ++taken;
      if (taken == steps->size()) {
        sums = std::move(changed);
        return true;
      }
      begin();
    }
    return epilogue.add_all(*steps, scalar_steps_behind(l, next.node().outputs[0], dims));
  });
  begin();
  return last;
}

std::optional<std::vector<double>> kernel_operand(const Step& step, const Dims& dims,
                                                  const View& view, std::size_t kernels) {
  if (step.operand.size() == 1) return std::vector<double>(kernels, step.operand.real(0));
  if (step.operand.size() != static_cast<std::int64_t>(kernels)) return std::nullopt;
  const auto roles = roles_in(view, dims);
  if (!roles) return std::nullopt;
  const std::size_t shift = dims.size() - step.operand.dims().size();
  for (std::size_t i = 0; i < step.operand.dims().size(); ++i)
    if (step.operand.dims()[i] != 1 && (*roles)[i + shift] != 'C') return std::nullopt;
  return step.operand.doubles();
}

std::vector<double> bias_of(const Operation& op, std::size_t index, std::size_t kernels) {
  std::vector<double> bias(kernels, 0);
  if (!op.has(index)) return bias;
  const Constant& c = op.need_constant(index, "the bias");
  if (c.size() != static_cast<std::int64_t>(kernels))
    refuse_node("the bias has {} elements for {} kernels", c.size(), kernels);
  return c.doubles();
}

}  // namespace nvdla::import
