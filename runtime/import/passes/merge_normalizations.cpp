// SPDX-License-Identifier: MIT
//
// Layer normalisations that a model has as single steps: (x - mean) / sqrt(variance + epsilon), a
// factor and an addend of each element behind it.
#include <algorithm>
#include <optional>
#include <utility>

#include "import/graph/node_maker.hpp"
#include "import/operators/operator.hpp"
#include "import/operators/pools.hpp"
#include "import/passes/links.hpp"
#include "import/passes/passes.hpp"

namespace nvdla::import {
namespace {

struct Normalization {
  ValueId input = kNoValue;
  std::size_t first = 0, last = 0;  // axes that are normalised
  double epsilon = 0;
};

// Returns the scalar constant of a node of two inputs and its other input.
std::optional<std::pair<double, ValueId>> scalar_and_other(const Operation& op) {
  for (const std::size_t i : {0, 1})
    if (op.inputs() == 2 && op.constant(i) != nullptr && op.constant(i)->size() == 1)
      return std::pair{op.constant(i)->real(0), op.input(1 - i)};
  return std::nullopt;
}

// Returns the value whose squares a node computes.
std::optional<ValueId> squared(const Graph& graph, const Links& links, ValueId id) {
  if (const Node* const power = links.maker(id, "Pow")) {
    const Operation op(graph, *power);
    const Constant* const exponent = op.constant(1);
    if (exponent != nullptr && exponent->size() == 1 && exponent->real(0) == 2) return op.input(0);
  }
  if (const Node* const product = links.maker(id, "Mul")) {
    const Operation op(graph, *product);
    if (op.input(0) == op.input(1)) return op.input(0);
  }
  return std::nullopt;
}

// Returns the input of a mean that keeps its axes, and which axes it is of.
std::optional<std::pair<ValueId, std::vector<bool>>> mean_of(const Graph& graph, const Links& links,
                                                             ValueId id) {
  const Node* const mean = links.maker(id, "ReduceMean");
  if (mean == nullptr) return std::nullopt;
  const Operation op(graph, *mean);
  if (op.attribute("keepdims", std::int64_t{1}) == 0) return std::nullopt;
  return std::pair{op.input(0), reduced_axes(op)};
}

// Returns the input of x - mean(x), and the axes of the mean.
std::optional<std::pair<ValueId, std::vector<bool>>> centred(const Graph& graph, const Links& links,
                                                             ValueId id) {
  const Node* const difference = links.maker(id, "Sub");
  if (difference == nullptr) return std::nullopt;
  const Operation op(graph, *difference);
  auto mean = mean_of(graph, links, op.input(1));
  if (!mean || mean->first != op.input(0)) return std::nullopt;
  return mean;
}

std::optional<Normalization> match(const Graph& graph, const Links& links, const Node& node) {
  const Operation quotient(graph, node);
  const auto numerator = centred(graph, links, quotient.input(0));
  const Node* const root = links.maker(quotient.input(1), "Sqrt");
  if (!numerator || root == nullptr) return std::nullopt;
  const Node* const sum = links.maker(Operation(graph, *root).input(0), "Add");
  const auto parts = sum != nullptr ? scalar_and_other(Operation(graph, *sum)) : std::nullopt;
  const auto variance = parts ? mean_of(graph, links, parts->second) : std::nullopt;
  const auto base = variance ? squared(graph, links, variance->first) : std::nullopt;
  if (!base) return std::nullopt;
  const auto other = *base == quotient.input(0) ? numerator : centred(graph, links, *base);
  if (other != numerator || variance->second != numerator->second) return std::nullopt;
  Normalization n{numerator->first, 0, 0, parts->first};
  const std::vector<bool>& axes = numerator->second;
  const auto begin = std::find(axes.begin(), axes.end(), true);
  const auto end = std::find(begin, axes.end(), false);
  if (begin == axes.end() || std::find(end, axes.end(), true) != axes.end()) return std::nullopt;
  n.first = static_cast<std::size_t>(begin - axes.begin());
  n.last = static_cast<std::size_t>(end - axes.begin()) - 1;
  return n;
}

// Returns a constant with an element for each that is normalised, or nothing.
std::optional<Constant> operand_of(const Operation& op, ValueId value, const Normalization& n,
                                   const Dims& dims) {
  for (const std::size_t i : {0, 1}) {
    const Constant* const c =
        op.inputs() == 2 && op.input(1 - i) == value ? op.constant(i) : nullptr;
    if (c == nullptr || c->dims().size() > dims.size()) continue;
    const std::size_t shift = dims.size() - c->dims().size();
    bool fits = true;
    std::int64_t size = 1;
    for (std::size_t axis = 0; axis < dims.size(); ++axis) {
      const std::int64_t own = axis < shift ? 1 : c->dims()[axis - shift];
      const bool inside = axis >= n.first && axis <= n.last;
      fits = fits && own == (inside ? dims[axis] : 1);
      if (inside) size *= dims[axis];
    }
    if (fits) return c->with_dims({size});
  }
  return std::nullopt;
}

// Makes the nodes of a normalisation, with its axes behind all others.
void make_normalization(NodeMaker& make, const Normalization& n,
                        const std::optional<Constant>& factor,
                        const std::optional<Constant>& addend, ValueId result) {
  const Dims dims = *make.graph().value(n.input).dims;
  const Type type = make.graph().value(n.input).type;
  const bool behind = n.last + 1 == dims.size();
  std::vector<std::int64_t> order, back(dims.size());
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (i < n.first || i > n.last) order.push_back(static_cast<std::int64_t>(i));
  const auto axis = static_cast<std::int64_t>(order.size());
  for (std::size_t i = n.first; i <= n.last; ++i) order.push_back(static_cast<std::int64_t>(i));
  Dims moved;
  for (std::size_t i = 0; i < order.size(); ++i) {
    moved.push_back(dims[static_cast<std::size_t>(order[i])]);
    back[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  }
  ValueId input = n.input;
  if (!behind) {
    input = make.compute("Transpose", {n.input}, type, moved);
    make.last().attributes["perm"] = order;
  }
  const ValueId gamma = factor ? make.constant(*factor) : kNoValue;
  const ValueId beta = addend ? make.constant(*addend) : kNoValue;
  const ValueId out = behind ? result : make.value(type, moved);
  Node& normalization = make.node("LayerNormalization", {input, gamma, beta}, out);
  normalization.attributes["axis"] = axis;
  normalization.attributes["epsilon"] = static_cast<float>(n.epsilon);
  if (!behind) make.node("Transpose", {out}, result).attributes["perm"] = back;
}

}  // namespace

void merge_normalizations(Graph& graph) {
  const Links links(graph);
  std::vector<bool> gone(graph.nodes.size(), false);
  NodeMaker make(graph);
  for (std::size_t at = 0; at < graph.nodes.size(); ++at) {
    if (gone[at]) continue;
    const Node node = graph.nodes[at];
    const auto found = unless_refused(std::optional<Normalization>(), [&] {
      return node.op == "Div" && node.domain.empty() ? match(graph, links, node) : std::nullopt;
    });
    if (!found) {
      make.append(node);
      continue;
    }
    ValueId result = node.outputs[0];
    const Dims dims = *graph.value(result).dims;
    std::optional<Constant> operands[2];
    for (const bool multiplies : {true, false}) {
      const auto reader = links.only_reader(result, multiplies ? "Mul" : "Add");
      if (!reader) continue;
      const Operation next(graph, graph.nodes[*reader]);
      auto operand = unless_refused(std::optional<Constant>(),
                                    [&] { return operand_of(next, result, *found, dims); });
      if (!operand) continue;
      operands[multiplies ? 0 : 1] = std::move(operand);
      gone[*reader] = true;
      result = next.node().outputs[0];
    }
    make.set_name(node.name);
    make_normalization(make, *found, operands[0], operands[1], result);
  }
  graph.nodes = make.take();
  remove_dead_nodes(graph);
}

}  // namespace nvdla::import
