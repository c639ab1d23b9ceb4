// SPDX-License-Identifier: MIT
//
// Axes that are longer than those of the device become two, as the positions of a detector are that
// a model has in one row.
#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "import/operators/elements.hpp"
#include "import/operators/move.hpp"
#include "import/operators/operator.hpp"
#include "import/passes/passes.hpp"
#include "support/check.hpp"

namespace nvdla::import {
namespace {

constexpr std::int64_t kOpset = 13;  // of the operators that are made
constexpr std::int64_t kLongest = detail::kMaxSide;

bool is_neighbours(const std::vector<std::int64_t>& coordinates) {
  for (std::size_t i = 0; i < coordinates.size(); ++i)
    if (coordinates[i] == kFill || coordinates[i] != coordinates[0] + static_cast<std::int64_t>(i))
      return false;
  return !coordinates.empty();
}

// Returns the greatest size of an inner axis that divides `size` and all of `parts`, or 0.
std::int64_t inner_size(std::int64_t size, std::int64_t parts) {
  for (std::int64_t inner = std::min(kLongest, parts); inner > 0; --inner)
    if (parts % inner == 0 && size % inner == 0 && size / inner <= kLongest) return inner;
  return 0;
}

// `AxisSplitter` gives values of which an axis is too long another form: the same elements in the
// same order, with two axes in place of each of that size. Nodes that can are made to compute it;
// for all others a Reshape leads back.
class AxisSplitter {
 public:
  explicit AxisSplitter(Graph& graph) : graph_(graph) {}

  // Returns true if something was changed.
  bool run() {
    find_inner_sizes();
    if (inner_.empty()) return false;
    const std::vector<Node> nodes = std::move(graph_.nodes);
    graph_.nodes.clear();
    for (const Node& node : nodes) {
      name_ = node.name;
      if (!unless_refused(false, [&] { return rewrite(node); })) keep(node);
    }
    for (const ValueId id : graph_.outputs) materialise(id);
    remove_dead_nodes(graph_);
    return true;
  }

 private:
  using Coordinates = std::vector<std::int64_t>;

  // Inner sizes divide each part that a Concat has, or a Slice takes, along axes of that size.
  void find_inner_sizes() {
    std::map<std::int64_t, std::int64_t> parts;
    for (const Node& node : graph_.nodes) {
      for (const ValueId id : node.outputs) {
        if (id == kNoValue || !graph_.value(id).dims) continue;
        for (const std::int64_t size : *graph_.value(id).dims)
          if (size > kLongest) parts[size] = std::gcd(parts[size], size);
      }
      unless_refused(false, [&] {
        add_parts(node, parts);
        return true;
      });
    }
    for (const auto& [size, all] : parts)
      if (const std::int64_t inner = inner_size(size, all); inner != 0) inner_[size] = inner;
  }

  void add_parts(const Node& node, std::map<std::int64_t, std::int64_t>& parts) const {
    const Operation op(graph_, node);
    if (op.op() == "Concat") {
      const std::size_t axis = concat_axis(op);
      const std::int64_t size = (*graph_.value(node.outputs[0]).dims)[axis];
      for (std::size_t i = 0; size > kLongest && i < op.inputs(); ++i)
        parts[size] = std::gcd(parts[size], op.dims(i)[axis]);
    } else if (const MoveOperator* const row = find_move(op)) {
      for (std::size_t i = 0; i < op.outputs(); ++i) {
        const Move move = row->move(op, i);
        for (std::size_t axis = 0; axis < move.source.size(); ++axis) {
          const std::int64_t size = move.source[axis];
          if (size <= kLongest || move.keeps(axis)) continue;
          const Coordinates& taken = move.coordinates[axis];
          if (!is_neighbours(taken)) continue;
          parts[size] =
              std::gcd(std::gcd(parts[size], taken[0]), static_cast<std::int64_t>(taken.size()));
        }
      }
    }
  }

  static std::size_t concat_axis(const Operation& op) {
    return Operation::axis(op.attribute("axis", std::int64_t{1}), op.dims(0).size());
  }

  const Dims& dims(ValueId id) const { return *graph_.value(id).dims; }
  bool is_long(std::int64_t size) const { return inner_.contains(size); }
  bool has_long_axis(ValueId id) const {
    return id != kNoValue && graph_.value(id).dims &&
           std::any_of(dims(id).begin(), dims(id).end(),
                       [&](std::int64_t size) { return is_long(size); });
  }

