// SPDX-License-Identifier: MIT
//
// Quotients of two tensors become products with reciprocals, which have scales of their own.
#include <utility>

#include "import/calibration/quantize_graph.hpp"
#include "import/graph/node_maker.hpp"
#include "import/operators/operator.hpp"

namespace nvdla::import {

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
