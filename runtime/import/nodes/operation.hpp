// SPDX-License-Identifier: MIT
//
// A node with what is known of its inputs, as operators see it.
#ifndef NVDLA_IMPORT_NODES_OPERATION_HPP
#define NVDLA_IMPORT_NODES_OPERATION_HPP

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "import/graph/graph.hpp"
#include "import/graph/refusal.hpp"

namespace nvdla::import {

class Operation {
 public:
  Operation(const Graph& graph, const Node& node) : graph_(&graph), node_(&node) {}

  const Graph& graph() const noexcept { return *graph_; }
  const Node& node() const noexcept { return *node_; }
  std::int64_t opset() const noexcept { return node_->opset; }
  std::string_view op() const noexcept { return node_->op; }

  std::size_t inputs() const noexcept { return node_->inputs.size(); }
  std::size_t outputs() const noexcept { return node_->outputs.size(); }
  // Returns true if the node has an input of that number and does not leave it out.
  bool has(std::size_t index) const noexcept {
    return index < node_->inputs.size() && node_->inputs[index] != kNoValue;
  }
  bool has_output(std::size_t index) const noexcept {
    return index < node_->outputs.size() && node_->outputs[index] != kNoValue;
  }
  // All of these throw Refusal for an input that the node leaves out.
  ValueId input(std::size_t index) const;
  const Value& value(std::size_t index) const { return graph_->value(input(index)); }
  const Dims& dims(std::size_t index) const;
  Type type(std::size_t index) const { return value(index).type; }
  // Returns the input's elements, or nullptr if they are not known before a run.
  const Constant* constant(std::size_t index) const;
  // Returns the input's elements; throws Refusal, which calls the input by `what`.
  const Constant& need_constant(std::size_t index, std::string_view what) const;
  std::vector<std::int64_t> need_integers(std::size_t index, std::string_view what) const;

  bool has_attribute(std::string_view name) const { return node_->attributes.contains(name); }
  // Return an attribute, or `missing` if the node has none; throw Refusal for another type.
  std::int64_t attribute(std::string_view name, std::int64_t missing) const;
  double attribute(std::string_view name, double missing) const;
  std::string attribute(std::string_view name, const char* missing) const;
  std::vector<std::int64_t> integers(std::string_view name,
                                     std::vector<std::int64_t> missing = {}) const;
  const Constant* tensor_attribute(std::string_view name) const;

  // Returns the axis counted from the front; throws Refusal for one beyond `rank`.
  static std::size_t axis(std::int64_t axis, std::size_t rank);

 private:
  const Graph* graph_;
  const Node* node_;
};

// Returns a size, which is checked, as the library has sizes.
constexpr std::uint32_t u32(std::int64_t value) { return static_cast<std::uint32_t>(value); }

// The types and sizes of a node's outputs, in their order.
struct Inferred {
  Type type = Type::kUnknown;
  Dims dims;
};

}  // namespace nvdla::import

#endif  // NVDLA_IMPORT_NODES_OPERATION_HPP
