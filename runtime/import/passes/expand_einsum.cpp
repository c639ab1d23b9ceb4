// SPDX-License-Identifier: MIT
//
// Sums of products of two tensors by the names of their axes become one product of matrices, with
// their axes in its order.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "import/graph/node_maker.hpp"
#include "import/nodes/operation.hpp"
#include "import/passes/passes.hpp"
#include "support/printable.hpp"

namespace nvdla::import {
namespace {

bool has(const std::string& term, char label) { return term.find(label) != std::string::npos; }

// The axes of both tensors and of the result, a letter each.
struct Equation {
  std::string a, b, result;
  std::map<char, std::int64_t> sizes;

  explicit Equation(const Operation& op);
  Dims dims(const std::string& labels) const {
    Dims dims;
    for (const char label : labels) dims.push_back(sizes.at(label));
    return dims;
  }
  std::int64_t size(const std::string& labels) const { return elements(dims(labels)); }

 private:
  void read(const std::string& term, const Dims& own);
};

Equation::Equation(const Operation& op) {
  std::string text(op.attribute("equation", ""));
  std::erase(text, ' ');
  const std::size_t comma = text.find(','), arrow = text.find("->");
  const bool letters = std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == ',' || c == '-' || c == '>';
  });
  if (op.inputs() != 2 || !letters || comma == std::string::npos || arrow == std::string::npos ||
      text.find(',', comma + 1) != std::string::npos || comma > arrow)
    refuse_node(
        "its equation is '{}'; expected two inputs and a letter for each axis, as ij,jk->ik",
        detail::printable(text));
  a = text.substr(0, comma);
  b = text.substr(comma + 1, arrow - comma - 1);
  result = text.substr(arrow + 2);
  read(a, op.dims(0));
  read(b, op.dims(1));
  for (const std::string* const term : {&a, &b, &result})
    for (const char label : *term) {
      const auto used = has(a, label) + has(b, label) + has(result, label);
      if (std::count(term->begin(), term->end(), label) != 1 || used < 2)
        refuse_node("axis '{}' of its equation '{}' is there once in all, or twice in one tensor",
                    label, detail::printable(text));
    }
}

void Equation::read(const std::string& term, const Dims& own) {
  if (term.size() != own.size())
    refuse_node("its equation has {} axes for a tensor of {}", term.size(), dims_text(own));
  for (std::size_t i = 0; i < term.size(); ++i) {
    const auto [at, added] = sizes.try_emplace(term[i], own[i]);
    if (!added && at->second != own[i])
      refuse_node("axis '{}' of its equation has {} elements and {}", term[i], at->second, own[i]);
  }
}

// Returns a tensor with its axes in another order.
ValueId in_order(NodeMaker& make, ValueId x, const std::string& from, const std::string& to) {
  if (from == to) return x;
  std::vector<std::int64_t> order;
  for (const char label : to) order.push_back(static_cast<std::int64_t>(from.find(label)));
  x = make.compute("Transpose", {x});
  make.last().attributes["perm"] = std::move(order);
  return x;
}

}  // namespace

std::vector<Node> expand_einsum(Graph& graph, const Node& node) {
  const Operation op(graph, node);
  const Equation e(op);
  std::string batch, left, right, sum;
  for (const char label : e.a)
    (!has(e.result, label) ? sum : has(e.b, label) ? batch : left) += label;
  for (const char label : e.b)
    if (!has(e.a, label)) right += label;
  // A batch of one stays an axis of its own.
  const std::size_t kept = batch.empty() && !left.empty() && e.sizes.at(left[0]) == 1 ? 1 : 0;
  Dims rows = e.dims(batch + left.substr(0, kept)), columns = e.dims(batch);
  rows.insert(rows.end(), {e.size(left.substr(kept)), e.size(sum)});
  columns.insert(columns.end(), {e.size(sum), e.size(right)});
  NodeMaker make(graph, node.name);
  const ValueId a = in_order(make, op.input(0), e.a, batch + left + sum);
  const ValueId b = in_order(make, op.input(1), e.b, batch + sum + right);
  const ValueId matrix = make.reshape(b, columns);
  const ValueId product = make.compute("MatMul", {make.reshape(a, rows), matrix});
  const std::string labels = batch + left + right;
  in_order(make, make.reshape(product, e.dims(labels)), labels, e.result);
  make.last().outputs = {node.outputs[0]};
  return make.take();
}

}  // namespace nvdla::import
