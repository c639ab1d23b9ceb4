// SPDX-License-Identifier: MIT
//
// Networks against plain integers, on the configurations of both generations.
#include "nvdla/network.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "expect_error.hpp"
#include "reference.hpp"

namespace nvdla {
namespace {

using test::expect_error;
using test::Geometry;
using test::Int32;
using test::Int8;

Shape shape(const Int8& cube) {
  return {static_cast<std::uint32_t>(cube.c), static_cast<std::uint32_t>(cube.h),
          static_cast<std::uint32_t>(cube.w)};
}

// x = op(x) for all of a cube; values by channel, element or layer as their number says.
Int32 apply(const Int32& in, const Operator& op, const Int8* tensor = nullptr) {
  const auto pick = [&](std::span<const std::int16_t> values, std::size_t i) -> std::int32_t {
    if (values.size() == 1) return values[0];
    const std::size_t area = static_cast<std::size_t>(in.h) * in.w;
    return values[values.size() == in.data.size() ? i : i / area];
  };
  Int32 out(in.c, in.h, in.w);
  for (std::size_t i = 0; i < in.data.size(); ++i) {
    std::int32_t a = 0, m = 0;
    if (op.alu != NVDLA_ALU_NONE) a = tensor ? tensor->data[i] : pick(op.alu_values, i);
    if (op.mul != NVDLA_MUL_NONE) m = tensor ? tensor->data[i] : pick(op.mul_values, i);
    out.data[i] =
        test::apply(in.data[i], op.alu, a, op.alu_shift, op.mul, m, op.mul_shift, op.relu);
  }
  return out;
}

Int32 add_bias(Int32 in, const std::vector<std::int32_t>& bias, bool relu) {
  const std::size_t area = static_cast<std::size_t>(in.h) * in.w;
  for (std::size_t i = 0; i < in.data.size(); ++i) {
    in.data[i] += bias[i / area];
    if (relu) in.data[i] = std::max(in.data[i], 0);
  }
  return in;
}

class Networks : public ::testing::TestWithParam<std::string> {
 protected:
  // Runs the network on `in` and compares with `expected`.
  void expect(const Int8& in, const Int8& expected) {
    Session session = net_.build(device_);
    session.write("in", Layout::kNchw, in.data);
    session.run();
    Int8 found(expected.c, expected.h, expected.w);
    ASSERT_EQ(session.desc("out").shape, shape(expected));
    session.read("out", Layout::kNchw, found.data);
    ASSERT_EQ(found.data, expected.data);
  }

  // A pointwise layer with one operator.
  void expect_operator(const Operator& op, const Int8& in, const Converter& converter) {
    const Tensor x = net_.input("in", shape(in));
    net_.output(net_.pointwise(x, {.name = "op", .x1 = op, .output = converter}), "out");
    expect(in, test::convert(apply(test::widen(in), op), converter.offset, converter.scale,
                             converter.shift));
  }

