// SPDX-License-Identifier: MIT
//
// EfficientNet-B0: MobileNet's inverted residual blocks with swish, and squeeze and excitation: the
// average of each channel goes through two layers, and their sigmoid multiplies the channel.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "catalogue.hpp"

namespace networks {
namespace {

// The activations to use as swish and as sigmoid.
struct Functions {
  Activation swish, sigmoid;
};

// Averages all positions, in windows as large as PDP allows.
Value average_of_all(Graph& net, Value x, const std::string& name) {
  constexpr std::uint32_t kMost = 8;
  while (net.shape(x).height > 1) {
    const std::uint32_t side = net.shape(x).height;
    std::uint32_t window = std::min(side, kMost);
    while (side % window != 0) --window;
    x = net.average(x, fmt::format("{}.{}to{}", name, side, side / window), window);
  }
  return x;
}

Value block(Graph& net, Value input, const std::string& name, const Functions& functions,
            std::uint32_t times, std::uint32_t kernels, std::uint32_t size, std::uint32_t stride) {
  const std::uint32_t in = net.shape(input).channels, wide = times * in;
  Value x = input;
  if (times != 1)
    x = net.conv(x, name + ".expand", {.kernels = wide, .activation = functions.swish});
  x = net.conv(x, name + ".depthwise",
               {.kernels = wide,
                .height = size,
                .width = size,
                .stride = stride,
                .pad = size / 2,
                .activation = functions.swish,
                .groups = wide});
  Value factors = average_of_all(net, x, name + ".average");
  factors =
      net.conv(factors, name + ".squeeze", {.kernels = in / 4, .activation = functions.swish});
  factors = net.conv(factors, name + ".excite", {.kernels = wide, .activation = functions.sigmoid});
  x = net.scale(x, factors, name + ".scale");
  Conv project{.kernels = kernels, .activation = Activation::kNone};
  if (stride == 1 && in == kernels) project.shortcut = input;
  return net.conv(x, name + ".project", project);
}

Graph make(const Functions& functions) {
  struct Stage {
    std::uint32_t times, kernels, blocks, stride, size;
  };
  constexpr std::array kStages = {
      Stage{1, 16, 1, 1, 3},  Stage{6, 24, 2, 2, 3},  Stage{6, 40, 2, 2, 5}, Stage{6, 80, 3, 2, 3},
      Stage{6, 112, 3, 1, 5}, Stage{6, 192, 4, 2, 5}, Stage{6, 320, 1, 1, 3}};
  Graph net({.channels = 3, .height = 224, .width = 224});
  Value x = net.conv(Graph::image(), "stem",
                     {.kernels = 32,
                      .height = 3,
                      .width = 3,
                      .stride = 2,
                      .pad = 1,
                      .activation = functions.swish});
  for (std::uint32_t stage = 0; stage < kStages.size(); ++stage) {
    const Stage& s = kStages[stage];
    for (std::uint32_t i = 0; i < s.blocks; ++i) {
      x = block(net, x, fmt::format("stage{}.{}", stage + 1, i + 1), functions, s.times, s.kernels,
                s.size, i == 0 ? s.stride : 1);
    }
  }
  x = net.conv(x, "head", {.kernels = 1280, .activation = functions.swish});
  x = average_of_all(net, x, "average");
  net.full(x, "fc", 1000, Activation::kNone);
  return net;
}

}  // namespace

Graph efficientnet_b0() { return make({Activation::kSwish, Activation::kSigmoid}); }

Graph efficientnet_b0_without_tables() {
  return make({Activation::kRelu, Activation::kHardSigmoid});
}

}  // namespace networks
