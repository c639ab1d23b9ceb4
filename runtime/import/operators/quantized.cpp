// SPDX-License-Identifier: MIT
//
// Operators of int8 tensors between DequantizeLinear and QuantizeLinear. The scale of a result is
// that of the QuantizeLinear behind it, which becomes part of the layer.
#include "import/operators/quantized.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "import/nodes/window.hpp"
#include "import/operators/elements.hpp"
#include "import/operators/lowering.hpp"
#include "import/operators/operator.hpp"

namespace nvdla::import {
namespace {

// Takes steps that hold results to bounds; returns false for others.
bool bound(QuantizedEnd& end, const std::vector<Step>& steps) {
  Bounds bounds = end.bounds;
  for (const Step& step : steps) {
    if (!step.is_scalar()) return false;
    const auto value = static_cast<float>(step.has_operand() ? step.operand.real(0) : 0);
    if (step.kind == StepKind::kRelu || step.kind == StepKind::kMax)
      bounds.low = std::max(bounds.low, value);
    else if (step.kind == StepKind::kMin)
      bounds.high = std::min(bounds.high, value);
    else
      return false;
  }
  end.bounds = bounds;
  return bounds.low < bounds.high;
}

}  // namespace

QuantizedEnd follow_to_end(Lowering& l, ValueId out, bool functions) {
  QuantizedEnd end;
  bool found = false;
  end.last = l.follow(out, [&](const Operation& next, ValueId now) {
    if (found) return false;
    if (next.op() == "QuantizeLinear") {
      if (next.input(0) != now) return false;
      end.output = tensor_quantization(next, quantized_type(next));
      found = true;
      return true;
    }
    const auto steps = steps_of(next, now);
    if (!steps) return false;
    if (!functions) return bound(end, steps->steps);
    const auto own = unary_function(next);
    if (!own) return false;
    end.function =
        end.function
            ? Function([first = end.function, second = *own](double x) { return second(first(x)); })
            : *own;
    return true;
  });
  if (!found)
    throw Refusal("no QuantizeLinear follows it, so that its result has no scale",
                  "quantise the output, too");
  return end;
}

Quantization quantization_of(Lowering& l, const Operation& op, std::size_t index) {
  if (op.constant(index) != nullptr)
    refuse_node("input {} is a constant beside a tensor of int8", index);
  if (!l.is_quantized(op.input(index)))
    refuse_node("input {} is in fp16 and another one in int8", index);
  const auto known = l.network().quantization(l.tensor(op.input(index)));
  if (!known) refuse_node("the scale of input {} is not known", index);
  return *known;
}

namespace {

void quantized_pair(Lowering& l, const Operation& op) {
  if (op.inputs() != 2) refuse_node("{} inputs; expected 2 of int8", op.inputs());
  const Dims& da = op.dims(0);
  const Dims& db = op.dims(1);
  const bool product = op.op() == "Mul";
  // The larger one is the first.
  const bool swapped = elements(da) < elements(db);
  if (swapped && op.op() == "Sub")
    refuse_node("it subtracts {} from {}", dims_text(db), dims_text(da));
  const std::size_t first = swapped ? 1 : 0, second = swapped ? 0 : 1;
  const Quantization a = quantization_of(l, op, first), b = quantization_of(l, op, second);
  const Dims& dims = op.dims(first);
  if (da != db && !product) refuse_node("a sum of {} and {} in int8", dims_text(da), dims_text(db));
  l.roles(op.input(first));
  const View view = l.view(op.input(first));
  const Tensor x = l.tensor(op.input(first));
  const Tensor y = l.operand(op.input(second), dims, view, product);
  const std::string layer = l.name();
  const QuantizedEnd end = follow_to_end(l, op.node().outputs[0], false);
  const Tensor out =
      product
          ? l.network().multiply(
                x, y, {.name = layer, .a = a, .b = b, .output = end.output, .bounds = end.bounds})
          : l.network().add(x, y,
                            {.name = layer,
                             .a = a,
                             .b = b,
                             .output = end.output,
                             .bounds = end.bounds,
                             .subtract = op.op() == "Sub"});
  l.put(end.last, out, view);
}

void quantized_function(Lowering& l, const Operation& op, ValueId id, const Function& function) {
  const auto known = l.network().quantization(l.tensor(id));
  const View view = l.view(id);
  const std::string layer = l.name();
  const QuantizedEnd end = follow_to_end(l, op.node().outputs[0], true);
  const Function whole =
      end.function
          ? Function([first = function, next = end.function](double x) { return next(first(x)); })
          : function;
  l.put(end.last,
        l.network().activation(
            l.tensor(id), {.name = layer, .input = known, .output = end.output, .function = whole}),
        view);
}

void quantized_average(Lowering& l, const Operation& op) {
  const Quantization input = quantization_of(l, op, 0);
  const Dims dims = find_operator(op)->infer(op)[0].dims;
  const bool global = op.op() == "GlobalAveragePool";
  const char* const roles = window_roles(dims.size() - 2);
  if (dims.size() > 4)
    refuse_node("a tensor of {} has more than two axes of positions", dims_text(op.dims(0)));
  const Tensor x = l.tensor(op.input(0), make_view(op.dims(0), roles));
  const std::string layer = l.name();
  Average a{.name = layer};
  if (!global) {
    set_window(a, two_axes(read_window(op, op.integers("kernel_shape"))));
    if (op.attribute("ceil_mode", std::int64_t{0}) != 0) refuse_node("ceil_mode in int8");
    if (op.attribute("count_include_pad", std::int64_t{0}) != 0) a.pad_value = input.zero_point;
  }
  const QuantizedEnd end = follow_to_end(l, op.node().outputs[0], false);
  if (std::isfinite(end.bounds.low) || std::isfinite(end.bounds.high))
    refuse_node("bounds of an average in int8");
  a.input = input;
  a.output = end.output;
  l.put(end.last, l.network().average(x, a), make_view(dims, roles));
}

// Parts of another scale are brought to that of the result first.
void quantized_concat(Lowering& l, const Operation& op) {
  const QuantizedEnd end = follow_to_end(l, op.node().outputs[0], false);
  if (std::isfinite(end.bounds.low) || std::isfinite(end.bounds.high))
    refuse_node("bounds of a concatenation in int8");
  for (std::size_t i = 0; i < op.inputs(); ++i) {
    const Quantization q = quantization_of(l, op, i);
    if (q == end.output) continue;
    const View view = l.view(op.input(i));
    const std::string layer = l.name("scale");
    l.put(op.input(i),
          l.network().activation(l.tensor(op.input(i)), {.name = layer,
                                                         .input = q,
                                                         .output = end.output,
                                                         .function = [](double x) { return x; }}),
          view);
  }
  find_operator(op)->lower(l, op);
  const ValueId out = op.node().outputs[0];
  const View view = l.view(out);
  l.put(end.last, l.tensor(out), view);
}

void quantized_softmax(Lowering& l, const Operation& op) {
  l.use_cpu("a softmax");
  const Dims& dims = op.dims(0);
  const auto roles = l.roles(op.input(0));
  const std::size_t axis =
      Operation::axis(op.attribute("axis", std::int64_t{op.opset() < 13 ? 1 : -1}), dims.size());
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (dims[i] != 1 && (roles[i] == 'C') != (i == axis))
      refuse_node("a softmax along axis {} of {} in int8", axis, dims_text(dims));
  const Quantization input = quantization_of(l, op, 0);
  const View view = l.view(op.input(0));
  const std::string layer = l.name();
  const QuantizedEnd end = follow_to_end(l, op.node().outputs[0], false);
  l.put(end.last,
        l.network().softmax(l.tensor(op.input(0)),
                            {.name = layer, .input = input, .output = end.output}),
        view);
}

struct QuantizedRow {
  std::string_view name;
  void (*lower)(Lowering&, const Operation&);
};

constexpr QuantizedRow kQuantizedRows[] = {
    {"Add", quantized_pair},        {"AveragePool", quantized_average},
    {"Concat", quantized_concat},   {"Conv", quantized_conv},
    {"Gemm", quantized_product},    {"GlobalAveragePool", quantized_average},
    {"MatMul", quantized_product},  {"Mul", quantized_pair},
    {"Softmax", quantized_softmax}, {"Sub", quantized_pair},
};

// Operators that move or choose elements, of any precision, and those of quantisation.
constexpr std::string_view kAlike[] = {
    "DequantizeLinear", "Flatten",   "GlobalMaxPool", "Identity", "MaxPool",
    "QuantizeLinear",   "Reshape",   "Slice",         "Split",    "Squeeze",
    "Transpose",        "Unsqueeze", "ArgMax",        "Resize",   "Upsample"};

}  // namespace

bool has_quantized_form(std::string_view name) noexcept {
  const auto is = [&](const auto& row) { return row.name == name; };
  const auto unary = unary_operators();
  return std::find(std::begin(kAlike), std::end(kAlike), name) != std::end(kAlike) ||
         std::any_of(std::begin(kQuantizedRows), std::end(kQuantizedRows), is) ||
         std::any_of(unary.begin(), unary.end(), is);
}

bool lower_quantized(Lowering& l, const Operation& op) {
  if (std::find(std::begin(kAlike), std::end(kAlike), op.op()) != std::end(kAlike)) return false;
  // A function of one tensor is a table, whatever its operator.
  const auto steps = steps_of(op);
  if (const auto function = steps ? unary_function(op) : std::nullopt) {
    quantized_function(l, op, steps->input, *function);
    return true;
  }
  for (const QuantizedRow& row : kQuantizedRows)
    if (row.name == op.op()) {
      row.lower(l, op);
      return true;
    }
  refuse_node("the operator has no form in int8");
}

}  // namespace nvdla::import
