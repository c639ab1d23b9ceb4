// SPDX-License-Identifier: MIT
//
// Types, sizes and constants, from the inputs on.
#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "import/operators/operator.hpp"
#include "import/operators/quantized.hpp"
#include "import/passes/passes.hpp"
#include "support/printable.hpp"

namespace nvdla::import {
namespace {

using detail::printable;

ImportedNode entry(const Node& node, std::string place, std::string reason, std::string remedy) {
  return {printable(node.name), printable(node.op), std::move(place), std::move(reason),
          std::move(remedy)};
}

// Sets what is known of the outputs of a node. Returns true if all of them are constants.
bool infer(Graph& graph, const Node& node) {
  const Operation op(graph, node);
  const OperatorRow* const row = find_operator(op);
  if (row == nullptr) {
    const bool inside =
        std::any_of(node.attributes.begin(), node.attributes.end(),
                    [](const auto& a) { return std::holds_alternative<Subgraph>(a.second); });
    if (inside)
      refuse_node(
          "the operator has a graph of its own, and only operators without one are supported");
    if (!node.domain.empty())
      refuse_node("operators of '{}' are not supported", printable(node.domain));
    refuse_node("the operator is not supported");
  }
  const bool may_leave_out = node.op == "Split" || node.op == "LayerNormalization";
  if (!op.has_output(0) && !may_leave_out) refuse_node("it leaves out its first output");
  const auto inferred = row->infer(op);
  bool constant = row->fold != nullptr;
  for (std::size_t i = 0; i < op.inputs(); ++i)
    constant = constant && (!op.has(i) || op.constant(i) != nullptr || row->lower == nullptr);
  std::vector<Constant> folded;
  if (constant) folded = row->fold(op);
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNoValue) continue;
    Value& value = graph.value(node.outputs[i]);
    if (i >= inferred.size())
      refuse_node("it has {} outputs; expected {}", node.outputs.size(), inferred.size());
    if (elements(inferred[i].dims) > kMaxElements)
      refuse_node("a tensor of {} is too large", dims_text(inferred[i].dims));
    value.type = inferred[i].type;
    value.dims = inferred[i].dims;
    if (constant) value.constant = folded.at(i);
    if (constant && node.op == "DequantizeLinear") value.quantized = quantized_constant(op);
  }
  return constant;
}

// No model becomes more nodes than this by those that are expanded.
constexpr std::size_t kMaxExpanded = std::size_t{1} << 17;

// Returns true for operators that may become any number of nodes, or large constants.
bool may_grow(const Node& node) {
  constexpr std::string_view kNames[] = {"Conv", "GRU", "If", "LSTM", "RNN", "Resize", "Upsample"};
  return std::find(std::begin(kNames), std::end(kNames), node.op) != std::end(kNames);
}

}  // namespace

void fold_constants(Graph& graph, std::vector<ImportedNode>& nodes) {
  std::set<ValueId> lost;
  std::vector<Node> kept;
  // A file of a few bytes must not ask for any number of large constants.
  std::int64_t budget = 2 * kMaxFolded;
  for (const Value& value : graph.values)
    if (value.constant) budget += 4 * value.constant->size();
  std::size_t expanded = 0;
  // The next node is the last one; those that are made of it come before all others.
  std::vector<Node> work(std::make_move_iterator(graph.nodes.rbegin()),
                         std::make_move_iterator(graph.nodes.rend()));
  while (!work.empty()) {
    Node node = std::move(work.back());
    work.pop_back();
    bool behind = false;
    for_each_taken(node, [&](ValueId id) { behind = behind || lost.contains(id); });
    const auto lose = [&](const std::string& reason, const std::string& remedy) {
      nodes.push_back(entry(node, "", reason, remedy));
      for (const ValueId id : node.outputs)
        if (id != kNoValue) lost.insert(id);
    };
    if (behind && (node.op != "Shape" && node.op != "Size")) {
      const Operation op(graph, node);
      lose(find_operator(op) == nullptr ? "the operator is not supported"
                                        : "it is behind a node that is not possible",
           "");
      continue;
    }
    try {
      if (may_grow(node) && (budget < 0 || expanded > kMaxExpanded))
        refuse_node("the nodes that the model becomes are too many, or their constants too large");
      const std::size_t before = graph.values.size();
      if (auto made = expand_node(graph, node)) {
        expanded += made->size();
        for (std::size_t i = before; i < graph.values.size(); ++i)
          if (graph.values[i].constant) budget -= graph.values[i].constant->size();
        work.insert(work.end(), std::make_move_iterator(made->rbegin()),
                    std::make_move_iterator(made->rend()));
        continue;
      }
      if (infer(graph, node)) {
        for (const ValueId id : node.outputs)
          if (id != kNoValue) budget -= graph.value(id).constant->size();
        if (budget < 0) refuse_node("the constants that the model computes are too large together");
        nodes.push_back(entry(node, "constant", "", ""));
      } else {
        kept.push_back(std::move(node));
      }
    } catch (const Refusal& refusal) {
      lose(refusal.what(), refusal.remedy);
    }
  }
  graph.nodes = std::move(kept);
}

}  // namespace nvdla::import
