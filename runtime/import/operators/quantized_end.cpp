// SPDX-License-Identifier: MIT
//
// Nodes behind a layer of tensors with a scale, up to its QuantizeLinear.
#include <algorithm>
#include <cmath>
#include <utility>

#include "import/operators/elements.hpp"
#include "import/operators/operator.hpp"
#include "import/operators/quantized.hpp"
#include "import/operators/sums.hpp"

namespace nvdla::import {
namespace {

// Takes steps that hold results to bounds; returns false for others.
bool take_bounds(QuantizedEnd& end, const std::vector<Step>& steps) {
  Bounds bounds = end.bounds;
  for (const Step& step : steps) {
    if (!step.is_scalar()) return false;
    const auto value = static_cast<float>(step.has_operand() ? step.operand.real(0) : 0);
    if (step.kind == StepKind::kRelu || step.kind == StepKind::kMax)
      bounds.low = std::max(bounds.low, value);
    else if (step.kind == StepKind::kMin)
      bounds.high = std::min(bounds.high, value);
    else
      return false;
  }
  if (!(bounds.low < bounds.high)) return false;
  end.bounds = bounds;
  return true;
}

// Takes a function of the elements behind others.
bool take_function(QuantizedEnd& end, const Operation& next) {
  const auto own = unary_function(next);
  if (!own) return false;
  end.function =
      end.function
          ? Function([first = end.function, second = *own](double x) { return second(first(x)); })
          : *own;
  return true;
}

// Takes steps one by one, into factors and addends or into bounds.
bool take_steps(QuantizedEnd& end, const std::vector<Step>& steps, const Kernels& kernels) {
  QuantizedEnd changed = end;
  for (const Step& step : steps)
    if (!take_bounds(changed, {step}) && !take_affine(changed, {step}, kernels)) return false;
  end = std::move(changed);
  return true;
}

QuantizedEnd follow_to_end(
    Lowering& l, ValueId out,
    const std::function<bool(QuantizedEnd&, const Operation&, const std::vector<Step>&)>& take) {
  QuantizedEnd end;
  bool found = false;
  std::string stopped;
  end.last = l.follow(out, [&](const Operation& next, ValueId now) {
    if (found) return false;
    if (next.op() == "QuantizeLinear") {
      if (next.input(0) != now) return false;
      end.output = tensor_quantization(l, next, quantized_type(next));
      found = true;
      return true;
    }
    const auto steps = quantized_steps(next, now);
    if (steps && steps->input == now && take(end, next, steps->steps)) return true;
    stopped = fmt::format(" ({} comes first)", next.op());
    return false;
  });
  if (!found)
    throw Refusal("no QuantizeLinear follows it, so that its result has no scale" + stopped,
                  "quantise the output, too");
  return end;
}

}  // namespace

std::optional<Steps> quantized_steps(const Operation& op, ValueId input) {
  if (op.op() == "BatchNormalization" && op.node().domain.empty() && op.inputs() == 5) {
    for (std::size_t i = 1; i < 5; ++i)
      if (op.constant(i) == nullptr) return std::nullopt;
    if (op.attribute("training_mode", std::int64_t{0}) != 0) return std::nullopt;
    return Steps{op.input(0), batch_normalization_steps(op)};
  }
  return steps_of(op, input);
}

QuantizedEnd follow_bounds(Lowering& l, ValueId out) {
  return follow_to_end(l, out,
                       [](QuantizedEnd& end, const Operation&, const std::vector<Step>& steps) {
                         return take_bounds(end, steps);
                       });
}

QuantizedEnd follow_functions(Lowering& l, ValueId out) {
  return follow_to_end(l, out,
                       [](QuantizedEnd& end, const Operation& next, const std::vector<Step>&) {
                         return take_function(end, next);
                       });
}

QuantizedEnd follow_kernels(Lowering& l, ValueId out, const Kernels& kernels) {
  return follow_to_end(
      l, out, [&](QuantizedEnd& end, const Operation& next, const std::vector<Step>& steps) {
        if (find_elements(next) && infer_elements(next)[0].dims != kernels.dims) return false;
        return take_steps(end, steps, kernels);
      });
}

bool take_affine(QuantizedEnd& end, const std::vector<Step>& steps, const Kernels& kernels) {
  QuantizedEnd changed = end;
  for (const Step& step : steps) {
    const bool scale = step.kind == StepKind::kScale;
    if ((!scale && step.kind != StepKind::kShift) || step.tensor != kNoValue) return false;
    const auto operand = kernel_operand(step, kernels.dims, kernels.view, kernels.count);
    if (!operand) return false;
    if (changed.has_bounds()) {
      // Bounds are alike for all kernels, and so is what comes behind them.
      const double v = operand->front();
      if (!step.is_scalar() || (scale && !(v > 0))) return false;
      for (float* const bound : {&changed.bounds.low, &changed.bounds.high}) {
        const auto real = static_cast<double>(*bound);
        *bound = static_cast<float>(scale ? real * v : real + v);
      }
    }
    if (changed.factors.empty()) {
      changed.factors.assign(kernels.count, 1);
      changed.addends.assign(kernels.count, 0);
    }
    for (std::size_t k = 0; k < kernels.count; ++k) {
      const double v = (*operand)[k];
      if (!std::isfinite(v)) refuse_node("a constant behind it is no number");
      if (scale) changed.factors[k] *= v;
      changed.addends[k] = scale ? changed.addends[k] * v : changed.addends[k] + v;
    }
  }
  end = std::move(changed);
  return true;
}

std::optional<Quantization> take_quantization(Lowering& l, ValueId& id) {
  std::optional<Quantization> taken;
  id = l.follow(id, [&](const Operation& next, ValueId now) {
    if (taken || next.op() != "QuantizeLinear" || next.input(0) != now) return false;
    taken = tensor_quantization(l, next, quantized_type(next));
    return true;
  });
  return taken;
}

}  // namespace nvdla::import
