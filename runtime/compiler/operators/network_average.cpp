// SPDX-License-Identifier: MIT
//
// Adding averages to a network: sums by a depthwise convolution with ones, divided by multipliers,
// or on the CPU where that would not be exact, or is none that the device has.
#include <algorithm>
#include <bit>
#include <string>
#include <utility>
#include <vector>

#include "compiler/operators/add_operators.hpp"
#include "compiler/operators/average_steps.hpp"
#include "compiler/operators/cpu_layer.hpp"
#include "compiler/operators/reciprocal.hpp"
#include "host_ops/average.hpp"
#include "packing/precision.hpp"
#include "packing/quantized.hpp"

namespace nvdla {
namespace {

using detail::check_range;
using detail::throw_invalid_argument;

struct Window : detail::AxisWindow {
  const char* name;

  Window(const char* called, const detail::AxisWindow& window)
      : detail::AxisWindow(window), name(called) {}
};

Window check_window(Window w) {
  const std::string all = w.kernel == 0 ? fmt::format(" (all of the {})", w.name) : "";
  if (w.kernel == 0) w.kernel = w.size;
  check_range(fmt::format("kernel_{}{}", w.name, all), w.kernel, 1U, detail::kMaxSide);
  check_range(fmt::format("stride in {}", w.name), w.stride, 1U, detail::kMaxSide);
  check_range(fmt::format("padding before the {}", w.name), w.before, 0U, w.kernel - 1);
  check_range(fmt::format("padding after the {}", w.name), w.after, 0U, w.kernel - 1);
  if (w.before + w.size + w.after < w.kernel) {
    throw_invalid_argument("padded {} {} is smaller than the kernel, {}", w.name,
                           w.before + w.size + w.after, w.kernel);
  }
  check_range(fmt::format("output {}", w.name), w.outputs(), 1U, detail::kMaxSide);
  return w;
}

// Returns the divisors of sums: one number, or one for each position of the output.
std::vector<std::uint32_t> counts_of(const Window& y, const Window& x, bool padding_counts) {
  std::vector<std::uint32_t> counts;
  for (std::uint32_t i = 0; i < y.outputs(); ++i)
    for (std::uint32_t j = 0; j < x.outputs(); ++j)
      counts.push_back(padding_counts ? y.kernel * x.kernel : y.count(i) * x.count(j));
  const auto differs = [&](std::uint32_t count) { return count != counts[0]; };
  if (std::none_of(counts.begin(), counts.end(), differs)) counts.resize(1);
  return counts;
}

// `Division` owns the operands that the convolution refers to.
struct Division {
  std::vector<std::int16_t> first, second;
  std::vector<std::int32_t> factor;
  std::vector<float> real;
};

// Divides by one multiplier of 32 bits, rounded up: halves go away from zero.
void divide_wide(std::uint32_t count, Division& division, Convolution& conv) {
  const std::uint32_t shift = 29 + static_cast<std::uint32_t>(std::bit_width(count));
  const std::uint64_t one = std::uint64_t{1} << shift;
  division.factor = {static_cast<std::int32_t>((one + count - 1) / count)};
  conv.y.mul = NVDLA_MUL_MUL;
  conv.y.mul_values = division.factor;
  conv.y.mul_shift = shift;
}

// Divides by two multipliers of 16 bits, of the layer or for each element. Returns false if some
// sums would not be divided exactly.
bool divide_narrow(const std::vector<std::uint32_t>& counts, std::uint32_t channels,
                   std::uint32_t bits, Division& division, Convolution& conv) {
  std::vector<std::uint32_t> known = counts;
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end());
  const detail::Reciprocals all = detail::find_reciprocals(known, bits);
  if (!all.exact) return false;
  for (std::uint32_t c = 0; c < (counts.size() == 1 ? 1 : channels); ++c) {
    for (const std::uint32_t count : counts) {
      const auto at = std::lower_bound(known.begin(), known.end(), count) - known.begin();
      const auto& factors = all.factors[static_cast<std::size_t>(at)];
      division.first.push_back(factors.first);
      division.second.push_back(factors.second);
    }
  }
  conv.x1 = scale(division.first);
  conv.x2 = scale(division.second, all.shift);
  return true;
}

// Divides the sums of a convolution. Returns false if it cannot, or not exactly.
bool divide(const detail::TensorNode& in, const std::vector<std::uint32_t>& counts,
            std::optional<std::int32_t> pad_value, Division& division, Convolution& conv) {
  if (in.precision == Precision::kFp16) {
    if (counts.size() > 1 || pad_value.value_or(0) != 0) return false;
    division.real = {1.0F / static_cast<float>(counts[0])};
    conv.y.mul = NVDLA_MUL_MUL;
    conv.y.mul_reals = division.real;
    return true;
  }
  if (in.precision == Precision::kInt16 && counts.size() == 1) {
    divide_wide(counts[0], division, conv);
    return true;
  }
  const std::uint32_t bits = in.precision == Precision::kInt8 ? 8 : 16;
  return divide_narrow(counts, in.shape.channels, bits, division, conv);
}

template <typename T>
std::vector<T> ones(std::size_t count, Precision precision) {
  return std::vector<T>(count, static_cast<T>(precision == Precision::kFp16 ? 0x3c00 : 1));
}

void set_window(const detail::AxisWindow& y, const detail::AxisWindow& x, Convolution& conv) {
  conv.kernel_height = y.kernel;
  conv.kernel_width = x.kernel;
  conv.stride_height = y.stride;
  conv.stride_width = x.stride;
  conv.pad_top = y.before;
  conv.pad_bottom = y.after;
  conv.pad_left = x.before;
  conv.pad_right = x.after;
}

// Adds a convolution that multiplies each channel with ones, for itself.
Tensor add_sums(Network::Impl& net, Tensor input, Convolution conv) {
  const detail::TensorNode& in = net.cube("input", input);
  const Precision precision = in.precision;
  conv.kernels = conv.groups = in.shape.channels;
  const std::size_t taps = std::size_t{in.shape.channels} * conv.kernel_height * conv.kernel_width;
  const auto narrow = ones<std::int8_t>(precision == Precision::kInt8 ? taps : 0, precision);
  const auto wide = ones<std::int16_t>(precision == Precision::kInt16 ? taps : 0, precision);
  const auto half = ones<std::uint16_t>(precision == Precision::kFp16 ? taps : 0, precision);
  if (precision == Precision::kInt8) {
    conv.weights = std::span(narrow);
  } else if (precision == Precision::kFp16) {
    conv.weights = std::span(half);
  } else {
    conv.weights = std::span(wide);
  }
  return detail::add_convolution(net, input, conv);
}

// `Scaled` has the operators of an average whose result has a scale of its own, with its count.
struct Scaled {
  Quantization input, output;
  std::optional<QuantizedOperators> operators;  // where all windows have the same count