  Device device_ = Device::open("model:" + GetParam());
  Network net_;
};

INSTANTIATE_TEST_SUITE_P(Models, Networks,
                         ::testing::Values("nv_small", "nv_full", "nv_large", "nv_medium_512",
                                           "nv_small_256"),
                         [](const auto& param) { return param.param; });

TEST_P(Networks, ConvolutionWithEverything) {
  const Int8 in = test::random_cube(21, 13, 17, 1);
  const auto weights = test::random_values<std::int8_t>(37 * 21 * 3 * 2, 2, -128, 127);
  const auto bias = test::random_values<std::int32_t>(37, 3, -30000, 30000);
  Geometry g;
  g.stride_x = 2;
  g.stride_y = 3;
  g.dilation_x = 3;
  g.dilation_y = 2;
  g.left = 2;
  g.right = 1;  // (2 + 17 + 1 - 4) / 2
  g.top = 1;
  g.bottom = 0;  // (1 + 13 + 0 - 5) / 3
  g.pad_value = -77;
  const Converter converter = {.offset = 100, .scale = 123, .shift = 16};

  const Tensor x = net_.input("in", shape(in));
  Convolution c{.name = "conv", .kernels = 37, .kernel_height = 3, .kernel_width = 2};
  c.stride_x = 2;
  c.stride_y = 3;
  c.dilation_x = 3;
  c.dilation_y = 2;
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
  const Int8 expected =
      test::convert(add_bias(test::convolve(in, weights, 37, 3, 2, g), bias, true), 100, 123, 16);
  EXPECT_EQ(net_.shape(y), shape(expected));
  EXPECT_EQ(net_.macs(), 37ULL * 21 * 3 * 2 * expected.h * expected.w);
  expect(in, expected);
}

// Neither what a stride leaves over, nor windows of nothing but padding, are in the way.
TEST_P(Networks, ConvolutionThatIsNotExact) {
  const Int8 in = test::random_cube(12, 9, 11, 90);
  const auto weights = test::random_values<std::int8_t>(5 * 12 * 2, 91, -128, 127);
  Geometry g;
  g.stride_x = 3;
  g.stride_y = 4;
  g.left = 5;
  g.right = 4;  // (5 + 11 + 4 - 1) / 3 leaves 1
  g.top = 3;
  g.bottom = 2;  // (3 + 9 + 2 - 2) / 4
  g.pad_value = 9;
  Convolution c{.name = "conv", .kernels = 5, .kernel_height = 2};
  c.stride_x = 3;
  c.stride_y = 4;
  c.pad_left = 5;
  c.pad_right = 4;
  c.pad_top = 3;
  c.pad_bottom = 2;
  c.pad_value = 9;
  c.weights = weights;
  c.output = {.scale = 1, .shift = 7};
  net_.output(net_.convolution(net_.input("in", shape(in)), c), "out");
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
  net_.output(net_.convolution(net_.input("in", shape(in)), c), "out");
  expect(in,
         test::convert(add_bias(test::convolve(in, weights, 9, 3, 3, {}), bias, false), 3, 1, 13));
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
  net_.output(net_.convolution(net_.input("in", shape(in)), c), "out");
  const Int32 sum = add_bias(test::convolve(in, weights, 8, 1, 1, {}), bias, false);
  expect(in, test::convert(apply(sum, c.x1), c.output.offset, c.output.scale, c.output.shift));
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
  net_.output(net_.convolution(net_.input("in", shape(in)), c), "out");
  Operator op = c.x1;
  op.relu = true;
  const Int32 sum = add_bias(test::convolve(in, weights, 20, 1, 1, {}), bias, false);
  expect(in, test::convert(apply(sum, op), 0, 1, 0));
}

TEST_P(Networks, AccumulatorShift) {
  const Int8 in = test::random_cube(9, 3, 4, 13);
  const auto weights = test::random_values<std::int8_t>(5 * 9, 14, -128, 127);
  Convolution c{.name = "conv", .kernels = 5};
  c.weights = weights;
  c.accumulator_shift = 6;
  c.output = {.scale = 1, .shift = 3};
  Geometry g;
  g.clip = 6;
  net_.output(net_.convolution(net_.input("in", shape(in)), c), "out");
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
  net_.output(net_.convolution(net_.input("in", shape(in)), c), "out");
  expect(in, test::convert(add_bias(test::convolve(in, weights, 10, 3, 3, {}), bias, false),
                           c.output.offset, c.output.scale, c.output.shift));
}

TEST_P(Networks, BiasOfALayer) {
  expect_operator(bias(std::vector<std::int16_t>{-300}, 2), test::random_cube(11, 3, 5, 18),
                  {.scale = 1, .shift = 4});
}

TEST_P(Networks, ScaleOfChannels) {
  const auto values = test::random_values<std::int16_t>(35, 19, -32768, 32767);
  expect_operator(scale(values, 15), test::random_cube(35, 3, 5, 20), {});
}

TEST_P(Networks, BatchNormOfChannels) {
  const auto shifts = test::random_values<std::int16_t>(35, 21, -1000, 1000);
  const auto scales = test::random_values<std::int16_t>(35, 22, -3000, 3000);
  expect_operator(batch_norm(shifts, scales, 14, 1), test::random_cube(35, 3, 5, 23), {});
}

TEST_P(Networks, BatchNormOfElements) {
  const auto shifts = test::random_values<std::int16_t>(9 * 15, 24, -1000, 1000);
  const auto scales = test::random_values<std::int16_t>(9 * 15, 25, -3000, 3000);
  expect_operator(batch_norm(shifts, scales, 14), test::random_cube(9, 3, 5, 26), {});
}

// Operands that are said in different ways are brought to the wider one.
TEST_P(Networks, BatchNormOfChannelsAndElements) {
  const auto shifts = test::random_values<std::int16_t>(9, 27, -1000, 1000);
  const auto scales = test::random_values<std::int16_t>(9 * 15, 28, -3000, 3000);
  expect_operator(batch_norm(shifts, scales, 14), test::random_cube(9, 3, 5, 29), {});
}

TEST_P(Networks, PreluOfALayer) {
  expect_operator(prelu(std::vector<std::int16_t>{77}, 8), test::random_cube(10, 4, 4, 30), {});
}

TEST_P(Networks, Relu) { expect_operator(relu(), test::random_cube(33, 4, 4, 31), {}); }

TEST_P(Networks, MaximumOfChannels) {
  const auto values = test::random_values<std::int16_t>(12, 32, -100, 100);
  Operator op;
  op.alu = NVDLA_ALU_MAX;
  op.alu_values = values;
  expect_operator(op, test::random_cube(12, 4, 4, 33), {});
}

TEST_P(Networks, OneByOne) {
  const auto values = test::random_values<std::int16_t>(70, 34, -100, 100);
  expect_operator(bias(values), test::random_cube(70, 1, 1, 35), {});
}

TEST_P(Networks, ElementwiseWithTensors) {
  const Int8 in = test::random_cube(19, 6, 7, 36);
  const auto weights = test::random_values<std::int8_t>(19 * 19, 37, -20, 20);
  const Tensor x = net_.input("in", shape(in));
  Convolution c{.name = "a", .kernels = 19};
  c.weights = weights;
  c.output = {.scale = 1, .shift = 5};
  const Tensor a = net_.convolution(x, c);
  const Int8 ra = test::convert(test::convolve(in, weights, 19, 1, 1, {}), 0, 1, 5);
  const Tensor sum = net_.pointwise(
      a,
      {.name = "sum", .x1 = elementwise(NVDLA_ALU_SUM, x, 1), .output = {.scale = 1, .shift = 2}});
  const Int8 rsum =
      test::convert(apply(test::widen(ra), elementwise(NVDLA_ALU_SUM, x, 1), &in), 0, 1, 2);
  const Tensor product = net_.pointwise(sum, {.name = "product", .x1 = multiply(a, 6)});
  const Int8 rproduct = test::convert(apply(test::widen(rsum), multiply(a, 6), &ra), 0, 1, 0);
  const Tensor low = net_.pointwise(
      product,
      {.name = "low", .x1 = elementwise(NVDLA_ALU_MIN, x), .x2 = elementwise(NVDLA_ALU_MAX, sum)});
  net_.output(low, "out");
  Int32 v = apply(test::widen(rproduct), elementwise(NVDLA_ALU_MIN, x), &in);
  v = apply(v, elementwise(NVDLA_ALU_MAX, sum), &rsum);
  expect(in, test::convert(v, 0, 1, 0));
}

// The residual block of a network: a convolution adds a tensor that an earlier layer made.
TEST_P(Networks, ResidualBlock) {
  const Int8 in = test::random_cube(24, 9, 9, 38);
  const auto w1 = test::random_values<std::int8_t>(24 * 24 * 9, 39, -30, 30);
  const auto w2 = test::random_values<std::int8_t>(24 * 24 * 9, 40, -30, 30);
  const auto b1 = test::random_values<std::int32_t>(24, 41, -5000, 5000);
  const auto b2 = test::random_values<std::int32_t>(24, 42, -5000, 5000);
  Geometry g;
  g.left = g.right = g.top = g.bottom = 1;
  const Tensor x = net_.input("in", shape(in));
  Convolution c{.name = "one", .kernels = 24, .kernel_height = 3, .kernel_width = 3};
  c.pad_top = c.pad_bottom = c.pad_left = c.pad_right = 1;
  c.weights = w1;
  c.bias = b1;
  c.relu = true;
  c.output = {.scale = 1, .shift = 9};
  const Tensor one = net_.convolution(x, c);
  const Int8 r1 = test::convert(add_bias(test::convolve(in, w1, 24, 3, 3, g), b1, true), 0, 1, 9);
  c.name = "two";
  c.weights = w2;
  c.bias = b2;
  c.x1 = elementwise(NVDLA_ALU_SUM, x, 8);
  net_.output(net_.convolution(one, c), "out");
  Operator op = c.x1;
  op.relu = true;
  const Int32 sum = add_bias(test::convolve(r1, w2, 24, 3, 3, g), b2, false);
  expect(in, test::convert(apply(sum, op, &in), 0, 1, 9));
}

TEST_P(Networks, SeveralInputsAndOutputs) {
  const Int8 a = test::random_cube(7, 4, 4, 43), b = test::random_cube(7, 4, 4, 44);
  const Tensor ta = net_.input("a", shape(a)), tb = net_.input("b", shape(b));
  const Tensor sum = net_.pointwise(ta, {.name = "sum", .x1 = elementwise(NVDLA_ALU_SUM, tb)});
  const Tensor positive = net_.pointwise(sum, {.name = "relu", .x1 = relu()});
  net_.output(sum, "sum");
  net_.output(positive, "positive");
  Session session = net_.build(device_, {.statistics = true});
  EXPECT_EQ(session.inputs(), 2U);
  EXPECT_EQ(session.outputs(), 2U);
  EXPECT_EQ(session.input_name(1), "b");
  EXPECT_EQ(session.output_name(1), "positive");
  EXPECT_EQ(session.layers(), 2U);
  EXPECT_EQ(session.layer_name(1), "relu");
  EXPECT_GT(session.layer_cycles(1), 0U);
  EXPECT_EQ(session.layer_macs(1), 0U);
  session.write("a", Layout::kNchw, a.data);
  session.write("b", Layout::kNchw, b.data);
  session.run();
  EXPECT_EQ(session.statistics().size(), 2U);
  const Int8 rsum =
      test::convert(apply(test::widen(a), elementwise(NVDLA_ALU_SUM, tb), &b), 0, 1, 0);
  Int8 found(7, 4, 4);
  session.read("sum", Layout::kNchw, found.data);
  EXPECT_EQ(found.data, rsum.data);
  session.read("positive", Layout::kNchw, found.data);
  EXPECT_EQ(found.data, test::convert(apply(test::widen(rsum), relu()), 0, 1, 0).data);
}

TEST_P(Networks, FloatsPassTheirQuantisation) {
  const Tensor x = net_.input("in", {3, 1, 2}, {.scale = 0.5F, .zero_point = 10});
  net_.output(net_.pointwise(x, {.name = "same", .output = {.offset = 0}}), "out",
              {.scale = 0.5F, .zero_point = 10});
  Session session = net_.build(device_);
  const std::vector<float> in = {1.0F, -2.5F, 0.0F, 50.0F, -60.0F, 3.5F};
  std::vector<float> out(6);
  session.write("in", Layout::kNhwc, in);
  session.run();
  session.read("out", Layout::kNhwc, out);
  EXPECT_EQ(out, in);
}

// Weights and input of a second run, without a new build.
TEST_P(Networks, RunsManyTimes) {
  const auto weights = test::random_values<std::int8_t>(16 * 16 * 9, 45, -128, 127);
  Convolution c{.name = "conv", .kernels = 16, .kernel_height = 3, .kernel_width = 3};
  c.weights = weights;
  c.output = requantize(0.001);
  net_.output(net_.convolution(net_.input("in", {16, 8, 8}), c), "out");
  Session session = net_.build(device_);
  for (std::uint32_t i = 0; i < 5; ++i) {
    const Int8 in = test::random_cube(16, 8, 8, 46 + i);
    session.write("in", Layout::kNchw, in.data);
    session.run();
    std::vector<std::int8_t> found(16 * 36);
    session.read("out", Layout::kNchw, found);
    EXPECT_EQ(found, test::convert(test::convolve(in, weights, 16, 3, 3, {}), c.output.offset,
                                   c.output.scale, c.output.shift)
                         .data);
  }
}

TEST_P(Networks, BindsBuffersOfTheApplication) {
  const Int8 in = test::random_cube(8, 2, 2, 60);
  net_.output(net_.pointwise(net_.input("in", shape(in)), {.name = "same"}), "out");
  Session one = net_.build(device_), two = net_.build(device_);
  // The second session reads what the first one writes.
  two.bind("in", one.buffer("out"));
  one.write("in", Layout::kNchw, in.data);
  const std::vector<Fence> first = {one.submit()};
  two.submit({.wait_fences = first}).wait();
  std::vector<std::int8_t> found(in.data.size());
  two.read("out", Layout::kNchw, found);
  EXPECT_EQ(found, in.data);
  expect_error(ErrorCode::kInvalidArgument, "are needed",
               [&] { one.bind("in", device_.allocate(tensor_bytes(one.desc("in")) - 1)); });
  expect_error(ErrorCode::kInvalidArgument, "empty", [&] { one.bind("in", Buffer()); });
}

// Cut into bands: all paddings, strides and kinds of operands, and a layer after it that must wait
// for the last band.
TEST_P(Networks, BandsOfLines) {
  // nv_full holds 512 KiB, the others between 128 KiB and 512 KiB.
  const Int8 in = test::random_cube(70, 61, 150, 70);
  const auto weights = test::random_values<std::int8_t>(6 * 70 * 5 * 3, 71, -128, 127);
  const auto bias = test::random_values<std::int32_t>(6, 72, -30000, 30000);
  Geometry g;
  g.stride_y = 2;
  g.stride_x = 3;
  g.dilation_y = 2;
  g.top = 5;
  g.bottom = 7;  // (5 + 61 + 7 - 9) / 2
  g.left = 1;
  g.right = 2;  // (1 + 150 + 2 - 3) / 3
  g.pad_value = 11;
  const int oh = 33, ow = 51;
  const auto elements = test::random_values<std::int16_t>(6 * oh * ow, 73, -3000, 3000);
  Convolution c{.name = "conv", .kernels = 6, .kernel_height = 5, .kernel_width = 3};
  c.stride_y = 2;
  c.stride_x = 3;
  c.dilation_y = 2;
  c.pad_top = 5;
  c.pad_bottom = 7;
  c.pad_left = 1;
  c.pad_right = 2;
  c.pad_value = 11;
  c.weights = weights;
  c.bias = bias;
  c.x2 = nvdla::bias(elements);
  c.output = {.scale = 1, .shift = 11};
  const Tensor features = net_.convolution(net_.input("in", shape(in)), c);
  net_.output(
      net_.pointwise(features, {.name = "double", .x1 = scale(std::vector<std::int16_t>{2})}),
      "out");
  const Int32 sum = add_bias(test::convolve(in, weights, 6, 5, 3, g), bias, false);
  const Int8 expected = test::convert(apply(sum, c.x2), 0, 1, 11);
  ASSERT_EQ(expected.h, oh);
  ASSERT_EQ(expected.w, ow);
  Session session = net_.build(device_);
  EXPECT_GT(session.layers(), 2U);
  EXPECT_EQ(session.layer_name(0), "conv 1/" + std::to_string(session.layers() - 1));
  std::uint64_t macs = 0;
  for (std::uint32_t i = 0; i < session.layers(); ++i) macs += session.layer_macs(i);
  EXPECT_EQ(macs, net_.macs());
  expect(in,
         test::convert(apply(test::widen(expected), scale(std::vector<std::int16_t>{2})), 0, 1, 0));
}

// A tensor as operand, cut like the output.
TEST_P(Networks, BandsWithATensor) {
  const Int8 in = test::random_cube(64, 100, 90, 74);
  const auto weights = test::random_values<std::int8_t>(64 * 64, 75, -128, 127);
  const Tensor x = net_.input("in", shape(in));
  Convolution c{.name = "conv", .kernels = 64};
  c.weights = weights;
  c.x1 = elementwise(NVDLA_ALU_SUM, x, 6);
  c.output = {.scale = 1, .shift = 9};
  net_.output(net_.convolution(x, c), "out");
  EXPECT_GT(net_.build(device_).layers(), 1U);
  expect(in, test::convert(apply(test::convolve(in, weights, 64, 1, 1, {}), c.x1, &in), 0, 1, 9));
}

// The last band does not read the last line.
TEST_P(Networks, BandsThatLeaveALineOver) {
  const Int8 in = test::random_cube(64, 100, 90, 92);
  const auto weights = test::random_values<std::int8_t>(8 * 64, 93, -128, 127);
  Geometry g;
  g.stride_y = 2;
  Convolution c{.name = "conv", .kernels = 8};
  c.weights = weights;
  c.stride_y = 2;
  c.output = {.scale = 1, .shift = 9};
  net_.output(net_.convolution(net_.input("in", shape(in)), c), "out");
  EXPECT_GT(net_.build(device_).layers(), 1U);
  expect(in, test::convert(test::convolve(in, weights, 8, 1, 1, g), 0, 1, 9));
}

// The buffer counts 4,095 lines, however little room they take.
TEST_P(Networks, BandsOfManyLines) {
  const Int8 in = test::random_cube(2, 5000, 3, 78);
  const auto weights = test::random_values<std::int8_t>(2 * 2 * 2, 79, -128, 127);
  Convolution c{.name = "conv", .kernels = 2, .kernel_height = 2};
  c.weights = weights;
  c.output = {.scale = 1, .shift = 8};
  net_.output(net_.convolution(net_.input("in", shape(in)), c), "out");
  EXPECT_GT(net_.build(device_).layers(), 1U);
  expect(in, test::convert(test::convolve(in, weights, 2, 2, 1, {}), 0, 1, 8));
}

// Lines of one pixel: no band may have a single one.
TEST_P(Networks, BandsOfNarrowLines) {
  const Int8 in = test::random_cube(512, 1501, 1, 76);
  const auto weights = test::random_values<std::int8_t>(2 * 512, 77, -128, 127);
  Convolution c{.name = "conv", .kernels = 2};
  c.weights = weights;
  c.output = {.scale = 1, .shift = 12};
  net_.output(net_.convolution(net_.input("in", shape(in)), c), "out");
  EXPECT_GT(net_.build(device_).layers(), 1U);
  expect(in, test::convert(test::convolve(in, weights, 2, 1, 1, {}), 0, 1, 12));
}

// ---- refusals when a layer is added, one fault a test

class BadNetwork : public ::testing::Test {
 protected:
  BadNetwork() {
    conv_.name = "conv7";
    conv_.kernels = 4;
    conv_.weights = weights_;
    conv_.bias = bias_;
  }
  std::optional<Error> refused(const std::string& text) {
    return expect_error(ErrorCode::kInvalidArgument, text,
                        [&] { net_.convolution(input_, conv_); });
  }
  Network net_;
  Tensor input_ = net_.input("in", {8, 5, 5});
  std::vector<std::int8_t> weights_ = std::vector<std::int8_t>(32);
  std::vector<std::int32_t> bias_ = std::vector<std::int32_t>(4);
  std::vector<std::int16_t> four_ = std::vector<std::int16_t>(4, 1);
  Convolution conv_;
};

TEST_F(BadNetwork, NotEnoughWeights) {
  conv_.weights = std::get<0>(conv_.weights).first(31);
  const auto error = refused("layer 0 'conv7': 31 weights given, 4x8x1x1 (KCRS) are 32");
  EXPECT_EQ(error->layer(), 0);
}

TEST_F(BadNetwork, NotEnoughBias) {
  conv_.bias = conv_.bias.first(3);
  refused("layer 0 'conv7': 3 bias values given, 4 kernels");
}

TEST_F(BadNetwork, BiasTooLarge) {
  bias_[2] = 2147483647;
  bias_[1] = 1;
  refused("bias 2147483647 of kernel 2 is more than two operators can add, 2147450879");
}

TEST_F(BadNetwork, KernelLargerThanInput) {
  conv_.kernel_height = 6;
  refused("layer 0 'conv7': padded height 5 is smaller than the dilated kernel, 6");
}

TEST_F(BadNetwork, StrideZero) {
  conv_.stride_x = 0;
  refused("stride 0 is not in 1..8");
}

// Only whole layers may see so much padding, and this one must be cut.
TEST_F(BadNetwork, BandsOfPadding) {
  const auto weights = test::random_values<std::int8_t>(4, 2, -1, 1);
  Convolution c{.name = "conv", .kernels = 1};
  c.weights = weights;
  c.pad_bottom = 1;
  Network net;
  net.output(net.convolution(net.input("in", Shape{4, 5000, 4}), c), "out");
  expect_error(ErrorCode::kNotAvailable, "below 1, the kernel, it is",
               [&] { net.build(Device::open("model:nv_small")); });
}

TEST_F(BadNetwork, NoKernels) {
  conv_.kernels = 0;
  refused("kernels 0 is not in 1..8192");
}

TEST_F(BadNetwork, TensorOfNoNetwork) {
  input_ = Tensor{};
  refused("the tensor is none of this network");
}

TEST_F(BadNetwork, OperatorsWithoutAPlace) {
  bias_ = {1, 1000001, 2, 3};
  conv_.x1 = prelu(four_, 1);
  refused("the bias takes 2 operators, which leaves no place for x1");
}

TEST_F(BadNetwork, WrongNumberOfOperands) {
  conv_.x1 = scale(std::span(four_).first(3));
  refused("x1: 3 MUL values; right are 1, one per channel (4) or one per element (100)");
}

TEST_F(BadNetwork, ValuesWithoutAnOperator) {
  conv_.x2.alu_values = four_;
  refused("x2: 4 ALU values for an ALU that is not active");
}

TEST_F(BadNetwork, OperatorWithoutValues) {
  conv_.x2.mul = NVDLA_MUL_MUL;
  refused("x2: 0 MUL values for a multiplier that is active");
}

TEST_F(BadNetwork, PreluWithAlu) {
  conv_.x2 = prelu(four_, 1);
  conv_.x2.alu = NVDLA_ALU_SUM;
  conv_.x2.alu_values = four_;
  refused("x2: PReLU excludes the ALU");
}

TEST_F(BadNetwork, UnknownAlu) {
  conv_.x1.alu = NVDLA_ALU_EQUAL;
  refused("x1: alu 4 is none of NONE, MAX, MIN, SUM");
}

TEST_F(BadNetwork, TensorOfAnotherShape) {
  conv_.x1 = elementwise(NVDLA_ALU_SUM, input_);
  refused("x1: the operand tensor is 1x8x5x5 (NCHW), the layer's output 1x4x5x5");
}

TEST_F(BadNetwork, TensorForBothParts) {
  conv_.kernels = 8;
  weights_.resize(64);
  conv_.weights = weights_;
  conv_.bias = {};
  conv_.x1 = elementwise(NVDLA_ALU_SUM, input_);
  conv_.x1.mul = NVDLA_MUL_MUL;
  refused("x1: a tensor is the operand of exactly one part, here both are active");
}

TEST_F(BadNetwork, Batch) {
  expect_error(ErrorCode::kInvalidArgument, "batch 33 is not in 1..32",
               [&] { net_.input("more", {.channels = 1, .batch = 33}); });
}

TEST_F(BadNetwork, InputOfSizeZero) {
  expect_error(ErrorCode::kInvalidArgument, "channels 0 is not in 1..8192",
               [&] { net_.input("more", {.channels = 0}); });
}

TEST_F(BadNetwork, NameTwice) {
  expect_error(ErrorCode::kInvalidArgument, "an input or output 'in' already",
               [&] { net_.input("in", {}); });
}

TEST_F(BadNetwork, NoName) {
  expect_error(ErrorCode::kInvalidArgument, "an input needs a name", [&] { net_.input("", {}); });
}

TEST_F(BadNetwork, InputAsOutput) {
  expect_error(ErrorCode::kInvalidArgument, "no layer writes it",
               [&] { net_.output(input_, "out"); });
}

TEST_F(BadNetwork, LayerThatIsNotThere) {
  expect_error(ErrorCode::kInvalidArgument, "layer 0: the network has 0",
               [&] { net_.layer_name(0); });
}

// ---- refusals when it is built

TEST_F(BadNetwork, NoLayer) {
  expect_error(ErrorCode::kInvalidArgument, "no layer",
               [&] { net_.build(Device::open("model:nv_small")); });
}

TEST_F(BadNetwork, NoOutput) {
  net_.convolution(input_, conv_);
  expect_error(ErrorCode::kInvalidArgument, "no output",
               [&] { net_.build(Device::open("model:nv_small")); });
}

TEST_F(BadNetwork, LinesThatAreTooLong) {
  Network net;
  Convolution c{.name = "big", .kernels = 1, .kernel_height = 8};
  const std::vector<std::int8_t> weights(64 * 8);
  c.weights = weights;
  net.output(net.convolution(net.input("in", {64, 20, 4000}), c), "out");
  const auto error =
      expect_error(ErrorCode::kNotAvailable, "layer 0 'big': the convolution buffer has 16 banks",
                   [&] { net.build(Device::open("model:nv_full")); });
  EXPECT_EQ(error->layer(), 0);
}

TEST_F(BadNetwork, ARuleOfTheCompilerNamesTheLayer) {
  conv_.accumulator_shift = 17;
  net_.output(net_.convolution(input_, conv_), "out");
  const auto error =
      expect_error(ErrorCode::kInvalidProgram, "layer 0 'conv7' (conv): clip_truncate 17",
                   [&] { net_.build(Device::open("model:nv_small")); });
  EXPECT_EQ(error->field(), "conv.clip_truncate");
}

// ---- refusals of a session

class BadSession : public ::testing::Test {
 protected:
  static Session make() {
    Network net;
    net.output(net.pointwise(net.input("in", {8, 2, 2}), {.name = "same"}), "out");
    return net.build(Device::open("model:nv_small"));
  }
  Session session_ = make();
};

TEST_F(BadSession, UnknownNames) {
  expect_error(ErrorCode::kInvalidArgument, "no input is called 'out'; there is 'in'",
               [&] { session_.write("out", Layout::kNchw, std::vector<std::int8_t>(32)); });
  std::vector<std::int8_t> target(32);
  expect_error(ErrorCode::kInvalidArgument, "no output is called 'x'; there is 'out'",
               [&] { session_.read("x", Layout::kNchw, target); });
  expect_error(ErrorCode::kInvalidArgument, "no input or output is called 'x'",
               [&] { session_.desc("x"); });
}

TEST_F(BadSession, WrongSizes) {
  expect_error(ErrorCode::kInvalidArgument, "31 elements given",
               [&] { session_.write("in", Layout::kNchw, std::vector<std::int8_t>(31)); });
}

TEST_F(BadSession, IndicesOutOfRange) {
  expect_error(ErrorCode::kInvalidArgument, "input 1 of 1", [&] { session_.input_name(1); });
  expect_error(ErrorCode::kInvalidArgument, "output 1 of 1", [&] { session_.output_name(1); });
  expect_error(ErrorCode::kInvalidArgument, "layer 1", [&] { session_.layer_name(1); });
  expect_error(ErrorCode::kInvalidArgument, "layer 1", [&] { session_.layer_macs(1); });
}

TEST_F(BadSession, OutputsAreReadableBeforeARun) {
  std::vector<std::int8_t> target(32, 1);
  session_.read("out", Layout::kNchw, target);
  EXPECT_EQ(target, std::vector<std::int8_t>(32));
  EXPECT_TRUE(session_.statistics().empty());
}

}  // namespace
}  // namespace nvdla
