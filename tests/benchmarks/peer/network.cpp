// SPDX-License-Identifier: MIT
#include "peer/network.hpp"

#include <utility>

#include "network/random_network.hpp"

namespace nvdla::bench {

std::size_t PeerNetwork::add(PeerConvolution conv, std::size_t source, std::size_t sum) {
  const ConvShape& shape = conv.shape;
  if (source == kNone)
    conv.source =
        numbers_.integers(std::size_t{shape.channels} * shape.side * shape.side, -128, 127);
  conv.bytes = as<std::int8_t>(numbers_.integers(
      std::size_t{shape.kernels} * shape.channels / conv.groups * shape.size * shape.size, -127,
      127));
  conv.bias = numbers_.integers(shape.kernels, -32767, 32767);
  conv.scales = numbers_.integers(shape.kernels, 12288, 20480);
  for (float& scale : conv.scales) scale *= 0x1p-24F;
  layers_.push_back({std::move(conv), source, sum});
  return layers_.size() - 1;
}

PeerNetwork PeerNetwork::resnet50() {
  PeerNetwork net;
  const Shape& image = RandomNetwork::kInput;
  net.add({.shape = {"conv1", 1, image.height, image.channels, 64, 7, 2, 3}, .relu = true});
  constexpr std::uint32_t kBlocks[] = {3, 4, 6, 3};
  std::uint32_t side = 56, channels = 64, width = 64;
  // What the pooling would leave is made up.
  std::size_t at = kNone;
  for (std::uint32_t stage = 0; stage < 4; ++stage, width *= 2)
    for (std::uint32_t i = 0; i < kBlocks[stage]; ++i) {
      const std::uint32_t stride = stage != 0 && i == 0 ? 2 : 1;
      std::size_t shortcut = at;
      if (i == 0)
        shortcut = net.add({.shape = {"project", 1, side, channels, 4 * width, 1, stride, 0}}, at);
      at = net.add({.shape = {"reduce", 1, side, channels, width, 1, stride, 0}, .relu = true}, at);
      side /= stride;
      channels = 4 * width;
      at = net.add({.shape = {"3x3", 1, side, width, width, 3, 1, 1}, .relu = true}, at);
      at = net.add({.shape = {"expand", 1, side, width, channels, 1, 1, 0}, .relu = true}, at,
                   shortcut);
    }
  net.add({.shape = {"fc", 1, 1, channels, RandomNetwork::kClasses, 1, 1, 0}});
  return net;
}

PeerNetwork PeerNetwork::mobilenetv1() {
  PeerNetwork net;
  std::uint32_t side = RandomNetwork::kInput.height, channels = RandomNetwork::kInput.channels;
  std::size_t at = kNone;
  for (const MobileNetLayer& layer : mobilenetv1_layers()) {
    at = net.add({.shape = {"layer", 1, side, channels, layer.kernels, layer.size, layer.stride,
                            layer.size / 2},
                  .groups = layer.depthwise ? channels : 1,
                  .relu = true},
                 at);
    side /= layer.stride;
    channels = layer.kernels;
  }
  net.add({.shape = {"fc", 1, 1, channels, RandomNetwork::kClasses, 1, 1, 0}});
  return net;
}

std::vector<Operation> PeerNetwork::build() const {
  std::vector<Operation> built;
  built.reserve(layers_.size());
  for (const Layer& layer : layers_) {
    const auto result_of = [&](std::size_t index) {
      return index == kNone ? nullptr : &built[index];
    };
    built.push_back(convolution(layer.conv, result_of(layer.source), result_of(layer.sum)));
  }
  return built;
}

}  // namespace nvdla::bench