  cpu::AverageScale on_cpu() const {
    cpu::AverageScale scale;
    scale.input = input;
    scale.output = output;
    if (!operators) return scale;
    for (const QuantizedOperators::Step* step : {&operators->first(), operators->second()})
      if (step != nullptr)
        scale.step[scale.steps++] = {step->addends[0], step->left_shift, step->factors[0],
                                     step->right_shift};
    return scale;
  }
};

std::optional<Scaled> scaled_of(const detail::TensorNode& in, const Average& a,
                                const std::vector<std::uint32_t>& counts) {
  if (!a.output) {
    if (a.input)
      throw_invalid_argument("input scale {}: an output that has none keeps that of the input",
                             a.input->scale);
    return std::nullopt;
  }
  if (in.precision == Precision::kFp16)
    throw_invalid_argument("the input is {}: averages with an output scale are of int8 or int16",
                           detail::precision_name(in.precision));
  Scaled scaled{detail::quantization_of("input", in, a.input), *a.output, {}};
  detail::check_quantization("output", scaled.output, in.precision);
  if (counts.size() == 1)
    scaled.operators =
        QuantizedOperators::average(counts[0], scaled.input, scaled.output, in.precision);
  return scaled;
}

// Blocks of int8 add up to sums of int16, these to the sums of windows, which are divided; a layer
// more makes int8 of the quotients.
Tensor add_steps(Network::Impl& net, Tensor input, const std::string& name,
                 const std::vector<detail::SumStep>& steps, std::uint32_t count,
                 const std::optional<Scaled>& scaled) {
  Tensor sums = input;
  const auto step_name = [&](std::size_t i) {
    return fmt::format("{} step {}/{}", name, i + 1, steps.size() + 1);
  };
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::string called = step_name(i);
    Convolution conv{.name = called};
    Division division;
    if (i + 1 == steps.size() && scaled) {
      scaled->operators->apply(conv);
      conv.bounds = {};
      conv.pad_value = 0;
    } else if (i + 1 == steps.size()) {
      divide_wide(count, division, conv);
    }
    set_window(steps[i].y, steps[i].x, conv);
    conv.precision = Precision::kInt16;
    sums = add_sums(net, sums, conv);
  }
  const std::string called = step_name(steps.size());
  const detail::TensorNode& in = net.cube("input", sums);
  const Shape shape = in.shape;
  detail::LayerNode layer;
  layer.name = called;
  layer.input = net.index("input", sums);
  layer.part = detail::SdpNode{};
  return net.commit(std::move(layer), shape, Precision::kInt8);
}

