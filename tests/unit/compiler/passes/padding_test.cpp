// SPDX-License-Identifier: MIT
//
// Padding layers that the convolution behind them absorbs: where it may, and with equal results.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "common/property.hpp"
#include "nvdla/nvdla.hpp"

namespace nvdla {
namespace {

std::uint32_t absorbed(const CompiledNetwork& compiled) {
  for (const PassReport& pass : compiled.passes())
    if (pass.name == "padding") return pass.applied;
  return std::numeric_limits<std::uint32_t>::max();
}

CompiledNetwork compile_without(const Network& network, const Device& device) {
  BuildOptions options;
  options.disabled_passes = {"padding"};
  return network.compile(device, options);
}

// `Case` is a network with an input "in" and outputs "out..." that hold so many elements.
struct Case {
  Precision precision = Precision::kInt8;
  Padding padding = {.name = "pad", .top = 1, .bottom = 1, .left = 1, .right = 1};
  Convolution conv = {.name = "conv", .kernels = 8, .kernel_height = 3, .kernel_width = 3};
  Shape shape = {.channels = 8, .height = 9, .width = 10};
  // Adds more layers; gets the padded tensor and the output of the convolution.
  std::function<void(Network&, Tensor, Tensor)> more = {};

  Network network() const {
    const std::size_t count = std::size_t{conv.kernels} * (shape.channels / conv.groups) *
                              conv.kernel_height * conv.kernel_width;
    std::vector<std::int8_t> bytes(count);
    std::vector<float> reals(count);
    for (std::size_t i = 0; i < count; ++i) {
      bytes[i] = static_cast<std::int8_t>(i * 37 % 15) - 7;
      reals[i] = bytes[i];
    }
    Convolution layer = conv;
    if (precision == Precision::kFp16) {
      layer.weights = std::span<const float>(reals);
    } else {
      layer.weights = std::span<const std::int8_t>(bytes);
      layer.output = requantize(0.02);
    }
    Network network;
    const Tensor in = network.input("in", shape, precision);
    const Tensor padded = network.pad(in, padding);
    const Tensor out = network.convolution(padded, layer);
    network.output(out, "out");
    if (more) more(network, padded, out);
    return network;
  }
};

std::vector<float> run(const CompiledNetwork& compiled, const Shape& in, const Shape& out) {
  Request request = compiled.create_request();
  std::vector<float> from(in.elements()), to(out.elements());
  for (std::size_t i = 0; i < from.size(); ++i)
    from[i] = static_cast<float>(static_cast<int>(i * 29 % 23) - 11);
  request.write("in", Layout::kNchw, std::span<const float>(from));
  request.run();
  request.read("out", Layout::kNchw, std::span<float>(to));
  return to;
}

// Compiles with the pass and without, and expects equal results and so many pairs that are one.
void expect_pairs(const Case& c, std::uint32_t pairs) {
  for (const char* configuration : {"nv_full", "nv_small"}) {
    const Device device = Device::open(std::string("model:") + configuration);
    if (c.precision == Precision::kFp16 && !device.info().has_fp16) continue;
    const Network network = c.network();
    const CompiledNetwork with = network.compile(device);
    const CompiledNetwork without = compile_without(network, device);
    EXPECT_EQ(absorbed(with), pairs) << configuration;
    const Shape out = with.desc("out").shape;
    EXPECT_EQ(run(with, c.shape, out), run(without, c.shape, out)) << configuration;
    EXPECT_EQ(with.layers() < without.layers(), pairs != 0) << configuration;
  }
}

TEST(AbsorbPadding, BecomesThePaddingOfTheConvolution) {
  expect_pairs({}, 1);
  Case sides;
  sides.padding = {.top = 2, .bottom = 0, .left = 0, .right = 1, .value = -3};
  expect_pairs(sides, 1);
  Case groups;
  groups.conv.groups = 8;
  expect_pairs(groups, 1);
  Case strides;
  strides.conv.stride_width = strides.conv.stride_height = 2;
  expect_pairs(strides, 1);
  Case wide;
  wide.shape = {.channels = 8, .height = 9, .width = 10, .batch = 3};
  expect_pairs(wide, 1);
  Case real;
  real.precision = Precision::kFp16;
  real.padding.value = 0.5;
  expect_pairs(real, 1);
}

TEST(AbsorbPadding, AddsUpWithPaddingOfTheSameElement) {
  Case same;
  same.padding.value = same.conv.pad_value = 5;
  same.conv.pad_left = same.conv.pad_bottom = 1;
  expect_pairs(same, 1);
  Case other = same;
  other.conv.pad_value = 4;
  expect_pairs(other, 0);
}

TEST(AbsorbPadding, LeavesWhatOthersRead) {
  Case output;
  output.more = [](Network& network, Tensor padded, Tensor) { network.output(padded, "padded"); };
  expect_pairs(output, 0);
  Case pooled;
  pooled.more = [](Network& network, Tensor padded, Tensor) {
    network.output(network.pooling(padded, {.kernel_height = 2, .kernel_width = 2}), "pooled");
  };
  expect_pairs(pooled, 0);
}

TEST(AbsorbPadding, LeavesWhatTheHardwareDoesOtherwise) {
  Case as_wide_as_the_kernel;
  as_wide_as_the_kernel.padding.left = 3;
  expect_pairs(as_wide_as_the_kernel, 0);
  // Tiles take one column on the left.
  Case tiles;
  tiles.padding.left = 2;
  tiles.conv.tuning.winograd = Rewrite::kAuto;
  expect_pairs(tiles, 0);
}

TEST(AbsorbPadding, TakesSeveralOneBehindTheOther) {
  const std::vector<std::int8_t> weights(std::size_t{8} * 8 * 25, 1);
  Network network;
  const Tensor in = network.input("in", {.channels = 8, .height = 9, .width = 10});
  const Tensor first = network.pad(in, {.name = "first", .top = 1, .left = 2, .value = 3});
  const Tensor second = network.pad(first, {.name = "second", .bottom = 2, .left = 1, .value = 3});
  network.output(network.convolution(second, {.name = "conv",
                                              .kernels = 8,
                                              .kernel_height = 5,
                                              .kernel_width = 5,
                                              .weights = weights,
                                              .output = requantize(0.02)}),
                 "out");
  const Device device = Device::open("model:nv_small");
  const CompiledNetwork with = network.compile(device);
  EXPECT_EQ(absorbed(with), 2u);
  EXPECT_EQ(with.layers(), 1u);
  const Shape in_shape = {.channels = 8, .height = 9, .width = 10};
  const Shape out_shape = with.desc("out").shape;
  EXPECT_EQ(run(with, in_shape, out_shape),
            run(compile_without(network, device), in_shape, out_shape));
}

TEST(AbsorbPadding, RandomPairsHaveEqualResults) {
  std::uint32_t pairs = 0;
  const unsigned drawn = test::for_all(400, [&](test::Random& random) -> std::string {
    const auto any = [&](std::int64_t low, std::int64_t high) {
      return static_cast<std::uint32_t>(random.pick(low, high));
    };
    Case c;
    c.shape = {.channels = any(1, 20), .height = any(5, 20), .width = any(5, 20)};
    c.padding = {.top = any(0, 2), .bottom = any(0, 2), .left = any(0, 2), .right = any(0, 2)};
    c.padding.value = static_cast<double>(random.pick(-20, 20));
    c.conv.kernels = any(1, 20);
    c.conv.kernel_height = any(2, 5);
    c.conv.kernel_width = any(2, 5);
    c.conv.stride_width = any(1, 3);
    c.conv.stride_height = any(1, 3);
    c.conv.pad_top = any(0, c.conv.kernel_height - 1);
    c.conv.pad_value = static_cast<std::int32_t>(
        random.pick(0, 1) != 0 ? random.pick(-20, 20) : static_cast<std::int64_t>(c.padding.value));
    const Device device = Device::open(random.pick(0, 1) ? "model:nv_small" : "model:nv_full");
    const Network network = c.network();
    const CompiledNetwork with = network.compile(device);
    pairs += absorbed(with);
    const Shape out = with.desc("out").shape;
    return run(with, c.shape, out) == run(compile_without(network, device), c.shape, out)
               ? ""
               : "results differ";
  });
  EXPECT_GT(pairs, drawn / 10);
}

}  // namespace
}  // namespace nvdla
