// SPDX-License-Identifier: MIT
//
// What it costs that all weights of a layer stay in the convolution buffer: bench_resident
// [configuration] plans the convolutions of ResNet-50 for a device that loses weights that are
// freed early, and for one that does not.
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "nvdla/nvdla.hpp"

namespace {

using nvdla::Device;

// `count` convolutions of the network, each on its own.
struct Shape {
  const char* name;
  std::uint32_t count, side, channels, kernels, size, stride;
};

constexpr Shape kShapes[] = {
    {"conv1", 1, 224, 3, 64, 7, 2},
    {"conv2 reduce a", 1, 56, 64, 64, 1, 1},
    {"conv2 reduce", 2, 56, 256, 64, 1, 1},
    {"conv2 3x3", 3, 56, 64, 64, 3, 1},
    {"conv2 expand", 3, 56, 64, 256, 1, 1},
    {"conv2 project", 1, 56, 64, 256, 1, 1},
    {"conv3 reduce a", 1, 56, 256, 128, 1, 2},
    {"conv3 reduce", 3, 28, 512, 128, 1, 1},
    {"conv3 3x3", 4, 28, 128, 128, 3, 1},
    {"conv3 expand", 4, 28, 128, 512, 1, 1},
    {"conv3 project", 1, 56, 256, 512, 1, 2},
    {"conv4 reduce a", 1, 28, 512, 256, 1, 2},
    {"conv4 reduce", 5, 14, 1024, 256, 1, 1},
    {"conv4 3x3", 6, 14, 256, 256, 3, 1},
    {"conv4 expand", 6, 14, 256, 1024, 1, 1},
    {"conv4 project", 1, 28, 512, 1024, 1, 2},
    {"conv5 reduce a", 1, 14, 1024, 512, 1, 2},
    {"conv5 reduce", 2, 7, 2048, 512, 1, 1},
    {"conv5 3x3", 3, 7, 512, 512, 3, 1},
    {"conv5 expand", 3, 7, 512, 2048, 1, 1},
    {"conv5 project", 1, 14, 1024, 2048, 1, 2},
    {"fc", 1, 1, 2048, 1000, 1, 1},
};

struct Cost {
  std::uint64_t layers = 0, cycles = 0;
};

Cost plan(const Device& device, const Shape& shape) {
  const std::vector<std::int8_t> weights(
      std::size_t{shape.kernels} * shape.channels * shape.size * shape.size, 1);
  nvdla::Convolution conv{.name = "conv",
                          .kernels = shape.kernels,
                          .kernel_height = shape.size,
                          .kernel_width = shape.size};
  conv.stride_x = conv.stride_y = shape.stride;
  conv.pad_top = conv.pad_bottom = conv.pad_left = conv.pad_right = shape.size / 2;
  conv.weights = weights;
  conv.output = {.scale = 1, .shift = 8};
  nvdla::Network network;
  network.output(
      network.convolution(network.input("in", {shape.channels, shape.side, shape.side}), conv),
      "out");
  const nvdla::Session session = network.build(device);
  Cost cost;
  cost.layers = session.layers();
  for (std::uint32_t i = 0; i < session.layers(); ++i) cost.cycles += session.layer_cycles(i);
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
  for (const Shape& shape : kShapes) {
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