Tensor average_on_cpu(Network::Impl& net, Tensor input, const Average& a, const Window& y,
                      const Window& x, const std::vector<std::uint32_t>& counts,
                      const std::optional<Scaled>& scaled, bool of_device) {
  const detail::TensorNode& in = net.cube("input", input);
  if (scaled && in.precision == Precision::kInt16)
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("an average of int16 with an output scale is one of the device: {}",
                            of_device ? "all its windows have to have the same number of elements"
                                      : "its windows are up to 32x32, with strides of up to 8"));
  Shape out = in.shape;
  out.height = y.outputs();
  out.width = x.outputs();
  cpu::AverageWindow window = {y.kernel, x.kernel, y.stride,   x.stride,
                               y.before, x.before, a.pad_value};
  if (scaled) window.scale = scaled->on_cpu();
  detail::CpuNode node = {{cpu::AverageOperation{window}}};
  node.sums_on_device = a.pad_value.value_or(0) == 0 && counts.size() == 1 &&
                        in.precision == Precision::kInt8 && detail::sum_steps(y, x).has_value();
  return detail::commit_cpu(net, a.name, {&input, 1}, std::move(node),
                            {out, in.precision, scaled ? scaled->output : in.quantization});
}

// One axis of a layer that was added; it pads behind the input what the last window needs.
Window axis_of_node(const char* name, detail::AxisWindow w, std::uint32_t outputs) {
  const std::uint32_t end = (outputs - 1) * w.stride + w.kernel;
  w.after = std::max(end, w.before + w.size) - (w.before + w.size);
  return {name, w};
}

}  // namespace

Tensor detail::add_sums_on_device(Network::Impl& net, const LayerNode& layer) {
  const auto& cpu = std::get<CpuNode>(layer.part);
  const cpu::AverageWindow& w = std::get<cpu::AverageOperation>(cpu.operation.kind).window;
  const Shape &in = net.tensors[layer.input].shape, &out = net.tensors[layer.output].shape;
  const Window y =
      axis_of_node("height", {in.height, w.height, w.stride_height, w.pad_top, 0}, out.height);
  const Window x =
      axis_of_node("width", {in.width, w.width, w.stride_width, w.pad_left, 0}, out.width);
  const std::vector<std::uint32_t> counts = counts_of(y, x, w.pad_value.has_value());
  const auto steps = sum_steps(y, x);
  // Layers that add_average() has made are sums; those of a text may be anything.
  if (!steps || counts.size() != 1 || w.pad_value.value_or(0) != 0 ||
      net.tensors[layer.input].precision != Precision::kInt8)
    throw_invalid_argument(
        "layer '{}': sums_on_device: the device sums only int8 windows of one size, in exact steps",
        layer.name);
  const std::uint32_t count = counts[0];
  std::optional<Scaled> scaled;
  if (w.scale)
    scaled = {w.scale->input, w.scale->output,
              QuantizedOperators::average(count, w.scale->input, w.scale->output)};
  return add_steps(net, TensorHandle::make(net.id, layer.input), layer.name, *steps, count, scaled);
}

Tensor detail::add_average(Network::Impl& net, Tensor input, const Average& a) {
  const TensorNode& in = net.cube("input", input);
  const Precision precision = in.precision;
  const Window y = check_window(
      {"height", {in.shape.height, a.kernel_height, a.stride_height, a.pad_top, a.pad_bottom}});
  const Window x = check_window(
      {"width", {in.shape.width, a.kernel_width, a.stride_width, a.pad_left, a.pad_right}});
  const std::int32_t pad_value = a.pad_value.value_or(0);
  if (precision == Precision::kFp16) {
    // Integers that fp16 has all of.
    check_range("pad_value", pad_value, -2048, 2048);
  } else {
    const std::int32_t low = precision == Precision::kInt8 ? -128 : -32768;
    check_range("pad_value", pad_value, low, -low - 1);
  }
  const std::vector<std::uint32_t> counts = counts_of(y, x, a.pad_value.has_value());
  const std::optional<Scaled> scaled = scaled_of(in, a, counts);
  Convolution conv{.name = a.name};
  Division division;
  const bool of_device = y.of_device() && x.of_device();
  if (!of_device ||
      (scaled ? !scaled->operators.has_value() : !divide(in, counts, a.pad_value, division, conv)))
    return average_on_cpu(net, input, a, y, x, counts, scaled, of_device);
  if (scaled) scaled->operators->apply(conv);
  conv.pad_value = pad_value;
  set_window(y, x, conv);
  const std::optional<Quantization> kept = in.quantization;
  const Tensor output = add_sums(net, input, conv);
  net.tensors[net.index("output", output)].quantization = scaled ? scaled->output : kept;
  return output;
}

Tensor Network::average(Tensor input, const Average& a) {
  return detail::add_layer(impl(), a.name, [&] { return detail::add_average(impl(), input, a); });
}

}  // namespace nvdla
