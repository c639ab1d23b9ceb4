// SPDX-License-Identifier: MIT
//
// The least program that needs the library's headers, symbols, exceptions and the contract's
// header, and runs a layer: with the static library, that brings firmware and model.
#include <drm/nvdla_layer.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <nvdla/nvdla.hpp>

namespace {

// A 1x1 convolution that doubles what it is given.
bool doubles() {
  const std::array<std::int8_t, 4> input{1, -2, 3, 60};
  const std::array<std::int8_t, 1> two{2};
  std::array<std::int8_t, 4> output{};
  nvdla::Network network;
  nvdla::Convolution layer{.name = "double"};
  layer.kernels = layer.kernel_height = layer.kernel_width = 1;
  layer.weights = two;
  layer.output = {.scale = 1, .shift = 0};
  const nvdla::Tensor image = network.input("in", {.channels = 1, .height = 2, .width = 2});
  network.output(network.convolution(image, layer), "out");
  nvdla::Request request = network.build(nvdla::Device::open("model:nv_small"));
  request.write("in", nvdla::Layout::kNchw, input);
  request.run();
  request.read("out", nvdla::Layout::kNchw, output);
  return output == std::array<std::int8_t, 4>{2, -4, 6, 120};
}

}  // namespace

int main() {
  static_assert(NVDLA_RULE_OVERLAP != 0);
  const nvdla::DeviceInfo info = nvdla::configuration_info("nv_small");
  std::printf("%s: atom %u\n", info.configuration.data(), info.atom);
  try {
    nvdla::configuration_info("no such configuration");
  } catch (const nvdla::Error& error) {
    std::printf("%s\n", error.what());
    return info.atom == 8 && doubles() ? 0 : 1;
  }
  return 1;
}
