// SPDX-License-Identifier: MIT
//
// Operators of integers with scales as inputs become operators between DequantizeLinear and
// QuantizeLinear, and those that give integers of 32 bits the scale of their input. An operator is
// a row of a table.
#include <algorithm>
#include <map>
#include <utility>

#include "import/graph/node_maker.hpp"
#include "import/passes/passes.hpp"

namespace nvdla::import {
namespace {

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

// Makes real numbers of integers whose scales are along an axis; returns them.
ValueId dequantize(NodeMaker& make, std::vector<ValueId> inputs, std::int64_t axis) {
  const ValueId real = make.compute("DequantizeLinear", std::move(inputs));
  make.last().attributes["axis"] = axis;
  return real;
}

// Makes the node that computes what an operator of integers does of real numbers.
void make_middle(NodeMaker& make, const Node& node, std::string_view op,
                 std::vector<ValueId> inputs, ValueId output) {
  make.node(op, std::move(inputs), output).attributes = node.attributes;
}

// The bias has the scales of input and kernels, multiplied: a node computes that of constants.
ValueId real_bias(NodeMaker& make, const Node& node, ValueId bias) {
  const ValueId scale = make.compute("Mul", {input_of(node, 1), input_of(node, 4)});
  return dequantize(make, {bias, scale}, 0);
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
void make_sum(NodeMaker& make, const Node& node, const SumOperator& row, ValueId scale) {
  const ValueId unit = make.floats({}, {1});
  if (scale == kNoValue) scale = unit;
  ValueId inverse = make.compute("Div", {unit, scale});
  // There are as many scales as zero points.
  if (const ValueId zero = input_of(node, 3); zero != kNoValue)
    inverse = make.compute("Expand", {inverse, make.compute("Shape", {zero})});
  std::vector<ValueId> inputs;
  for (const std::size_t i : {0, 1}) {
    const ValueId by = i == 0 ? scale : inverse;
    inputs.push_back(dequantize(make, {input_of(node, i), by, input_of(node, i + 2)}, row.axis));
  }
  make_middle(make, node, row.op, std::move(inputs), node.outputs[0]);
}

// Makes an operator of reals between nodes that make its inputs of integers, and integers of it.
void make_real(NodeMaker& make, const Node& node, const IntegerOperator& row) {
  std::vector<ValueId> inputs;
  // Kernels of a convolution have scales along their first axis, matrices along the last one.
  const std::int64_t axis = row.op == "Conv" ? 0 : -1;
  for (const std::size_t i : row.inputs())
    inputs.push_back(
        dequantize(make, {input_of(node, i), input_of(node, i + 1), input_of(node, i + 2)}, axis));
  const ValueId bias = row.bias != 0 ? input_of(node, row.bias) : kNoValue;
  if (bias != kNoValue) inputs.push_back(real_bias(make, node, bias));
  const ValueId real = make.value();
  make_middle(make, node, row.op, std::move(inputs), real);
  make.node("QuantizeLinear", {real, input_of(node, row.output), input_of(node, row.output + 1)},
            node.outputs[0]);
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
  NodeMaker make(graph);
  for (Node& node : graph.nodes) {
    make.set_name(node.name);
    const SumOperator* const sum = find_sum(node);
    if (sum != nullptr && node.outputs.size() == 1 && node.outputs[0] != kNoValue &&
        cast[static_cast<std::size_t>(node.outputs[0])]) {
      make_sum(make, node, *sum, scale_behind(makers, input_of(node, 0)));
      continue;
    }
    const IntegerOperator* const row = find_integer(node);
    if (row != nullptr && node.outputs.size() == 1)
      make_real(make, node, *row);
    else
      make.append(std::move(node));
  }
  graph.nodes = make.take();
}

}  // namespace nvdla::import
