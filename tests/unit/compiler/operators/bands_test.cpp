// SPDX-License-Identifier: MIT
//
// Convolutions that are cut into bands of lines, or in width, against plain integers.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/runtime/networks.hpp"

namespace nvdla {
namespace {

using test::Geometry;
using test::Int32;
using test::Int8;
using test::Networks;

std::uint64_t layers_macs(const CompiledNetwork& compiled) {
  std::uint64_t macs = 0;
  for (std::uint32_t i = 0; i < compiled.layers(); ++i) macs += compiled.layer_macs(i);
  return macs;
}

// Cut into bands: all paddings, strides and kinds of operands, and a layer after it that must wait
// for the last band.
TEST_P(Networks, BandsOfLines) {
  // nv_full holds 512 KiB, the others between 128 KiB and 512 KiB.
  const Int8 in = test::random_cube(70, 61, 150, 70);
  const auto weights = test::random_values<std::int8_t>(6 * 70 * 5 * 3, 71, -128, 127);
  const auto bias = test::random_values<std::int32_t>(6, 72, -30000, 30000);
  Geometry g;
  g.stride_height = 2;
  g.stride_width = 3;
  g.dilation_height = 2;
  g.top = 5;
  g.bottom = 7;  // (5 + 61 + 7 - 9) / 2
  g.left = 1;
  g.right = 2;  // (1 + 150 + 2 - 3) / 3
  g.pad_value = 11;
  const int oh = 33, ow = 51;
  const auto elements = test::random_values<std::int16_t>(6 * oh * ow, 73, -3000, 3000);
  Convolution c{.name = "conv", .kernels = 6, .kernel_height = 5, .kernel_width = 3};
  c.stride_height = 2;
  c.stride_width = 3;
  c.dilation_height = 2;
  c.pad_top = 5;
  c.pad_bottom = 7;
  c.pad_left = 1;
  c.pad_right = 2;
  c.pad_value = 11;
  c.weights = weights;
  c.bias = bias;
  c.x2 = nvdla::bias(elements);
  c.output = {.scale = 1, .shift = 11};
  const Tensor features = net_.convolution(net_.input("in", test::shape(in)), c);
  net_.output(
      net_.pointwise(features, {.name = "double", .x1 = scale(std::vector<std::int16_t>{2})}),
      "out");
  const Int32 sum = test::add_bias(test::convolve(in, weights, 6, 5, 3, g), bias, false);
  const Int8 expected = test::convert(test::apply(sum, c.x2), 0, 1, 11);
  ASSERT_EQ(expected.h, oh);
  ASSERT_EQ(expected.w, ow);
  Request request = net_.build(device_);
  EXPECT_GT(request.network().layers(), 2U);
  EXPECT_EQ(request.network().layer_name(0),
            "conv 1/" + std::to_string(request.network().layers() - 1));
  EXPECT_EQ(layers_macs(request.network()), net_.macs());
  expect(in, test::convert(test::apply(test::widen(expected), scale(std::vector<std::int16_t>{2})),
                           0, 1, 0));
}

// A tensor as operand, cut like the output.
TEST_P(Networks, BandsWithATensor) {
  const Int8 in = test::random_cube(64, 100, 90, 74);
  const auto weights = test::random_values<std::int8_t>(64 * 64, 75, -128, 127);
  const Tensor x = net_.input("in", test::shape(in));
  Convolution c{.name = "conv", .kernels = 64};
  c.weights = weights;
  c.x1 = elementwise(NVDLA_ALU_SUM, x, 6);
  c.output = {.scale = 1, .shift = 9};
  net_.output(net_.convolution(x, c), "out");
  EXPECT_GT(net_.build(device_).network().layers(), 1U);
  expect(in,
         test::convert(test::apply(test::convolve(in, weights, 64, 1, 1, {}), c.x1, &in), 0, 1, 9));
}

// The last band does not read the last line.
TEST_P(Networks, BandsThatLeaveALineOver) {
  const Int8 in = test::random_cube(64, 100, 90, 92);
  const auto weights = test::random_values<std::int8_t>(8 * 64, 93, -128, 127);
  Geometry g;
  g.stride_height = 2;
  Convolution c{.name = "conv", .kernels = 8};
  c.weights = weights;
  c.stride_height = 2;
  c.output = {.scale = 1, .shift = 9};
  net_.output(net_.convolution(net_.input("in", test::shape(in)), c), "out");
  EXPECT_GT(net_.build(device_).network().layers(), 1U);
  expect(in, test::convert(test::convolve(in, weights, 8, 1, 1, g), 0, 1, 9));
}

// The buffer counts 4,095 lines, however little room they take.
TEST_P(Networks, BandsOfManyLines) {
  const Int8 in = test::random_cube(2, 5000, 3, 78);
  const auto weights = test::random_values<std::int8_t>(2 * 2 * 2, 79, -128, 127);
  Convolution c{.name = "conv", .kernels = 2, .kernel_height = 2};
  c.weights = weights;
  c.output = {.scale = 1, .shift = 8};
  net_.output(net_.convolution(net_.input("in", test::shape(in)), c), "out");
  EXPECT_GT(net_.build(device_).network().layers(), 1U);
  expect(in, test::convert(test::convolve(in, weights, 2, 2, 1, {}), 0, 1, 8));
}

// Lines of one pixel: no band may have a single one.
TEST_P(Networks, BandsOfNarrowLines) {
  const Int8 in = test::random_cube(512, 1501, 1, 76);
  const auto weights = test::random_values<std::int8_t>(2 * 512, 77, -128, 127);
  Convolution c{.name = "conv", .kernels = 2};
  c.weights = weights;
  c.output = {.scale = 1, .shift = 12};
  net_.output(net_.convolution(net_.input("in", test::shape(in)), c), "out");
  EXPECT_GT(net_.build(device_).network().layers(), 1U);
  expect(in, test::convert(test::convolve(in, weights, 2, 1, 1, {}), 0, 1, 12));
}

// Nine lines are more than any buffer: columns are cut, with all paddings and strides, and an
// operand for each element.
TEST_P(Networks, ColumnsOfLongLines) {
  const Int8 in = test::random_cube(512, 13, 190, 80);
  const auto weights = test::random_values<std::int8_t>(6 * 512 * 5 * 3, 81, -128, 127);
  const auto bias = test::random_values<std::int32_t>(6, 82, -30000, 30000);
  Geometry g;
  g.stride_height = 2;
  g.stride_width = 3;
  g.dilation_height = 2;
  g.top = 1;
  g.bottom = 2;  // (1 + 13 + 2 - 9) / 2
  g.left = 2;
  g.right = 1;  // (2 + 190 + 1 - 3) / 3
  g.pad_value = 11;
  const int oh = 4, ow = 64;
  const auto elements = test::random_values<std::int16_t>(6 * oh * ow, 83, -3000, 3000);
  const auto factors = test::random_values<std::int16_t>(6 * oh * ow, 87, -40, 40);
  Convolution c{.name = "conv", .kernels = 6, .kernel_height = 5, .kernel_width = 3};
  c.stride_height = 2;
  c.stride_width = 3;
  c.dilation_height = 2;
  c.pad_top = 1;
  c.pad_bottom = 2;
  c.pad_left = 2;
  c.pad_right = 1;
  c.pad_value = 11;
  c.weights = weights;
  c.bias = bias;
  c.x2 = nvdla::bias(elements);
  c.x2.mul = NVDLA_MUL_MUL;
  c.x2.mul_values = factors;
  c.output = {.scale = 1, .shift = 17};
  const Tensor features = net_.convolution(net_.input("in", test::shape(in)), c);
  net_.output(
      net_.pointwise(features, {.name = "double", .x1 = scale(std::vector<std::int16_t>{2})}),
      "out");
  const Int32 sum = test::add_bias(test::convolve(in, weights, 6, 5, 3, g), bias, false);
  const Int8 expected = test::convert(test::apply(sum, c.x2), 0, 1, 17);
  ASSERT_EQ(expected.h, oh);
  ASSERT_EQ(expected.w, ow);
  Request request = net_.build(device_);
  EXPECT_TRUE(request.network().layer_name(0).starts_with("conv columns 1/"))
      << request.network().layer_name(0);
  EXPECT_EQ(layers_macs(request.network()), net_.macs());
  expect(in, test::convert(test::apply(test::widen(expected), scale(std::vector<std::int16_t>{2})),
                           0, 1, 0));
}

// A tensor as operand, and one line of output, which no part may compute a single pixel of.
TEST_P(Networks, ColumnsWithATensor) {
  const Int8 in = test::random_cube(256, 5, 511, 84);
  const auto narrow = test::random_values<std::int8_t>(8 * 256, 85, -128, 127);
  const auto weights = test::random_values<std::int8_t>(8 * 256 * 5 * 5, 86, -128, 127);
  const Tensor x = net_.input("in", test::shape(in));
  Convolution first{.name = "narrow", .kernels = 8, .stride_height = 5};
  first.weights = narrow;
  first.output = {.scale = 1, .shift = 9};
  Convolution c{.name = "conv", .kernels = 8, .kernel_height = 5, .kernel_width = 5};
  c.pad_left = c.pad_right = 2;
  c.weights = weights;
  c.x1 = elementwise(NVDLA_ALU_SUM, net_.convolution(x, first), 6);
  c.output = {.scale = 1, .shift = 12};
  net_.output(net_.convolution(x, c), "out");
  Geometry g, strided;
  strided.stride_height = 5;
  g.left = g.right = 2;
  const Int8 operand = test::convert(test::convolve(in, narrow, 8, 1, 1, strided), 0, 1, 9);
  const Int32 sum = test::convolve(in, weights, 8, 5, 5, g);
  ASSERT_EQ(sum.w, 511);
  EXPECT_GT(net_.build(device_).network().layers(), 2U);
  expect(in, test::convert(test::apply(sum, c.x1, &operand), 0, 1, 12));
}

// Lines of the kernels lie 30 lines apart, more than any buffer holds: layers compute every so
// many-th line each, with a stride, paddings, and a tensor as operand. No step divides the heights.
TEST_P(Networks, LinesOfFarKernels) {
  const Int8 in = test::random_cube(128, 67, 75, 88);
  const auto narrow = test::random_values<std::int8_t>(8 * 128, 89, -128, 127);
  const auto weights = test::random_values<std::int8_t>(8 * 128 * 3 * 3, 90, -128, 127);
  const Tensor x = net_.input("in", test::shape(in));
  Convolution first{.name = "narrow", .kernels = 8, .stride_height = 2};
  first.weights = narrow;
  first.output = {.scale = 1, .shift = 9};
  Convolution c{.name = "conv", .kernels = 8, .kernel_height = 3, .kernel_width = 3};
  c.stride_height = 2;
  c.dilation_height = 30;
  c.dilation_width = 2;
  c.pad_top = 30;
  c.pad_bottom = 30;
  c.pad_left = c.pad_right = 2;
  c.pad_value = 11;
  c.weights = weights;
  c.x1 = elementwise(NVDLA_ALU_SUM, net_.convolution(x, first), 6);
  c.output = {.scale = 1, .shift = 12};
  const Tensor features = net_.convolution(x, c);
  net_.output(
      net_.pointwise(features, {.name = "double", .x1 = scale(std::vector<std::int16_t>{2})}),
      "out");
  Geometry g, strided;
  strided.stride_height = g.stride_height = 2;
  g.dilation_height = 30;
  g.dilation_width = g.left = g.right = 2;
  g.top = 30;
  g.bottom = 30;
  g.pad_value = 11;
  const Int8 operand = test::convert(test::convolve(in, narrow, 8, 1, 1, strided), 0, 1, 9);
  const Int32 sum = test::convolve(in, weights, 8, 3, 3, g);
  const Int8 expected = test::convert(test::apply(sum, c.x1, &operand), 0, 1, 12);
  const CompiledNetwork compiled = net_.build(device_).network();
  EXPECT_TRUE(compiled.layer_name(compiled.layers() - 2).starts_with("conv lines "));
  EXPECT_EQ(layers_macs(compiled), net_.macs());
  expect(in, test::convert(test::apply(test::widen(expected), scale(std::vector<std::int16_t>{2})),
                           0, 1, 0));
}

}  // namespace
}  // namespace nvdla
