// SPDX-License-Identifier: MIT
//
// `Links` tells passes over a graph which nodes compute a value, and which read it.
#ifndef NVDLA_IMPORT_PASSES_LINKS_HPP
#define NVDLA_IMPORT_PASSES_LINKS_HPP

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "import/graph/graph.hpp"
#include "import/nodes/operation.hpp"

namespace nvdla::import {

class Links {
 public:
  explicit Links(const Graph& graph) : graph_(graph), readers_(graph.values.size()) {
    for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
      for (const ValueId id : graph.nodes[n].outputs)
        if (id != kNoValue) makers_[id] = n;
      for (const ValueId id : graph.nodes[n].inputs)
        if (id != kNoValue) readers_[static_cast<std::size_t>(id)].push_back(n);
    }
    for (const ValueId id : graph.outputs) readers_[static_cast<std::size_t>(id)].push_back(0);
  }

  // Returns the node of an operator that computes a value, or nullptr.
  const Node* maker(ValueId id, std::string_view op) const {
    const auto found = makers_.find(id);
    return found != makers_.end() && graph_.nodes[found->second].op == op
               ? &graph_.nodes[found->second]
               : nullptr;
  }
  // Returns the Reshape and the Transpose behind it that a value comes from, or nothing.
  std::optional<std::pair<Operation, Operation>> transposed_reshape(ValueId id) const {
    const Node* const second = maker(id, "Transpose");
    if (second == nullptr) return std::nullopt;
    const Operation transpose(graph_, *second);
    const Node* const first = maker(transpose.input(0), "Reshape");
    if (first == nullptr) return std::nullopt;
    return std::pair{Operation(graph_, *first), transpose};
  }
  // Returns the number of the only node that reads a value and is of an operator.
  std::optional<std::size_t> only_reader(ValueId id, std::string_view op) const {
    const auto& readers = readers_[static_cast<std::size_t>(id)];
    if (readers.size() != 1 || graph_.nodes[readers[0]].op != op) return std::nullopt;
    const auto& inputs = graph_.nodes[readers[0]].inputs;
    return std::find(inputs.begin(), inputs.end(), id) != inputs.end() ? std::optional(readers[0])
                                                                       : std::nullopt;
  }

 private:
  const Graph& graph_;
  std::map<ValueId, std::size_t> makers_;
  std::vector<std::vector<std::size_t>> readers_;
};

}  // namespace nvdla::import

#endif  // NVDLA_IMPORT_PASSES_LINKS_HPP
