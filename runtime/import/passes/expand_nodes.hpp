// SPDX-License-Identifier: MIT
//
// Nodes that take the place of another one.
#ifndef NVDLA_IMPORT_PASSES_EXPAND_NODES_HPP
#define NVDLA_IMPORT_PASSES_EXPAND_NODES_HPP

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "import/graph/graph.hpp"

namespace nvdla::import {

// `NodeMaker` makes nodes with the name of the node whose place they take.
class NodeMaker {
 public:
  NodeMaker(Graph& graph, const Node& node) : graph_(graph), name_(node.name) {}

  const Graph& graph() const noexcept { return graph_; }
  // Returns a value that a node will compute.
  ValueId value() { return graph_.add({.name = name_ + " part"}); }
  ValueId constant(const Dims& dims, const std::vector<double>& values);
  ValueId integers(const std::vector<std::int64_t>& values);
  Node& node(std::string_view op, std::vector<ValueId> inputs, ValueId output);
  // Makes a node and returns its result.
  ValueId compute(std::string_view op, std::vector<ValueId> inputs);
  ValueId reshape(ValueId x, const Dims& dims) { return compute("Reshape", {x, integers(dims)}); }
  // Returns the node that was made last.
  Node& last() { return nodes_.back(); }
  void append(Node node) { nodes_.push_back(std::move(node)); }
  std::vector<Node> take() { return std::move(nodes_); }

 private:
  Graph& graph_;
  std::string name_;
  std::vector<Node> nodes_;
};

// Return the nodes that take the place of a convolution whose window or stride is beyond those of
// the device, of an interpolation of a large tensor, and of an LSTM, GRU or RNN; nothing for a node
// that needs none.
std::optional<std::vector<Node>> expand_convolution(Graph& graph, const Node& node);
std::optional<std::vector<Node>> expand_interpolation(Graph& graph, const Node& node);
std::vector<Node> expand_recurrence(Graph& graph, const Node& node);

}  // namespace nvdla::import

#endif  // NVDLA_IMPORT_PASSES_EXPAND_NODES_HPP
