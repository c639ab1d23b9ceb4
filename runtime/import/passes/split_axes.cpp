// SPDX-License-Identifier: MIT
//
// Axes that are longer than those of the device become two, as the positions of a detector are that
// a model has in one row.
#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "import/operators/elements.hpp"
#include "import/operators/move.hpp"
#include "import/operators/operator.hpp"
#include "import/passes/passes.hpp"
#include "import/passes/split_forms.hpp"
#include "support/check.hpp"

namespace nvdla::import {
namespace {

using Coordinates = std::vector<std::int64_t>;

constexpr std::int64_t kLongest = detail::kMaxSide;

bool is_neighbours(const std::vector<std::int64_t>& coordinates) {
  for (std::size_t i = 0; i < coordinates.size(); ++i)
    if (coordinates[i] == kFill || coordinates[i] != coordinates[0] + static_cast<std::int64_t>(i))
      return false;
  return !coordinates.empty();
}

// `RowWishes` hold what nodes ask of the rows that a long axis is cut into.
struct RowWishes {
  std::int64_t divides = 0;  // a size of which they are a divisor
  std::int64_t stride = 1;   // a size of which they are a multiple
  std::int64_t around = 0;   // elements that go beside them

  bool holds(std::int64_t row) const {
    return divides % row == 0 && row % stride == 0 && row + around <= kLongest;
  }
};

// Returns the greatest rows that `size` can be cut into, or 0.
std::int64_t row_of(std::int64_t size, const RowWishes& wishes) {
  for (std::int64_t row = std::min(kLongest, wishes.divides); row > 0; --row)
    if (size % row == 0 && size / row <= kLongest && wishes.holds(row)) return row;
  return 0;
}

std::size_t concat_axis(const Operation& op) {
  return Operation::axis(op.attribute("axis", std::int64_t{1}), op.dims(0).size());
}

void add_wishes(const Operation& op, std::map<std::int64_t, RowWishes>& wishes) {
  const auto add_part = [&](std::int64_t size, std::int64_t part) {
    wishes[size].divides = std::gcd(wishes[size].divides, part);
  };
  if (const auto window = row_window(op); window && window->input > kLongest) {
    RowWishes& of_input = wishes[window->input];
    const auto [before, behind] = elements_around(*window);
    // Rows are never longer, so that nothing is a multiple of more.
    const std::int64_t stride = std::lcm(of_input.stride, std::min(window->stride, kLongest + 1));
    of_input.stride = std::min(stride, kLongest + 1);
    of_input.around = std::max(of_input.around, before + behind);
  }
  if (op.op() == "Concat") {
    const std::size_t axis = concat_axis(op);
    const std::int64_t size = (*op.graph().value(op.node().outputs[0]).dims)[axis];
    for (std::size_t i = 0; size > kLongest && i < op.inputs(); ++i)
      add_part(size, op.dims(i)[axis]);
  } else if (const MoveOperator* const row = find_move(op)) {
    for (std::size_t i = 0; i < op.outputs(); ++i) {
      const Move move = row->move(op, i);
      for (std::size_t axis = 0; axis < move.source.size(); ++axis) {
        const std::int64_t size = move.source[axis];
        if (size <= kLongest || move.keeps(axis)) continue;
        const auto& taken = move.coordinates[axis];
        if (!is_neighbours(taken)) continue;
        add_part(size, taken[0]);
        add_part(size, static_cast<std::int64_t>(taken.size()));
      }
    }
  }
}

// Rows divide each part that a Concat has, or a Slice takes, along axes of that size.
RowSizes row_sizes(const Graph& graph) {
  std::map<std::int64_t, RowWishes> wishes;
  const auto add_size = [&](std::int64_t size) {
    if (size > kLongest) wishes[size].divides = std::gcd(wishes[size].divides, size);
  };
  for (const ValueId id : graph.inputs)
    for (const std::int64_t size : *graph.value(id).dims) add_size(size);
  for (const Node& node : graph.nodes) {
    for (const ValueId id : node.outputs) {
      if (id == kNoValue || !graph.value(id).dims) continue;
      for (const std::int64_t size : *graph.value(id).dims) add_size(size);
    }
    unless_refused(false, [&] {
      add_wishes(Operation(graph, node), wishes);
      return true;
    });
  }
  RowSizes rows;
  for (const auto& [size, all] : wishes)
    if (const std::int64_t row = row_of(size, all); row != 0) rows[size] = row;
  return rows;
}

bool rewrite_reshape(SplitForms& f, const Operation& op) {
  const ValueId id = op.input(0), to = op.node().outputs[0];
  if (!f.is_computed(id) && !f.has_long_axis(to)) return false;
  f.reshape_to(f.made_of(id), f.has_long_axis(to) ? f.computed_form(to, f.split(f.dims(to))) : to);
  return true;
}

bool rewrite_elements(SplitForms& f, const Operation& op) {
  const Node& node = op.node();
  if (node.outputs.size() != 1) return false;
  const Dims large = f.dims(node.outputs[0]);
  const bool has_scales = node.op == "DequantizeLinear" || node.op == "QuantizeLinear";
  Node made = node;
  for (ValueId& id : made.inputs) {
    if (id == kNoValue) continue;
    // A list of scales along an axis does not go with the last axes.
    if (has_scales && id != made.inputs[0] && elements(f.dims(id)) != 1) return false;
    if (f.dims(id).size() > large.size()) return false;
    id = f.form(id, f.split_beside(f.dims(id), large));
  }
  made.outputs[0] = f.computed_form(node.outputs[0], f.split(large));
  f.append(std::move(made));
  return true;
}

bool rewrite_concat(SplitForms& f, const Operation& op) {
  const std::size_t axis = concat_axis(op);
  const ValueId output = op.node().outputs[0];
  const Dims large = f.dims(output);
  std::vector<ValueId> parts;
  for (const ValueId id : op.node().inputs)
    parts.push_back(f.form(id, f.split_beside(f.dims(id), large)));
  const ValueId made = f.computed_form(output, f.split(large));
  f.node("Concat", parts, made).attributes["axis"] =
      static_cast<std::int64_t>(f.place(large, axis));
  return true;
}

// Axes in front of a long one that change places are channels in another order: with the two that
// the long one becomes, they would be more than the device has.
bool rewrite_exchange(SplitForms& f, const Operation& op) {
  const ValueId output = op.node().outputs[0];
  const auto order = transposed_axes(op);
  const std::size_t rank = order.size();
  if (rank < 3 || order[0] != 0 || order[rank - 1] != rank - 1 || !f.is_long(op.dims(0)[rank - 1]))
    return false;
  const Dims own = op.dims(0);
  const Dims front(own.begin() + 1, own.end() - 1);
  const Dims step = strides(front);
  std::vector<std::int64_t> channels = {0};
  for (std::size_t i = 1; i + 1 < rank; ++i) {
    std::vector<std::int64_t> next;
    for (const std::int64_t base : channels)
      for (std::int64_t c = 0; c < own[order[i]]; ++c)
        next.push_back(base + c * step[order[i] - 1]);
    channels = std::move(next);
  }
  const std::int64_t inner = f.row_of(own.back()), count = elements(front);
  if (count > kLongest) return false;
  const Dims merged = {own[0], count, own.back() / inner, inner};
  const ValueId moved = f.value_like(output, merged);
  f.node("Gather", {f.form(op.input(0), merged), f.integers(channels)}, moved).attributes["axis"] =
      std::int64_t{1};
  f.reshape_to(moved, f.computed_form(output, f.split(f.dims(output))));
  return true;
}

bool rewrite_transpose(SplitForms& f, const Operation& op) {
  if (rewrite_exchange(f, op)) return true;
  const ValueId output = op.node().outputs[0];
  const ValueId input = f.form(op.input(0));
  std::vector<std::int64_t> order;
  for (const std::size_t axis : transposed_axes(op)) {
    order.push_back(static_cast<std::int64_t>(f.place(op.dims(0), axis)));
    if (f.is_long(op.dims(0)[axis])) order.push_back(order.back() + 1);
  }
  f.node("Transpose", {input}, f.computed_form(output, f.split(f.dims(output))))
      .attributes["perm"] = order;
  return true;
}

bool rewrite_softmax(SplitForms& f, const Operation& op) {
  const Dims own = op.dims(0);
  const bool old = op.opset() < 13;
  const std::size_t axis =
      Operation::axis(op.attribute("axis", std::int64_t{old ? 1 : -1}), own.size());
  // Before opset 13 all axes from this one on are one.
  if (f.is_long(own[axis]) || (old && axis + 1 != own.size())) return false;
  const ValueId output = op.node().outputs[0];
  const ValueId input = f.form(op.input(0));
  f.node(op.op(), {input}, f.computed_form(output, f.split(f.dims(output)))).attributes["axis"] =
      static_cast<std::int64_t>(f.place(own, axis));
  return true;
}

// A convolution of single positions has no neighbours: rows of one line become lines.
bool rewrite_convolution(SplitForms& f, const Operation& op) {
  const Dims own = op.dims(0), kernels = op.dims(1);
  const ValueId output = op.node().outputs[0];
  const auto all_of = [&](const char* name, std::int64_t value) {
    const auto list = op.integers(name);
    return std::all_of(list.begin(), list.end(), [&](std::int64_t v) { return v == value; });
  };
  if (own.size() != 4 || kernels[2] != 1 || kernels[3] != 1 || !all_of("strides", 1) ||
      !all_of("pads", 0) || !f.is_long(own[3]) || f.is_long(own[1]) || f.is_long(own[2]))
    return false;
  const std::int64_t inner = f.row_of(own[3]);
  const auto lines = [&](const Dims& sizes) {
    return Dims{sizes[0], sizes[1], sizes[2] * sizes[3] / inner, inner};
  };
  if (lines(own)[2] > kLongest) return false;
  Node made = op.node();
  made.inputs[0] = f.form(made.inputs[0], lines(own));
  made.outputs[0] = f.computed_form(output, lines(f.dims(output)));
  f.append(std::move(made));
  return true;
}

// Operators on channels do the same with their positions in two axes.
bool rewrite_all(SplitForms& f, const Operation& op) {
  const ValueId output = op.node().outputs[0];
  if (op.outputs() != 1 || op.dims(0).size() != 3) return false;
  Node node = op.node();
  node.inputs[0] = f.form(op.input(0));
  if (f.has_long_axis(output)) {
    node.outputs[0] = f.computed_form(output, f.split(f.dims(output)));
    f.append(std::move(node));
    return true;
  }
  const Dims result = f.dims(output);
  node.outputs[0] = f.value_like(output, {result[0], result[1], 1, 1});
  f.append(node);
  f.reshape_to(node.outputs[0], output);
  return true;
}

// Returns a part of a constant along an axis.
ValueId add_part(SplitForms& f, ValueId id, std::size_t axis, std::int64_t first,
                 std::int64_t count) {
  Value made = f.graph().value(id);
  const Dims own = *made.dims, step = strides(own);
  std::vector<std::int64_t> indices;
  for (std::int64_t i = 0; i < elements(own); ++i) {
    const std::int64_t at = i / step[axis] % own[axis];
    if (at >= first && at < first + count) indices.push_back(i);
  }
  (*made.dims)[axis] = count;
  made.constant = made.constant->gather(*made.dims, indices);
  return f.add(std::move(made));
}

// A product with more columns than a layer has kernels becomes several, side by side.
bool rewrite_columns(SplitForms& f, const Operation& op) {
  const ValueId output = op.node().outputs[0];
  const Dims result = f.dims(output);
  if (op.constant(1) == nullptr || op.dims(1).size() != 2 || op.value(1).quantized ||
      (op.has(2) && op.constant(2) == nullptr) || !f.is_long(result.back()))
    return false;
  const std::int64_t all = result.back(), count = f.row_of(all);
  const std::size_t columns = op.attribute("transB", std::int64_t{0}) != 0 ? 0 : 1;
  const bool has_bias = op.has(2) && op.constant(2)->size() != 1;
  if (has_bias && op.dims(2).back() != all) return false;
  Dims narrow = result, one = result;
  narrow.back() = count;
  one.back() = 1;
  one.push_back(count);
  std::vector<ValueId> parts;
  for (std::int64_t first = 0; first < all; first += count) {
    Node part = op.node();
    part.inputs[1] = add_part(f, part.inputs[1], columns, first, count);
    if (has_bias)
      part.inputs[2] = add_part(f, part.inputs[2], f.dims(part.inputs[2]).size() - 1, first, count);
    part.outputs[0] = f.value_like(output, narrow);
    parts.push_back(f.value_like(output, one));
    f.append(part);
    f.reshape_to(part.outputs[0], parts.back());
  }
  f.node("Concat", parts, f.computed_form(output, f.split(result))).attributes["axis"] =
      static_cast<std::int64_t>(result.size() - 1);
  return true;
}

// A matrix that is a constant takes each row of the other one by itself.
bool rewrite_product(SplitForms& f, const Operation& op) {
  const Dims own = op.dims(0);
  const ValueId output = op.node().outputs[0];
  if (f.is_long(f.dims(output).back())) return rewrite_columns(f, op);
  if (op.constant(1) == nullptr || op.dims(1).size() != 2 || own.size() < 2 ||
      f.is_long(own.back()))
    return false;
  Node made = op.node();
  made.inputs[0] = f.form(made.inputs[0]);
  made.outputs[0] = f.computed_form(output, f.split(f.dims(output)));
  f.append(std::move(made));
  return true;
}

// Returns true if long axes are kept, or lose whole rows, and no axis is filled.
bool can_split(const SplitForms& f, const Move& move) {
  for (std::size_t axis = 0; axis < move.source.size(); ++axis) {
    if (move.keeps(axis)) continue;
    const Coordinates& taken = move.coordinates[axis];
    if (std::find(taken.begin(), taken.end(), kFill) != taken.end()) return false;
    if (!f.is_long(move.source[axis])) continue;
    const std::int64_t row = f.row_of(move.source[axis]);
    if (!is_neighbours(taken) || taken[0] % row != 0 ||
        static_cast<std::int64_t>(taken.size()) % row != 0)
      return false;
  }
  return true;
}

void split_move(SplitForms& f, const Operation& op, const Move& move, ValueId output) {
  const Dims& source = move.source;
  ValueId now = f.form(op.input(0), f.split(source));
  Dims sizes = f.split(source);
  for (std::size_t axis = 0; axis < source.size(); ++axis) {
    if (move.keeps(axis)) continue;
    Coordinates taken = move.coordinates[axis];
    if (f.is_long(source[axis])) {
      const std::int64_t row = f.row_of(source[axis]);
      Coordinates rows;
      for (std::size_t i = 0; i < taken.size(); i += static_cast<std::size_t>(row))
        rows.push_back(taken[i] / row);
      taken = std::move(rows);
    }
    const std::size_t at = f.place(source, axis);
    sizes[at] = static_cast<std::int64_t>(taken.size());
    const ValueId next = f.value_like(output, sizes);
    f.node("Gather", {now, f.integers(taken)}, next).attributes["axis"] =
        static_cast<std::int64_t>(at);
    now = next;
  }
  const Dims wanted = f.split(f.dims(output));
  if (wanted == f.dims(output)) {
    f.reshape_to(now, output);
    return;
  }
  f.reshape_to(now, f.computed_form(output, wanted));
}

bool rewrite_move(SplitForms& f, const Operation& op) {
  const std::vector<Move> moves = [&] {
    std::vector<Move> all;
    for (std::size_t i = 0; i < op.outputs(); ++i) all.push_back(find_move(op)->move(op, i));
    return all;
  }();
  for (const Move& move : moves)
    if (!can_split(f, move)) return false;
  for (std::size_t i = 0; i < moves.size(); ++i)
    if (op.has_output(i)) split_move(f, op, moves[i], op.node().outputs[i]);
  return true;
}

// An operator with what makes a node of it one of other forms; false if that cannot be.
struct SplitRow {
  std::string_view name;
  bool (*rewrite)(SplitForms& forms, const Operation& op);
};

constexpr SplitRow kRows[] = {
    {"BatchNormalization", rewrite_all}, {"Concat", rewrite_concat},
    {"Gemm", rewrite_columns},           {"GlobalAveragePool", rewrite_all},
    {"GlobalMaxPool", rewrite_all},      {"InstanceNormalization", rewrite_all},
    {"LogSoftmax", rewrite_softmax},     {"MatMul", rewrite_product},
    {"Softmax", rewrite_softmax},        {"Transpose", rewrite_transpose},
};

bool rewrite(SplitForms& f, const Operation& op) {
  const Node& node = op.node();
  if (node.outputs.empty() || node.outputs[0] == kNoValue || !node.domain.empty()) return false;
  const bool concerned = f.has_long_axis(node.outputs[0]) ||
                         (op.has(0) && f.has_long_axis(node.inputs[0])) ||
                         std::any_of(node.inputs.begin(), node.inputs.end(),
                                     [&](ValueId id) { return f.is_computed(id); });
  if (!concerned) return false;
  if (reshaped_dims(op)) return rewrite_reshape(f, op);
  if (find_move(op) != nullptr) return rewrite_move(f, op);
  if (row_window(op)) return split_window(f, op);
  if (op.op() == "Conv") return rewrite_convolution(f, op);
  if (is_of_elements(op)) return rewrite_elements(f, op);
  const auto row = std::find_if(std::begin(kRows), std::end(kRows),
                                [&](const SplitRow& r) { return r.name == op.op(); });
  return row != std::end(kRows) && row->rewrite(f, op);
}

}  // namespace

bool split_long_axes(Graph& graph) {
  RowSizes rows = row_sizes(graph);
  if (rows.empty()) return false;
  SplitForms forms(graph, std::move(rows));
  const std::vector<Node> nodes = std::exchange(graph.nodes, {});
  for (const Node& node : nodes) {
    forms.set_name(node.name);
    if (unless_refused(false, [&] { return rewrite(forms, Operation(graph, node)); })) continue;
    for_each_taken(node, [&](ValueId id) { forms.materialise(id); });
    forms.append(node);
  }
  for (const ValueId id : graph.outputs) forms.materialise(id);
  graph.nodes = forms.take();
  remove_dead_nodes(graph);
  return true;
}

}  // namespace nvdla::import
