// SPDX-License-Identifier: MIT
//
// Normalisations, softmax, largest channels, and moves between channels and positions.
#include <algorithm>
#include <cmath>
#include <limits>

#include "import/operators/elements.hpp"
#include "import/operators/exact.hpp"
#include "import/operators/operator.hpp"
#include "import/operators/pools.hpp"
#include "import/operators/quantized.hpp"

namespace nvdla::import {
namespace {

std::vector<Inferred> infer_batch_normalization(const Operation& op) {
  if (op.outputs() > 1 && op.has_output(1)) refuse_node("it has outputs of training");
  return infer_same(op);
}

void lower_batch_normalization(Lowering& l, const Operation& op) {
  if (op.attribute("training_mode", std::int64_t{0}) != 0)
    throw Refusal("it is in training mode", "export the model for inference");
  const Dims& dims = op.dims(0);
  const ValueId id = op.input(0);
  l.roles(id);
  View view = l.view(id);
  const auto roles = roles_in(view, dims);
  if (dims.size() > 1 && roles && (*roles)[1] != 'C' && dims[1] != 1)
    view = default_view(dims, true);
  const Tensor x = l.tensor(id, view);
  l.put(op.node().outputs[0], l.compute(x, view, dims, batch_normalization_steps(op)), view);
}

struct SoftmaxAxes {
  std::size_t first = 0, last = 0;
};

SoftmaxAxes softmax_axes(const Operation& op) {
  const std::size_t rank = op.dims(0).size();
  if (rank == 0) return {};
  const bool old = op.opset() < 13;
  const std::size_t axis = Operation::axis(op.attribute("axis", std::int64_t{old ? 1 : -1}), rank);
  // Before opset 13 all axes from this one on are one.
  return {axis, old ? rank - 1 : axis};
}

// The logarithm of a softmax would be that of 0 where numbers are far below the greatest.
void lower_log_softmax(Lowering& l, const Operation& op) {
  const SoftmaxAxes axes = softmax_axes(op);
  subtract_log_sum(l, op, axes.first, axes.last);
}

void lower_softmax(Lowering& l, const Operation& op) {
  l.use_cpu("a softmax");
  const Dims& dims = op.dims(0);
  const SoftmaxAxes axes = softmax_axes(op);
  const View view = l.channel_view(op.input(0), dims, axes.first, axes.last);
  const Tensor x = l.tensor(op.input(0), view);
  const std::string layer = l.name();
  l.put(op.node().outputs[0], l.network().softmax(x, {.name = layer}), view);
}

std::vector<Inferred> infer_argmax(const Operation& op) {
  Dims dims = op.dims(0);
  const std::size_t axis = Operation::axis(op.attribute("axis", std::int64_t{0}), dims.size());
  if (op.attribute("keepdims", std::int64_t{1}) != 0)
    dims[axis] = 1;
  else
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
  return {{Type::kInt64, dims}};
}

void lower_argmax(Lowering& l, const Operation& op) {
  l.use_cpu("the channel of the greatest element");
  const Dims& dims = op.dims(0);
  const std::size_t axis = Operation::axis(op.attribute("axis", std::int64_t{0}), dims.size());
  View view = l.channel_view(op.input(0), dims, axis, axis);
  Tensor x = l.tensor(op.input(0), view);
  const bool int8 = l.is_quantized(op.input(0));
  if (op.op() == "ArgMin" && int8) {
    // The opposite of each element, -1 - q, has a zero point of its own.
    const Quantization q = known_quantization(l, x);
    x = add_function(l, x, {q.scale, -1 - q.zero_point}, [](double v) { return -v; });
  } else if (op.op() == "ArgMin") {
    x = l.compute(x, view, dims, {make_step(StepKind::kScale, -1)});
  }
  const bool last = op.attribute("select_last_index", std::int64_t{0}) != 0;
  const std::uint32_t channels = view.shape.channels;
  if (last && channels > 1) {
    // The last of several is the first one of channels in the opposite order.
    if (std::int64_t{channels} * channels > kMaxFolded) refuse_node("it has {} channels", channels);
    std::vector<float> weights(std::size_t{channels} * channels);
    for (std::uint32_t k = 0; k < channels; ++k)
      weights[std::size_t{k} * channels + channels - 1 - k] = 1;
    const std::string layer = l.name("reverse");
    Convolution c;
    c.name = layer;
    c.kernels = channels;
    x = add_exact(l, x, c, weights);
  }
  const std::string layer = l.name();
  x = l.network().argmax(x, {.name = layer});
  view.shape.channels = 1;
  if (last && channels > 1) {
    const std::int16_t shift = static_cast<std::int16_t>(-static_cast<int>(channels - 1)),
                       minus = -1;
    const std::string back = l.name("back");
    Pointwise p{.name = back};
    p.x1 = bias({&shift, 1});
    p.x1.mul = NVDLA_MUL_MUL;
    p.x1.mul_values = {&minus, 1};
    x = l.network().pointwise(x, p);
  }
  l.put(op.node().outputs[0], x, view);
}

std::vector<Inferred> infer_layer_normalization(const Operation& op) {
  const Dims& dims = op.dims(0);
  const std::size_t axis = Operation::axis(op.attribute("axis", std::int64_t{-1}), dims.size());
  Dims statistics = dims;
  std::fill(statistics.begin() + static_cast<std::ptrdiff_t>(axis), statistics.end(), 1);
  std::vector<Inferred> out = {{op.type(0), dims}};
  while (out.size() < op.outputs()) out.push_back({Type::kFloat, statistics});
  return out;
}

// 1 / sqrt(x + epsilon), whose argument is never negative.
Step reciprocal_root(double epsilon) {
  return make_table([epsilon](double x) { return 1 / std::sqrt(std::max(x, 0.0) + epsilon); },
                    {0, std::numeric_limits<double>::infinity()});
}

void lower_layer_normalization(Lowering& l, const Operation& op) {
  l.use_cpu("a layer normalisation");
  const Dims& dims = op.dims(0);
  const std::size_t axis = Operation::axis(op.attribute("axis", std::int64_t{-1}), dims.size());
  const double epsilon = op.attribute("epsilon", 1e-5);
  const View view = l.channel_view(op.input(0), dims, axis, dims.size() - 1);
  const Tensor x = l.tensor(op.input(0), view);
  const auto gamma = channel_list(op, 1, "its scale", view.shape.channels);
  const auto beta = channel_list(op, 2, "its shift", view.shape.channels);
  const std::string layer = l.name();
  if (op.has_output(0))
    l.put(op.node().outputs[0],
          l.network().layer_normalization(
              x, {.name = layer, .gamma = gamma, .beta = beta, .epsilon = epsilon}),
          view);
  if (!op.has_output(1) && !op.has_output(2)) return;
  // Mean and deviation are outputs of their own.
  Shape small = view.shape;
  const double count = 1.0 / view.shape.channels;
  const Tensor mean = sum_channels(l, x, small, count);
  View narrow = view;
  narrow.shape = small;
  if (op.has_output(1)) l.put(op.node().outputs[1], mean, narrow);
  if (!op.has_output(2)) return;
  const std::vector<float> minus(view.shape.channels, -1.0F);
  const std::string repeat = l.name("repeat");
  Convolution c;
  c.name = repeat;
  c.kernels = view.shape.channels;
  c.weights = std::span<const float>(minus);
  c.x1 = elementwise(NVDLA_ALU_SUM, x);
  const Tensor centred = l.network().convolution(mean, c);
  const std::string square = l.name("square");
  const Tensor squares = l.network().pointwise(centred, {.name = square, .x1 = multiply(centred)});
  Shape again = view.shape;
  const Tensor variance = sum_channels(l, squares, again, count);
  l.put(op.node().outputs[2], l.function(variance, reciprocal_root(epsilon)), narrow);
}

void lower_instance_normalization(Lowering& l, const Operation& op) {
  const Dims& dims = op.dims(0);
  std::string roles = dims.size() == 3 ? "BCW" : "BCHW";
  roles.resize(dims.size(), 'W');
  const View view = make_view(dims, roles);
  const Tensor x = l.tensor(op.input(0), view);
  Shape one = view.shape;
  Tensor mean = average_positions(l, x, one, true, true);
  View narrow = view;
  narrow.shape = one;
  Dims small = dims;
  std::fill(small.begin() + 2, small.end(), 1);
  mean = l.compute(mean, narrow, small, {make_step(StepKind::kScale, -1)});
  const std::string layer = l.name("centre");
  const Tensor centred =
      l.network().pointwise(x, {.name = layer, .x1 = elementwise(NVDLA_ALU_SUM, mean)});
  const std::string square = l.name("square");
  const Tensor squares = l.network().pointwise(centred, {.name = square, .x1 = multiply(centred)});
  Shape again = view.shape;
  Tensor factor = average_positions(l, squares, again, true, true);
  factor = l.function(factor, reciprocal_root(op.attribute("epsilon", 1e-5)));
  const auto by_channel = [&](std::size_t index) {
    const Constant& c = op.need_constant(index, "its scale or shift");
    Dims of = {c.size()};
    of.resize(dims.size() - 1, 1);
    return c.with_dims(of);
  };
  factor = l.compute(factor, narrow, small, {make_step(StepKind::kScale, by_channel(1))});
  const std::string last = l.name();
  Tensor y = l.network().pointwise(centred, {.name = last, .x1 = multiply(factor)});
  y = l.compute(y, view, dims, {make_step(StepKind::kShift, by_channel(2))});
  l.put(op.node().outputs[0], y, view);
}

// Adds a normalisation by a table of CDP for the formats of input and result.
Tensor add_lrn(Lowering& l, const Operation& op, Tensor x, const std::string& layer,
               const LutFormat& format) {
  const std::int64_t size = op.attribute("size", std::int64_t{0});
  if (size < 3 || size > 9 || size % 2 == 0) refuse_node("its size {} is none of 3, 5, 7, 9", size);
  const Lut lut = lut::lrn(op.attribute("alpha", 1e-4), op.attribute("beta", 0.75),
                           op.attribute("bias", 1.0), u32(size), format);
  Normalization n{.name = layer, .lut = nullptr};
  lut.apply(n);
  return l.network().normalization(x, n);
}

void lower_lrn(Lowering& l, const Operation& op) {
  const View view = default_view(op.dims(0), true);
  const Tensor x = l.tensor(op.input(0), view);
  LutFormat format;
  format.precision = Precision::kFp16;
  l.put(op.node().outputs[0], add_lrn(l, op, x, l.name(), format), view);
}

constexpr OperatorRow kChannelRows[] = {
    {"ArgMax", infer_argmax, nullptr, lower_argmax, "On the CPU.", true},
    {"ArgMin", infer_argmax, nullptr, lower_argmax, "On the CPU.", true},
    {"BatchNormalization", infer_batch_normalization, nullptr, lower_batch_normalization,
     "Goes into the convolution before it, else SDP computes it."},
    {"InstanceNormalization", infer_same, nullptr, lower_instance_normalization,
     "Averages and products in fp16, whose roots the CPU computes; in integers all is on the CPU."},
    {"LRN", infer_same, nullptr, lower_lrn, "By CDP, of 3, 5, 7 or 9 channels."},
    {"LayerNormalization", infer_layer_normalization, nullptr, lower_layer_normalization,
     "On the CPU."},
    {"LogSoftmax", infer_same, nullptr, lower_log_softmax,
     "Differences and sums of powers, by tables in fp16.", true},
    {"Softmax", infer_same, nullptr, lower_softmax, "On the CPU.", true},
};

}  // namespace

void quantized_lrn(Lowering& l, const Operation& op) {
  const View view = default_view(op.dims(0), true);
  LutFormat format;
  format.precision = l.integers();
  format.input = quantization_of(l, op, 0);
  const Tensor x = l.tensor(op.input(0), view);
  const std::string layer = l.name();
  const QuantizedEnd end = follow_bounds(l, op.node().outputs[0]);
  format.output = end.output;
  l.put(end.last, held_to(l, add_lrn(l, op, x, layer, format), end), view);
}

std::vector<Step> batch_normalization_steps(const Operation& op) {
  const double epsilon = op.attribute("epsilon", 1e-5);
  const auto scale = op.need_constant(1, "its scale").doubles();
  const auto shift = op.need_constant(2, "its shift").doubles();
  const auto mean = op.need_constant(3, "its mean").doubles();
  const auto variance = op.need_constant(4, "its variance").doubles();
  const Dims& dims = op.dims(0);
  const std::size_t channels = dims.size() > 1 ? static_cast<std::size_t>(dims[1]) : 1;
  if (scale.size() != channels || shift.size() != channels || mean.size() != channels ||
      variance.size() != channels)
    refuse_node("its constants have not {} elements, one for each channel", channels);
  std::vector<double> factor(channels), add(channels);
  for (std::size_t c = 0; c < channels; ++c) {
    factor[c] = scale[c] / std::sqrt(variance[c] + epsilon);
    add[c] = shift[c] - mean[c] * factor[c];
    if (!std::isfinite(factor[c]) || !std::isfinite(add[c]))
      refuse_node("its constants of channel {} are no numbers", c);
  }
  Dims of = {static_cast<std::int64_t>(channels)};
  of.resize(std::max<std::size_t>(dims.size(), 2) - 1, 1);
  return {make_step(StepKind::kScale, Constant::of_doubles(Type::kDouble, of, factor)),
          make_step(StepKind::kShift, Constant::of_doubles(Type::kDouble, of, add))};
}

std::vector<float> channel_list(const Operation& op, std::size_t index, std::string_view what,
                                std::uint32_t channels) {
  if (!op.has(index)) return {};
  const Constant& c = op.need_constant(index, what);
  if (c.size() == 1) return std::vector<float>(channels, static_cast<float>(c.real(0)));
  if (c.size() != channels) refuse_node("{} has {} elements for {}", what, c.size(), channels);
  return c.floats();
}

std::span<const OperatorRow> channel_rows() noexcept { return kChannelRows; }

}  // namespace nvdla::import
