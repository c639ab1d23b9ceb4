// SPDX-License-Identifier: MIT
//
// Residual networks: ResNet-18 of basic blocks, ResNet-50 and ResNet-152 of bottlenecks, where the
// 3x3 convolution has the stride.
#include <fmt/format.h>

#include <array>

#include "catalogue.hpp"

namespace networks {
namespace {

struct Block {
  std::string name;
  std::uint32_t width, stride;
};

Conv of_size(std::uint32_t size, std::uint32_t kernels, std::uint32_t stride = 1) {
  return {.kernels = kernels, .height = size, .width = size, .stride = stride, .pad = size / 2};
}

// The block's input in the shape of its result.
Value project(Graph& net, Value input, const Block& block, std::uint32_t channels) {
  if (net.shape(input).channels == channels && block.stride == 1) return input;
  Conv conv = of_size(1, channels, block.stride);
  conv.activation = Activation::kNone;
  return net.conv(input, block.name + ".project", conv);
}

Value basic(Graph& net, Value input, const Block& block) {
  const Value shortcut = project(net, input, block, block.width);
  const Value x = net.conv(input, block.name + ".conv1", of_size(3, block.width, block.stride));
  Conv last = of_size(3, block.width);
  last.shortcut = shortcut;
  return net.conv(x, block.name + ".conv2", last);
}

Value bottleneck(Graph& net, Value input, const Block& block) {
  const Value shortcut = project(net, input, block, 4 * block.width);
  Value x = net.conv(input, block.name + ".reduce", of_size(1, block.width));
  x = net.conv(x, block.name + ".conv", of_size(3, block.width, block.stride));
  Conv last = of_size(1, 4 * block.width);
  last.shortcut = shortcut;
  return net.conv(x, block.name + ".expand", last);
}

Graph resnet(Value (*block)(Graph&, Value, const Block&),
             const std::array<std::uint32_t, 4>& depths) {
  Graph net({.channels = 3, .height = 224, .width = 224});
  Value x = net.conv(Graph::image(), "conv1", of_size(7, 64, 2));
  x = net.max_pool(x, "pool1", 3, 2, 1, 1);
  for (std::uint32_t stage = 0; stage < depths.size(); ++stage) {
    for (std::uint32_t i = 0; i < depths[stage]; ++i) {
      x = block(net, x,
                {fmt::format("stage{}.{}", stage + 1, i + 1), 64U << stage,
                 i == 0 && stage > 0 ? 2U : 1U});
    }
  }
  x = net.average(x, "pool", 7);
  net.full(x, "fc", 1000, Activation::kNone);
  return net;
}

}  // namespace

Graph resnet18() { return resnet(basic, {2, 2, 2, 2}); }
Graph resnet50() { return resnet(bottleneck, {3, 4, 6, 3}); }
Graph resnet152() { return resnet(bottleneck, {3, 8, 36, 3}); }

}  // namespace networks
