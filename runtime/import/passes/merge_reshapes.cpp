// SPDX-License-Identifier: MIT
//
// Reshapes of reshapes.
#include <map>

#include "import/graph/node_maker.hpp"
#include "import/operators/move.hpp"
#include "import/passes/passes.hpp"

namespace nvdla::import {

void merge_reshapes(Graph& graph) {
  std::map<ValueId, ValueId> origins;  // of values that are others with other sizes
  for (Node& node : graph.nodes) {
    const Operation op(graph, node);
    const bool reshapes = unless_refused(false, [&] { return reshaped_dims(op).has_value(); });
    if (!reshapes || node.outputs.size() != 1 || node.outputs[0] == kNoValue) continue;
    const auto found = origins.find(op.input(0));
    const ValueId origin = found == origins.end() ? op.input(0) : found->second;
    origins[node.outputs[0]] = origin;
    if (found == origins.end()) continue;
    NodeMaker make(graph, node.name);
    make.node("Reshape", {origin, make.integers(*graph.value(node.outputs[0]).dims)},
              node.outputs[0])
        .attributes["allowzero"] = std::int64_t{1};
    node = make.last();
  }
  remove_dead_nodes(graph);
}

}  // namespace nvdla::import
