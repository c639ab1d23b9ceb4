// SPDX-License-Identifier: MIT
//
// Networks of several programs, and with the CPU between them, in files.
#include <gtest/gtest.h>

#include <string>

#include "round_trip.hpp"

namespace nvdla {
namespace {

constexpr Shape kCube = {.channels = 21, .height = 3, .width = 5};
constexpr std::int16_t kDouble[] = {2}, kMore[] = {1};

template <typename T>
std::vector<T> run_random(auto&& net, std::size_t count) {
  const auto source = test::random_elements<T>(count, 9);
  net.write("in", Layout::kNchw, std::span<const T>(source));
  net.run();
  std::vector<T> out(count);
  net.read("out", Layout::kNchw, std::span(out));
  return out;
}

template <typename T>
void expect_same_loaded(const Network& net, const std::string& configuration,
                        LoadableInterface interface) {
  const Device device = Device::open("model:" + configuration);
  const auto expected = run_random<T>(net.build(device), kCube.elements());
  const Loadable file = Loadable::load(test::saved_file(net, configuration, interface));
  EXPECT_EQ(run_random<T>(file.open(device), kCube.elements()), expected) << configuration;
  EXPECT_NE(std::count(expected.begin(), expected.end(), expected[0]),
            static_cast<std::ptrdiff_t>(expected.size()));
}

TEST(SaveCpu, SoftmaxAndPowerOfInt8RunAsTheNetwork) {
  Network net;
  Tensor tensor = net.input("in", kCube, {1 / 64.0F, 0});
  tensor = net.power(tensor, {.name = "power",
                              .output = {1 / 32.0F, 0},
                              .power = 2,
                              .scale = 0.5F,
                              .shift = 0.25F,
                              .as_loadables = true});
  tensor = net.pointwise(tensor, {.name = "twice", .x1 = scale(kDouble)});
  tensor = net.softmax(tensor, {.name = "softmax",
                                .input = Quantization{1 / 32.0F, 0},
                                .output = Quantization{1 / 512.0F, 0},
                                .as_loadables = true});
  net.output(net.pointwise(tensor, {.name = "more", .x1 = bias(kMore)}), "out");
  for (const char* configuration : {"nv_full", "nv_large", "nv_small"})
    expect_same_loaded<std::int8_t>(net, configuration, LoadableInterface::kDla0_12);
  // Interface 0.11 has no scales: there they are operations of our own.
  expect_same_loaded<std::int8_t>(net, "nv_small", LoadableInterface::kDla0_11);
}

TEST(SaveCpu, HalvesRunAsTheNetworkInBothInterfaces) {
  Network net;
  Tensor tensor = net.input("in", kCube, Precision::kFp16);
  tensor = net.pointwise(tensor, {.name = "same"});
  tensor = net.softmax(tensor, {.name = "softmax", .as_loadables = true});
  tensor = net.power(tensor, {.name = "power", .scale = 3, .shift = -1, .as_loadables = true});
  net.output(net.pointwise(tensor, {.name = "again"}), "out");
  for (const auto interface : {LoadableInterface::kDla0_11, LoadableInterface::kDla0_12})
    expect_same_loaded<std::uint16_t>(net, "nv_full", interface);
}

// Lists of each task, and addresses of their own.
TEST(SaveCpu, ManyProgramsRunAsTheNetwork) {
  Network net;
  Tensor tensor = net.input("in", kCube);
  for (int i = 0; i < 4200; ++i) {
    const std::string name = "add" + std::to_string(i);
    const auto value = static_cast<std::int16_t>(i % 5 - 2);
    tensor = net.pointwise(tensor, {.name = name, .x1 = bias(std::span(&value, 1))});
  }
  net.output(tensor, "out");
  EXPECT_EQ(net.compile(Device::open("model:nv_small")).programs(), 2U);
  expect_same_loaded<std::int8_t>(net, "nv_small", LoadableInterface::kDla0_12);
}

}  // namespace
}  // namespace nvdla
