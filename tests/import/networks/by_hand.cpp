// SPDX-License-Identifier: MIT
#include "by_hand.hpp"

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "nvdla/lowlevel/lut.hpp"
#include "nvdla/operators/functions.hpp"

namespace network_models {
namespace {

using namespace networks;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Of a leaky ReLU below 0.
constexpr double kLeak = Numbers::kLeak / static_cast<double>(1U << Numbers::kLeakShift);

nvdla::Lut table_of(const std::function<double(double)>& function) {
  return nvdla::Lut::fit(function, {-kInfinity, kInfinity}, nvdla::Precision::kFp16);
}

class ByHand {
 public:
  ByHand(const ScaledNetwork& from, nvdla::Precision precision)
      : from_(from), half_(precision == nvdla::Precision::kFp16), precision_(precision) {}

  nvdla::Network describe() && {
    for (const Layer& layer : from_.graph.layers())
      tensors_.push_back(
          std::visit([&](const auto& what) { return add(layer, what); }, layer.what));
    const auto last = static_cast<Value>(tensors_.size() - 1);
    to_.output(tensors_[last], from_.graph.layers()[last].name, scale_of(last));
    return std::move(to_);
  }

 private:
  const Scaled& own() const { return from_.layers[tensors_.size()]; }
  nvdla::Tensor input(const Layer& layer, std::size_t index = 0) const {
    return tensors_[layer.inputs[index]];
  }
  nvdla::Quantization scale_of(Value value) const {
    return {.scale = half_ ? 1.0F : from_.layers[value].step};
  }
  nvdla::Quantization scale_of_own() const { return scale_of(static_cast<Value>(tensors_.size())); }

  nvdla::Tensor add(const Layer& layer, const Image&) {
    return to_.input(layer.name, layer.shape, precision_, scale_of_own());
  }

  nvdla::Convolution convolution(const Layer& layer, const Conv& from) const {
    nvdla::Convolution conv{.name = layer.name,
                            .kernels = from.kernels,
                            .kernel_height = from.height,
                            .kernel_width = from.width,
                            .stride_height = from.stride,
                            .stride_width = from.stride,
                            .pad_top = from.pad,
                            .pad_bottom = from.pad,
                            .pad_left = from.pad,
                            .pad_right = from.pad};
    conv.groups = from.groups;
    return conv;
  }

  nvdla::Tensor add(const Layer& layer, const Conv& from) {
    nvdla::Convolution conv = convolution(layer, from);
    return half_ ? real_conv(layer, from, conv) : scaled_conv(layer, from, conv);
  }

  nvdla::Tensor real_conv(const Layer& layer, const Conv& from, nvdla::Convolution& conv) {
    conv.weights = std::span<const float>(own().real_weights);
    conv.arithmetic.any_order = true;
    conv.x1.alu = NVDLA_ALU_SUM;
    conv.x1.alu_reals = own().real_bias;
    conv.relu = from.activation == Activation::kRelu;
    if (from.shortcut != kNoValue)
      conv.x2 = nvdla::elementwise(NVDLA_ALU_SUM, tensors_[from.shortcut], 0);
    const auto leak = static_cast<float>(kLeak);
    if (from.activation == Activation::kLeaky) {
      conv.x2.mul = NVDLA_MUL_PRELU;
      conv.x2.mul_reals = {&leak, 1};
    }
    nvdla::Lut table;
    if (has_table(from.activation)) table = table_of(function_of(from.activation));
    if (has_gelu_behind()) table = table_of(gelu);
    if (table) table.apply(conv);
    return to_.convolution(input(layer), conv);
  }

