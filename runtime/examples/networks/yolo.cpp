// SPDX-License-Identifier: MIT
//
// A detector like Tiny YOLO v2: convolutions with leaky ReLU, and a head of five boxes with twenty
// classes for each of 13 x 13 fields.
#include <fmt/format.h>

#include <array>

#include "catalogue.hpp"

namespace networks {

Graph yolo() {
  constexpr std::array<std::uint32_t, 8> kKernels = {16, 32, 64, 128, 256, 512, 1024, 1024};
  Graph net({.channels = 3, .height = 416, .width = 416});
  Value x = Graph::image();
  for (std::uint32_t i = 0; i < kKernels.size(); ++i) {
    x = net.conv(x, fmt::format("conv{}", i + 1),
                 {.kernels = kKernels[i],
                  .height = 3,
                  .width = 3,
                  .pad = 1,
                  .activation = Activation::kLeaky});
    if (i < 5) x = net.max_pool(x, fmt::format("pool{}", i + 1), 2, 2);
    if (i == 5) x = net.max_pool(x, "pool6", 2, 1, 0, 1);
  }
  net.conv(x, "head", {.kernels = 125, .activation = Activation::kNone});
  return net;
}

}  // namespace networks
