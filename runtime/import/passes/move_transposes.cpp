// SPDX-License-Identifier: MIT
//
// Transposes that a model has between its operators, as those of other frameworks do that have
// channels behind lines and columns, go behind what can be computed in the order in front of them.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "import/operators/elements.hpp"
#include "import/operators/move.hpp"
#include "import/operators/pools.hpp"
#include "import/passes/passes.hpp"
#include "import/passes/transposed_values.hpp"

namespace nvdla::import {
namespace {

using Integers = std::vector<std::int64_t>;

std::int64_t signed_axis(std::size_t axis) { return static_cast<std::int64_t>(axis); }

// Returns the order of the first input that has one and as many axes as the result.
const AxisOrder* order_of_inputs(const TransposedValues& values, const Node& node) {
  const std::size_t rank = values.dims(node.outputs[0]).size();
  for (const ValueId id : node.inputs)
    if (const AxisOrder* const order = id == kNoValue ? nullptr : values.order(id);
        order != nullptr && order->size() == rank)
      return order;
  return nullptr;
}

// Appends a node whose inputs are all in one order, as is what it computes.
bool append_in_order(TransposedValues& values, Node node, bool repeats) {
  const AxisOrder* const found = order_of_inputs(values, node);
  if (found == nullptr) return false;
  const AxisOrder order = *found;
  for (ValueId& id : node.inputs) {
    if (id == kNoValue || (repeats && elements(values.dims(id)) == 1 && !values.order(id)))
      continue;
    const auto moved = values.in_order(id, order);
    if (!moved) return false;
    id = *moved;
  }
  node.outputs[0] = values.computed(node.outputs[0], order);
  values.append(std::move(node));
  return true;
}

bool move_elements(TransposedValues& values, const Operation& op) {
  const Node& node = op.node();
  const bool has_scales = node.op == "DequantizeLinear" || node.op == "QuantizeLinear";
  for (std::size_t i = 1; has_scales && i < node.inputs.size(); ++i)
    if (op.has(i) && elements(op.dims(i)) != 1) return false;
  return node.outputs.size() == 1 && append_in_order(values, node, true);
}

bool move_concat(TransposedValues& values, const Operation& op) {
  Node node = op.node();
  const AxisOrder* const order = order_of_inputs(values, node);
  if (order == nullptr) return false;
  const std::size_t axis = Operation::axis(op.attribute("axis", std::int64_t{1}), order->size());
  node.attributes["axis"] = signed_axis((*order)[axis]);
  return append_in_order(values, std::move(node), false);
}

// Appends a node that takes the source of its first input, whose outputs have as many axes.
bool append_move(TransposedValues& values, Node node) {
  const AxisOrder order = *values.order(node.inputs[0]);
  node.inputs[0] = values.source(node.inputs[0]);
  for (ValueId& id : node.outputs)
    if (id != kNoValue) id = values.computed(id, order);
  values.append(std::move(node));
  return true;
}

bool move_split(TransposedValues& values, const Operation& op) {
  const AxisOrder& order = *values.order(op.input(0));
  Node node = op.node();
  const std::size_t axis = Operation::axis(op.attribute("axis", std::int64_t{0}), order.size());
  node.attributes["axis"] = signed_axis(order[axis]);
  return append_move(values, std::move(node));
}

// Indices in a list take the place of an axis; those of another rank do not.
bool move_gather(TransposedValues& values, const Operation& op) {
  return op.constant(1) != nullptr && op.dims(1).size() == 1 && move_split(values, op);
}

// Returns where the source has these axes.
Integers moved_axes(const AxisOrder& order, const Integers& axes) {
  Integers moved;
  for (const std::int64_t axis : axes)
    moved.push_back(signed_axis(order[Operation::axis(axis, order.size())]));
  return moved;
}

Integers count_up(std::size_t count) {
  Integers all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(signed_axis(i));
  return all;
}

bool move_slice(TransposedValues& values, const Operation& op) {
  const AxisOrder& order = *values.order(op.input(0));
  Node node = op.node();
  if (op.opset() < 10) {
    const auto axes = op.integers("axes", count_up(op.integers("starts").size()));
    node.attributes["axes"] = moved_axes(order, axes);
    return append_move(values, std::move(node));
  }
  const auto starts = op.need_integers(1, "the list of starts");
  const auto axes = op.has(3) ? op.need_integers(3, "the list of axes") : count_up(starts.size());
  node.inputs.resize(std::max<std::size_t>(node.inputs.size(), 4), kNoValue);
  node.inputs[3] = values.integers(moved_axes(order, axes));
  return append_move(values, std::move(node));
}

bool move_pad(TransposedValues& values, const Operation& op) {
  const AxisOrder& order = *values.order(op.input(0));
  const std::size_t rank = order.size();
  Node node = op.node();
  if (op.has(3)) {
    node.inputs[3] = values.integers(moved_axes(order, op.need_integers(3, "the list of axes")));
    return append_move(values, std::move(node));
  }
  const bool old = op.opset() < 11;
  const auto pads = old ? op.integers("pads") : op.need_integers(1, "the list of paddings");
  if (pads.size() != 2 * rank) return false;
  AxisOrder both = order;
  for (const std::size_t axis : order) both.push_back(axis + rank);
  const Integers moved = before_order(pads, both);
  if (old)
    node.attributes["pads"] = moved;
  else
    node.inputs[1] = values.integers(moved);
  return append_move(values, std::move(node));
}

// The sizes of an Expand, or the repetitions of a Tile.
bool move_sizes(TransposedValues& values, const Operation& op) {
  const AxisOrder& order = *values.order(op.input(0));
  Integers sizes = op.need_integers(1, "the list of sizes");
  if (sizes.size() > order.size()) return false;
  sizes.insert(sizes.begin(), order.size() - sizes.size(), 1);
  Node node = op.node();
  node.inputs[1] = values.integers(before_order(sizes, order));
  return append_move(values, std::move(node));
}

bool move_resize(TransposedValues& values, const Operation& op) {
  const AxisOrder& order = *values.order(op.input(0));
  if (op.attribute("coordinate_transformation_mode", "") == "tf_crop_and_resize") return false;
  Node node = op.node();
  if (op.has_attribute("axes")) {
    node.attributes["axes"] = moved_axes(order, op.integers("axes"));
    return append_move(values, std::move(node));
  }
  if (const auto scales = node.attributes.find("scales"); scales != node.attributes.end()) {
    auto& list = std::get<std::vector<float>>(scales->second);
    if (list.size() != order.size()) return false;
    list = before_order(list, order);
  }
  const auto all = count_up(order.size());
  for (std::size_t i = 1; i < node.inputs.size(); ++i) {
    if (!op.has(i) || op.dims(i) != Dims{signed_axis(order.size())}) continue;
    const Constant& list = op.need_constant(i, "a list of its sizes");
    node.inputs[i] = values.constant(list.gather(list.dims(), before_order(all, order)));
  }
  return append_move(values, std::move(node));
}

// Returns the order of axes without those that are left out.
AxisOrder without(const AxisOrder& order, const std::vector<bool>& left_out) {
  std::vector<bool> gone(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) gone[order[i]] = left_out[i];
  AxisOrder kept;
  for (std::size_t i = 0; i < order.size(); ++i)
    if (!left_out[i])
      kept.push_back(order[i] - static_cast<std::size_t>(std::count(
                                    gone.begin(),
                                    gone.begin() + static_cast<std::ptrdiff_t>(order[i]), true)));
  return kept;
}

// Appends a node that reduces axes of the source of its first input.
bool append_reduced(TransposedValues& values, Node node, const std::vector<bool>& reduced) {
  const AxisOrder order = *values.order(node.inputs[0]);
  const bool keeps = values.dims(node.outputs[0]).size() == order.size();
  node.inputs[0] = values.source(node.inputs[0]);
  node.outputs[0] = values.computed(node.outputs[0], keeps ? order : without(order, reduced));
  values.append(std::move(node));
  return true;
}

bool move_reduce(TransposedValues& values, const Operation& op) {
  constexpr std::int64_t kOpsetOfLists = 18;  // since which all reductions have axes as an input
  const AxisOrder& order = *values.order(op.input(0));
  const auto reduced = reduced_axes(op);
  Integers axes;
  for (std::size_t i = 0; i < order.size(); ++i)
    if (reduced[i]) axes.push_back(signed_axis(order[i]));
  if (axes.empty()) return false;
  Node node = op.node();
  node.opset = kOpsetOfLists;
  node.attributes.erase("axes");
  node.inputs.resize(1);
  node.inputs.push_back(values.integers(axes));
  return append_reduced(values, std::move(node), reduced);
}

// The CPU computes these at the end of a network, where a Transpose behind them would be in its
// way.
bool move_choice(TransposedValues& values, const Operation& op, bool is_followed) {
  const AxisOrder& order = *values.order(op.input(0));
  const bool reduces = op.op() == "ArgMax" || op.op() == "ArgMin";
  const bool old = op.opset() < 13 && !reduces;
  const std::size_t axis = Operation::axis(op.attribute("axis", std::int64_t{reduces ? 0
                                                                             : old   ? 1
                                                                                     : -1}),
                                           order.size());
  if (old && axis + 1 != order.size()) return false;
  std::vector<bool> left_out(order.size(), false);
  left_out[axis] = reduces && op.attribute("keepdims", std::int64_t{1}) == 0;
  if (!is_followed && !is_identity(without(order, left_out))) return false;
  Node node = op.node();
  if (old) node.opset = 13;
  node.attributes["axis"] = signed_axis(order[axis]);
  return append_reduced(values, std::move(node), left_out);
}

// Axes of a value, and those of another one that a Reshape makes of them.
struct AxisGroup {
  std::vector<std::size_t> from, to;
};

// Returns the groups of a Reshape, in their order; nothing for sizes of which these are 0.
std::optional<std::vector<AxisGroup>> groups_of(const Dims& from, const Dims& to) {
  std::vector<AxisGroup> groups;
  std::size_t i = 0, j = 0;
  if (elements(from) == 0) return std::nullopt;
  while (i < from.size() || j < to.size()) {
    AxisGroup group;
    std::int64_t a = 1, b = 1;
    if (i < from.size()) a = from[group.from.emplace_back(i++)];
    if (j < to.size()) b = to[group.to.emplace_back(j++)];
    while (a != b) {
      if (a < b)
        a *= from[group.from.emplace_back(i++)];
      else
        b *= to[group.to.emplace_back(j++)];
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

// Returns the groups in the order in which the source has their axes; nothing if it has others
// between those of a group. Axes of one element go with the group in front of them.
std::optional<std::vector<std::size_t>> groups_in_source(const Dims& source, const AxisOrder& order,
                                                         const std::vector<AxisGroup>& groups) {
  std::vector<std::size_t> owners(source.size(), groups.size());
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (const std::size_t axis : groups[g].from)
      if (source[order[axis]] != 1) owners[order[axis]] = g;
  std::vector<std::size_t> found;
  for (const std::size_t g : owners) {
    if (g == groups.size() || (!found.empty() && found.back() == g)) continue;
    if (std::find(found.begin(), found.end(), g) != found.end()) return std::nullopt;
    found.push_back(g);
  }
  for (std::size_t g = 0; g < groups.size(); ++g)
    if (std::find(found.begin(), found.end(), g) == found.end())
      found.insert(g == 0 ? found.begin() : std::next(std::find(found.begin(), found.end(), g - 1)),
                   g);
  return found;
}

// A batch stays in front.
bool keeps_batch(const AxisOrder& order, const std::vector<AxisGroup>& groups) {
  return order[0] == 0 && groups.size() > 1 && groups[0].from.size() == 1 &&
         groups[0].to.size() == 1;
}

// Axes that become one may have to change places among themselves before.
bool move_reshape(TransposedValues& values, const Operation& op, bool is_followed) {
  const ValueId input = op.input(0), output = op.node().outputs[0];
  const AxisOrder& order = *values.order(input);
  const ValueId source = values.source(input);
  const Dims before = values.dims(source);
  if (moves_ones_only(before, order)) {
    values.reshape_to(source, output);
    return true;
  }
  const auto groups = groups_of(values.dims(input), values.dims(output));
  if (!is_followed || !groups || !keeps_batch(order, *groups)) return false;
  const auto in_source = groups_in_source(before, order, *groups);
  if (!in_source) return false;
  AxisOrder inner, moved;  // axes of the source, and of the result, as the groups lie there
  for (const std::size_t g : *in_source) {
    for (const std::size_t axis : (*groups)[g].from) inner.push_back(order[axis]);
    moved.insert(moved.end(), (*groups)[g].to.begin(), (*groups)[g].to.end());
  }
  const ValueId together = values.in_other_order(source, inner);
  values.reshape_to(together, values.computed(output, inverse(moved)));
  return true;
}

bool move_transpose(TransposedValues& values, const Operation& op) {
  values.transpose(op.input(0), transposed_axes(op), op.node().outputs[0]);
  return true;
}

bool is_choice(const Node& node) {
  constexpr std::string_view kNames[] = {"ArgMax", "ArgMin", "LogSoftmax", "Softmax"};
  return std::find(std::begin(kNames), std::end(kNames), node.op) != std::end(kNames);
}

// An operator with what appends a node of it to the source of its first input; false if it cannot.
struct MovedRow {
  std::string_view name;
  bool (*move)(TransposedValues& values, const Operation& op);
};

constexpr MovedRow kMovedRows[] = {
    {"Expand", move_sizes},      {"Gather", move_gather},
    {"Pad", move_pad},           {"ReduceL1", move_reduce},
    {"ReduceL2", move_reduce},   {"ReduceLogSum", move_reduce},
    {"ReduceMax", move_reduce},  {"ReduceLogSumExp", move_reduce},
    {"ReduceMean", move_reduce}, {"ReduceMin", move_reduce},
    {"ReduceProd", move_reduce}, {"ReduceSum", move_reduce},
    {"Resize", move_resize},     {"ReduceSumSquare", move_reduce},
    {"Slice", move_slice},       {"Split", move_split},
    {"Tile", move_sizes},        {"Upsample", move_resize},
};

const MovedRow* find_row(const Node& node) {
  const auto* const row = std::find_if(std::begin(kMovedRows), std::end(kMovedRows),
                                       [&](const MovedRow& r) { return r.name == node.op; });
  return row != std::end(kMovedRows) ? row : nullptr;
}

// Appends a node that takes values in the order in front of their Transposes; false if it cannot.
bool move(TransposedValues& values, const Operation& op, bool is_followed) {
  const Node& node = op.node();
  if (!node.domain.empty() || node.outputs.empty() || node.outputs[0] == kNoValue || !op.has(0))
    return false;
  if (node.op == "Transpose") return move_transpose(values, op);
  if (is_of_elements(op)) return move_elements(values, op);
  if (node.op == "Concat") return move_concat(values, op);
  if (values.order(node.inputs[0]) == nullptr) return false;
  if (is_choice(node)) return move_choice(values, op, is_followed);
  if (reshaped_dims(op)) return move_reshape(values, op, is_followed);
  const MovedRow* const row = find_row(node);
  return row != nullptr && row->move(values, op);
}

// Returns the values that come to a Transpose or a reduction through nodes that may change places
// with one. Behind others one in front of a softmax or a Reshape is as good as one behind it.
std::set<ValueId> find_followed(const Graph& graph) {
  std::set<ValueId> followed;
  for (std::size_t n = graph.nodes.size(); n-- > 0;) {
    const Node& node = graph.nodes[n];
    const Operation op(graph, node);
    const bool comes_to_one = std::any_of(node.outputs.begin(), node.outputs.end(),
                                          [&](ValueId id) { return followed.contains(id); });
    const bool may_move =
        comes_to_one && (is_of_elements(op) || node.op == "Concat" || is_choice(node) ||
                         find_row(node) != nullptr ||
                         unless_refused(false, [&] { return reshaped_dims(op).has_value(); }));
    const MovedRow* const row = find_row(node);
    const bool ends = node.op == "Transpose" || (row != nullptr && row->move == move_reduce);
    if (ends || may_move) followed.insert(node.inputs.begin(), node.inputs.end());
  }
  return followed;
}

void append_as_it_is(TransposedValues& values, Node node) {
  for (ValueId& id : node.inputs)
    if (id != kNoValue) id = values.plain(id);
  // Graphs inside of a node take values by their numbers.
  for_each_taken(node, [&](ValueId id) {
    if (std::find(node.inputs.begin(), node.inputs.end(), id) == node.inputs.end()) values.keep(id);
  });
  values.append(std::move(node));
}

}  // namespace

void move_transposes(Graph& graph) {
  const std::set<ValueId> followed = find_followed(graph);
  if (followed.empty()) return;
  TransposedValues values(graph);
  for (Node& node : std::exchange(graph.nodes, {})) {
    values.set_name(node.name);
    const Operation op(graph, node);
    const bool moved = unless_refused(false, [&] {
      return move(values, op, !node.outputs.empty() && followed.contains(node.outputs[0]));
    });
    if (!moved) append_as_it_is(values, std::move(node));
  }
  for (const ValueId id : graph.outputs) values.keep(id);
  graph.nodes = values.take();
  remove_dead_nodes(graph);
}

}  // namespace nvdla::import
