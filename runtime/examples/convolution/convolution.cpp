// SPDX-License-Identifier: MIT
//
// One int8 convolution, checked against a plain loop. main() is in ../main.cpp.
#include <algorithm>
#include <cstdio>
#include <nvdla/nvdla.hpp>
#include <vector>

// 16 channels of 32 x 32, 24 kernels of 3 x 3, a border of one pixel.
constexpr int kC = 16, kH = 32, kW = 32, kK = 24, kR = 3;

// True if the device computes what the loop does.
bool run(const nvdla::Device& device) {
  std::vector<std::int8_t> input(kC * kH * kW), weights(kK * kC * kR * kR), output(kK * kH * kW);
  for (int i = 0; auto& value : input) value = static_cast<std::int8_t>(i++ * 37 % 255);
  for (int i = 0; auto& value : weights) value = static_cast<std::int8_t>(i++ * 91);
  std::vector<std::int32_t> bias(kK, 1000);

  nvdla::Network network;
  nvdla::Tensor image = network.input("image", {.channels = kC, .height = kH, .width = kW});
  nvdla::Convolution layer{.name = "conv", .kernels = kK, .kernel_height = kR, .kernel_width = kR};
  layer.pad_top = layer.pad_bottom = layer.pad_left = layer.pad_right = 1;
  layer.weights = weights;
  layer.bias = bias;
  layer.relu = true;
  layer.output = {.scale = 1, .shift = 11};
  network.output(network.convolution(image, layer), "features");

  nvdla::Request request = network.build(device);
  request.write("image", nvdla::Layout::kNchw, input);
  request.run();
  request.read("features", nvdla::Layout::kNchw, output);

  int wrong = 0;
  for (int i = 0; i < kK * kH * kW; ++i) {
    const int k = i / (kH * kW), y = i / kW % kH, x = i % kW;
    int sum = bias[k];
    for (int j = 0; j < kC * kR * kR; ++j) {
      const int c = j / (kR * kR), row = y + j / kR % kR - 1, column = x + j % kR - 1;
      if (row < 0 || row >= kH || column < 0 || column >= kW) continue;
      sum += input[(c * kH + row) * kW + column] * weights[k * kC * kR * kR + j];
    }
    wrong += output[i] != std::min((std::max(sum, 0) + (1 << 10)) >> 11, 127);
  }
  std::printf("%s: %d of %d elements are as expected after %d multiply-accumulates\n",
              device.info().configuration.data(), kK * kH * kW - wrong, kK * kH * kW,
              static_cast<int>(network.macs()));
  return wrong == 0;
}
