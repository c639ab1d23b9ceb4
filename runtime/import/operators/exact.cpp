// SPDX-License-Identifier: MIT
//
// Exact weights of integers.
#include "import/operators/exact.hpp"

#include <algorithm>
#include <cmath>

#include "import/operators/epilogue.hpp"

namespace nvdla::import {
namespace {

constexpr int kGreatestWeight = 127;
// Weights are floats: a third times three is as close to one.
constexpr float kFloatSlack = 1e-5F;

bool are_whole(std::span<const float> weights, float factor) {
  return std::all_of(weights.begin(), weights.end(), [factor](float w) {
    const float v = w * factor;
    return std::fabs(v - std::nearbyint(v)) <= kFloatSlack;
  });
}

// Returns one number for each channel where all positions have the same, else the numbers as they
// are: one, one for each channel, or one for each element.
std::vector<float> by_channel(std::vector<float> values, std::uint32_t channels) {
  if (values.size() <= channels) {
    values.resize(channels, values[0]);
    return values;
  }
  const std::size_t positions = values.size() / channels;
  std::vector<float> first;
  for (std::size_t c = 0; c < channels; ++c) {
    const auto own = values.begin() + static_cast<std::ptrdiff_t>(c * positions);
    if (std::any_of(own, own + static_cast<std::ptrdiff_t>(positions),
                    [&](float v) { return v != *own; }))
      return values;
    first.push_back(*own);
  }
  return first;
}

// Rounds weights of int16 to the nearest of all that the greatest one leaves.
ExactWeights nearest_weights(std::span<const float> weights, float greatest) {
  ExactWeights nearest;
  nearest.scale = greatest / static_cast<float>(greatest_weight(Precision::kInt16));
  for (const float w : weights)
    nearest.elements.push_back(static_cast<std::int16_t>(std::nearbyint(w / nearest.scale)));
  return nearest;
}

template <typename Layer, typename Add>
Tensor add_with_weights(Lowering& l, Tensor x, Layer& layer, std::span<const float> weights,
                        std::span<const float> bias, std::optional<Quantization> output,
                        const Add& add) {
  if (l.network().precision(x) == Precision::kFp16) {
    layer.weights = weights;
    layer.bias_reals = bias;
    return add(layer, nullptr);
  }
  const ExactWeights exact = exact_weights(weights, l.integers());
  const Quantization input = known_quantization(l, x), result = output.value_or(input);
  std::vector<std::int32_t> integers;
  for (const float real : bias) {
    // The result of a kernel of zeros is the element that stands for the bias.
    const double steps = static_cast<double>(
        element_of(static_cast<double>(real), result, l.integers()) - result.zero_point);
    integers.push_back(static_cast<std::int32_t>(
        std::nearbyint(steps * static_cast<double>(result.scale) /
                       (static_cast<double>(input.scale) * static_cast<double>(exact.scale)))));
  }
  const KernelIntegers kernels(exact.elements, l.integers());
  layer.weights = kernels.span();
  layer.bias = integers;
  const ConvolutionScales scales{.input = input, .weights = {&exact.scale, 1}, .output = result};
  return add(layer, &scales);
}

}  // namespace

ExactWeights exact_weights(std::span<const float> weights, Precision precision) {
  float greatest = 0;
  for (const float w : weights) greatest = std::max(greatest, std::fabs(w));
  for (int factor = 1; static_cast<float>(factor) * greatest <= kGreatestWeight; ++factor) {
    if (greatest == 0 || factor > kGreatestWeight) break;
    if (!are_whole(weights, static_cast<float>(factor))) continue;
    ExactWeights exact;
    exact.scale = 1 / static_cast<float>(factor);
    exact.elements.reserve(weights.size());
    for (const float w : weights)
      exact.elements.push_back(
          static_cast<std::int16_t>(std::nearbyint(w * static_cast<float>(factor))));
    return exact;
  }
  if (greatest == 0) return {std::vector<std::int16_t>(weights.size(), 0), 1};
  if (precision == Precision::kInt16) return nearest_weights(weights, greatest);
  throw Refusal("its weights are no whole multiples of one number up to 127 of it, as int8 needs",
                "choose a factor that is a power of two, or compute it in fp16");
}

KernelIntegers::KernelIntegers(std::span<const std::int16_t> elements, Precision precision) {
  if (precision == Precision::kInt16) {
    words_.assign(elements.begin(), elements.end());
    return;
  }
  bytes_.reserve(elements.size());
  for (const std::int16_t v : elements) bytes_.push_back(static_cast<std::int8_t>(v));
}

KernelSpan KernelIntegers::span() const {
  if (bytes_.empty()) return std::span<const std::int16_t>(words_);
  return std::span<const std::int8_t>(bytes_);
}

std::int32_t element_of(double real, const Quantization& quantization, Precision precision) {
  const double steps = std::round(real / static_cast<double>(quantization.scale));
  const double greatest = greatest_weight(precision);
  return static_cast<std::int32_t>(
      std::clamp(steps + quantization.zero_point, -greatest - 1, greatest));
}

Quantization known_quantization(Lowering& l, Tensor x) {
  const auto known = l.network().quantization(x);
  if (!known) refuse_node("the scale of its input is not known");
  return *known;
}

Tensor constant_tensor(Lowering& l, const Constant& constant, const View& view, Tensor like,
                       Axis axis) {
  const std::uint32_t channels = view.shape.channels;
  const std::vector<float> values =
      by_channel(operand_values(constant, constant.dims(), view), channels);
  const Shape shape = l.network().shape(like);
  const std::uint32_t now = size_of(shape, axis), goal = size_of(view.shape, axis);
  // The tensor lends its sizes, not its elements.
  Tensor x = like;
  if (axis != Axis::kChannels && now > goal)
    x = l.network().slice(x, {.name = l.name("part"), .axis = axis, .start = 0, .size = goal});
  if (axis != Axis::kChannels && now < goal) {
    const std::string layer = l.name("pad");
    Padding p;
    p.name = layer;
    (axis == Axis::kHeight ? p.bottom : p.right) = goal - now;
    x = l.network().pad(x, p);
  }
  if (values.size() > channels && l.network().precision(x) != Precision::kFp16)
    throw Refusal(fmt::format("its constant of {} has other numbers at each position, and {} has "
                              "one for each channel",
                              dims_text(constant.dims()), l.integers_name()),
                  "make it an input, or compute the node in fp16");
  if (values.size() > channels) {
    // Whatever the element is, the greater of the number and the lesser of both is the number.
    const std::string layer = l.name("constant");
    Pointwise p{.name = layer};
    p.x1 = {NVDLA_ALU_MIN, NVDLA_MUL_NONE, {}, {}, values};
    p.x2 = {NVDLA_ALU_MAX, NVDLA_MUL_NONE, {}, {}, values};
    if (axis == Axis::kChannels && now != goal) {
      const std::vector<float> zeros(std::size_t{channels} * shape.channels);
      const std::string wide = l.name("channels");
      Convolution c;
      c.name = wide;
      c.kernels = channels;
      x = add_exact(l, x, c, zeros);
    }
    return l.network().pointwise(x, p);
  }
  const std::vector<float> zeros(std::size_t{channels} * shape.channels);
  const std::string layer = l.name("constant");
  Convolution c;
  c.name = layer;
  c.kernels = channels;
  return add_exact(l, x, c, zeros, values);
}

Tensor add_exact(Lowering& l, Tensor x, Convolution layer, std::span<const float> weights,
                 std::span<const float> bias, std::optional<Quantization> output) {
  return add_with_weights(l, x, layer, weights, bias, output,
                          [&](const Convolution& c, const ConvolutionScales* scales) {
                            return scales != nullptr ? l.network().convolution(x, c, *scales)
                                                     : l.network().convolution(x, c);
                          });
}

Tensor add_exact(Lowering& l, Tensor x, FullyConnected layer, std::span<const float> weights,
                 std::optional<Quantization> output) {
  return add_with_weights(l, x, layer, weights, {}, output,
                          [&](const FullyConnected& f, const ConvolutionScales* scales) {
                            return scales != nullptr ? l.network().fully_connected(x, f, *scales)
                                                     : l.network().fully_connected(x, f);
                          });
}

Tensor add_exact(Lowering& l, Tensor x, Deconvolution layer, std::span<const float> weights,
                 std::optional<Quantization> output) {
  return add_with_weights(l, x, layer, weights, {}, output,
                          [&](const Deconvolution& d, const ConvolutionScales* scales) {
                            return scales != nullptr ? l.network().deconvolution(x, d, *scales)
                                                     : l.network().deconvolution(x, d);
                          });
}

}  // namespace nvdla::import