  // Returns the sizes of a tensor that goes beside one of sizes `large`: it has two axes where that
  // has a long one.
  Dims split_beside(const Dims& own, const Dims& large) const {
    Dims split;
    const std::size_t shift = large.size() - own.size();
    for (std::size_t i = 0; i < own.size(); ++i) {
      const auto inner = inner_.find(large[i + shift]);
      if (inner == inner_.end()) {
        split.push_back(own[i]);
      } else if (own[i] == 1) {
        split.insert(split.end(), {1, 1});
      } else {
        if (own[i] % inner->second != 0)
          refuse_node("a part of an axis is no whole number of rows");
        split.insert(split.end(), {own[i] / inner->second, inner->second});
      }
    }
    return split;
  }
  Dims split(const Dims& own) const { return split_beside(own, own); }
  // Returns the place of an axis among those of the other form.
  std::size_t place(const Dims& own, std::size_t axis) const {
    return split(Dims(own.begin(), own.begin() + static_cast<std::ptrdiff_t>(axis))).size();
  }

  Node& add_node(std::string_view op, std::vector<ValueId> inputs, ValueId output) {
    Node node;
    node.name = name_;
    node.op = op;
    node.opset = kOpset;
    node.inputs = std::move(inputs);
    node.outputs = {output};
    return graph_.nodes.emplace_back(std::move(node));
  }
  ValueId add_value(ValueId like, const Dims& sizes) {
    return graph_.add({.name = name_ + " part", .type = graph_.value(like).type, .dims = sizes});
  }
  ValueId integers(const std::vector<std::int64_t>& values) {
    const Dims list = {static_cast<std::int64_t>(values.size())};
    return graph_.add({.name = name_ + " constant",
                       .type = Type::kInt64,
                       .dims = list,
                       .constant = Constant::of_integers(Type::kInt64, list, values)});
  }
  void reshape(ValueId from, ValueId to) {
    add_node("Reshape", {from, integers(dims(to))}, to).attributes["allowzero"] = std::int64_t{1};
  }

  // Returns the elements of a value with other sizes.
  ValueId form(ValueId id, const Dims& sizes) {
    const Value& value = graph_.value(id);
    if (value.constant) {
      if (dims(id) == sizes) return id;
      if (value.quantized && value.quantized->scales.size() != 1)
        refuse_node("the scales of a constant are along an axis");
      Value made = value;
      made.dims = sizes;
      made.constant = value.constant->with_dims(sizes);
      if (made.quantized) made.quantized->elements = value.quantized->elements.with_dims(sizes);
      return graph_.add(std::move(made));
    }
    auto& forms = forms_[id];
    if (const auto found = forms.find(sizes); found != forms.end()) return found->second;
    if (!computed_.contains(id) && dims(id) == sizes) return id;
    const ValueId from = computed_.contains(id) ? computed_.at(id) : id;
    const ValueId made = dims(id) == sizes ? id : add_value(id, sizes);
    reshape(from, made);
    forms[sizes] = made;
    return made;
  }
  ValueId form(ValueId id) { return form(id, split(dims(id))); }
  void materialise(ValueId id) {
    if (computed_.contains(id)) form(id, dims(id));
  }

  // Makes a value for the other form of one that the node computes; `sizes` are those of the form.
  ValueId compute(ValueId id, const Dims& sizes) {
    const ValueId made = add_value(id, sizes);
    computed_[id] = made;
    forms_[id][sizes] = made;
    return made;
  }

  void keep(const Node& node) {
    for_each_taken(node, [&](ValueId id) { materialise(id); });
    graph_.nodes.push_back(node);
  }

  // Makes nodes that compute the other form of a node's results; returns false if it cannot.
  bool rewrite(const Node& node) {
    const Operation op(graph_, node);
    if (node.outputs.empty() || node.outputs[0] == kNoValue || !node.domain.empty()) return false;
    const bool taken = std::any_of(node.inputs.begin(), node.inputs.end(),
                                   [&](ValueId id) { return computed_.contains(id); });
    if (!taken && !has_long_axis(node.outputs[0]) && !(op.has(0) && has_long_axis(node.inputs[0])))
      return false;
    if (reshaped_dims(op)) return rewrite_reshape(node, taken);
    if (find_move(op) != nullptr) return rewrite_move(op);
    if (op.op() == "Concat") return rewrite_concat(op);
    if (op.op() == "Transpose") return rewrite_transpose(op);
    if (op.op() == "Softmax" || op.op() == "LogSoftmax") return rewrite_softmax(op);
    if (op.op() == "Conv") return rewrite_convolution(op);
    if (op.op() == "MatMul") return rewrite_product(op);
    return is_of_elements(op) && rewrite_elements(node);
  }

