// SPDX-License-Identifier: MIT
//
// VGG-16. Its first fully connected layer is a convolution of 7 x 7.
#include <fmt/format.h>

#include <array>

#include "catalogue.hpp"

namespace networks {

Graph vgg16() {
  struct Stage {
    std::uint32_t convolutions, kernels;
  };
  constexpr std::array kStages = {Stage{2, 64}, Stage{2, 128}, Stage{3, 256}, Stage{3, 512},
                                  Stage{3, 512}};
  Graph net({.channels = 3, .height = 224, .width = 224});
  Value x = Graph::image();
  for (std::uint32_t stage = 0; stage < kStages.size(); ++stage) {
    for (std::uint32_t i = 0; i < kStages[stage].convolutions; ++i) {
      x = net.conv(x, fmt::format("conv{}.{}", stage + 1, i + 1),
                   {.kernels = kStages[stage].kernels, .height = 3, .width = 3, .pad = 1});
    }
    x = net.max_pool(x, fmt::format("pool{}", stage + 1), 2, 2);
  }
  x = net.full(x, "fc6", 4096);
  x = net.full(x, "fc7", 4096);
  net.full(x, "fc8", 1000, Activation::kNone);
  return net;
}

}  // namespace networks