  nvdla::Tensor scaled_conv(const Layer& layer, const Conv& from, nvdla::Convolution& conv) {
    const Scaled& scaled = own();
    const bool more = from.shortcut != kNoValue || (from.activation != Activation::kNone &&
                                                    from.activation != Activation::kRelu);
    conv.weights = std::span<const std::int8_t>(scaled.weights);
    conv.bias = scaled.bias;
    conv.relu = !more && from.activation == Activation::kRelu;
    const std::string inner_name = layer.name + " sums";
    if (more) conv.name = inner_name;
    const nvdla::Quantization inner{more ? scaled.inner_step : scaled.step};
    const nvdla::Tensor sums =
        to_.convolution(input(layer), conv, {.weights = scaled.scales, .output = inner});
    if (from.shortcut != kNoValue)
      return to_.add(sums, tensors_[from.shortcut],
                     {.name = layer.name,
                      .output = scale_of_own(),
                      .relu = from.activation == Activation::kRelu});
    if (!more) return sums;
    return to_.activation(
        sums,
        {.name = layer.name, .output = scale_of_own(), .function = function_of(from.activation)});
  }

  // In fp16 the convolution before a Gelu computes it, too.
  bool has_gelu_behind() const {
    const Value next = static_cast<Value>(tensors_.size()) + 1;
    const auto& layers = from_.graph.layers();
    return next < layers.size() && std::holds_alternative<Gelu>(layers[next].what);
  }
  static double gelu(double x) { return Gelu::kUnit * nvdla::gelu(x / Gelu::kUnit); }

  static std::function<double(double)> function_of(Activation activation) {
    if (activation == Activation::kLeaky) return [](double x) { return x < 0 ? x * kLeak : x; };
    return activation == Activation::kSwish ? nvdla::swish : nvdla::sigmoid;
  }

  nvdla::Tensor add(const Layer& layer, const Double& from) {
    nvdla::Deconvolution up{.name = layer.name,
                            .kernels = from.kernels,
                            .kernel_height = 2,
                            .kernel_width = 2,
                            .stride_height = 2,
                            .stride_width = 2};
    const Scaled& scaled = own();
    if (half_) {
      up.weights = std::span<const float>(scaled.real_weights);
      up.x1.alu = NVDLA_ALU_SUM;
      up.x1.alu_reals = scaled.real_bias;
      return to_.deconvolution(input(layer), up);
    }
    up.weights = std::span<const std::int8_t>(scaled.weights);
    up.bias = scaled.bias;
    return to_.deconvolution(input(layer), up,
                             {.weights = scaled.scales, .output = scale_of_own()});
  }

  nvdla::Tensor add(const Layer& layer, const Pool& pool) {
    if (pool.method == NVDLA_POOL_MAX)
      return to_.pooling(input(layer), {.name = layer.name,
                                        .method = NVDLA_POOL_MAX,
                                        .kernel_height = pool.size,
                                        .kernel_width = pool.size,
                                        .stride_height = pool.stride,
                                        .stride_width = pool.stride,
                                        .pad_top = pool.pad,
                                        .pad_bottom = pool.pad_end,
                                        .pad_left = pool.pad,
                                        .pad_right = pool.pad_end});
    nvdla::Average average{.name = layer.name,
                           .kernel_height = pool.size,
                           .kernel_width = pool.size,
                           .stride_height = pool.stride,
                           .stride_width = pool.stride,
                           .pad_top = pool.pad,
                           .pad_bottom = pool.pad_end,
                           .pad_left = pool.pad,
                           .pad_right = pool.pad_end};
    if (pool.pad + pool.pad_end != 0) average.pad_value = 0;
    if (!half_) average.output = scale_of_own();
    return to_.average(input(layer), average);
  }

  nvdla::Tensor add(const Layer& layer, const Lrn& lrn) {
    nvdla::LutFormat format;
    format.precision = precision_;
    format.input = scale_of(layer.inputs[0]);
    format.output = scale_of_own();
    const nvdla::Lut table = nvdla::lut::lrn(lrn.alpha, lrn.beta, lrn.k, lrn.size, format);
    nvdla::Normalization normalization{.name = layer.name};
    table.apply(normalization);
    return to_.normalization(input(layer), normalization);
  }

