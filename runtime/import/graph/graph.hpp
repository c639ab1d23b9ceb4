// SPDX-License-Identifier: MIT
//
// The importer's own form of a model: values and nodes, with sizes and constants as far as they
// are known. It knows neither protobuf nor the device.
#ifndef NVDLA_IMPORT_GRAPH_GRAPH_HPP
#define NVDLA_IMPORT_GRAPH_GRAPH_HPP

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "import/graph/types.hpp"

namespace nvdla::import {

// The number of a value in Graph::values; kNoValue is an input that a node leaves out.
using ValueId = std::int32_t;
inline constexpr ValueId kNoValue = -1;

struct Body;

// A graph inside of a node (If, Loop, Scan). Its values are those of the graph around it.
struct Subgraph {
  std::shared_ptr<const Body> body;
};

using Attribute = std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>,
                               std::vector<float>, std::vector<std::string>, Constant, Subgraph>;

// A function of one real number.
using Function = std::function<double(double)>;

// A size that the model leaves open has a name, or none, and no number.
struct OpenSize {
  std::size_t axis = 0;
  std::string name;
};

// A constant as a file of integers has it: real number = (element - zero point) * scale.
struct QuantizedConstant {
  Constant elements;
  std::vector<float> scales;              // one, or one for each index of `axis`
  std::vector<std::int64_t> zero_points;  // as many
  std::size_t axis = 0;
};

struct Value {
  std::string name;
  Type type = Type::kUnknown;
  std::optional<Dims> dims = {};
  std::optional<Constant> constant = {};
  std::optional<QuantizedConstant> quantized = {};  // what `constant` was made of
  std::vector<OpenSize> open = {};  // of inputs of the graph, whose dims then have 0 there
};

struct Node {
  std::string name;  // the model's own, or one made of its first output
  std::string op;
  std::string domain = {};
  std::int64_t opset = 0;  // version of the operators of its domain
  std::vector<ValueId> inputs = {};
  std::vector<ValueId> outputs = {};
  std::map<std::string, Attribute, std::less<>> attributes = {};
  Function function = {};  // of nodes that a pass has made of several, whose op is kFunctionOp
};

// The nodes of a graph inside of a node, each behind all whose values it takes.
struct Body {
  std::vector<Node> nodes;
  std::vector<ValueId> outputs;
  std::vector<ValueId> outside;  // values of graphs around it that it takes
};

// Calls `visit` with each value that a node takes, as input or inside of its graphs.
template <typename Visit>
void for_each_taken(const Node& node, const Visit& visit) {
  for (const ValueId id : node.inputs)
    if (id != kNoValue) visit(id);
  for (const auto& [name, attribute] : node.attributes)
    if (const auto* const inner = std::get_if<Subgraph>(&attribute); inner != nullptr)
      for (const ValueId id : inner->body->outside) visit(id);
}

// The operator of nodes that compute `Node::function` of each element of their only input.
inline constexpr const char* kFunctionOp = "nvdla.Function";

struct Graph {
  std::string file;          // for messages: where the model came from
  std::deque<Value> values;  // references to them stay good while more are added
  std::vector<Node> nodes;   // each behind all whose values it takes
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;

  Value& value(ValueId id) { return values[static_cast<std::size_t>(id)]; }
  const Value& value(ValueId id) const { return values[static_cast<std::size_t>(id)]; }
  // Adds a value and returns its number.
  ValueId add(Value value);
};

// Puts nodes behind those whose values they take, in their own order where that is free. Throws
// Error naming a node of a cycle.
void sort_nodes(Graph& graph);
// The same for nodes of a graph inside of a node.
void sort_nodes(const Graph& graph, std::vector<Node>& nodes);
// Removes nodes that no output of the graph depends on.
void remove_dead_nodes(Graph& graph);
// Returns "node 'conv1' (Conv)" with unprintable characters escaped.
std::string node_text(const Node& node);

}  // namespace nvdla::import

#endif  // NVDLA_IMPORT_GRAPH_GRAPH_HPP
