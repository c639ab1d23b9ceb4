// SPDX-License-Identifier: MIT
#include "describe.hpp"

#include <algorithm>
#include <cmath>
#include <variant>

namespace networks {
namespace {

// The nearest fp16 number, halves to even.
float half_nearest(double x) {
  int exponent = 0;
  std::frexp(x, &exponent);
  const int last = std::max(exponent - 11, -24);
  return static_cast<float>(std::ldexp(std::nearbyint(std::ldexp(x, -last)), last));
}

// Adds a graph's layers to a network, in one precision.
class Describing {
 public:
  Describing(const Network& from, nvdla::Precision precision, std::uint32_t batch)
      : from_(from),
        half_(precision == nvdla::Precision::kFp16),
        batch_(batch),
        steps_(steps(from)) {
    for (const Layer& layer : from.graph.layers())
      tensors_.push_back(
          std::visit([&](const auto& what) { return add(layer, what); }, layer.what));
  }

  nvdla::Network with_outputs(std::span<const Value> shown) && {
    for (const Value value : shown)
      to_.output(tensors_[value], from_.graph.layers()[value].name, quantization(value));
    return std::move(to_);
  }

 private:
  // The layer that is being added.
  Value now() const { return static_cast<Value>(tensors_.size()); }
  const Numbers& numbers() const { return from_.numbers[now()]; }
  nvdla::Tensor input(const Layer& layer) const { return tensors_[layer.inputs[0]]; }
  nvdla::Precision precision() const {
    return half_ ? nvdla::Precision::kFp16 : nvdla::Precision::kInt8;
  }
  nvdla::Quantization quantization(Value value) const {
    return {.scale = half_ ? 1.0F : static_cast<float>(steps_[value])};
  }

  // Returns an operator that adds the biases and multiplies by the factors.
  nvdla::Operator real_factors(const Reals& reals) const {
    nvdla::Operator op;
    op.alu = NVDLA_ALU_SUM;
    op.alu_reals = reals.bias;
    op.mul = NVDLA_MUL_MUL;
    op.mul_reals = reals.factors;
    return op;
  }

  // Data that a layer refers to until it is added.
  struct Held {
    Reals reals;
    std::vector<std::uint16_t> halves;
  };

  // Sets weights, biases, factors and converter of a Convolution or Deconvolution.
  [[nodiscard]] Held fill(auto& layer) const {
    Held held;
    if (half_) {
      held.reals = reals_of(from_, steps_, now());
      held.halves.resize(numbers().weights.size());
      std::transform(numbers().weights.begin(), numbers().weights.end(), held.halves.begin(),
                     [](std::int8_t weight) { return nvdla::to_half(weight * kWeightStep); });
      layer.weights = held.halves;
      layer.x1 = real_factors(held.reals);
    } else {
      layer.weights = numbers().weights;
      layer.bias = numbers().bias;
      layer.x1 = nvdla::scale(numbers().factors, numbers().factor_shift);
      layer.output = numbers().output;
    }
    return held;
  }

  nvdla::Tensor add(const Layer& layer, const Image&) {
    nvdla::Shape shape = layer.shape;
    shape.batch = batch_;
    return to_.input(layer.name, shape, precision(), quantization(now()));
  }

  nvdla::Tensor add(const Layer& layer, const Conv& from) {
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
    conv.arithmetic.any_order = half_;
    const Held held = fill(conv);
    conv.relu = from.activation == Activation::kRelu || from.activation == Activation::kHardSigmoid;
    if (has_table(from.activation)) (half_ ? numbers().real_lut : numbers().lut).apply(conv);
    const std::int16_t leak = Numbers::kLeak;
    const float real_leak = static_cast<float>(leak) / (1 << Numbers::kLeakShift);
    if (from.shortcut != kNoValue) {
      conv.x2 = nvdla::elementwise(NVDLA_ALU_SUM, tensors_[from.shortcut],
                                   half_ ? 0 : Numbers::kFraction);
    } else if (from.activation == Activation::kLeaky && !half_) {
      conv.x2 = nvdla::prelu({&leak, 1}, Numbers::kLeakShift);
    } else if (from.activation == Activation::kLeaky) {
      conv.x2.mul = NVDLA_MUL_PRELU;
      conv.x2.mul_reals = {&real_leak, 1};
    }
    return to_.convolution(input(layer), conv);
  }

  nvdla::Tensor add(const Layer& layer, const Double& from) {
    nvdla::Deconvolution up{.name = layer.name,
                            .kernels = from.kernels,
                            .kernel_height = 2,
                            .kernel_width = 2,
                            .stride_height = 2,
                            .stride_width = 2};
    const Held held = fill(up);
    return to_.deconvolution(input(layer), up);
  }

