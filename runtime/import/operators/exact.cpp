// SPDX-License-Identifier: MIT
//
// Exact weights of int8.
#include "import/operators/exact.hpp"

#include <algorithm>
#include <cmath>

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

template <typename Layer, typename Add>
Tensor add_with_weights(Lowering& l, Tensor x, Layer& layer, std::span<const float> weights,
                        std::span<const float> bias, std::optional<Quantization> output,
                        const Add& add) {
  if (l.network().precision(x) != Precision::kInt8) {
    layer.weights = weights;
    layer.bias_reals = bias;
    return add(layer, nullptr);
  }
  const ExactWeights exact = exact_weights(weights);
  const Quantization input = known_quantization(l, x), result = output.value_or(input);
  std::vector<std::int32_t> integers;
  for (const float real : bias) {
    // The result of a kernel of zeros is the element that stands for the bias.
    const double steps =
        static_cast<double>(element_of(static_cast<double>(real), result) - result.zero_point);
    integers.push_back(static_cast<std::int32_t>(
        std::nearbyint(steps * static_cast<double>(result.scale) /
                       (static_cast<double>(input.scale) * static_cast<double>(exact.scale)))));
  }
  layer.weights = std::span<const std::int8_t>(exact.elements);
  layer.bias = integers;
  const ConvolutionScales scales{.input = input, .weights = {&exact.scale, 1}, .output = result};
  return add(layer, &scales);
}

}  // namespace

ExactWeights exact_weights(std::span<const float> weights) {
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
          static_cast<std::int8_t>(std::nearbyint(w * static_cast<float>(factor))));
    return exact;
  }
  if (greatest == 0) return {std::vector<std::int8_t>(weights.size(), 0), 1};
  throw Refusal("its weights are no whole multiples of one number up to 127 of it, as int8 needs",
                "choose a factor that is a power of two, or compute it in fp16");
}

std::int32_t element_of(double real, const Quantization& quantization) {
  const double steps = std::round(real / static_cast<double>(quantization.scale));
  return static_cast<std::int32_t>(std::clamp(steps + quantization.zero_point, -128.0, 127.0));
}

Quantization known_quantization(Lowering& l, Tensor x) {
  const auto known = l.network().quantization(x);
  if (!known) refuse_node("the scale of its input is not known");
  return *known;
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
