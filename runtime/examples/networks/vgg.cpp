// SPDX-License-Identifier: MIT
//
// VGG-16 and VGG-19. Their first fully connected layer is a convolution of 7 x 7.
#include <fmt/format.h>

#include <array>

#include "catalogue.hpp"

namespace networks {
namespace {

// With so many convolutions in each of the last three stages.
Graph vgg(std::uint32_t deep) {
  struct Stage {
    std::uint32_t convolutions, kernels;
  };
  const std::array stages = {Stage{2, 64}, Stage{2, 128}, Stage{deep, 256}, Stage{deep, 512},
                             Stage{deep, 512}};
  Graph net({.channels = 3, .height = 224, .width = 224});
  Value x = Graph::image();
  for (std::uint32_t stage = 0; stage < stages.size(); ++stage) {
    for (std::uint32_t i = 0; i < stages[stage].convolutions; ++i) {
      x = net.conv(x, fmt::format("conv{}.{}", stage + 1, i + 1),
                   {.kernels = stages[stage].kernels, .height = 3, .width = 3, .pad = 1});
    }
    x = net.max_pool(x, fmt::format("pool{}", stage + 1), 2, 2);
  }
  x = net.full(x, "fc6", 4096);
  x = net.full(x, "fc7", 4096);
  net.full(x, "fc8", 1000, Activation::kNone);
  return net;
}

}  // namespace

Graph vgg16() { return vgg(3); }
Graph vgg19() { return vgg(4); }

}  // namespace networks