  nvdla::Tensor add(const Layer& layer, const Norm&) {
    if (!half_) return scaled_norm(layer);
    nvdla::Pointwise norm{.name = layer.name};
    norm.x1.mul = NVDLA_MUL_MUL;
    norm.x1.mul_reals = own().real_weights;
    norm.x2.alu = NVDLA_ALU_SUM;
    norm.x2.alu_reals = own().real_bias;
    norm.x2.relu = true;
    return to_.pointwise(input(layer), norm);
  }

  // A factor for each channel is a depthwise convolution, whose weights have one size.
  nvdla::Tensor scaled_norm(const Layer& layer) {
    constexpr std::int8_t kWeight = 127;
    const double step = from_.layers[layer.inputs[0]].step;
    const std::vector<std::int8_t> weights(layer.shape.channels, kWeight);
    std::vector<float> scales;
    std::vector<std::int32_t> bias;
    for (std::size_t c = 0; c < weights.size(); ++c) {
      const double scale = static_cast<double>(own().real_weights[c]) / kWeight;
      scales.push_back(static_cast<float>(scale));
      bias.push_back(static_cast<std::int32_t>(
          std::nearbyint(static_cast<double>(own().real_bias[c]) / (step * scale))));
    }
    nvdla::Convolution conv{.name = layer.name, .kernels = layer.shape.channels};
    conv.groups = layer.shape.channels;
    conv.weights = std::span<const std::int8_t>(weights);
    conv.bias = bias;
    conv.relu = true;
    return to_.convolution(input(layer), conv, {.weights = scales, .output = scale_of_own()});
  }

  nvdla::Tensor add(const Layer& layer, const Concat&) {
    std::vector<nvdla::Tensor> parts;
    for (const Value part : layer.inputs) parts.push_back(tensors_[part]);
    return to_.concatenate(parts, {.name = layer.name});
  }

  nvdla::Tensor add(const Layer& layer, const Scale&) {
    if (!half_)
      return to_.multiply(input(layer), input(layer, 1),
                          {.name = layer.name, .output = scale_of_own()});
    nvdla::Pointwise scale{.name = layer.name};
    scale.x1 = nvdla::multiply(input(layer, 1), 0);
    return to_.pointwise(input(layer), scale);
  }

  nvdla::Tensor add(const Layer& layer, const Slice& slice) {
    return to_.slice(input(layer),
                     {.name = layer.name, .start = slice.first, .size = layer.shape.channels});
  }

  nvdla::Tensor add(const Layer& layer, const Product& product) {
    return to_.product(input(layer), input(layer, 1),
                       {.name = layer.name,
                        .output = scale_of_own(),
                        .transposed = product.transposed,
                        .factor = own().product_factor});
  }

  nvdla::Tensor add(const Layer& layer, const Softmax&) {
    return to_.softmax(input(layer), {.name = layer.name, .output = scale_of_own()});
  }

  nvdla::Tensor add(const Layer& layer, const LayerNorm&) {
    return to_.layer_normalization(input(layer), {.name = layer.name,
                                                  .output = scale_of_own(),
                                                  .gamma = own().gamma,
                                                  .beta = own().beta,
                                                  .epsilon = LayerNorm::kEpsilon});
  }

  nvdla::Tensor add(const Layer& layer, const Gelu&) {
    if (half_) return input(layer);
    return to_.activation(input(layer),
                          {.name = layer.name, .output = scale_of_own(), .function = gelu});
  }

  const ScaledNetwork& from_;
  const bool half_;
  const nvdla::Precision precision_;
  nvdla::Network to_;
  std::vector<nvdla::Tensor> tensors_;
};

}  // namespace

nvdla::Network describe_by_hand(const ScaledNetwork& network, nvdla::Precision precision) {
  return ByHand(network, precision).describe();
}

}  // namespace network_models
