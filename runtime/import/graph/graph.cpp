// SPDX-License-Identifier: MIT
//
// The order of nodes.
#include "import/graph/graph.hpp"

#include <fmt/format.h>

#include <queue>
#include <unordered_map>
#include <utility>

#include "import/graph/refusal.hpp"
#include "support/printable.hpp"

namespace nvdla::import {

ValueId Graph::add(Value value) {
  values.push_back(std::move(value));
  return static_cast<ValueId>(values.size() - 1);
}

std::string node_text(const Node& node) {
  return fmt::format("node '{}' ({})", detail::printable(node.name), detail::printable(node.op));
}

void sort_nodes(Graph& graph) {
  std::vector<Node> nodes = std::move(graph.nodes);
  sort_nodes(graph, nodes);
  graph.nodes = std::move(nodes);
}

void sort_nodes(const Graph& graph, std::vector<Node>& nodes) {
  const std::size_t count = nodes.size();
  std::unordered_map<ValueId, std::size_t> maker;
  for (std::size_t n = 0; n < count; ++n)
    for (const ValueId id : nodes[n].outputs)
      if (id != kNoValue) maker[id] = n;
  std::vector<std::size_t> missing(count, 0);
  std::vector<std::vector<std::size_t>> readers(count);
  for (std::size_t n = 0; n < count; ++n) {
    for_each_taken(nodes[n], [&](ValueId id) {
      const auto found = maker.find(id);
      if (found == maker.end()) return;
      readers[found->second].push_back(n);
      ++missing[n];
    });
  }
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t n = 0; n < count; ++n)
    if (missing[n] == 0) ready.push(n);
  std::vector<Node> sorted;
  sorted.reserve(count);
  while (!ready.empty()) {
    const std::size_t n = ready.top();
    ready.pop();
    sorted.push_back(std::move(nodes[n]));
    for (const std::size_t reader : readers[n])
      if (--missing[reader] == 0) ready.push(reader);
  }
  for (std::size_t n = 0; sorted.size() != count && n < count; ++n) {
    if (missing[n] != 0)
      throw_invalid_model("{}: {}: it is part of a cycle or depends on one", graph.file,
                          node_text(nodes[n]));
  }
  nodes = std::move(sorted);
}

void remove_dead_nodes(Graph& graph) {
  std::vector<bool> wanted(graph.values.size(), false);
  for (const ValueId id : graph.outputs) wanted[static_cast<std::size_t>(id)] = true;
  std::vector<Node> kept;
  for (std::size_t n = graph.nodes.size(); n-- > 0;) {
    Node& node = graph.nodes[n];
    bool used = false;
    for (const ValueId id : node.outputs)
      used = used || (id != kNoValue && wanted[static_cast<std::size_t>(id)]);
    if (!used) continue;
    for_each_taken(node, [&](ValueId id) { wanted[static_cast<std::size_t>(id)] = true; });
    kept.push_back(std::move(node));
  }
  graph.nodes.assign(std::make_move_iterator(kept.rbegin()), std::make_move_iterator(kept.rend()));
}

}  // namespace nvdla::import
