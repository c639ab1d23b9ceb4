// SPDX-License-Identifier: MIT
#include "import/reference/reference.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "import/operators/elements.hpp"
#include "import/operators/operator.hpp"
#include "import/reference/float_operators.hpp"
#include "support/printable.hpp"

namespace nvdla::import {
namespace {

// Computes a node as if its inputs were constants.
std::vector<std::vector<float>> fold_node(const Graph& graph, const Node& node,
                                          const Inputs& inputs) {
  Graph alone;
  Node same = node;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] == kNoValue) continue;
    Value value = graph.value(node.inputs[i]);
    if (!value.constant)
      value.constant = Constant::of_doubles(
          value.type, *value.dims, std::vector<double>(inputs[i].begin(), inputs[i].end()));
    same.inputs[i] = alone.add(std::move(value));
  }
  for (ValueId& id : same.outputs)
    if (id != kNoValue) id = alone.add(graph.value(id));
  const Operation op(alone, same);
  std::vector<std::vector<float>> out;
  for (const Constant& c : find_operator(op)->fold(op)) out.push_back(c.floats());
  return out;
}

std::vector<std::vector<float>> compute_node(const Graph& graph, const Node& node,
                                             const Inputs& inputs) {
  const Operation op(graph, node);
  if (op.has_output(0)) {
    const Dims& dims = *graph.value(node.outputs[0]).dims;
    if (const FloatOperator* const row = find_float_operator(op))
      return {row->compute(op, inputs, dims)};
    if (find_elements(op)) {
      std::vector<float> out = compute_elements(op, inputs, dims);
      if (!out.empty()) return {std::move(out)};
    }
  }
  return fold_node(graph, node, inputs);
}

std::vector<std::vector<float>> compute_or_throw(const Graph& graph, const Node& node,
                                                 const Inputs& inputs) {
  try {
    return compute_node(graph, node, inputs);
  } catch (const Refusal& refusal) {
    throw Error(ErrorCode::kNotAvailable,
                fmt::format("{}: {} cannot be computed in floats for scales: {}",
                            detail::printable(graph.file), node_text(node), refusal.what()));
  }
}

// Elements of a value that is computed: 256 MiB of floats.
constexpr std::int64_t kMaxComputed = std::int64_t{1} << 26;

void check_size(const Graph& graph, const Node& node) {
  for (const ValueId id : node.outputs)
    if (id != kNoValue && elements(*graph.value(id).dims) > kMaxComputed)
      throw Error(ErrorCode::kNotAvailable,
                  fmt::format("{}: {} has a result of {}, which is too large to be computed in "
                              "floats for scales",
                              detail::printable(graph.file), node_text(node),
                              dims_text(*graph.value(id).dims)));
}

bool can_compute(const Graph& graph, const Node& node) {
  const Operation op(graph, node);
  const OperatorRow* const row = find_operator(op);
  const bool others = std::any_of(node.outputs.begin() + 1, node.outputs.end(),
                                  [](ValueId id) { return id != kNoValue; });
  if (find_float_operator(op) != nullptr && op.has_output(0)) return !others;
  return row != nullptr && row->fold != nullptr;
}

}  // namespace

const FloatOperator* find_float_operator(const Operation& op) noexcept {
  if (!op.node().domain.empty()) return nullptr;
  for (const auto& family :
       {float_sum_operators(), float_pool_operators(), float_channel_operators()})
    for (const FloatOperator& row : family)
      if (row.name == op.op()) return &row;
  return nullptr;
}

Reference::Reference(const Graph& graph) : graph_(graph), last_(graph.nodes.size()) {
  std::string wrong;
  std::set<ValueId> seen(graph.outputs.begin(), graph.outputs.end());
  for (std::size_t n = graph.nodes.size(); n-- > 0;) {
    const Node& node = graph.nodes[n];
    check_size(graph, node);
    if (!can_compute(graph, node)) wrong += fmt::format("\n  {}", node_text(node));
    for (const auto* list : {&node.outputs, &node.inputs})
      for (const ValueId id : *list) {
        if (id == kNoValue) continue;
        if (const auto& constant = graph.value(id).constant)
          constants_.try_emplace(id, constant->floats());
        else if (seen.insert(id).second)
          last_[n].push_back(id);
      }
  }
  if (!wrong.empty())
    throw Error(ErrorCode::kNotAvailable,
                fmt::format("{}: nodes that cannot be computed in floats, so that samples give no "
                            "scales for them:{}",
                            detail::printable(graph.file), wrong));
}

void Reference::run(const std::vector<std::vector<float>>& inputs, const Visit& visit) const {
  std::vector<std::vector<float>> values(graph_.values.size());
  const auto at = [&](ValueId id) -> std::vector<float>& {
    return values[static_cast<std::size_t>(id)];
  };
  for (std::size_t i = 0; i < graph_.inputs.size(); ++i) {
    at(graph_.inputs[i]) = inputs[i];
    visit(graph_.inputs[i], at(graph_.inputs[i]));
  }
  for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
    const Node& node = graph_.nodes[n];
    Inputs in;
    for (const ValueId id : node.inputs) {
      const auto constant = constants_.find(id);
      in.push_back(id == kNoValue                 ? std::span<const float>()
                   : constant != constants_.end() ? std::span<const float>(constant->second)
                                                  : std::span<const float>(at(id)));
    }
    auto out = compute_or_throw(graph_, node, in);
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      const ValueId id = node.outputs[i];
      if (id == kNoValue) continue;
      const bool finite =
          std::all_of(out[i].begin(), out[i].end(), [](float v) { return std::isfinite(v); });
      if (!finite)
        throw_invalid_model("{}: {} computes infinity or no number (NaN) of a sample",
                            detail::printable(graph_.file), node_text(node));
      at(id) = std::move(out[i]);
      visit(id, at(id));
    }
    for (const ValueId id : last_[n]) std::vector<float>().swap(at(id));
  }
}

}  // namespace nvdla::import
