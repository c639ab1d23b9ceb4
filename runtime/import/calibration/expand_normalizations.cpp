// SPDX-License-Identifier: MIT
//
// Operators whose values between input and result have no scale become several that have one behind
// each.
#include <utility>

#include "import/calibration/quantize_graph.hpp"
#include "import/graph/node_maker.hpp"
#include "import/operators/operator.hpp"
#include "import/operators/pools.hpp"

namespace nvdla::import {
namespace {

// d - log(sum(exp(d))), where d = x - max(x) is at most 0.
bool expand_log_softmax(NodeMaker& make, const Node& node) {
  const Operation op(make.graph(), node);
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
  const Type type = make.graph().value(node.outputs[0]).type;
  const ValueId list = make.integers(axes);
  const ValueId most = make.compute("ReduceMax", {op.input(0), list}, type, one);
  const ValueId below = make.compute("Sub", {op.input(0), most}, type, dims);
  const ValueId powers = make.compute("Exp", {below}, type, dims);
  const ValueId sum = make.compute("ReduceSum", {powers, list}, type, one);
  const ValueId log = make.compute("Log", {sum}, type, one);
  make.node("Sub", {below, log}, node.outputs[0]);
  return true;
}

// Sums of magnitudes or squares along axes, or their root.
bool expand_norm(NodeMaker& make, const Node& node) {
  const Operation op(make.graph(), node);
  const Type type = make.graph().value(node.outputs[0]).type;
  const Dims dims = op.dims(0), out = *make.graph().value(node.outputs[0]).dims;
  const auto reduced = reduced_axes(op);
  std::vector<std::int64_t> axes;
  for (std::size_t i = 0; i < reduced.size(); ++i)
    if (reduced[i]) axes.push_back(static_cast<std::int64_t>(i));
  if (axes.empty()) return false;
  const ValueId x = op.input(0);
  const ValueId terms = node.op == "ReduceL1" ? make.compute("Abs", {x}, type, dims)
                                              : make.compute("Mul", {x, x}, type, dims);
  const ValueId sum = make.compute("ReduceSum", {terms, make.integers(axes)}, type, out);
  make.last().attributes["keepdims"] = std::int64_t{out.size() == dims.size() ? 1 : 0};
  if (node.op == "ReduceL2") make.compute("Sqrt", {sum}, type, out);
  make.last().outputs = {node.outputs[0]};
  return true;
}

bool is_norm(const Node& node) {
  return node.op == "ReduceL1" || node.op == "ReduceL2" || node.op == "ReduceSumSquare";
}

}  // namespace

void expand_normalizations(Graph& graph) {
  NodeMaker make(graph);
  for (Node& node : std::exchange(graph.nodes, {})) {
    make.set_name(node.name);
    const bool whole = node.domain.empty() && node.outputs.size() == 1;
    const bool expanded = unless_refused(false, [&] {
      return whole && ((is_norm(node) && expand_norm(make, node)) ||
                       (node.op == "LogSoftmax" && expand_log_softmax(make, node)));
    });
    if (!expanded) make.append(std::move(node));
  }
  graph.nodes = make.take();
}

// Quotients of two tensors become products with reciprocals.
void expand_quotients(Graph& graph) {
  NodeMaker make(graph);
  for (Node& node : std::exchange(graph.nodes, {})) {
    const Operation op(graph, node);
    const bool both = op.op() == "Div" && node.domain.empty() && op.inputs() == 2 &&
                      op.constant(0) == nullptr && op.constant(1) == nullptr && is_real(op.type(1));
    if (both) {
      make.set_name(node.name);
      const Dims dims = op.dims(1);
      node.inputs[1] = make.compute("Reciprocal", {node.inputs[1]}, op.type(1), dims);
      node.op = "Mul";
    }
    make.append(std::move(node));
  }
  graph.nodes = make.take();
}

}  // namespace nvdla::import