  bool rewrite_reshape(const Node& node, bool taken) {
    const ValueId to = node.outputs[0];
    if (!taken && !has_long_axis(to)) return false;
    const ValueId id = node.inputs[0];
    const ValueId from = computed_.contains(id) ? computed_.at(id) : id;
    reshape(from, has_long_axis(to) ? compute(to, split(dims(to))) : to);
    return true;
  }

  // Returns true for operators whose result has sizes that its inputs are broadcast to.
  static bool is_of_elements(const Operation& op) {
    constexpr std::string_view kOthers[] = {
        "Cast",  "DequantizeLinear", "Dropout",  "Max",      "Min", "Sum", "Mean",
        "Where", "QuantizeLinear",   "Identity", kFunctionOp};
    return find_elements(op) ||
           std::find(std::begin(kOthers), std::end(kOthers), op.op()) != std::end(kOthers);
  }

  bool rewrite_elements(const Node& node) {
    if (node.outputs.size() != 1) return false;
    const Dims large = dims(node.outputs[0]);
    const bool has_scales = node.op == "DequantizeLinear" || node.op == "QuantizeLinear";
    Node made = node;
    for (ValueId& id : made.inputs) {
      if (id == kNoValue) continue;
      // A list of scales along an axis does not go with the last axes.
      if (has_scales && id != made.inputs[0] && elements(dims(id)) != 1) return false;
      if (dims(id).size() > large.size()) return false;
      id = form(id, split_beside(dims(id), large));
    }
    made.outputs[0] = compute(node.outputs[0], split(large));
    graph_.nodes.push_back(std::move(made));
    return true;
  }

  bool rewrite_concat(const Operation& op) {
    const std::size_t axis = concat_axis(op);
    const ValueId output = op.node().outputs[0];
    const Dims large = dims(output);
    std::vector<ValueId> parts;
    for (const ValueId id : op.node().inputs)
      parts.push_back(form(id, split_beside(dims(id), large)));
    const ValueId made = compute(output, split(large));
    add_node("Concat", parts, made).attributes["axis"] =
        static_cast<std::int64_t>(place(large, axis));
    return true;
  }

  bool rewrite_transpose(const Operation& op) {
    if (rewrite_exchange(op)) return true;
    const ValueId output = op.node().outputs[0];
    const ValueId input = form(op.input(0));
    std::vector<std::int64_t> order;
    for (const std::size_t axis : transposed_axes(op)) {
      order.push_back(static_cast<std::int64_t>(place(op.dims(0), axis)));
      if (is_long(op.dims(0)[axis])) order.push_back(order.back() + 1);
    }
    add_node("Transpose", {input}, compute(output, split(dims(output)))).attributes["perm"] = order;
    return true;
  }

  // Axes in front of a long one that change places are channels in another order: with the two that
  // the long one becomes, they would be more than the device has.
  bool rewrite_exchange(const Operation& op) {
    const ValueId output = op.node().outputs[0];
    const auto order = transposed_axes(op);
    const std::size_t rank = order.size();
    if (rank < 3 || order[0] != 0 || order[rank - 1] != rank - 1 || !is_long(op.dims(0)[rank - 1]))
      return false;
    const Dims& own = op.dims(0);
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
    const std::int64_t inner = inner_.at(own.back()), count = elements(front);
    if (count > kLongest) return false;
    const Dims merged = {own[0], count, own.back() / inner, inner};
    const ValueId moved = add_value(output, merged);
    add_node("Gather", {form(op.input(0), merged), integers(channels)}, moved).attributes["axis"] =
        std::int64_t{1};
    reshape(moved, compute(output, split(dims(output))));
    return true;
  }

  bool rewrite_softmax(const Operation& op) {
    const Dims& own = op.dims(0);
    const bool old = op.opset() < kOpset;
    const std::size_t axis =
        Operation::axis(op.attribute("axis", std::int64_t{old ? 1 : -1}), own.size());
    // Before opset 13 all axes from this one on are one.
    if (is_long(own[axis]) || (old && axis + 1 != own.size())) return false;
    const ValueId output = op.node().outputs[0];
    const ValueId input = form(op.input(0));
    add_node(op.op(), {input}, compute(output, split(dims(output)))).attributes["axis"] =
        static_cast<std::int64_t>(place(own, axis));
    return true;
  }