  nvdla::Tensor add(const Layer& layer, const Norm&) {
    nvdla::Pointwise norm{.name = layer.name};
    const Reals reals = reals_of(from_, steps_, now());
    const std::vector<std::int16_t> shifts(numbers().bias.begin(), numbers().bias.end());
    if (half_) {
      norm.x1 = real_factors(reals);
    } else {
      norm.x1 = nvdla::batch_norm(shifts, numbers().factors, numbers().factor_shift);
      norm.output = numbers().output;
    }
    norm.x1.relu = true;
    return to_.pointwise(input(layer), norm);
  }

  nvdla::Tensor add(const Layer& layer, const Pool& pool) {
    return to_.pooling(input(layer), {.name = layer.name,
                                      .method = pool.method,
                                      .kernel_height = pool.size,
                                      .kernel_width = pool.size,
                                      .stride_height = pool.stride,
                                      .stride_width = pool.stride,
                                      .pad_top = pool.pad,
                                      .pad_bottom = pool.pad_end,
                                      .pad_left = pool.pad,
                                      .pad_right = pool.pad_end});
  }

  nvdla::Tensor add(const Layer& layer, const Lrn&) {
    nvdla::Normalization normalization{.name = layer.name};
    (half_ ? numbers().real_lut : numbers().lut).apply(normalization);
    return to_.normalization(input(layer), normalization);
  }

  nvdla::Tensor add(const Layer& layer, const Scale&) {
    nvdla::Pointwise scale{.name = layer.name};
    scale.x1 = nvdla::multiply(tensors_[layer.inputs[1]], half_ ? 0 : Numbers::kFactorBits);
    return to_.pointwise(input(layer), scale);
  }

  nvdla::Tensor add(const Layer& layer, const Slice& slice) {
    return to_.slice(input(layer),
                     {.name = layer.name, .start = slice.first, .size = layer.shape.channels});
  }

  nvdla::Tensor add(const Layer& layer, const Product& product) {
    const Value a = layer.inputs[0], b = layer.inputs[1];
    const double factor = std::ldexp(numbers().output.scale, -int(numbers().output.shift));
    return to_.product(tensors_[a], tensors_[b],
                       {.name = layer.name,
                        .a = quantization(a),
                        .b = quantization(b),
                        .output = quantization(now()),
                        .transposed = product.transposed,
                        .factor = factor * steps_[now()] / (steps_[a] * steps_[b])});
  }

  nvdla::Tensor add(const Layer& layer, const Softmax&) {
    return to_.softmax(input(layer), {.name = layer.name,
                                      .input = quantization(layer.inputs[0]),
                                      .output = quantization(now())});
  }

  nvdla::Tensor add(const Layer& layer, const LayerNorm&) {
    return to_.layer_normalization(input(layer), {.name = layer.name,
                                                  .input = quantization(layer.inputs[0]),
                                                  .output = quantization(now()),
                                                  .gamma = numbers().gamma,
                                                  .beta = numbers().beta,
                                                  .epsilon = LayerNorm::kEpsilon});
  }

  nvdla::Tensor add(const Layer& layer, const Gelu&) {
    const auto function = [](double x) { return Gelu::kUnit * nvdla::gelu(x / Gelu::kUnit); };
    return to_.apply(input(layer), {.name = layer.name,
                                    .input = quantization(layer.inputs[0]),
                                    .output = quantization(now()),
                                    .function = function});
  }

  nvdla::Tensor add(const Layer& layer, const Concat&) {
    std::vector<nvdla::Tensor> parts;
    for (const Value part : layer.inputs) parts.push_back(tensors_[part]);
    return to_.concatenate(parts, {.name = layer.name});
  }

  const Network& from_;
  const bool half_;
  const std::uint32_t batch_;
  const std::vector<double> steps_;
  nvdla::Network to_;
  std::vector<nvdla::Tensor> tensors_;
};

}  // namespace

nvdla::Network describe(const Network& network, nvdla::Precision precision,
                        std::span<const Value> shown, std::uint32_t batch) {
  return Describing(network, precision, batch).with_outputs(shown);
}

Reals reals_of(const Network& network, std::span<const double> steps, Value value) {
  const Layer& layer = network.graph.layers()[value];
  const Numbers& numbers = network.numbers[value];
  const auto* conv = std::get_if<Conv>(&layer.what);
  // The value of a unit of v before and after the factor.
  const double before = steps[layer.inputs[0]] * (numbers.weights.empty() ? 1 : kWeightStep);
  const double after =
      std::ldexp(conv != nullptr && conv->shortcut != kNoValue ? steps[conv->shortcut]
                                                               : step_before(activation_of(layer)),
                 -static_cast<int>(Numbers::kFraction));
  Reals reals;
  for (std::size_t k = 0; k < numbers.bias.size(); ++k) {
    const double factor = std::ldexp(numbers.factors[k], -static_cast<int>(numbers.factor_shift));
    reals.bias.push_back(half_nearest(numbers.bias[k] * before));
    reals.factors.push_back(half_nearest(factor * after / before));
  }
  return reals;
}

}  // namespace networks
