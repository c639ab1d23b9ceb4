// SPDX-License-Identifier: MIT
//
// LSTM, GRU and RNN, step by step.
#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "import/graph/node_maker.hpp"
#include "import/nodes/operation.hpp"
#include "import/passes/passes.hpp"
#include "support/printable.hpp"

namespace nvdla::import {
namespace {

// Each step of a sequence is about ten layers.
constexpr std::int64_t kMaxSteps = 1024;

// `Recurrence` makes the nodes of an LSTM, GRU or RNN. All tensors of a step are 1xNxH, where N is
// the batch and H the size of the state.
class Recurrence {
 public:
  Recurrence(Graph& graph, const Node& node)
      : node_(node), op_(graph, node), make_(graph, node.name) {}

  std::vector<Node> expand() {
    read_sizes();
    const std::string direction = op_.attribute("direction", "forward");
    if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
      refuse_node("its direction is none of forward, reverse and bidirectional");
    directions_ = direction == "bidirectional" ? 2 : 1;
    read_activations();
    check_inputs();
    for (std::int64_t d = 0; d < directions_; ++d) run(d, d == 1 || direction == "reverse");
    finish();
    return make_.take();
  }

 private:
  // The result of one direction.
  struct Result {
    std::vector<ValueId> states;  // of each step, in the order of the sequence
    ValueId last = kNoValue, last_cell = kNoValue;
  };

  bool is(std::string_view name) const { return node_.op == name; }
  std::int64_t gates() const { return is("LSTM") ? 4 : is("GRU") ? 3 : 1; }

  void read_sizes() {
    const Dims& x = op_.dims(0);
    const Dims& r = op_.dims(2);
    if (x.size() != 3 || r.size() != 3)
      refuse_node("its inputs are {} and {}; expected 3 axes of both", dims_text(x), dims_text(r));
    batch_first_ = op_.attribute("layout", std::int64_t{0}) != 0;
    steps_ = x[batch_first_ ? 1 : 0];
    batch_ = x[batch_first_ ? 0 : 1];
    width_ = x[2];
    size_ = r[2];
    if (steps_ < 1 || batch_ < 1 || steps_ > kMaxSteps)
      refuse_node("{} steps; expected 1 to {}", steps_, kMaxSteps);
  }

  void read_activations() {
    const std::size_t each = is("LSTM") ? 3 : is("GRU") ? 2 : 1;
    const char* const usual[] = {is("RNN") ? "Tanh" : "Sigmoid", "Tanh", "Tanh"};
    std::vector<std::string> names;
    if (const auto found = node_.attributes.find("activations"); found != node_.attributes.end())
      if (const auto* const list = std::get_if<std::vector<std::string>>(&found->second))
        names = *list;
    if (names.empty())
      for (std::int64_t d = 0; d < directions_; ++d) names.insert(names.end(), usual, usual + each);
    if (names.size() != each * static_cast<std::size_t>(directions_))
      refuse_node("{} activations; expected {} for each direction", names.size(), each);
    for (const std::string& name : names) {
      constexpr std::string_view kPlain[] = {"Relu", "Sigmoid", "Softplus", "Softsign", "Tanh"};
      if (std::find(std::begin(kPlain), std::end(kPlain), name) == std::end(kPlain))
        refuse_node("its activation '{}' is none of Relu, Sigmoid, Softplus, Softsign and Tanh",
                    detail::printable(name));
    }
    for (std::size_t i = 0; i < names.size(); i += each)
      activations_.emplace_back(names.begin() + static_cast<std::ptrdiff_t>(i),
                                names.begin() + static_cast<std::ptrdiff_t>(i + each));
  }

  void check_inputs() {
    const Dims sizes = {directions_, gates() * size_, width_};
    if (op_.dims(1) != sizes || op_.dims(2) != Dims{directions_, gates() * size_, size_} ||
        (op_.has(3) && op_.dims(3) != Dims{directions_, 2 * gates() * size_}))
      refuse_node("its weights are {} and {}, which do not go with {}", dims_text(op_.dims(1)),
                  dims_text(op_.dims(2)), dims_text(op_.dims(0)));
    if (op_.has(4))
      for (const std::int64_t length : op_.need_integers(4, "the list of lengths"))
        if (length != steps_)
          refuse_node("a sequence of it has {} of {} steps; expected all", length, steps_);
    if (op_.attribute("input_forget", std::int64_t{0}) != 0)
      refuse_node("its input and forget gates are coupled (input_forget)");
    if (op_.has_attribute("clip")) refuse_node("it clips what its activations take (clip)");
    const Dims state =
        batch_first_ ? Dims{batch_, directions_, size_} : Dims{directions_, batch_, size_};
    for (const std::size_t i : {5, 6})
      if (op_.has(i) && (i == 5 || is("LSTM")) && op_.dims(i) != state)
        refuse_node("a state of it is {}; expected {}", dims_text(op_.dims(i)), dims_text(state));
  }

