// SPDX-License-Identifier: MIT
//
// Convolutions of networks against plain integers, on the configurations of both generations.
#include <gtest/gtest.h>

#include <vector>

#include "common/runtime/networks.hpp"

namespace nvdla {
namespace {

using test::Geometry;
using test::Int32;
using test::Int8;
using test::Networks;

INSTANTIATE_TEST_SUITE_P(Models, Networks,
                         ::testing::Values("nv_small", "nv_full", "nv_large", "nv_medium_512",
                                           "nv_small_256"),
                         [](const auto& param) { return param.param; });

TEST_P(Networks, ConvolutionWithEverything) {
  const Int8 in = test::random_cube(21, 13, 17, 1);
  const auto weights = test::random_values<std::int8_t>(37 * 21 * 3 * 2, 2, -128, 127);
  const auto bias = test::random_values<std::int32_t>(37, 3, -30000, 30000);
  Geometry g;
  g.stride_width = 2;
  g.stride_height = 3;
  g.dilation_width = 3;
  g.dilation_height = 2;
  g.left = 2;
  g.right = 1;  // (2 + 17 + 1 - 4) / 2
  g.top = 1;
  g.bottom = 0;  // (1 + 13 + 0 - 5) / 3
  g.pad_value = -77;
  const Converter converter = {.offset = 100, .scale = 123, .shift = 16};

  const Tensor x = net_.input("in", test::shape(in));
  Convolution c{.name = "conv", .kernels = 37, .kernel_height = 3, .kernel_width = 2};
  c.stride_width = 2;
  c.stride_height = 3;
  c.dilation_width = 3;
  c.dilation_height = 2;
  c.pad_left = 2;
  c.pad_right = 1;
  c.pad_top = 1;
  c.pad_value = -77;
  c.weights = weights;
  c.bias = bias;
  c.relu = true;
  c.output = converter;
  const Tensor y = net_.convolution(x, c);
  net_.output(y, "out");
  const Int8 expected = test::convert(
      test::add_bias(test::convolve(in, weights, 37, 3, 2, g), bias, true), 100, 123, 16);
  EXPECT_EQ(net_.shape(y), test::shape(expected));
  EXPECT_EQ(net_.macs(), 37ULL * 21 * 3 * 2 * expected.h * expected.w);
  expect(in, expected);
}

// Neither what a stride leaves over, nor windows of nothing but padding, are in the way.
TEST_P(Networks, ConvolutionThatIsNotExact) {
  const Int8 in = test::random_cube(12, 9, 11, 90);
  const auto weights = test::random_values<std::int8_t>(5 * 12 * 2, 91, -128, 127);
  Geometry g;
  g.stride_width = 3;
  g.stride_height = 4;
  g.left = 5;
  g.right = 4;  // (5 + 11 + 4 - 1) / 3 leaves 1
  g.top = 3;
  g.bottom = 2;  // (3 + 9 + 2 - 2) / 4
  g.pad_value = 9;
  Convolution c{.name = "conv", .kernels = 5, .kernel_height = 2};
  c.stride_width = 3;
  c.stride_height = 4;
  c.pad_left = 5;
  c.pad_right = 4;
  c.pad_top = 3;
  c.pad_bottom = 2;
  c.pad_value = 9;
  c.weights = weights;
  c.output = {.scale = 1, .shift = 7};
  net_.output(net_.convolution(net_.input("in", test::shape(in)), c), "out");
  expect(in, test::convert(test::convolve(in, weights, 5, 2, 1, g), 0, 1, 7));
}

// Two operators add 32 bits exactly.
TEST_P(Networks, WideBias) {
  const Int8 in = test::random_cube(8, 5, 5, 4);
  const auto weights = test::random_values<std::int8_t>(9 * 8 * 9, 5, -128, 127);
  const std::vector<std::int32_t> bias = {0,       1000001, -1000001, 65536,     -65535,
                                          2000000, 32768,   -32769,   1073741823};
  Convolution c{.name = "conv", .kernels = 9, .kernel_height = 3, .kernel_width = 3};
  c.weights = weights;
  c.bias = bias;
  c.output = {.offset = 3, .scale = 1, .shift = 13};
  net_.output(net_.convolution(net_.input("in", test::shape(in)), c), "out");
  expect(in, test::convert(test::add_bias(test::convolve(in, weights, 9, 3, 3, {}), bias, false), 3,
                           1, 13));
}

// Large values with common zeros below take one operator, and leave the other for PReLU.
TEST_P(Networks, ShiftedBiasAndPrelu) {
  const Int8 in = test::random_cube(8, 4, 6, 6);
  const auto weights = test::random_values<std::int8_t>(8 * 8, 7, -128, 127);
  const std::vector<std::int32_t> bias = {1 << 20, -(1 << 20), 1 << 10, 0,
                                          3 << 10, -(1 << 12), 7 << 14, 1 << 24};
  const auto slopes = test::random_values<std::int16_t>(8, 8, -3000, 3000);
  Convolution c{.name = "conv", .kernels = 8};
  c.weights = weights;
  c.bias = bias;
  c.x1 = prelu(slopes, 9);
  c.output = requantize(0.001);
  net_.output(net_.convolution(net_.input("in", test::shape(in)), c), "out");
  const Int32 sum = test::add_bias(test::convolve(in, weights, 8, 1, 1, {}), bias, false);
  expect(in,
         test::convert(test::apply(sum, c.x1), c.output.offset, c.output.scale, c.output.shift));
}

// Bias and a scale for each channel are one operator.
TEST_P(Networks, BiasAndScalePerChannel) {
  const Int8 in = test::random_cube(16, 6, 5, 9);
  const auto weights = test::random_values<std::int8_t>(20 * 16, 10, -128, 127);
  const auto bias = test::random_values<std::int32_t>(20, 11, -20000, 20000);
  const auto scales = test::random_values<std::int16_t>(20, 12, 1, 32767);
  Convolution c{.name = "conv", .kernels = 20};
  c.weights = weights;
  c.bias = bias;
  c.x1 = scale(scales, 22);
  c.relu = true;
  net_.output(net_.convolution(net_.input("in", test::shape(in)), c), "out");
  Operator op = c.x1;
  op.relu = true;
  const Int32 sum = test::add_bias(test::convolve(in, weights, 20, 1, 1, {}), bias, false);
  expect(in, test::convert(test::apply(sum, op), 0, 1, 0));
}

TEST_P(Networks, AccumulatorShift) {
  const Int8 in = test::random_cube(9, 3, 4, 13);
  const auto weights = test::random_values<std::int8_t>(5 * 9, 14, -128, 127);
  Convolution c{.name = "conv", .kernels = 5};
  c.weights = weights;
  c.arithmetic.accumulator_shift = 6;
  c.output = {.scale = 1, .shift = 3};
  Geometry g;
  g.clip = 6;
  net_.output(net_.convolution(net_.input("in", test::shape(in)), c), "out");
  expect(in, test::convert(test::convolve(in, weights, 5, 1, 1, g), 0, 1, 3));
}

TEST_P(Networks, FullyConnected) {
  const Int8 in = test::random_cube(48, 3, 3, 15);
  const auto weights = test::random_values<std::int8_t>(10 * 48 * 9, 16, -128, 127);
  const auto bias = test::random_values<std::int32_t>(10, 17, -30000, 30000);
  Convolution c{.name = "scores", .kernels = 10, .kernel_height = 3, .kernel_width = 3};
  c.weights = weights;
  c.bias = bias;
  c.output = requantize(0.0003, 4);
  net_.output(net_.convolution(net_.input("in", test::shape(in)), c), "out");
  expect(in, test::convert(test::add_bias(test::convolve(in, weights, 10, 3, 3, {}), bias, false),
                           c.output.offset, c.output.scale, c.output.shift));
}

}  // namespace
}  // namespace nvdla
