// SPDX-License-Identifier: MIT
//
// Operators of tensors with a scale between DequantizeLinear and QuantizeLinear. The scale of a
// result is that of the QuantizeLinear behind it, which becomes part of the layer.
#include "import/operators/quantized.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

#include "import/operators/elements.hpp"
#include "import/operators/exact.hpp"
#include "import/operators/lowering.hpp"
#include "import/operators/move.hpp"
#include "import/operators/operator.hpp"
#include "nvdla/operators/requantization.hpp"

namespace nvdla::import {
namespace {

// More than this, of the results, leaves a cosine below .9999.
constexpr double kGreatestTableError = 0.01;

double hard_swish_of(double x) { return x <= -3 ? 0 : x >= 3 ? x : x * (x + 3) / 6; }

// A function that is `factor` times hard-swish and `addend`.
struct ScaledSwish {
  double factor = 1, addend = 0;
};

std::optional<ScaledSwish> find_swish(const Function& function, double step) {
  constexpr double kBeyond = 6, kClose = 1e-5;
  constexpr int kElements = 32768, kDistance = 61;
  ScaledSwish found;
  found.addend = function(0);
  found.factor = (function(kBeyond) - found.addend) / kBeyond;
  if (!(std::fabs(found.factor) > 0) || !std::isfinite(found.factor)) return std::nullopt;
  for (int element = -kElements; element < kElements; element += kDistance) {
    const double x = element * step;
    const double wanted = found.factor * hard_swish_of(x) + found.addend;
    const double size = std::fabs(found.factor) * std::max(1.0, std::fabs(x));
    if (!(std::fabs(function(x) - wanted) <= kClose * size)) return std::nullopt;
  }
  return found;
}

// Adds a layer of int16 for a function that is a hard-swish, times a factor and with an addend: X1
// and X2 hold x + 3 to 0..6, and Y multiplies that with x. Entries of a table lie too far apart
// near 0 where numbers go far. Returns nothing for other functions, and without operator Y.
std::optional<Tensor> add_hard_swish(Lowering& l, Tensor x, const Quantization& to,
                                     const Function& function, std::string_view name) {
  const Quantization input = known_quantization(l, x);
  const auto step = static_cast<double>(input.scale), result = static_cast<double>(to.scale);
  if (!l.info().has_sdp_y || input.zero_point != 0 || to.zero_point != 0) return std::nullopt;
  // With smaller steps 32 bits do not hold products, and a table is as good.
  constexpr double kGreatestOffset = 32767;
  const double three = std::nearbyint(3 / step);
  if (three < 1 || three > kGreatestOffset) return std::nullopt;
  const auto swish = find_swish(function, step);
  if (!swish) return std::nullopt;
  const double factor = std::fabs(swish->factor) * step * step / 6 / result;
  const double offset = -swish->addend / (swish->factor * step * step / 6);
  if (!(factor < kGreatestOffset && factor > 0x1p-40 && std::fabs(offset) < 0x1p30))
    return std::nullopt;
  const std::int16_t half[] = {static_cast<std::int16_t>(three)};
  Pointwise p{.name = name};
  p.x1 = bias(half);
  p.x1.relu = true;
  p.x2.alu = NVDLA_ALU_MIN;
  p.x2.alu_values = half;
  p.x2.alu_shift = 1;
  p.y.mul = NVDLA_MUL_MUL;
  p.y.tensor = x;
  p.output = requantize(factor);
  p.output.offset = static_cast<std::int32_t>(std::nearbyint(offset));
  if (swish->factor < 0) p.output.scale = static_cast<std::int16_t>(-p.output.scale);
  p.quantization = to;
  return l.network().pointwise(x, p);
}

void quantized_function(Lowering& l, const Operation& op, ValueId id, const Function& function) {
  const View view = l.view(id);
  const Tensor x = l.tensor(id);
  const QuantizedEnd end = follow_functions(l, op.node().outputs[0]);
  const Function whole =
      end.function
          ? Function([first = function, next = end.function](double v) { return next(first(v)); })
          : function;
  l.put(end.last, add_function(l, x, end.output, whole), view);
}

// Returns true if operators with numbers of channels come before the QuantizeLinear.
bool kernels_follow(Lowering& l, const Operation& op) {
  for (const Node* node = l.next(op.node().outputs[0]); node != nullptr;) {
    const Operation next(op.graph(), *node);
    if (next.op() == "QuantizeLinear" || node->outputs.size() != 1) return false;
    const auto steps = quantized_steps(next);
    if (!steps) return false;
    for (const Step& step : steps->steps)
      if (!step.is_scalar()) return step.tensor == kNoValue;
    node = l.next(node->outputs[0]);
  }
  return false;
}

// Lowers an operator that works alike in any precision, of inputs with another scale.
void lower_with_scale(Lowering& l, const Operation& op, const Quantization& to) {
  std::vector<std::pair<ValueId, Placed>> before;
  for (std::size_t i = 0; i < op.inputs(); ++i) {
    if (!op.has(i) || op.constant(i) != nullptr) continue;
    if (quantization_of(l, op, i) == to) continue;
    const ValueId id = op.input(i);
    const View view = l.view(id);
    before.emplace_back(id, Placed{l.tensor(id), view});
    l.put(id, requantized(l, l.tensor(id), to), view);
  }
  find_operator(op)->lower(l, op);
  // Other nodes read what was there before.
  for (const auto& [id, placed] : before) l.put(id, placed.tensor, placed.view);
}

// Parts of another scale are brought to that of the result first.
void quantized_concat(Lowering& l, const Operation& op) {
  const QuantizedEnd end = follow_bounds(l, op.node().outputs[0]);
  lower_with_scale(l, op, end.output);
  const ValueId out = op.node().outputs[0];
  const View view = l.view(out);
  l.put(end.last, held_to(l, l.tensor(out), end), view);
}

// The border has the scale of the result, whose QuantizeLinear rounds it.
void quantized_pad(Lowering& l, const Operation& op) {
  const ValueId out = op.node().outputs[0];
  const Move move = find_move(op)->move(op, 0);
  const bool fills =
      std::any_of(move.coordinates.begin(), move.coordinates.end(), [](const auto& taken) {
        return std::find(taken.begin(), taken.end(), kFill) != taken.end();
      });
  if (!fills) return find_operator(op)->lower(l, op);
  const Quantization input = quantization_of(l, op, 0);
  ValueId last = out;
  const auto output = take_quantization(l, last);
  if (!output) {
    const double real =
        static_cast<double>(element_of(move.fill, input, l.integers()) - input.zero_point) *
        static_cast<double>(input.scale);
    if (std::fabs(real - move.fill) > 1e-6 * std::fabs(move.fill))
      throw Refusal(fmt::format("its border has {}, which is no element of scale {} and zero point "
                                "{}, and no QuantizeLinear follows",
                                move.fill, input.scale, input.zero_point),
                    "quantise the output, too");
  }
  lower_with_scale(l, op, output.value_or(input));
  const View view = l.view(out);
  l.put(last, l.tensor(out), view);
}

void quantized_softmax(Lowering& l, const Operation& op) {
  l.use_cpu("a softmax");
  const Dims& dims = op.dims(0);
  const bool old = op.opset() < 13;
  const std::size_t axis =
      Operation::axis(op.attribute("axis", std::int64_t{old ? 1 : -1}), dims.size());
  const Quantization input = quantization_of(l, op, 0);
  const View view = l.channel_view(op.input(0), dims, axis, old ? dims.size() - 1 : axis);
  const Tensor x = l.tensor(op.input(0), view);
  const std::string layer = l.name();
  const QuantizedEnd end = follow_bounds(l, op.node().outputs[0]);
  const Tensor y = l.network().softmax(x, {.name = layer, .input = input, .output = end.output});
  l.put(end.last, held_to(l, y, end), view);
}

// Lowers a normalisation of a cube by a function of the network, which the CPU computes.
template <typename Normalization>
void lower_normalization(Lowering& l, const Operation& op, const View& view,
                         Tensor (Network::*add)(Tensor, const Normalization&)) {
  const Quantization input = quantization_of(l, op, 0);
  const Tensor x = l.tensor(op.input(0), view);
  const auto gamma = channel_list(op, 1, "its scale", view.shape.channels);
  const auto beta = channel_list(op, 2, "its shift", view.shape.channels);
  const std::string layer = l.name();
  const QuantizedEnd end = follow_bounds(l, op.node().outputs[0]);
  const Tensor y = (l.network().*add)(x, {.name = layer,
                                          .input = input,
                                          .output = end.output,
                                          .gamma = gamma,
                                          .beta = beta,
                                          .epsilon = op.attribute("epsilon", 1e-5)});
  l.put(end.last, held_to(l, y, end), view);
}

void quantized_layer_normalization(Lowering& l, const Operation& op) {
  l.use_cpu("a layer normalisation");
  if (op.has_output(1) || op.has_output(2))
    refuse_node("its mean and deviation are outputs, which have no scale");
  const Dims& dims = op.dims(0);
  const std::size_t axis = Operation::axis(op.attribute("axis", std::int64_t{-1}), dims.size());
  lower_normalization(l, op, l.channel_view(op.input(0), dims, axis, dims.size() - 1),
                      &Network::layer_normalization);
}

// The CPU computes it, since deviations that differ by decades have no scale in common.
void quantized_instance_normalization(Lowering& l, const Operation& op) {
  l.use_cpu("a normalisation of each channel over its positions");
  const Dims& dims = op.dims(0);
  std::string roles = dims.size() == 3 ? "BCW" : "BCHW";
  roles.resize(std::max<std::size_t>(dims.size(), 3), 'W');
  lower_normalization(l, op, make_view(dims, roles), &Network::instance_normalization);
}

struct QuantizedRow {
  std::string_view name;
  void (*lower)(Lowering&, const Operation&);
};

constexpr QuantizedRow kQuantizedRows[] = {
    {"Add", quantized_pair},
    {"AveragePool", quantized_average},
    {"BatchNormalization", quantized_affine},
    {"Concat", quantized_concat},
    {"Conv", quantized_conv},
    {"ConvTranspose", quantized_transposed},
    {"Div", quantized_affine},
    {"Gemm", quantized_product},
    {"GlobalAveragePool", quantized_average},
    {"InstanceNormalization", quantized_instance_normalization},
    {"LRN", quantized_lrn},
    {"LayerNormalization", quantized_layer_normalization},
    {"MatMul", quantized_product},
    {"Max", quantized_extreme},
    {"Mean", quantized_sum},
    {"Min", quantized_extreme},
    {"Mul", quantized_pair},
    {"PRelu", quantized_prelu},
    {"Pad", quantized_pad},
    {"ReduceMean", quantized_reduce},
    {"ReduceSum", quantized_reduce},
    {"Softmax", quantized_softmax},
    {"Sub", quantized_pair},
    {"Sum", quantized_sum},
};

// Operators that move or choose elements, of any precision, and those of quantisation.
constexpr std::string_view kAlike[] = {
    "ArgMax",           "ArgMin",         "ConvInteger", "MatMulInteger", "DepthToSpace",
    "DequantizeLinear", "Expand",         "Flatten",     "Gather",        "Identity",
    "GlobalMaxPool",    "MaxPool",        "ReduceMax",   "ReduceMin",     "Reshape",
    "Resize",           "QuantizeLinear", "Slice",       "Split",         "Squeeze",
    "SpaceToDepth",     "Transpose",      "Tile",        "Unsqueeze",     "Upsample"};

// Operators whose values between input and result have no scale.
constexpr std::string_view kComposed[] = {"LogSoftmax",     "ReduceL1",   "ReduceL2",
                                          "ReduceLogSum",   "ReduceProd", "ReduceLogSumExp",
                                          "ReduceSumSquare"};

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
    const Dims& own = *op.graph().value(steps->input).dims;
    const bool affine = std::all_of(steps->steps.begin(), steps->steps.end(), [](const Step& s) {
      return s.kind == StepKind::kScale || s.kind == StepKind::kShift;
    });
    if (affine && !steps->steps.empty() && kernels_follow(l, op)) {
      quantized_affine(l, op);
      return true;
    }
    if (infer_elements(op)[0].dims == own) {
      quantized_function(l, op, steps->input, *function);
      return true;
    }
  }
  for (const QuantizedRow& row : kQuantizedRows)
    if (row.name == op.op()) {
      row.lower(l, op);
      return true;
    }
  if (std::find(std::begin(kComposed), std::end(kComposed), op.op()) != std::end(kComposed))
    throw Refusal(
        fmt::format("what it computes between its input and its result has no scale in {}",
                    l.integers_name()),
        "split it into operators with a QuantizeLinear behind each");
  refuse_node("the operator has no form in {}", l.integers_name());
}

