// SPDX-License-Identifier: MIT
//
// AlexNet, and without the two groups that its second, fourth and fifth convolutions have.
#include "catalogue.hpp"

namespace networks {
namespace {

// `groups` are those of the convolutions that have some.
Graph alexnet_of(std::uint32_t groups) {
  Graph net({.channels = 3, .height = 227, .width = 227});
  Value x =
      net.conv(Graph::image(), "conv1", {.kernels = 96, .height = 11, .width = 11, .stride = 4});
  x = net.lrn(x, "norm1", {});
  x = net.max_pool(x, "pool1", 3, 2);
  x = net.conv(x, "conv2", {.kernels = 256, .height = 5, .width = 5, .pad = 2, .groups = groups});
  x = net.lrn(x, "norm2", {});
  x = net.max_pool(x, "pool2", 3, 2);
  x = net.conv(x, "conv3", {.kernels = 384, .height = 3, .width = 3, .pad = 1});
  x = net.conv(x, "conv4", {.kernels = 384, .height = 3, .width = 3, .pad = 1, .groups = groups});
  x = net.conv(x, "conv5", {.kernels = 256, .height = 3, .width = 3, .pad = 1, .groups = groups});
  x = net.max_pool(x, "pool5", 3, 2);
  x = net.full(x, "fc6", 4096);
  x = net.full(x, "fc7", 4096);
  net.full(x, "fc8", 1000, Activation::kNone);
  return net;
}

}  // namespace

Graph alexnet() { return alexnet_of(1); }
Graph alexnet_groups() { return alexnet_of(2); }

}  // namespace networks
