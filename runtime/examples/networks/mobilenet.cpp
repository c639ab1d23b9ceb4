// SPDX-License-Identifier: MIT
//
// MobileNet, versions 1 and 2: depthwise convolutions, one group a channel. ReLU stands for ReLU6,
// whose limit is where int8 saturates.
#include <fmt/format.h>

#include <array>

#include "catalogue.hpp"

namespace networks {
namespace {

Value depthwise(Graph& net, Value input, const std::string& name, std::uint32_t stride) {
  const std::uint32_t channels = net.shape(input).channels;
  return net.conv(input, name + ".depthwise",
                  {.kernels = channels,
                   .height = 3,
                   .width = 3,
                   .stride = stride,
                   .pad = 1,
                   .groups = channels});
}

Value first(Graph& net) {
  return net.conv(Graph::image(), "conv1",
                  {.kernels = 32, .height = 3, .width = 3, .stride = 2, .pad = 1});
}

Value expanded(Graph& net, Value input, const std::string& name, std::uint32_t times,
               std::uint32_t kernels, std::uint32_t stride) {
  Value x = input;
  if (times != 1) x = net.conv(x, name + ".expand", {.kernels = times * net.shape(input).channels});
  x = depthwise(net, x, name, stride);
  Conv project{.kernels = kernels, .activation = Activation::kNone};
  if (stride == 1 && net.shape(input).channels == kernels) project.shortcut = input;
  return net.conv(x, name + ".project", project);
}

}  // namespace

Graph mobilenetv1() {
  struct Pair {
    std::uint32_t kernels, stride;
  };
  constexpr std::array kPairs = {Pair{64, 1},  Pair{128, 2}, Pair{128, 1}, Pair{256, 2},
                                 Pair{256, 1}, Pair{512, 2}, Pair{512, 1}, Pair{512, 1},
                                 Pair{512, 1}, Pair{512, 1}, Pair{512, 1}, Pair{1024, 2},
                                 Pair{1024, 1}};
  Graph net({.channels = 3, .height = 224, .width = 224});
  Value x = first(net);
  for (std::uint32_t i = 0; i < kPairs.size(); ++i) {
    const std::string name = fmt::format("block{}", i + 1);
    x = depthwise(net, x, name, kPairs[i].stride);
    x = net.conv(x, name + ".pointwise", {.kernels = kPairs[i].kernels});
  }
  x = net.average(x, "pool", 7);
  net.full(x, "fc", 1000, Activation::kNone);
  return net;
}

Graph mobilenetv2() {
  struct Stage {
    std::uint32_t times, kernels, blocks, stride;
  };
  constexpr std::array kStages = {Stage{1, 16, 1, 1}, Stage{6, 24, 2, 2}, Stage{6, 32, 3, 2},
                                  Stage{6, 64, 4, 2}, Stage{6, 96, 3, 1}, Stage{6, 160, 3, 2},
                                  Stage{6, 320, 1, 1}};
  Graph net({.channels = 3, .height = 224, .width = 224});
  Value x = first(net);
  for (std::uint32_t stage = 0; stage < kStages.size(); ++stage) {
    for (std::uint32_t i = 0; i < kStages[stage].blocks; ++i) {
      x = expanded(net, x, fmt::format("stage{}.{}", stage + 1, i + 1), kStages[stage].times,
                   kStages[stage].kernels, i == 0 ? kStages[stage].stride : 1);
    }
  }
  x = net.conv(x, "conv2", {.kernels = 1280});
  x = net.average(x, "pool", 7);
  net.full(x, "fc", 1000, Activation::kNone);
  return net;
}

}  // namespace networks
