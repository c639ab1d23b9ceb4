// SPDX-License-Identifier: MIT
//
// Nodes that become others before anything is known of their results.
#include <utility>

#include "import/graph/node_maker.hpp"
#include "import/nodes/operation.hpp"
#include "import/passes/passes.hpp"

namespace nvdla::import {
namespace {

const Body& body_of(const Node& node, std::string_view name) {
  const auto found = node.attributes.find(name);
  const auto* const graph =
      found != node.attributes.end() ? std::get_if<Subgraph>(&found->second) : nullptr;
  if (graph == nullptr) refuse_node("its attribute '{}' is no graph", name);
  return *graph->body;
}

// Returns the nodes of the branch that is taken, and one for each result.
std::vector<Node> expand_if(Graph& graph, const Node& node) {
  const Operation op(graph, node);
  const Constant* const condition = op.constant(0);
  if (condition == nullptr)
    throw Refusal(
        "its condition follows from the elements of each run, and layers have no branches",
        "cut the graph before it: --outputs");
  if (condition->size() != 1)
    refuse_node("its condition has {} elements; expected 1", condition->size());
  const Body& body = body_of(node, condition->real(0) != 0 ? "then_branch" : "else_branch");
  if (body.outputs.size() != node.outputs.size())
    refuse_node("its branch has {} outputs, and the node {}", body.outputs.size(),
                node.outputs.size());
  NodeMaker make(graph, node.name);
  for (const Node& inner : body.nodes) make.append(inner);
  for (std::size_t i = 0; i < node.outputs.size(); ++i)
    if (node.outputs[i] != kNoValue) make.node("Identity", {body.outputs[i]}, node.outputs[i]);
  return make.take();
}

// Bounds that the network computes are tensors of which the greater or lesser one is taken.
std::optional<std::vector<Node>> expand_clip(Graph& graph, const Node& node) {
  const Operation op(graph, node);
  const bool computed =
      (op.has(1) && op.constant(1) == nullptr) || (op.has(2) && op.constant(2) == nullptr);
  if (!computed || node.outputs.size() != 1) return std::nullopt;
  NodeMaker make(graph, node.name);
  ValueId x = op.input(0);
  if (op.has(1)) x = make.compute("Max", {x, op.input(1)});
  if (op.has(2)) x = make.compute("Min", {x, op.input(2)});
  make.last().outputs = {node.outputs[0]};
  return make.take();
}

// A vector as the second factor is a matrix of one column, which the result does not keep.
std::optional<std::vector<Node>> expand_product(Graph& graph, const Node& node) {
  const Operation op(graph, node);
  if (op.inputs() != 2 || op.constant(1) == nullptr || op.constant(0) != nullptr ||
      op.dims(1).size() != 1 || op.dims(0).size() < 2)
    return std::nullopt;
  const Value vector = op.value(1);
  if (vector.quantized && vector.quantized->scales.size() != 1) return std::nullopt;
  const Dims in = op.dims(0), column = {op.dims(1)[0], 1};
  if (in.back() != column[0]) return std::nullopt;
  Value matrix{.name = vector.name, .type = vector.type, .dims = column};
  matrix.constant = vector.constant->with_dims(column);
  matrix.quantized = vector.quantized;
  if (matrix.quantized) matrix.quantized->elements = vector.quantized->elements.with_dims(column);
  NodeMaker make(graph, node.name);
  const ValueId product = make.compute("MatMul", {op.input(0), make.add(std::move(matrix))});
  make.node("Reshape", {product, make.integers(Dims(in.begin(), in.end() - 1))}, node.outputs[0]);
  return make.take();
}

}  // namespace

std::optional<std::vector<Node>> expand_node(Graph& graph, const Node& node) {
  if (!node.domain.empty()) return std::nullopt;
  if (node.op == "If") return expand_if(graph, node);
  if (node.op == "Resize" || node.op == "Upsample") return expand_interpolation(graph, node);
  if (node.op == "LSTM" || node.op == "GRU" || node.op == "RNN")
    return expand_recurrence(graph, node);
  if (node.op == "Einsum") return expand_einsum(graph, node);
  if (node.op == "Clip") return expand_clip(graph, node);
  if (node.op == "MatMul") return expand_product(graph, node);
  if (node.op == "Conv") return expand_convolution(graph, node);
  return std::nullopt;
}

}  // namespace nvdla::import
