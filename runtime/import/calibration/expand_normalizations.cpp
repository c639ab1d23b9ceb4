// SPDX-License-Identifier: MIT
//
// Normalisations whose values between input and result have no scale become operators that have
// one behind each.
#include <algorithm>
#include <string>
#include <utility>

#include "import/calibration/quantize_graph.hpp"
#include "import/operators/operator.hpp"

namespace nvdla::import {
namespace {

constexpr std::int64_t kOpsetOfParts = 18;
constexpr std::int64_t kMaxChannels = 8192;

// `Parts` makes the nodes that take the place of one.
class Parts {
 public:
  Parts(Graph& graph, const Node& node, std::vector<Node>& nodes)
      : graph_(graph), node_(node), type_(graph.value(node.outputs[0]).type), nodes_(nodes) {}

  ValueId integers(const std::vector<std::int64_t>& list) {
    const Dims dims = {static_cast<std::int64_t>(list.size())};
    return graph_.add({.name = node_.name + " list",
                       .type = Type::kInt64,
                       .dims = dims,
                       .constant = Constant::of_integers(Type::kInt64, dims, list)});
  }
  // Returns a constant that the node has, with other sizes.
  ValueId constant(ValueId id, const Dims& dims) {
    const Constant c = *graph_.value(id).constant;
    return graph_.add({.name = node_.name + " operand",
                       .type = c.type(),
                       .dims = dims,
                       .constant = c.with_dims(dims)});
  }
  // Adds a node and returns its result, of sizes `dims`.
  ValueId add(const char* op, std::vector<ValueId> inputs, const Dims& dims) {
    Node& made = nodes_.emplace_back();
    made.name = node_.name;
    made.op = op;
    made.opset = kOpsetOfParts;
    made.inputs = std::move(inputs);
    made.outputs = {graph_.add({.name = node_.name + " part", .type = type_, .dims = dims})};
    return made.outputs[0];
  }
  // Makes the result of the last node that of the whole.
  void finish() { nodes_.back().outputs = {node_.outputs[0]}; }
  Node& last() { return nodes_.back(); }

 private:
  Graph& graph_;
  const Node& node_;
  Type type_;
  std::vector<Node>& nodes_;
};

// Each channel is normalised as a layer is, over its positions, then gets its factor and addend.
bool expand_instance(Graph& graph, const Node& node, std::vector<Node>& nodes) {
  const Operation op(graph, node);
  const Dims dims = op.dims(0);
  if (dims.size() < 3 || op.constant(1) == nullptr || op.constant(2) == nullptr ||
      op.dims(1) != Dims{dims[1]} || op.dims(2) != Dims{dims[1]})
    return false;
  const std::int64_t positions = elements(Dims(dims.begin() + 2, dims.end()));
  if (positions > kMaxChannels) return false;
  const double epsilon = op.attribute("epsilon", 1e-5);
  const ValueId factor = op.input(1), addend = op.input(2);
  Dims channels(dims.size() - 1, 1);
  channels[0] = dims[1];
  Parts parts(graph, node, nodes);
  const Dims rows = {dims[0], dims[1], positions};
  ValueId x = parts.add("Reshape", {op.input(0), parts.integers(rows)}, rows);
  x = parts.add("LayerNormalization", {x, kNoValue, kNoValue}, rows);
  parts.last().attributes["axis"] = std::int64_t{-1};
  parts.last().attributes["epsilon"] = static_cast<float>(epsilon);
  x = parts.add("Reshape", {x, parts.integers(dims)}, dims);
  x = parts.add("Mul", {x, parts.constant(factor, channels)}, dims);
  parts.add("Add", {x, parts.constant(addend, channels)}, dims);
  parts.finish();
  return true;
}

// d - log(sum(exp(d))), where d = x - max(x) is at most 0.
bool expand_log_softmax(Graph& graph, const Node& node, std::vector<Node>& nodes) {
  const Operation op(graph, node);
  const Dims dims = op.dims(0);
  const bool old = op.opset() < 13;
  const std::size_t axis =
      Operation::axis(op.attribute("axis", std::int64_t{old ? 1 : -1}), dims.size());
  std::vector<std::int64_t> axes;
  Dims one = dims;
  for (std::size_t i = axis; i < (old ? dims.size() : axis + 1); ++i) {
    axes.push_back(static_cast<std::int64_t>(i));
    one[i] = 1;
  }
  Parts parts(graph, node, nodes);
  const ValueId list = parts.integers(axes);
  const ValueId most = parts.add("ReduceMax", {op.input(0), list}, one);
  const ValueId below = parts.add("Sub", {op.input(0), most}, dims);
  const ValueId powers = parts.add("Exp", {below}, dims);
  const ValueId sum = parts.add("ReduceSum", {powers, list}, one);
  const ValueId log = parts.add("Log", {sum}, one);
  parts.add("Sub", {below, log}, dims);
  parts.finish();
  return true;
}

}  // namespace

void expand_normalizations(Graph& graph) {
  std::vector<Node> nodes;
  for (Node& node : std::exchange(graph.nodes, {})) {
    const bool whole = node.domain.empty() && node.outputs.size() == 1;
    const bool expanded = unless_refused(false, [&] {
      return whole &&
             ((node.op == "InstanceNormalization" && expand_instance(graph, node, nodes)) ||
              (node.op == "LogSoftmax" && expand_log_softmax(graph, node, nodes)));
    });
    if (!expanded) nodes.push_back(std::move(node));
  }
  graph.nodes = std::move(nodes);
}

}  // namespace nvdla::import
