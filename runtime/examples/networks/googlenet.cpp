// SPDX-License-Identifier: MIT
//
// GoogLeNet (Inception v1) with its two local response normalisations, without the classifiers
// that only training needs.
#include <array>

#include "catalogue.hpp"

namespace networks {
namespace {

// Kernels of the four branches.
struct Inception {
  const char* name;
  std::uint32_t one, reduce3, three, reduce5, five, pool;
};

Value inception(Graph& net, Value input, const Inception& of) {
  const std::string name = of.name;
  const Value three = net.conv(input, name + ".3x3 reduce", {.kernels = of.reduce3});
  const Value five = net.conv(input, name + ".5x5 reduce", {.kernels = of.reduce5});
  const Value pool = net.max_pool(input, name + ".pool", 3, 1, 1, 1);
  const std::array parts = {
      net.conv(input, name + ".1x1", {.kernels = of.one}),
      net.conv(three, name + ".3x3", {.kernels = of.three, .height = 3, .width = 3, .pad = 1}),
      net.conv(five, name + ".5x5", {.kernels = of.five, .height = 5, .width = 5, .pad = 2}),
      net.conv(pool, name + ".pool project", {.kernels = of.pool})};
  return net.concat(parts, name);
}

}  // namespace

Graph googlenet() {
  Graph net({.channels = 3, .height = 224, .width = 224});
  Value x = net.conv(Graph::image(), "conv1",
                     {.kernels = 64, .height = 7, .width = 7, .stride = 2, .pad = 3});
  x = net.max_pool(x, "pool1", 3, 2, 0, 1);
  x = net.lrn(x, "norm1", {});
  x = net.conv(x, "conv2 reduce", {.kernels = 64});
  x = net.conv(x, "conv2", {.kernels = 192, .height = 3, .width = 3, .pad = 1});
  x = net.lrn(x, "norm2", {});
  x = net.max_pool(x, "pool2", 3, 2, 0, 1);
  x = inception(net, x, {"3a", 64, 96, 128, 16, 32, 32});
  x = inception(net, x, {"3b", 128, 128, 192, 32, 96, 64});
  x = net.max_pool(x, "pool3", 3, 2, 0, 1);
  x = inception(net, x, {"4a", 192, 96, 208, 16, 48, 64});
  x = inception(net, x, {"4b", 160, 112, 224, 24, 64, 64});
  x = inception(net, x, {"4c", 128, 128, 256, 24, 64, 64});
  x = inception(net, x, {"4d", 112, 144, 288, 32, 64, 64});
  x = inception(net, x, {"4e", 256, 160, 320, 32, 128, 128});
  x = net.max_pool(x, "pool4", 3, 2, 0, 1);
  x = inception(net, x, {"5a", 256, 160, 320, 32, 128, 128});
  x = inception(net, x, {"5b", 384, 192, 384, 48, 128, 128});
  x = net.average(x, "pool5", 7);
  net.full(x, "fc", 1000, Activation::kNone);
  return net;
}

}  // namespace networks
