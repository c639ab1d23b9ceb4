// SPDX-License-Identifier: MIT
//
// LeNet-5 as it is taught: maxima instead of its trained averages, ReLU instead of tanh.
#include "catalogue.hpp"

namespace networks {

Graph lenet5() {
  Graph net({.channels = 1, .height = 32, .width = 32});
  Value x = net.conv(Graph::image(), "conv1", {.kernels = 6, .height = 5, .width = 5});
  x = net.max_pool(x, "pool1", 2, 2);
  x = net.conv(x, "conv2", {.kernels = 16, .height = 5, .width = 5});
  x = net.max_pool(x, "pool2", 2, 2);
  x = net.full(x, "fc1", 120);
  x = net.full(x, "fc2", 84);
  net.full(x, "fc3", 10, Activation::kNone);
  return net;
}

}  // namespace networks
