// SPDX-License-Identifier: MIT
//
// What it costs that all weights of a layer stay in the convolution buffer: bench_resident
// [configuration] plans the convolutions of ResNet-50 for a device that loses weights that are
// freed early, and for one that does not.
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "network/shapes.hpp"
#include "nvdla/nvdla.hpp"

namespace {

using nvdla::Device;
using nvdla::bench::ConvShape;

struct Cost {
  std::uint64_t layers = 0, cycles = 0;
};

Cost plan(const Device& device, const ConvShape& shape) {
  const std::vector<std::int8_t> weights(
      std::size_t{shape.kernels} * shape.channels * shape.size * shape.size, 1);
  nvdla::Convolution conv{.name = "conv",
                          .kernels = shape.kernels,
                          .kernel_height = shape.size,
                          .kernel_width = shape.size};
  conv.stride_width = conv.stride_height = shape.stride;
  conv.pad_top = conv.pad_bottom = conv.pad_left = conv.pad_right = shape.pad;
  conv.weights = weights;
  conv.output = {.scale = 1, .shift = 8};
  nvdla::Network network;
  network.output(
      network.convolution(network.input("in", {shape.channels, shape.side, shape.side}), conv),
      "out");
  const nvdla::Request request = network.build(device);
  Cost cost;
  cost.layers = request.network().layers();
  for (std::uint32_t i = 0; i < request.network().layers(); ++i)
    cost.cycles += request.network().layer_cycles(i);
  return cost;
}

void print(const char* name, unsigned count, const Cost& streamed, const Cost& resident) {
  std::printf("%-16s %5u %8llu %8llu %12llu %12llu %6.2f\n", name, count,
              static_cast<unsigned long long>(streamed.layers),
              static_cast<unsigned long long>(resident.layers),
              static_cast<unsigned long long>(streamed.cycles),
              static_cast<unsigned long long>(resident.cycles),
              static_cast<double>(resident.cycles) / static_cast<double>(streamed.cycles));
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string name = std::string("model:") + (argc > 1 ? argv[1] : "nv_small");
  const Device resident = Device::open(name);
  const Device streamed = Device::open(name + ",gating=off");
  std::printf("%-16s %5s %-17s %-25s %6s\n", "", "", "layers", "cycles at most", "");
  std::printf("%-16s %5s %8s %8s %12s %12s %6s\n", "convolution", "times", "streamed", "resident",
              "streamed", "resident", "ratio");
  Cost all_streamed, all_resident;
  unsigned count = 0;
  const auto add = [](Cost& sum, const Cost& one, unsigned times) {
    sum.layers += times * one.layers;
    sum.cycles += times * one.cycles;
  };
  for (const ConvShape& shape : nvdla::bench::resnet50_shapes()) {
    const Cost before = plan(streamed, shape), now = plan(resident, shape);
    print(shape.name, shape.count, before, now);
    add(all_streamed, before, shape.count);
    add(all_resident, now, shape.count);
    count += shape.count;
  }
  print("all", count, all_streamed, all_resident);
  return 0;
} catch (const nvdla::Error& error) {
  std::fprintf(stderr, "bench_resident: %s\n", error.what());
  return 1;
}