  ValueId slice(ValueId x, std::int64_t axis, std::int64_t start, std::int64_t end) {
    return make_.compute(
        "Slice", {x, make_.integers({start}), make_.integers({end}), make_.integers({axis})});
  }
  // Returns the part of a gate of a tensor that has several.
  ValueId gate(ValueId x, std::int64_t index, std::int64_t count = 1) {
    return slice(x, 2, index * size_, (index + count) * size_);
  }
  ValueId add(ValueId a, ValueId b) {
    return a == kNoValue ? b : b == kNoValue ? a : make_.compute("Add", {a, b});
  }
  ValueId multiply(ValueId a, ValueId b) {
    return a == kNoValue || b == kNoValue ? kNoValue : make_.compute("Mul", {a, b});
  }

  // Returns rows of a weight of a direction, transposed: columns are gates.
  ValueId matrix(std::size_t input, std::int64_t direction, std::int64_t from, std::int64_t count) {
    const Constant& c = op_.need_constant(input, "the tensor of weights");
    const std::int64_t rows = op_.dims(input)[1], columns = op_.dims(input)[2];
    std::vector<double> values;
    for (std::int64_t k = 0; k < columns; ++k)
      for (std::int64_t g = from * size_; g < (from + count) * size_; ++g)
        values.push_back(c.real((direction * rows + g) * columns + k));
    return make_.floats({columns, count * size_}, values);
  }
  // Returns numbers of gates of the bias; `recurrent`: its second half. The number of gates is that
  // of `count` from `from` on; nothing where the node has no bias.
  std::vector<double> bias(std::int64_t direction, bool recurrent, std::int64_t from,
                           std::int64_t count) {
    std::vector<double> values(static_cast<std::size_t>(count * size_), 0);
    if (!op_.has(3)) return values;
    const Constant& c = op_.need_constant(3, "the bias");
    const std::int64_t begin =
        direction * 2 * gates() * size_ + (recurrent ? gates() : 0) * size_ + from * size_;
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = c.real(begin + static_cast<std::int64_t>(i));
    return values;
  }

  // Returns a state before the first step; kNoValue where it is zero.
  ValueId initial(std::size_t input, std::int64_t direction) {
    if (!op_.has(input)) return kNoValue;
    if (const Constant* const c = op_.constant(input); c != nullptr) {
      const auto values = c->doubles();
      if (std::all_of(values.begin(), values.end(), [](double v) { return v == 0; }))
        return kNoValue;
    }
    ValueId state = op_.input(input);
    if (directions_ > 1) state = slice(state, batch_first_ ? 1 : 0, direction, direction + 1);
    return make_.reshape(state, {1, batch_, size_});
  }

  // Adds the products of the input with its weights, of all steps at once.
  void run(std::int64_t direction, bool reversed) {
    ValueId x = op_.input(0);
    if (batch_first_ && batch_ != 1) {
      x = make_.compute("Transpose", {x});
      make_.last().attributes["perm"] = std::vector<std::int64_t>{1, 0, 2};
    }
    x = make_.reshape(x, {1, steps_ * batch_, width_});
    const ValueId products = make_.compute("MatMul", {x, matrix(1, direction, 0, gates())});
    std::vector<double> addend = bias(direction, false, 0, gates());
    // The bias of a GRU's last gate stays inside where the gate multiplies before it adds.
    const std::int64_t together = is("GRU") && resets_behind() ? gates() - 1 : gates();
    const auto recurrent = bias(direction, true, 0, together);
    for (std::size_t i = 0; i < recurrent.size(); ++i) addend[i] += recurrent[i];
    const ValueId sums = make_.compute(
        "Add", {products, make_.floats({static_cast<std::int64_t>(addend.size())}, addend)});
    Result result;
    result.states.resize(static_cast<std::size_t>(steps_));
    ValueId state = initial(5, direction);
    ValueId cell = is("LSTM") ? initial(6, direction) : kNoValue;
    const ValueId weights =
        is("GRU") ? matrix(2, direction, 0, 2) : matrix(2, direction, 0, gates());
    const ValueId last_weights = is("GRU") ? matrix(2, direction, 2, 1) : kNoValue;
    for (std::int64_t step = 0; step < steps_; ++step) {
      const std::int64_t at = reversed ? steps_ - 1 - step : step;
      const ValueId now = slice(sums, 1, at * batch_, (at + 1) * batch_);
      const ValueId product =
          state == kNoValue ? kNoValue : make_.compute("MatMul", {state, weights});
      if (is("LSTM"))
        state = step_lstm(direction, add(now, product), cell);
      else if (is("GRU"))
        state = step_gru(direction, now, product, state, last_weights);
      else
        state = make_.compute(activations_[static_cast<std::size_t>(direction)][0],
                              {add(now, product)});
      result.states[static_cast<std::size_t>(at)] = state;
    }
    result.last = state;
    result.last_cell = cell;
    results_.push_back(std::move(result));
  }

  bool resets_behind() const { return op_.attribute("linear_before_reset", std::int64_t{0}) != 0; }

