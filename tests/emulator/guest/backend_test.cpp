// SPDX-License-Identifier: MIT
//
// The runtime on the kernel driver, in a guest: the digit network computes the same bytes and
// counts the same as on the device model in this process. The network's files are in /digits.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nvdla/nvdla.hpp>
#include <string>
#include <vector>

#include "guest_files.hpp"
#include "int8_network.hpp"
#include "picture.hpp"
#include "weights.hpp"

namespace {

using nvdla::emulator_test::kDigits;

// The model of the configuration that the kernel device is.
nvdla::Device model_of(const nvdla::Device& device) {
  return nvdla::Device::open("model:" + std::string(device.info().configuration));
}

std::vector<std::filesystem::path> pictures() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(kDigits / "images")) {
    paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

TEST(Kernel, AutoFindsTheDevice) {
  EXPECT_EQ(nvdla::Device::open("auto").info().backend, "kernel");
}

TEST(Kernel, DigitsAreThoseOfTheModel) {
  const digits::Weights weights = digits::load_weights(kDigits / "weights.json");
  const nvdla::Device device = nvdla::Device::open("auto");
  digits::Int8Network on_kernel(device, weights, {.statistics = true});
  digits::Int8Network on_model(model_of(device), weights, {.statistics = true});
  const auto paths = pictures();
  ASSERT_FALSE(paths.empty());
  for (const auto& path : paths) {
    const auto pixels = digits::read_picture(path).pixels;
    EXPECT_EQ(on_kernel.scores(pixels), on_model.scores(pixels)) << path;
    const auto ours = on_kernel.request().statistics();
    const auto theirs = on_model.request().statistics();
    ASSERT_EQ(ours.size(), theirs.size());
    ASSERT_EQ(ours.size(), weights.layers.size());
    for (std::size_t layer = 0; layer < ours.size(); ++layer) {
      EXPECT_EQ(ours[layer].valid, theirs[layer].valid);
      EXPECT_TRUE(std::equal(std::begin(ours[layer].counter), std::end(ours[layer].counter),
                             std::begin(theirs[layer].counter)))
          << path << " layer " << layer;
    }
  }
}

// Nine of ten weights are zero: where the device decompresses, the driver brings the tables.
TEST(Kernel, SparseWeightsAreThoseOfTheModel) {
  std::vector<std::int8_t> weights(64 * 40 * 9), pixels(40 * 16 * 16);
  for (std::size_t i = 0; i < weights.size(); i += 10)
    weights[i] = static_cast<std::int8_t>(i * 7 % 255 - 127);
  for (std::size_t i = 0; i < pixels.size(); ++i)
    pixels[i] = static_cast<std::int8_t>(i * 31 % 255 - 127);
  nvdla::Network network;
  const nvdla::Tensor in = network.input("in", {.channels = 40, .height = 16, .width = 16});
  network.output(network.convolution(in, {.name = "conv",
                                          .kernels = 64,
                                          .kernel_height = 3,
                                          .kernel_width = 3,
                                          .weights = weights,
                                          .output = nvdla::requantize(0.002)}),
                 "out");
  const auto run = [&](const nvdla::Device& device) {
    nvdla::Request request = network.build(device);
    request.write("in", nvdla::Layout::kNchw, std::span<const std::int8_t>(pixels));
    std::vector<std::int8_t> out(64 * 14 * 14);
    for (int i = 0; i < 3; ++i) request.run();
    request.read("out", nvdla::Layout::kNchw, std::span<std::int8_t>(out));
    return out;
  };
  const nvdla::Device device = nvdla::Device::open("auto");
  const auto expected = run(model_of(device));
  EXPECT_EQ(run(device), expected);
  EXPECT_NE(std::count(expected.begin(), expected.end(), expected[0]),
            static_cast<std::ptrdiff_t>(expected.size()));
}

// A copy of eight atoms by SDP.
struct Copy {
  explicit Copy(const nvdla::Device& device) : bytes(8 * device.info().atom) {
    const std::uint32_t atom = device.info().atom;
    nvdla_layer layer{};
    layer.kind = NVDLA_LAYER_SDP;
    layer.sdp.width = 8;
    layer.sdp.height = 1;
    layer.sdp.channels = atom;
    layer.sdp.out_cvt.scale = 1;
    layer.sdp.input.line_stride = layer.sdp.output.line_stride = bytes;
    layer.sdp.input.surface_stride = layer.sdp.output.surface_stride = bytes;
    layer.sdp.output.slot = 1;
    const nvdla_slot slots[] = {{bytes, atom, NVDLA_MEMORY_DRAM, NVDLA_SLOT_READ, 0},
                                {bytes, atom, NVDLA_MEMORY_DRAM, NVDLA_SLOT_WRITE, 0}};
    program = device.create_program({.layers = {&layer, 1}, .slots = slots});
  }
  std::uint32_t bytes;
  nvdla::Program program;
};

void fill(const nvdla::Buffer& buffer, std::byte value) {
  const nvdla::Map map = buffer.map(nvdla::MapMode::kWrite);
  std::fill(map.bytes().begin(), map.bytes().end(), value);
}

bool holds(const nvdla::Buffer& buffer, std::byte value) {
  const nvdla::Map map = buffer.map(nvdla::MapMode::kRead);
  return std::all_of(map.bytes().begin(), map.bytes().end(),
                     [=](std::byte b) { return b == value; });
}

TEST(Kernel, QueuesWaitForEachOther) {
  const nvdla::Device device = nvdla::Device::open("auto");
  const Copy copy(device);
  const nvdla::Buffer a = device.allocate(copy.bytes), b = device.allocate(copy.bytes),
                      c = device.allocate(copy.bytes);
  fill(a, std::byte{0x5c});
  const nvdla::Queue second = device.create_queue();
  const nvdla::Fence first =
      device.submit(copy.program, std::vector<nvdla::Binding>{{a, 0}, {b, 0}});
  const nvdla::Fence waits[] = {first};
  second.submit(copy.program, std::vector<nvdla::Binding>{{b, 0}, {c, 0}}, {.wait_fences = waits})
      .wait();
  EXPECT_TRUE(holds(c, std::byte{0x5c}));
}

TEST(Kernel, WaitsForAnotherDevice) {
  const nvdla::Device device = nvdla::Device::open("auto");
  const nvdla::Device model = model_of(device);
  const Copy copy(device), copy_on_model(model);
  const nvdla::Buffer a = model.allocate(copy.bytes), b = model.allocate(copy.bytes);
  const nvdla::Buffer c = device.allocate(copy.bytes), d = device.allocate(copy.bytes);
  fill(c, std::byte{0x17});
  for (int i = 0; i < 50; ++i) {
    fill(d, std::byte{0});
    const nvdla::Fence waits[] = {
        model.submit(copy_on_model.program, std::vector<nvdla::Binding>{{a, 0}, {b, 0}})};
    const nvdla::Fence end = device.submit(
        copy.program, std::vector<nvdla::Binding>{{c, 0}, {d, 0}}, {.wait_fences = waits});
    end.wait();
    EXPECT_TRUE(waits[0].done());
    EXPECT_TRUE(holds(d, std::byte{0x17}));
  }
}

TEST(Kernel, RefusesWithTheRuleThatIsBroken) {
  const nvdla::Device device = nvdla::Device::open("auto");
  nvdla_layer layer{};
  layer.kind = NVDLA_LAYER_SDP;
  try {
    device.create_program({.layers = {&layer, 1}, .slots = {}});
    FAIL() << "a layer of nothing is accepted";
  } catch (const nvdla::Error& error) {
    EXPECT_NE(error.rule(), static_cast<std::uint32_t>(NVDLA_RULE_NONE));
  }
}

}  // namespace
