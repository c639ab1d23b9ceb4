// SPDX-License-Identifier: MIT
//
// DenseNet-121: each layer reads all that the block has made before, side by side, through a batch
// normalisation of its own.
#include <fmt/format.h>

#include <array>

#include "catalogue.hpp"

namespace networks {
namespace {

constexpr std::uint32_t kGrowth = 32;

// Adds a layer to a dense block: returns the input concatenated with the layer's result.
Value grow(Graph& net, Value input, const std::string& name) {
  Value x = net.norm(input, name + ".norm");
  x = net.conv(x, name + ".conv1", {.kernels = 4 * kGrowth});
  x = net.conv(
      x, name + ".conv2",
      {.kernels = kGrowth, .height = 3, .width = 3, .pad = 1, .activation = Activation::kNone});
  const std::array parts = {input, x};
  return net.concat(parts, name);
}

// Halves the channels and quarters the positions.
Value transition(Graph& net, Value input, const std::string& name) {
  Value x = net.norm(input, name + ".norm");
  x = net.conv(x, name + ".conv",
               {.kernels = net.shape(x).channels / 2, .activation = Activation::kNone});
  return net.average(x, name + ".pool", 2);
}

}  // namespace

Graph densenet121() {
  constexpr std::array<std::uint32_t, 4> kDepths = {6, 12, 24, 16};
  Graph net({.channels = 3, .height = 224, .width = 224});
  Value x = net.conv(Graph::image(), "conv1",
                     {.kernels = 2 * kGrowth, .height = 7, .width = 7, .stride = 2, .pad = 3});
  x = net.max_pool(x, "pool1", 3, 2, 1, 1);
  for (std::uint32_t block = 0; block < kDepths.size(); ++block) {
    for (std::uint32_t i = 0; i < kDepths[block]; ++i)
      x = grow(net, x, fmt::format("block{}.{}", block + 1, i + 1));
    if (block + 1 < kDepths.size()) x = transition(net, x, fmt::format("transition{}", block + 1));
  }
  x = net.norm(x, "norm");
  x = net.average(x, "pool", 7);
  net.full(x, "fc", 1000, Activation::kNone);
  return net;
}

}  // namespace networks