  // Returns a peephole, the numbers by which the cell goes into a gate, or kNoValue.
  ValueId peephole(std::int64_t direction, std::int64_t index, ValueId cell) {
    if (!op_.has(7) || cell == kNoValue) return kNoValue;
    const Constant& c = op_.need_constant(7, "the tensor of peepholes");
    if (c.size() != directions_ * 3 * size_)
      refuse_node("its peepholes are {}; expected {}", dims_text(c.dims()),
                  dims_text({directions_, 3 * size_}));
    std::vector<double> values;
    for (std::int64_t i = 0; i < size_; ++i)
      values.push_back(c.real((direction * 3 + index) * size_ + i));
    return make_.compute("Mul", {cell, make_.floats({size_}, values)});
  }

  // The gates are input, output, forget and the new cell.
  ValueId step_lstm(std::int64_t direction, ValueId sums, ValueId& cell) {
    const auto& functions = activations_[static_cast<std::size_t>(direction)];
    ValueId in = kNoValue, out = kNoValue, forget = kNoValue;
    if (op_.has(7)) {
      in = make_.compute(functions[0], {add(gate(sums, 0), peephole(direction, 0, cell))});
      forget = make_.compute(functions[0], {add(gate(sums, 2), peephole(direction, 2, cell))});
    } else {
      const ValueId all = make_.compute(functions[0], {gate(sums, 0, 3)});
      in = gate(all, 0);
      out = gate(all, 1);
      forget = gate(all, 2);
    }
    const ValueId next = make_.compute(functions[1], {gate(sums, 3)});
    cell = add(multiply(in, next), multiply(forget, cell));
    if (op_.has(7))
      out = make_.compute(functions[0], {add(gate(sums, 1), peephole(direction, 1, cell))});
    return multiply(out, make_.compute(functions[2], {cell}));
  }

  // The gates are update, reset and the new state.
  ValueId step_gru(std::int64_t direction, ValueId now, ValueId product, ValueId state,
                   ValueId last_weights) {
    const auto& functions = activations_[static_cast<std::size_t>(direction)];
    const ValueId both = make_.compute(functions[0], {add(gate(now, 0, 2), product)});
    const ValueId update = gate(both, 0), reset = gate(both, 1);
    ValueId inner = kNoValue;
    if (resets_behind()) {
      const ValueId shift = make_.floats({size_}, bias(direction, true, 2, 1));
      inner = state == kNoValue
                  ? make_.compute("Mul", {reset, shift})
                  : multiply(reset, add(make_.compute("MatMul", {state, last_weights}), shift));
    } else if (state != kNoValue) {
      inner = make_.compute("MatMul", {multiply(reset, state), last_weights});
    }
    const ValueId next = make_.compute(functions[1], {add(gate(now, 2), inner)});
    // (1 - update) * next + update * state
    const ValueId change = state == kNoValue
                               ? multiply(update, next)
                               : multiply(update, make_.compute("Sub", {next, state}));
    return make_.compute("Sub", {next, change});
  }

  // Joins the results of both directions along an axis, and gives them the sizes of an output.
  void write(std::size_t output, std::vector<ValueId> parts, std::int64_t axis, const Dims& dims,
             const std::vector<std::int64_t>& order) {
    if (!op_.has_output(output)) return;
    ValueId all = parts[0];
    if (parts.size() > 1) {
      all = make_.compute("Concat", std::move(parts));
      make_.last().attributes["axis"] = axis;
    }
    if (batch_first_) {
      const ValueId plain = make_.reshape(all, dims);
      make_.node("Transpose", {plain}, node_.outputs[output]).attributes["perm"] = order;
      return;
    }
    make_.node("Reshape", {all, make_.integers(dims)}, node_.outputs[output]);
  }

  void finish() {
    std::vector<ValueId> sequences, states, cells;
    for (const Result& result : results_) {
      ValueId all = result.states[0];
      if (result.states.size() > 1) {
        all = make_.compute("Concat", result.states);
        make_.last().attributes["axis"] = std::int64_t{1};
      }
      sequences.push_back(directions_ > 1 ? make_.reshape(all, {steps_, 1, batch_, size_}) : all);
      states.push_back(result.last);
      cells.push_back(result.last_cell);
    }
    write(0, std::move(sequences), 1, {steps_, directions_, batch_, size_}, {2, 0, 1, 3});
    write(1, std::move(states), 0, {directions_, batch_, size_}, {1, 0, 2});
    if (is("LSTM")) write(2, std::move(cells), 0, {directions_, batch_, size_}, {1, 0, 2});
  }

  const Node& node_;
  Operation op_;
  NodeMaker make_;
  std::vector<Result> results_;
  std::vector<std::vector<std::string>> activations_;  // of each direction
  bool batch_first_ = false;
  std::int64_t directions_ = 1, steps_ = 0, batch_ = 0, width_ = 0, size_ = 0;
};

}  // namespace

std::vector<Node> expand_recurrence(Graph& graph, const Node& node) {
  return Recurrence(graph, node).expand();
}

}  // namespace nvdla::import
