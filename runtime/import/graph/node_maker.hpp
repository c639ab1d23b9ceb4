// SPDX-License-Identifier: MIT
//
// Nodes that a pass makes, and the values that they take and compute.
#ifndef NVDLA_IMPORT_GRAPH_NODE_MAKER_HPP
#define NVDLA_IMPORT_GRAPH_NODE_MAKER_HPP

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "import/graph/graph.hpp"

namespace nvdla::import {

// `NodeMaker` makes nodes, one behind the other. They and their values bear one name: that of the
// node whose place they take.
class NodeMaker {
 public:
  explicit NodeMaker(Graph& graph, std::string name = {}) : graph_(graph), name_(std::move(name)) {}

  // Gives nodes and values that follow another name.
  void set_name(std::string name) { name_ = std::move(name); }
  const std::string& name() const noexcept { return name_; }
  const Graph& graph() const noexcept { return graph_; }

  // Return a value that a node will compute: one of which nothing is known yet, or a tensor.
  ValueId value() { return graph_.add({.name = name_ + " part"}); }
  ValueId value(Type type, const Dims& dims);
  // Return a constant, fp32 numbers, and a list of int64.
  ValueId constant(const Constant& constant);
  ValueId floats(const Dims& dims, const std::vector<double>& values);
  ValueId integers(const std::vector<std::int64_t>& values);
  ValueId add(Value value) { return graph_.add(std::move(value)); }

  Node& node(std::string_view op, std::vector<ValueId> inputs, ValueId output);
  // Make a node and return its result.
  ValueId compute(std::string_view op, std::vector<ValueId> inputs);
  ValueId compute(std::string_view op, std::vector<ValueId> inputs, Type type, const Dims& dims);
  ValueId reshape(ValueId x, const Dims& dims) { return compute("Reshape", {x, integers(dims)}); }
  void append(Node node) { nodes_.push_back(std::move(node)); }
  // Returns the node that was made or appended last.
  Node& last() { return nodes_.back(); }
  // Returns all nodes, and begins anew.
  std::vector<Node> take() { return std::exchange(nodes_, {}); }

 private:
  Graph& graph_;
  std::string name_;
  std::vector<Node> nodes_;
};

}  // namespace nvdla::import

#endif  // NVDLA_IMPORT_GRAPH_NODE_MAKER_HPP
