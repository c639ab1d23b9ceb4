// SPDX-License-Identifier: MIT
#include "import/graph/node_maker.hpp"

namespace nvdla::import {
namespace {

// Nodes that are made have the form of their operators in this version.
constexpr std::int64_t kOpset = 18;

}  // namespace

ValueId NodeMaker::value(Type type, const Dims& dims) {
  return graph_.add({.name = name_ + " part", .type = type, .dims = dims});
}

ValueId NodeMaker::constant(const Constant& constant) {
  return graph_.add({.name = name_ + " constant",
                     .type = constant.type(),
                     .dims = constant.dims(),
                     .constant = constant});
}

ValueId NodeMaker::floats(const Dims& dims, const std::vector<double>& values) {
  return constant(Constant::of_doubles(Type::kFloat, dims, values));
}

ValueId NodeMaker::integers(const std::vector<std::int64_t>& values) {
  const Dims dims = {static_cast<std::int64_t>(values.size())};
  return constant(Constant::of_integers(Type::kInt64, dims, values));
}

Node& NodeMaker::node(std::string_view op, std::vector<ValueId> inputs, ValueId output) {
  Node& made = nodes_.emplace_back();
  made.name = name_;
  made.op = op;
  made.opset = kOpset;
  made.inputs = std::move(inputs);
  made.outputs = {output};
  return made;
}

ValueId NodeMaker::compute(std::string_view op, std::vector<ValueId> inputs) {
  return node(op, std::move(inputs), value()).outputs[0];
}

ValueId NodeMaker::compute(std::string_view op, std::vector<ValueId> inputs, Type type,
                           const Dims& dims) {
  return node(op, std::move(inputs), value(type, dims)).outputs[0];
}

}  // namespace nvdla::import
