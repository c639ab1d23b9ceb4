// SPDX-License-Identifier: MIT
//
// Quotients of two tensors become products with reciprocals, which have scales of their own.
#include <utility>

#include "import/calibration/quantize_graph.hpp"
#include "import/operators/operator.hpp"

namespace nvdla::import {

void expand_quotients(Graph& graph) {
  std::vector<Node> nodes;
  for (Node& node : std::exchange(graph.nodes, {})) {
    const Operation op(graph, node);
    const bool both = op.op() == "Div" && node.domain.empty() && op.inputs() == 2 &&
                      op.constant(0) == nullptr && op.constant(1) == nullptr && is_real(op.type(1));
    if (both) {
      Node reciprocal;
      reciprocal.name = node.name;
      reciprocal.op = "Reciprocal";
      reciprocal.opset = node.opset;
      reciprocal.inputs = {node.inputs[1]};
      const Type type = op.type(1);
      const Dims dims = op.dims(1);
      reciprocal.outputs = {
          graph.add({.name = node.name + " reciprocal", .type = type, .dims = dims})};
      node.op = "Mul";
      node.inputs[1] = reciprocal.outputs[0];
      nodes.push_back(std::move(reciprocal));
    }
    nodes.push_back(std::move(node));
  }
  graph.nodes = std::move(nodes);
}

}  // namespace nvdla::import
