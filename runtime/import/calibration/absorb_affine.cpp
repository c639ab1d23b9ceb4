// SPDX-License-Identifier: MIT
//
// Affine operators behind sums of products become part of weights and bias.
#include <algorithm>
#include <optional>
#include <utility>

#include "import/calibration/kernels.hpp"
#include "import/calibration/quantize_graph.hpp"
#include "import/calibration/units.hpp"
#include "import/operators/elements.hpp"

namespace nvdla::import {
namespace {

// Returns the operand of a step for each kernel; nothing if it has none, or one of positions.
std::optional<std::vector<double>> operand_of_kernels(const Step& step, const Dims& dims,
                                                      std::size_t axis) {
  if (step.kind != StepKind::kScale && step.kind != StepKind::kShift) return std::nullopt;
  const auto kernels = static_cast<std::size_t>(dims[axis]);
  if (step.operand.size() == 1) return std::vector<double>(kernels, step.operand.real(0));
  const Dims& own = step.operand.dims();
  if (own.size() > dims.size() || step.operand.size() != static_cast<std::int64_t>(kernels))
    return std::nullopt;
  const std::size_t shift = dims.size() - own.size();
  for (std::size_t i = 0; i < own.size(); ++i)
    if (own[i] != 1 && i + shift != axis) return std::nullopt;
  return step.operand.doubles();
}

std::optional<std::vector<Step>> affine_steps(const Operation& op, ValueId input) {
  if (op.op() == "BatchNormalization") {
    for (std::size_t i = 1; i < 5; ++i)
      if (!op.has(i) || op.constant(i) == nullptr) return std::nullopt;
    return op.input(0) == input && op.attribute("training_mode", std::int64_t{0}) == 0
               ? std::optional(batch_normalization_steps(op))
               : std::nullopt;
  }
  const auto steps = steps_of(op, input);
  return steps ? std::optional(steps->steps) : std::nullopt;
}

// Takes a node behind the sums into them; returns false if it has no place there.
bool absorb(RealKernels& sums, const Operation& next, ValueId value, const Dims& dims) {
  const auto steps = affine_steps(next, value);
  if (!steps || steps->empty() || *next.graph().value(next.node().outputs[0]).dims != dims)
    return false;
  RealKernels changed = sums;
  for (const Step& step : *steps) {
    if (step.tensor != kNoValue) return false;
    const auto operand = operand_of_kernels(step, dims, sums.axis_of_result(dims.size()));
    if (!operand) return false;
    changed.apply(step.kind == StepKind::kScale, *operand);
  }
  sums = std::move(changed);
  return true;
}

// Returns the channels of the input, 1 if it has no axis of them.
std::int64_t channels_of(const Graph& graph, const Node& node) {
  return unless_refused(std::int64_t{1}, [&] {
    const Dims& dims = Operation(graph, node).dims(0);
    return dims.size() > 1 ? dims[1] : std::int64_t{1};
  });
}

}  // namespace

void absorb_affine(Graph& graph, std::int64_t most_channels) {
  const Readers readers(graph);
  std::vector<bool> gone(graph.nodes.size(), false);
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    if (gone[n] || !is_sum_of_products(graph, graph.nodes[n]) ||
        channels_of(graph, graph.nodes[n]) > most_channels)
      continue;
    const Dims dims = *graph.value(graph.nodes[n].outputs[0]).dims;
    RealKernels sums = read_kernels(graph, graph.nodes[n]);
    ValueId last = graph.nodes[n].outputs[0];
    bool changed = false;
    while (const std::size_t* const reader = readers.only(last)) {
      const Operation next(graph, graph.nodes[*reader]);
      const bool absorbed = unless_refused(
          false, [&] { return next.outputs() == 1 && absorb(sums, next, last, dims); });
      if (!absorbed) break;
      gone[*reader] = true;
      last = next.node().outputs[0];
      changed = true;
    }
    if (!changed) continue;
    sums.write(graph, graph.nodes[n]);
    graph.nodes[n].outputs = {last};
  }
  std::vector<Node> kept;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n)
    if (!gone[n]) kept.push_back(std::move(graph.nodes[n]));
  graph.nodes = std::move(kept);
}

}  // namespace nvdla::import
