// SPDX-License-Identifier: MIT
//
// SqueezeNet 1.1, whose poolings take what is left over at the edges. The last average, of 14 x 14,
// is one of 7 x 7 and one of 2 x 2: the hardware's windows end at 8 x 8.
#include <array>

#include "catalogue.hpp"

namespace networks {
namespace {

Value fire(Graph& net, Value input, const std::string& name, std::uint32_t squeeze,
           std::uint32_t expand) {
  const Value x = net.conv(input, name + ".squeeze", {.kernels = squeeze});
  const std::array parts = {
      net.conv(x, name + ".expand1", {.kernels = expand}),
      net.conv(x, name + ".expand3", {.kernels = expand, .height = 3, .width = 3, .pad = 1})};
  return net.concat(parts, name);
}

}  // namespace

Graph squeezenet() {
  Graph net({.channels = 3, .height = 227, .width = 227});
  Value x =
      net.conv(Graph::image(), "conv1", {.kernels = 64, .height = 3, .width = 3, .stride = 2});
  x = net.max_pool(x, "pool1", 3, 2);
  x = fire(net, x, "fire2", 16, 64);
  x = fire(net, x, "fire3", 16, 64);
  x = net.max_pool(x, "pool3", 3, 2, 0, 1);
  x = fire(net, x, "fire4", 32, 128);
  x = fire(net, x, "fire5", 32, 128);
  x = net.max_pool(x, "pool5", 3, 2, 0, 1);
  x = fire(net, x, "fire6", 48, 192);
  x = fire(net, x, "fire7", 48, 192);
  x = fire(net, x, "fire8", 64, 256);
  x = fire(net, x, "fire9", 64, 256);
  x = net.conv(x, "conv10", {.kernels = 1000});
  x = net.average(x, "pool10.7x7", 7);
  net.average(x, "pool10.2x2", 2);
  return net;
}

}  // namespace networks
