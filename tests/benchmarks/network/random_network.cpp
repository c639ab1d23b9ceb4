// SPDX-License-Identifier: MIT
#include "network/random_network.hpp"

#include <cmath>

#include "network/shapes.hpp"

namespace nvdla::bench {
namespace {

// Sums come to SDP's converter with so many bits of fraction.
constexpr std::uint32_t kFraction = 6;
// What an activation and a result are like, roughly: halves of them survive ReLU.
constexpr double kActivation = 40, kWeight = 73;

}  // namespace

std::vector<std::int8_t> RandomNetwork::image() {
  std::vector<std::int8_t> pixels(kInput.elements());
  for (std::int8_t& pixel : pixels) pixel = static_cast<std::int8_t>(pick(-128, 127));
  return pixels;
}

Tensor RandomNetwork::add(Tensor input, const Layer& layer, Tensor shortcut, Shortcut by) {
  const std::uint32_t products = layer.channels / layer.groups * layer.size * layer.size;
  std::vector<std::int8_t> weights(std::size_t{layer.kernels} * products);
  for (std::int8_t& weight : weights) weight = static_cast<std::int8_t>(pick(-127, 127));
  // Sums of random signs, brought to the size of an activation by a factor for each kernel.
  const double sum = std::sqrt(products) * kWeight * kActivation;
  int exponent = 0;
  const double factor = std::frexp(std::ldexp(kActivation, kFraction) / sum, &exponent);
  std::vector<std::int16_t> factors(layer.kernels);
  for (std::int16_t& one : factors)
    one = static_cast<std::int16_t>(std::lround(factor * (16384 + pick(-4096, 4096))));
  std::vector<std::int32_t> biases(layer.kernels);
  const int reach = static_cast<int>(std::min(sum / 4, 32767.0));
  for (std::int32_t& bias : biases) bias = pick(-reach, reach);

  Convolution conv{.name = layer.name,
                   .kernels = layer.kernels,
                   .kernel_height = layer.size,
                   .kernel_width = layer.size};
  conv.groups = layer.groups;
  conv.stride_width = conv.stride_height = layer.stride;
  conv.pad_top = conv.pad_bottom = conv.pad_left = conv.pad_right = layer.size / 2;
  conv.weights = weights;
  conv.bias = biases;
  conv.x1 = scale(factors, static_cast<std::uint32_t>(14 - exponent));
  conv.output = {.scale = 1, .shift = kFraction};
  if (!shortcut) {
    conv.relu = layer.relu;
  } else if (by == Shortcut::kX) {
    conv.x2 = elementwise(NVDLA_ALU_SUM, shortcut, kFraction);
    conv.relu = layer.relu;
  } else {
    conv.y.alu = NVDLA_ALU_SUM;
    conv.y.tensor = shortcut;
    conv.y.alu_converter = {.scale = 0x5000, .shift = 14 - kFraction};
  }
  return network_.convolution(input, conv);
}

void RandomNetwork::finish(Tensor input, std::uint32_t channels) {
  const Pooling average{
      .name = "average", .method = NVDLA_POOL_AVERAGE, .kernel_height = 7, .kernel_width = 7};
  network_.output(add(pool(input, average), {"fc", channels, kClasses, 1, 1, false}), "classes");
}

Tensor ResNet50::block(Tensor input, const std::string& name, std::uint32_t channels,
                       std::uint32_t width, std::uint32_t stride) {
  Tensor shortcut = input;
  if (channels != 4 * width)
    shortcut = add(input, {name + " project", channels, 4 * width, 1, stride, false});
  Tensor at = add(input, {name + " reduce", channels, width, 1, stride});
  at = add(at, {name + " 3x3", width, width, 3, 1});
  return add(at, {name + " expand", width, 4 * width, 1, 1}, shortcut, shortcut_);
}

ResNet50::ResNet50(Shortcut shortcut) : shortcut_(shortcut) {
  Tensor at = add(begin(), {"conv1", kInput.channels, 64, 7, 2});
  Pooling maximum{.name = "pool1",
                  .kernel_height = 3,
                  .kernel_width = 3,
                  .stride_height = 2,
                  .stride_width = 2};
  maximum.pad_top = maximum.pad_bottom = maximum.pad_left = maximum.pad_right = 1;
  at = pool(at, maximum);
  constexpr std::uint32_t kBlocks[] = {3, 4, 6, 3};
  std::uint32_t channels = 64, width = 64;
  for (std::uint32_t stage = 0; stage < 4; ++stage, width *= 2)
    for (std::uint32_t i = 0; i < kBlocks[stage]; ++i) {
      const std::string name = "conv" + std::to_string(stage + 2) + "." + std::to_string(i + 1);
      at = block(at, name, channels, width, stage != 0 && i == 0 ? 2 : 1);
      channels = 4 * width;
    }
  finish(at, channels);
}

MobileNetV1::MobileNetV1() {
  Tensor at = begin();
  std::uint32_t channels = kInput.channels;
  for (const MobileNetLayer& layer : mobilenetv1_layers()) {
    const std::string name = "layer" + std::to_string(&layer - mobilenetv1_layers().data());
    at = add(at, {.name = name,
                  .channels = channels,
                  .kernels = layer.kernels,
                  .size = layer.size,
                  .stride = layer.stride,
                  .groups = layer.depthwise ? channels : 1});
    channels = layer.kernels;
  }
  finish(at, channels);
}

}  // namespace nvdla::bench