  // A convolution of single positions has no neighbours: rows of one line become lines.
  bool rewrite_convolution(const Operation& op) {
    const Dims &own = op.dims(0), &kernels = op.dims(1);
    const ValueId output = op.node().outputs[0];
    const auto all_of = [&](const char* name, std::int64_t value) {
      const auto list = op.integers(name);
      return std::all_of(list.begin(), list.end(), [&](std::int64_t v) { return v == value; });
    };
    if (own.size() != 4 || kernels[2] != 1 || kernels[3] != 1 || !all_of("strides", 1) ||
        !all_of("pads", 0) || !is_long(own[3]) || is_long(own[1]) || is_long(own[2]))
      return false;
    const std::int64_t inner = inner_.at(own[3]);
    const auto lines = [&](const Dims& sizes) {
      return Dims{sizes[0], sizes[1], sizes[2] * sizes[3] / inner, inner};
    };
    if (lines(own)[2] > kLongest) return false;
    Node made = op.node();
    made.inputs[0] = form(made.inputs[0], lines(own));
    made.outputs[0] = compute(output, lines(dims(output)));
    graph_.nodes.push_back(std::move(made));
    return true;
  }

  // A matrix that is a constant takes each row of the other one by itself.
  bool rewrite_product(const Operation& op) {
    const Dims& own = op.dims(0);
    const ValueId output = op.node().outputs[0];
    if (op.constant(1) == nullptr || op.dims(1).size() != 2 || own.size() < 2 ||
        is_long(own.back()) || is_long(dims(output).back()))
      return false;
    Node made = op.node();
    made.inputs[0] = form(made.inputs[0]);
    made.outputs[0] = compute(output, split(dims(output)));
    graph_.nodes.push_back(std::move(made));
    return true;
  }

  bool rewrite_move(const Operation& op) {
    const std::vector<Move> moves = [&] {
      std::vector<Move> all;
      for (std::size_t i = 0; i < op.outputs(); ++i) all.push_back(find_move(op)->move(op, i));
      return all;
    }();
    for (const Move& move : moves)
      if (!can_split(move)) return false;
    for (std::size_t i = 0; i < moves.size(); ++i)
      if (op.has_output(i)) split_move(op, moves[i], op.node().outputs[i]);
    return true;
  }

  // Returns true if long axes are kept, or lose whole rows, and no axis is filled.
  bool can_split(const Move& move) const {
    for (std::size_t axis = 0; axis < move.source.size(); ++axis) {
      if (move.keeps(axis)) continue;
      const Coordinates& taken = move.coordinates[axis];
      if (std::find(taken.begin(), taken.end(), kFill) != taken.end()) return false;
      const auto inner = inner_.find(move.source[axis]);
      if (inner == inner_.end()) continue;
      if (!is_neighbours(taken) || taken[0] % inner->second != 0 ||
          static_cast<std::int64_t>(taken.size()) % inner->second != 0)
        return false;
    }
    return true;
  }

  void split_move(const Operation& op, const Move& move, ValueId output) {
    const Dims& source = move.source;
    ValueId now = form(op.input(0), split(source));
    Dims sizes = split(source);
    for (std::size_t axis = 0; axis < source.size(); ++axis) {
      if (move.keeps(axis)) continue;
      Coordinates taken = move.coordinates[axis];
      if (const auto inner = inner_.find(source[axis]); inner != inner_.end()) {
        Coordinates rows;
        for (std::size_t i = 0; i < taken.size(); i += static_cast<std::size_t>(inner->second))
          rows.push_back(taken[i] / inner->second);
        taken = std::move(rows);
      }
      const std::size_t at = place(source, axis);
      sizes[at] = static_cast<std::int64_t>(taken.size());
      const ValueId next = add_value(output, sizes);
      add_node("Gather", {now, integers(taken)}, next).attributes["axis"] =
          static_cast<std::int64_t>(at);
      now = next;
    }
    const Dims wanted = split(dims(output));
    if (wanted == dims(output)) {
      reshape(now, output);
      return;
    }
    reshape(now, compute(output, wanted));
  }

  Graph& graph_;
  std::string name_;                            // of the node that is rewritten
  std::map<std::int64_t, std::int64_t> inner_;  // of each size that becomes two, the inner one
  std::map<ValueId, ValueId> computed_;         // the form in which a node computes a value
  std::map<ValueId, std::map<Dims, ValueId>> forms_;  // all forms of a value, by their sizes
};

}  // namespace

bool split_long_axes(Graph& graph) { return AxisSplitter(graph).run(); }

}  // namespace nvdla::import
