// SPDX-License-Identifier: MIT
//
// Operators of tensors with a scale, element by element, with other tensors and with a number for
// each channel.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "import/operators/elements.hpp"
#include "import/operators/epilogue.hpp"
#include "import/operators/exact.hpp"
#include "import/operators/move.hpp"
#include "import/operators/operator.hpp"
#include "import/operators/quantized.hpp"
#include "import/operators/sums.hpp"
#include "support/printable.hpp"

namespace nvdla::import {
namespace {

// Factors further apart than this have weights by which their scales come closer.
constexpr double kFarFactors = 64;
// Numbers beyond it are none of fp16, in which operands are read.
constexpr double kGreatestOperand = 65504;

// Returns a view of the result in which smaller inputs can be repeated.
View view_of_result(Lowering& l, const Operation& op, const Dims& dims) {
  std::optional<std::size_t> main;
  for (std::size_t i = 0; i < op.inputs() && !main; ++i)
    if (op.constant(i) == nullptr && op.dims(i) == dims) main = i;
  if (main) l.roles(op.input(*main));
  View view = main ? l.view(op.input(*main)) : default_view(dims, l.has_batch());
  for (std::size_t i = 0; i < op.inputs(); ++i) {
    if (op.constant(i) != nullptr || op.dims(i) == dims || elements(op.dims(i)) == 1) continue;
    const Move move = repetition_of(op.dims(i), dims);
    const auto roles = roles_in(view, dims);
    if (!roles || !is_isolated(move, *roles))
      view = make_view(dims, isolate(move, view.shape.batch > 1 || l.has_batch()));
  }
  return view;
}

// Says what of a constant has no form, of an operator with one number for each channel.
[[noreturn]] void refuse_operand(const Operation& op) {
  for (std::size_t i = 0; i < op.inputs(); ++i)
    if (op.has(i) && op.constant(i) != nullptr && op.constant(i)->size() != 1)
      throw Refusal(fmt::format("its constant of {} is beside an int8 tensor of {}; expected one "
                                "number, or one for each index of one axis",
                                dims_text(op.constant(i)->dims()), dims_text(op.dims(i == 0))),
                    "quantise it as an input, or compute the node in fp16");
  refuse_node("it has no form in int8 with these inputs");
}

// Returns a view in which the operands of steps lie along channels.
View view_of_operands(Lowering& l, ValueId id, const Dims& dims, const std::vector<Step>& steps,
                      const Operation& op) {
  std::optional<std::size_t> first;
  std::size_t last = 0;
  for (const Step& step : steps) {
    if (!step.has_operand()) continue;
    const Dims& own = step.operand.dims();
    if (own.size() > dims.size()) refuse_operand(op);
    for (std::size_t i = 0; i < own.size(); ++i) {
      if (own[i] == 1) continue;
      const std::size_t axis = i + dims.size() - own.size();
      first = std::min(first.value_or(axis), axis);
      last = std::max(last, axis);
    }
  }
  if (!first) return l.view(id);
  return l.channel_view(id, dims, *first, last);
}

// Returns true if an operand has other numbers along several axes, which no channels have.
bool has_positions(const Step& step) {
  if (!step.has_operand()) return false;
  const Dims& own = step.operand.dims();
  return std::count_if(own.begin(), own.end(), [](std::int64_t size) { return size != 1; }) > 1;
}

// Returns an operand as one number for each element of a cube, by channel, line, column.
std::vector<double> element_operand(const Step& step, const Kernels& kernels) {
  for (const double v : step.operand.doubles())
    if (!(std::fabs(v) <= kGreatestOperand)) refuse_node("its constant has the number {}", v);
  const std::vector<float> values = operand_values(step.operand, kernels.dims, kernels.view);
  std::vector<double> all(kernels.count);
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = static_cast<double>(values[i * values.size() / all.size()]);
  return all;
}

// Takes steps with an operand for each element.
void take_positions(QuantizedEnd& end, const std::vector<Step>& steps, const Kernels& kernels,
                    const Operation& op) {
  end.factors.assign(kernels.count, 1);
  end.addends.assign(kernels.count, 0);
  for (const Step& step : steps) {
    const bool scale = step.kind == StepKind::kScale;
    if (!scale && step.kind != StepKind::kShift) refuse_operand(op);
    const std::vector<double> operand = element_operand(step, kernels);
    for (std::size_t i = 0; i < kernels.count; ++i) {
      if (scale) end.factors[i] *= operand[i];
      end.addends[i] = scale ? end.addends[i] * operand[i] : end.addends[i] + operand[i];
    }
  }
}

std::vector<std::int16_t> as_operands(const std::vector<double>& numbers, double unit) {
  std::vector<std::int16_t> operands;
  for (const double v : numbers)
    operands.push_back(static_cast<std::int16_t>(std::nearbyint(v / unit)));
  return operands;
}

double greatest_of(const std::vector<double>& numbers) {
  double greatest = 0;
  for (const double v : numbers) greatest = std::max(greatest, std::fabs(v));
  return greatest;
}

// Multiplies each element with a factor and adds a number, both of the end, which has one for each
// element. Operands of 16 bits are multiples of the greatest one's 32767th part.
Tensor add_elementwise(Lowering& l, Tensor x, const QuantizedEnd& end) {
  constexpr double kMostOperand = 32767, kMostAddend = 0x1p30;
  const Quantization input = known_quantization(l, x);
  std::vector<double> factors = end.factors;
  for (double& f : factors) f *= static_cast<double>(input.scale);
  // The sum in front of the converter counts units.
  const double addend = greatest_of(end.addends);
  double unit = std::max(greatest_of(factors) / kMostOperand, addend / kMostAddend);
  if (unit == 0) unit = static_cast<double>(end.output.scale) / kMostOperand;
  std::uint32_t shift = 0;
  while (addend / std::ldexp(unit, static_cast<int>(shift)) > kMostOperand) ++shift;
  const auto units = as_operands(factors, unit);
  const auto addends = as_operands(end.addends, std::ldexp(unit, static_cast<int>(shift)));
  const std::vector<std::int16_t> zeros(units.size(), static_cast<std::int16_t>(-input.zero_point));
  const std::string layer = l.name();
  Pointwise p{.name = layer};
  p.x1 = {NVDLA_ALU_SUM, NVDLA_MUL_MUL, zeros, units};
  if (addend != 0) p.x2 = bias(addends, shift);
  p.output = requantize(unit / static_cast<double>(end.output.scale), end.output.zero_point);
  p.bounds = element_bounds(end.bounds, end.output, l.integers());
  p.quantization = end.output;
  return l.network().pointwise(x, p);
}

// Returns the operand of the only step, one number for each channel.
std::vector<double> channel_operand(const Step& step, const Kernels& kernels, const Operation& op) {
  const auto operand = kernel_operand(step, kernels.dims, kernels.view, kernels.count);
  if (!operand) refuse_operand(op);
  return *operand;
}

// Returns how many steps the element farthest from the zero point is away from it.
int reach(const Quantization& q) { return std::max(128 + q.zero_point, 127 - q.zero_point); }

// Returns the quantisation with zero point 0 that holds all numbers of another one.
Quantization without_zero_point(const Quantization& q) {
  return {static_cast<float>(static_cast<double>(q.scale) * reach(q) / 127.5), 0};
}

// The factors of a product, the second of which may have one position.
struct Factors {
  Tensor tensors[2];
  Quantization quantizations[2];
  ValueId second = kNoValue;
};

// Without operator Y one factor must have zero point 0, the second one if it has one position.
// Where that is not so its numbers are rounded again, to fewer steps, and a notice says what that
// costs.
void fit_factors(Lowering& l, const Operation& op, Factors& f, const Quantization& output) {
  const bool alike = l.network().shape(f.tensors[0]) == l.network().shape(f.tensors[1]);
  const auto is_right = [&](int i) { return f.quantizations[i].zero_point == 0; };
  if (l.info().has_sdp_y || is_right(1) || (alike && is_right(0))) return;
  // To round either factor costs the same; that of one position has fewer elements.
  const Quantization to = without_zero_point(f.quantizations[1]);
  const Quantization& other = f.quantizations[0];
  const double steps = reach(other) * static_cast<double>(other.scale) *
                       static_cast<double>(to.scale) / 2 / static_cast<double>(output.scale);
  l.note(fmt::format(
      "node '{}': {} has no operator Y for the zero points {} and {} of its factors; '{}' is "
      "rounded to zero point 0, so that before they are rounded results may be {:.2f} steps beside "
      "those of the file",
      detail::printable(op.node().name), l.info().configuration, f.quantizations[0].zero_point,
      f.quantizations[1].zero_point, detail::printable(op.graph().value(f.second).name),
      std::ceil(steps * 100) / 100));
  f.tensors[1] = requantized(l, f.tensors[1], to);
  f.quantizations[1] = to;
}

Tensor add_extreme(Lowering& l, Tensor a, Tensor b, bool greatest) {
  const std::string layer = l.name(greatest ? "maximum" : "minimum");
  return greatest ? l.network().maximum(a, b, layer) : l.network().minimum(a, b, layer);
}

// Lowers a node whose operand has another number for each element.
void affine_of_positions(Lowering& l, const Operation& op, const Steps& steps) {
  const ValueId id = steps.input;
  const Dims& dims = *op.graph().value(id).dims;
  l.roles(id);
  const View view = l.view(id);
  const Tensor x = l.tensor(id);
  const Shape& s = view.shape;
  const Kernels kernels{dims, view, std::size_t{s.channels} * s.height * s.width};
  QuantizedEnd own;
  take_positions(own, steps.steps, kernels, op);
  QuantizedEnd end = follow_bounds(l, op.node().outputs[0]);
  end.factors = std::move(own.factors);
  end.addends = std::move(own.addends);
  l.put(end.last, add_elementwise(l, x, end), view);
}

}  // namespace

Tensor add_channelwise(Lowering& l, Tensor x, const QuantizedEnd& end) {
  const Quantization input = known_quantization(l, x);
  const std::uint32_t channels = l.network().shape(x).channels;
  double greatest = 0, least = std::numeric_limits<double>::infinity();
  for (const double f : end.factors) {
    greatest = std::max(greatest, std::fabs(f));
    if (f != 0) least = std::min(least, std::fabs(f));
  }
  const bool far = greatest > kFarFactors * least;
  const int most = greatest_weight(l.integers());
  const bool wide = l.integers() == Precision::kInt16;
  std::vector<std::int16_t> weights;
  std::vector<float> scales, addends;
  std::vector<std::int32_t> bias;
  for (std::uint32_t k = 0; k < channels; ++k) {
    const double factor = end.factors[k], size = std::fabs(factor);
    int weight = most;
    double scale = size / most;
    if (factor == 0) {
      // Each step of the bias is one of the result.
      weight = 0;
      scale = static_cast<double>(end.output.scale) / static_cast<double>(input.scale);
    } else if (far) {
      weight = std::max(1, static_cast<int>(std::nearbyint(most * size / greatest)));
      scale = size / weight;
    }
    weights.push_back(static_cast<std::int16_t>(factor < 0 ? -weight : weight));
    scales.push_back(static_cast<float>(scale));
    if (wide) {
      addends.push_back(static_cast<float>(end.addends[k]));
      continue;
    }
    const double steps =
        std::nearbyint(end.addends[k] / (static_cast<double>(input.scale) * scale));
    if (!(std::fabs(steps) < 0x1p31))
      refuse_node("{} of channel {} is beyond 32 bits of steps of {}", end.addends[k], k,
                  static_cast<double>(input.scale) * scale);
    bias.push_back(static_cast<std::int32_t>(steps));
  }
  const std::string layer = l.name();
  Convolution c;
  c.name = layer;
  c.kernels = channels;
  c.groups = channels;
  const KernelIntegers kernels(weights, l.integers());
  c.weights = kernels.span();
  c.bias = bias;
  c.bias_reals = addends;
  return l.network().convolution(x, c, {input, scales, end.output, end.bounds});
}

void quantized_affine(Lowering& l, const Operation& op) {
  const auto steps = quantized_steps(op);
  const bool both = steps && std::any_of(steps->steps.begin(), steps->steps.end(),
                                         [](const Step& s) { return s.tensor != kNoValue; });
  if (both || (op.op() == "Div" && op.constant(0) == nullptr && op.constant(1) == nullptr))
    throw Refusal("the device has no quotient of two tensors of int8",
                  "multiply with a Reciprocal that has a QuantizeLinear behind it");
  if (!steps) refuse_operand(op);
  if (op.op() == "Div" && op.constant(0) != nullptr)
    throw Refusal(
        fmt::format("it divides {} numbers by an int8 tensor, whose reciprocal has no scale",
                    op.constant(0)->size()),
        "multiply with a Reciprocal that has a QuantizeLinear behind it");
  const ValueId id = steps->input;
  const Dims& dims = *op.graph().value(id).dims;
  if (find_operator(op)->infer(op)[0].dims != dims) refuse_operand(op);
  if (std::any_of(steps->steps.begin(), steps->steps.end(), has_positions))
    return affine_of_positions(l, op, *steps);
  // Operators that follow decide where channels lie, too.
  std::vector<Step> all = steps->steps;
  for (const Node* node = l.next(op.node().outputs[0]); node != nullptr;) {
    const Operation next(op.graph(), *node);
    const auto more = quantized_steps(next);
    if (next.op() == "QuantizeLinear" || !more || node->outputs.size() != 1) break;
    all.insert(all.end(), more->steps.begin(), more->steps.end());
    node = l.next(node->outputs[0]);
  }
  const View view = view_of_operands(l, id, dims, all, op);
  const Tensor x = l.tensor(id, view);
  const Kernels kernels{dims, view, view.shape.channels};
  QuantizedEnd own;
  if (!take_affine(own, steps->steps, kernels)) refuse_operand(op);
  QuantizedEnd end = follow_kernels(l, op.node().outputs[0], kernels);
  if (end.factors.empty()) {
    end.factors = own.factors;
    end.addends = own.addends;
  } else {
    for (std::size_t k = 0; k < kernels.count; ++k) {
      end.addends[k] += end.factors[k] * own.addends[k];
      end.factors[k] *= own.factors[k];
    }
  }
  l.put(end.last, add_channelwise(l, x, end), view);
}

void quantized_pair(Lowering& l, const Operation& op) {
  if (op.constant(0) != nullptr || op.constant(1) != nullptr) return quantized_affine(l, op);
  const Dims dims = infer_binary(op)[0].dims;
  const bool product = op.op() == "Mul";
  const Quantization q[2] = {quantization_of(l, op, 0), quantization_of(l, op, 1)};
  // A product may have one position of the second one.
  const std::size_t first = product && op.dims(0) != dims ? 1 : 0, second = 1 - first;
  const View view = view_of_result(l, op, dims);
  Factors f = {{l.operand(op.input(first), dims, view, false),
                l.operand(op.input(second), dims, view, product)},
               {q[first], q[second]},
               op.input(second)};
  const QuantizedEnd end = follow_bounds(l, op.node().outputs[0]);
  if (product) fit_factors(l, op, f, end.output);
  if (op.op() == "Mean")
    for (Quantization& each : f.quantizations) each.scale /= 2;
  const std::string layer = l.name();
  const Tensor out = product ? l.network().multiply(f.tensors[0], f.tensors[1],
                                                    {.name = layer,
                                                     .a = f.quantizations[0],
                                                     .b = f.quantizations[1],
                                                     .output = end.output,
                                                     .bounds = end.bounds})
                             : l.network().add(f.tensors[0], f.tensors[1],
                                               {.name = layer,
                                                .a = f.quantizations[0],
                                                .b = f.quantizations[1],
                                                .output = end.output,
                                                .bounds = end.bounds,
                                                .subtract = op.op() == "Sub"});
  l.put(end.last, out, view);
}

// Sums of several tensors are sums over channels of all of them side by side.
void quantized_sum(Lowering& l, const Operation& op) {
  const auto count = op.inputs();
  if (count == 2) return quantized_pair(l, op);
  const Dims dims = infer_binary(op)[0].dims;
  const View view = view_of_result(l, op, dims);
  std::vector<Quantization> of;
  for (std::size_t i = 0; i < count; ++i) of.push_back(quantization_of(l, op, i));
  float greatest = 0;
  for (const Quantization& q : of) greatest = std::max(greatest, q.scale);
  std::vector<float> ratios;
  for (const Quantization& q : of) ratios.push_back(q.scale / greatest);
  ExactWeights exact;
  try {
    exact = exact_weights(ratios, l.integers());
  } catch (const Refusal&) {
    std::string scales;
    for (const Quantization& q : of)
      scales += fmt::format("{}{}", scales.empty() ? "" : ", ", q.scale);
    throw Refusal("its inputs have the scales " + scales +
                      ", and sums of some of them have none; expected one scale, or multiples",
                  "add two at a time, with a QuantizeLinear behind each sum");
  }
  std::vector<Tensor> parts;
  for (std::size_t i = 0; i < count; ++i)
    parts.push_back(l.operand(op.input(i), dims, view, false));
  const std::uint32_t channels = view.shape.channels;
  if (static_cast<std::int64_t>(count) * channels * channels > kMaxFolded)
    refuse_node("a sum of {} tensors of {} channels is above what one layer does", count, channels);
  std::vector<std::int16_t> weights(count * channels * channels);
  std::int32_t bias = 0;
  for (std::size_t i = 0; i < count; ++i) {
    bias += exact.elements[i] * (of[0].zero_point - of[i].zero_point);
    for (std::size_t k = 0; k < channels; ++k)
      weights[(k * count + i) * channels + k] = exact.elements[i];
  }
  const std::vector<std::int32_t> biases(channels, bias);
  const std::string beside = l.name("beside");
  const Tensor all = count == 1 ? parts[0] : l.network().concatenate(parts, {.name = beside});
  const std::string layer = l.name();
  const QuantizedEnd end = follow_bounds(l, op.node().outputs[0]);
  const double share = op.op() == "Mean" ? 1.0 / static_cast<double>(count) : 1;
  const auto scale = static_cast<float>(share * static_cast<double>(exact.scale));
  Convolution c;
  c.name = layer;
  c.kernels = channels;
  const KernelIntegers kernels(weights, l.integers());
  c.weights = kernels.span();
  c.bias = biases;
  const Quantization input{greatest, of[0].zero_point};
  l.put(end.last,
        l.network().convolution(
            all, c,
            {.input = input, .weights = {&scale, 1}, .output = end.output, .bounds = end.bounds}),
        view);
}

// The greater of two results that were rounded is the greater of both, rounded.
void quantized_extreme(Lowering& l, const Operation& op) {
  const Dims dims = infer_binary(op)[0].dims;
  const bool greatest = op.op() == "Max";
  const View usual = view_of_result(l, op, dims);
  // A constant of channels decides where they lie.
  View view = usual;
  std::vector<Step> constants;
  for (std::size_t i = 0; i < op.inputs(); ++i)
    if (op.constant(i) != nullptr)
      constants.push_back(make_step(greatest ? StepKind::kMax : StepKind::kMin, *op.constant(i)));
  for (std::size_t i = 0; i < op.inputs() && !constants.empty(); ++i)
    if (op.constant(i) == nullptr && op.dims(i) == dims) {
      view = view_of_operands(l, op.input(i), dims, constants, op);
      break;
    }
  std::vector<Tensor> parts;
  for (std::size_t i = 0; i < op.inputs(); ++i) {
    if (op.constant(i) != nullptr) continue;
    (void)quantization_of(l, op, i);
    parts.push_back(l.operand(op.input(i), dims, view, false));
  }
  const QuantizedEnd end = follow_bounds(l, op.node().outputs[0]);
  std::optional<Tensor> result;
  for (const Tensor part : parts) {
    const Tensor scaled = requantized(l, part, end.output);
    result = result ? add_extreme(l, *result, scaled, greatest) : scaled;
  }
  if (!result) refuse_node("none of its inputs is a tensor");
  const Kernels kernels{dims, view, view.shape.channels};
  for (const Step& step : constants) {
    // A tensor of the constant alone.
    QuantizedEnd own = end;
    own.addends = channel_operand(step, kernels, op);
    own.factors.assign(own.addends.size(), 0);
    result = add_extreme(l, *result, add_channelwise(l, parts[0], own), greatest);
  }
  l.put(end.last, held_to(l, *result, end), view);
}

// The result is the greater of x and slope * x where the slope is at most 1, else the lesser one.
void quantized_prelu(Lowering& l, const Operation& op) {
  const ValueId id = op.input(0);
  const Quantization input = quantization_of(l, op, 0);
  if (op.constant(1) == nullptr)
    refuse_node("its slope is computed by the network; expected a constant");
  const Dims& dims = op.dims(0);
  const Step step = make_step(StepKind::kPrelu, *op.constant(1));
  const View view = view_of_operands(l, id, dims, {step}, op);
  const Tensor x = l.tensor(id, view);
  QuantizedEnd own;
  own.factors = channel_operand(step, {dims, view, view.shape.channels}, op);
  own.addends.assign(own.factors.size(), 0);
  const auto [least, greatest] = std::minmax_element(own.factors.begin(), own.factors.end());
  const QuantizedEnd end = follow_bounds(l, op.node().outputs[0]);
  own.output = end.output;
  own.bounds = end.bounds;
  const Tensor scaled = add_channelwise(l, x, own);
  const Tensor plain = input == end.output
                           ? held_to(l, x, end)
                           : add_function(l, x, end.output, [bounds = end.bounds](double v) {
                               return std::clamp(v, static_cast<double>(bounds.low),
                                                 static_cast<double>(bounds.high));
                             });
  if (*greatest <= 1 || *least >= 1)
    return l.put(end.last, add_extreme(l, plain, scaled, *greatest <= 1), view);
  // Channels of both kinds are chosen from both.
  const Tensor both[] = {add_extreme(l, plain, scaled, true), add_extreme(l, plain, scaled, false)};
  const std::string beside = l.name("beside");
  const Tensor all = l.network().concatenate(both, {.name = beside});
  const std::size_t channels = own.factors.size();
  if (2 * channels * channels > static_cast<std::size_t>(kMaxFolded))
    refuse_node("its {} channels have slopes above and below 1, which is above what one layer does",
                channels);
  std::vector<float> weights(2 * channels * channels);
  for (std::size_t k = 0; k < channels; ++k)
    weights[2 * channels * k + k + (own.factors[k] > 1 ? channels : 0)] = 1;
  const std::string layer = l.name("channels");
  Convolution c;
  c.name = layer;
  c.kernels = view.shape.channels;
  l.put(end.last, add_exact(l, all, c, weights), view);
}

}  // namespace nvdla::import
