// SPDX-License-Identifier: MIT
//
// Operators of integers with scales as inputs become operators between DequantizeLinear and
// QuantizeLinear, and those that give integers of 32 bits the scale of their input. An operator is
// a row of a table.
#include <algorithm>
#include <map>
#include <utility>

#include "import/passes/passes.hpp"

namespace nvdla::import {
namespace {

constexpr std::int64_t kOpset = 13;  // of the operators that are made

struct IntegerOperator {
  std::string_view name;
  std::string_view domain;
  std::string_view op;  // what it is between the two
  std::vector<std::size_t> (
      *inputs)();      // first of the inputs of each tensor: elements, scale, zero point
  std::size_t output;  // input with the scale of the result, before its zero point
  std::size_t bias;    // input of 32 bits, or 0
};

std::vector<std::size_t> two_first() { return {0, 3}; }
std::vector<std::size_t> only_first() { return {0}; }

constexpr IntegerOperator kIntegers[] = {
    {"QLinearConv", "", "Conv", two_first, 6, 8},
    {"QLinearMatMul", "", "MatMul", two_first, 6, 0},
    {"QLinearAdd", "com.microsoft", "Add", two_first, 6, 0},
    {"QLinearMul", "com.microsoft", "Mul", two_first, 6, 0},
    {"QLinearSigmoid", "com.microsoft", "Sigmoid", only_first, 3, 0},
    {"QLinearLeakyRelu", "com.microsoft", "LeakyRelu", only_first, 3, 0},
    {"QLinearGlobalAveragePool", "com.microsoft", "GlobalAveragePool", only_first, 3, 0},
    {"QLinearAveragePool", "com.microsoft", "AveragePool", only_first, 3, 0},
};

const IntegerOperator* find_integer(const Node& node) {
  for (const IntegerOperator& row : kIntegers)
    if (row.name == node.op && row.domain == node.domain) return &row;
  return nullptr;
}

ValueId input_of(const Node& node, std::size_t index) {
  return index < node.inputs.size() ? node.inputs[index] : kNoValue;
}

Node make_node(const Node& of, const char* op, std::vector<ValueId> inputs, ValueId output) {
  Node node;
  node.name = of.name;
  node.op = op;
  node.opset = kOpset;
  node.inputs = std::move(inputs);
  node.outputs = {output};
  return node;
}

// The bias has the scales of input and kernels, multiplied: a node computes that of constants.
void add_bias(Graph& graph, std::vector<Node>& nodes, const Node& node, ValueId bias,
              Node& middle) {
  const ValueId scale = graph.add({.name = node.name + " bias scale"});
  nodes.push_back(make_node(node, "Mul", {input_of(node, 1), input_of(node, 4)}, scale));
  const ValueId real = graph.add({.name = node.name + " bias"});
  Node dequantize = make_node(node, "DequantizeLinear", {bias, scale}, real);
  dequantize.attributes["axis"] = std::int64_t{0};
  nodes.push_back(std::move(dequantize));
  middle.inputs.push_back(real);
}

// An operator of integers whose results are int32, which a Cast makes real.
struct SumOperator {
  std::string_view name;
  std::string_view op;
  std::int64_t axis;  // of the scales of its second input
};

constexpr SumOperator kSums[] = {{"ConvInteger", "Conv", 0}, {"MatMulInteger", "MatMul", -1}};

const SumOperator* find_sum(const Node& node) {
  for (const SumOperator& row : kSums)
    if (row.name == node.op && node.domain.empty()) return &row;
  return nullptr;
}

// Returns the values whose readers all cast them to float.
std::vector<bool> values_cast_to_float(const Graph& graph) {
  std::vector<bool> read(graph.values.size(), false), other(graph.values.size(), false);
  for (const Node& node : graph.nodes) {
    const auto to = node.attributes.find("to");
    const auto* const type =
        to != node.attributes.end() ? std::get_if<std::int64_t>(&to->second) : nullptr;
    const bool casts = node.op == "Cast" && node.domain.empty() && type != nullptr &&
                       *type == static_cast<std::int64_t>(Type::kFloat);
    for (const ValueId id : node.inputs)
      if (id != kNoValue) (casts ? read : other)[static_cast<std::size_t>(id)] = true;
  }
  for (const ValueId id : graph.outputs) other[static_cast<std::size_t>(id)] = true;
  for (std::size_t i = 0; i < read.size(); ++i) read[i] = read[i] && !other[i];
  return read;
}

// Returns the scale of the QuantizeLinear that a value's integers come from, or kNoValue.
ValueId scale_behind(const std::map<ValueId, const Node*>& makers, ValueId id) {
  constexpr std::string_view kMoves[] = {"Concat", "Flatten",   "Gather",    "Identity", "MaxPool",
                                         "Pad",    "Reshape",   "Slice",     "Split",    "Squeeze",
                                         "Tile",   "Transpose", "Unsqueeze", "Expand"};
  for (;;) {
    const auto found = makers.find(id);
    if (found == makers.end()) return kNoValue;
    const Node& node = *found->second;
    if (node.op == "QuantizeLinear") return input_of(node, 1);
    if (std::find(std::begin(kMoves), std::end(kMoves), node.op) == std::end(kMoves))
      return kNoValue;
    id = input_of(node, 0);
  }
}

// Makes an operator of reals of one whose results are int32: integers of the first input have the
// scale that they have in the model, or 1, and those of the second one its reciprocal.
void add_sum(Graph& graph, std::vector<Node>& nodes, const Node& node, const SumOperator& row,
             ValueId scale) {
  const double one = 1;
  const ValueId unit = graph.add({.name = node.name + " one",
                                  .type = Type::kFloat,
                                  .dims = Dims{},
                                  .constant = Constant::of_doubles(Type::kFloat, {}, {&one, 1})});
  if (scale == kNoValue) scale = unit;
  ValueId inverse = graph.add({.name = node.name + " inverse"});
  nodes.push_back(make_node(node, "Div", {unit, scale}, inverse));
  if (const ValueId zero = input_of(node, 3); zero != kNoValue) {
    // There are as many scales as zero points.
    const ValueId shape = graph.add({.name = node.name + " zero points"});
    nodes.push_back(make_node(node, "Shape", {zero}, shape));
    const ValueId all = graph.add({.name = node.name + " inverses"});
    nodes.push_back(make_node(node, "Expand", {inverse, shape}, all));
    inverse = all;
  }
  Node middle = make_node(node, "", {}, node.outputs[0]);
  middle.op = row.op;
  middle.attributes = node.attributes;
  for (const std::size_t i : {0, 1}) {
    const ValueId real = graph.add({.name = node.name + " input"});
    Node dequantize =
        make_node(node, "DequantizeLinear",
                  {input_of(node, i), i == 0 ? scale : inverse, input_of(node, i + 2)}, real);
    dequantize.attributes["axis"] = row.axis;
    nodes.push_back(std::move(dequantize));
    middle.inputs.push_back(real);
  }
  nodes.push_back(std::move(middle));
}

}  // namespace

void expand_integer_operators(Graph& graph) {
  const auto cast = values_cast_to_float(graph);
  // The first input of a node leads to where its integers come from.
  const std::vector<Node> before = graph.nodes;
  std::map<ValueId, const Node*> makers;
  for (const Node& node : before)
    for (const ValueId id : node.outputs)
      if (id != kNoValue) makers[id] = &node;
  std::vector<Node> nodes;
  for (Node& node : graph.nodes) {
    const SumOperator* const sum = find_sum(node);
    if (sum != nullptr && node.outputs.size() == 1 && node.outputs[0] != kNoValue &&
        cast[static_cast<std::size_t>(node.outputs[0])]) {
      add_sum(graph, nodes, node, *sum, scale_behind(makers, input_of(node, 0)));
      continue;
    }
    const IntegerOperator* const row = find_integer(node);
    if (row == nullptr || node.outputs.size() != 1) {
      nodes.push_back(std::move(node));
      continue;
    }
    Node middle = make_node(node, "", {}, graph.add({.name = node.name + " real"}));
    middle.op = row->op;
    middle.attributes = node.attributes;
    for (const std::size_t first : row->inputs()) {
      const ValueId real = graph.add({.name = node.name + " input"});
      Node dequantize = make_node(
          node, "DequantizeLinear",
          {input_of(node, first), input_of(node, first + 1), input_of(node, first + 2)}, real);
      // Kernels of a convolution have scales along their first axis, matrices along the last one.
      dequantize.attributes["axis"] = std::int64_t{row->op == "Conv" ? 0 : -1};
      nodes.push_back(std::move(dequantize));
      middle.inputs.push_back(real);
    }
    if (const ValueId bias = row->bias != 0 ? input_of(node, row->bias) : kNoValue;
        bias != kNoValue)
      add_bias(graph, nodes, node, bias, middle);
    const ValueId real = middle.outputs[0];
    nodes.push_back(std::move(middle));
    nodes.push_back(make_node(node, "QuantizeLinear",
                              {real, input_of(node, row->output), input_of(node, row->output + 1)},
                              node.outputs[0]));
  }
  graph.nodes = std::move(nodes);
}

}  // namespace nvdla::import
