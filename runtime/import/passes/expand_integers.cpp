// SPDX-License-Identifier: MIT
//
// Operators of integers with scales as inputs become operators between DequantizeLinear and
// QuantizeLinear. An operator is a row of the table.
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

}  // namespace

void expand_integer_operators(Graph& graph) {
  std::vector<Node> nodes;
  for (Node& node : graph.nodes) {
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