Quantization quantization_of(Lowering& l, const Operation& op, std::size_t index) {
  if (op.constant(index) != nullptr)
    refuse_node("input {} is a constant beside a tensor of {}", index, l.integers_name());
  if (!l.is_quantized(op.input(index)))
    refuse_node("input {} is in fp16 and another one in {}", index, l.integers_name());
  return known_quantization(l, l.tensor(op.input(index)));
}

Tensor add_function(Lowering& l, Tensor x, const Quantization& to, const Function& function) {
  const std::string layer = l.name();
  const Quantization input = known_quantization(l, x);
  const Activation table{.name = layer, .input = input, .output = to, .function = function};
  if (l.integers() != Precision::kInt16) return l.network().activation(x, table);
  if (const auto swish = add_hard_swish(l, x, to, function, layer)) return *swish;
  const double error = interpolation_error(table);
  if (error <= kGreatestTableError) return l.network().activation(x, table);
  l.use_cpu(fmt::format("this function in int16, which a table misses by {:.1f} %", 100 * error));
  return l.network().apply(x, {.name = layer, .input = input, .output = to, .function = function});
}

Tensor requantized(Lowering& l, Tensor x, const Quantization& to) {
  const Quantization q = known_quantization(l, x);
  if (q == to) return x;
  const std::string layer = l.name("scale");
  return l.network().activation(
      x, {.name = layer, .input = q, .output = to, .function = [](double v) { return v; }});
}

namespace {

// Returns true if no element stands for a number beyond the bounds: results are saturated to them.
bool saturates_at(const QuantizedEnd& end, Precision precision) {
  const bool wide = precision == Precision::kInt16;
  const auto element = [&](float real) {
    return std::nearbyint(static_cast<double>(real) / static_cast<double>(end.output.scale)) +
           end.output.zero_point;
  };
  return element(end.bounds.low) <= (wide ? -32768 : -128) &&
         element(end.bounds.high) >= (wide ? 32767 : 127);
}

}  // namespace

Tensor held_to(Lowering& l, Tensor x, const QuantizedEnd& end) {
  if (!end.has_bounds() || saturates_at(end, l.network().precision(x))) return x;
  const std::string layer = l.name("bounds");
  return l.network().clamp(x, {.name = layer, .input = end.output, .bounds = end.bounds});
}

}  // namespace nvdla::import
