// SPDX-License-Identifier: MIT
//
// A U-Net of half the channels, padded so that sizes stay: down to a sixteenth, and back up by
// deconvolutions, beside what the way down had of that size.
#include <fmt/format.h>

#include <array>
#include <vector>

#include "catalogue.hpp"

namespace networks {
namespace {

Value two_convolutions(Graph& net, Value x, const std::string& name, std::uint32_t kernels) {
  for (int i = 1; i <= 2; ++i) {
    x = net.conv(x, fmt::format("{}.conv{}", name, i),
                 {.kernels = kernels, .height = 3, .width = 3, .pad = 1});
  }
  return x;
}

}  // namespace

Graph unet() {
  constexpr std::uint32_t kChannels = 32, kLevels = 4;
  Graph net({.channels = 3, .height = 128, .width = 128});
  std::vector<Value> down;
  Value x = Graph::image();
  for (std::uint32_t level = 0; level < kLevels; ++level) {
    x = two_convolutions(net, x, fmt::format("down{}", level + 1), kChannels << level);
    down.push_back(x);
    x = net.max_pool(x, fmt::format("down{}.pool", level + 1), 2, 2);
  }
  x = two_convolutions(net, x, "bottom", kChannels << kLevels);
  for (std::uint32_t level = kLevels; level-- > 0;) {
    const std::string name = fmt::format("up{}", level + 1);
    const std::array parts = {down[level], net.doubled(x, name + ".double", kChannels << level)};
    x = two_convolutions(net, net.concat(parts, name), name, kChannels << level);
  }
  net.conv(x, "mask", {.kernels = 1, .activation = Activation::kNone});
  return net;
}

}  // namespace networks
