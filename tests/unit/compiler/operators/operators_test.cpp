// SPDX-License-Identifier: MIT
//
// Operators of SDP in networks against plain integers: operands of all kinds, other tensors.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "common/runtime/networks.hpp"

namespace nvdla {
namespace {

using test::Geometry;
using test::Int32;
using test::Int8;
using test::Networks;

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

// A bias, ReLU, and a zero point that the converter alone would lose; results are rounded once.
TEST_P(Networks, RequantisesExactly) {
  const auto weights = test::random_values<std::int8_t>(8 * 8 * 9, 40, -128, 127);
  const std::vector<std::int32_t> plus = {-70000, -300, -1, 0, 1, 200, 300, 70000};
  for (const double factor : {20.0, 0.7, 0.003}) {
    const Requantization q = requantize_exactly(factor, -3);
    Convolution c{.name = "conv", .kernels = 8, .kernel_height = 3, .kernel_width = 3};
    c.weights = weights;
    c.bias = plus;
    c.x1 = q.multiply();
    c.output = q.output;
    c.relu = true;
    Int8 in(8, 6, 6);
    in.data = test::random_values<std::int8_t>(in.data.size(), 41, -2, 2);
    const Int32 sums = test::add_bias(test::convolve(in, weights, 8, 3, 3, {}), plus, true);
    const std::int64_t half = (std::int64_t{1} << q.output.shift) / 2;
    Int8 expected(sums.c, sums.h, sums.w);
    for (std::size_t i = 0; i < sums.data.size(); ++i) {
      const std::int64_t scaled =
          std::int64_t{sums.data[i]} * q.factor - 3 * (std::int64_t{1} << q.output.shift);
      const std::int64_t size = (std::abs(scaled) + half) >> q.output.shift;
      expected.data[i] =
          static_cast<std::int8_t>(std::clamp<std::int64_t>(scaled < 0 ? -size : size, -128, 127));
    }
    EXPECT_NE(std::count(expected.data.begin(), expected.data.end(), -3), 0) << factor;
    net_ = Network();
    net_.output(net_.convolution(net_.input("in", test::shape(in)), c), "out");
    expect(in, expected);
  }
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
  const Tensor x = net_.input("in", test::shape(in));
  Convolution c{.name = "a", .kernels = 19};
  c.weights = weights;
  c.output = {.scale = 1, .shift = 5};
  const Tensor a = net_.convolution(x, c);
  const Int8 ra = test::convert(test::convolve(in, weights, 19, 1, 1, {}), 0, 1, 5);
  const Tensor sum = net_.pointwise(
      a,
      {.name = "sum", .x1 = elementwise(NVDLA_ALU_SUM, x, 1), .output = {.scale = 1, .shift = 2}});
  const Int8 rsum =
      test::convert(test::apply(test::widen(ra), elementwise(NVDLA_ALU_SUM, x, 1), &in), 0, 1, 2);
  const Tensor product = net_.pointwise(sum, {.name = "product", .x1 = multiply(a, 6)});
  const Int8 rproduct = test::convert(test::apply(test::widen(rsum), multiply(a, 6), &ra), 0, 1, 0);
  const Tensor low = net_.pointwise(
      product,
      {.name = "low", .x1 = elementwise(NVDLA_ALU_MIN, x), .x2 = elementwise(NVDLA_ALU_MAX, sum)});
  net_.output(low, "out");
  Int32 v = test::apply(test::widen(rproduct), elementwise(NVDLA_ALU_MIN, x), &in);
  v = test::apply(v, elementwise(NVDLA_ALU_MAX, sum), &rsum);
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
  const Tensor x = net_.input("in", test::shape(in));
  Convolution c{.name = "one", .kernels = 24, .kernel_height = 3, .kernel_width = 3};
  c.pad_top = c.pad_bottom = c.pad_left = c.pad_right = 1;
  c.weights = w1;
  c.bias = b1;
  c.relu = true;
  c.output = {.scale = 1, .shift = 9};
  const Tensor one = net_.convolution(x, c);
  const Int8 r1 =
      test::convert(test::add_bias(test::convolve(in, w1, 24, 3, 3, g), b1, true), 0, 1, 9);
  c.name = "two";
  c.weights = w2;
  c.bias = b2;
  c.x1 = elementwise(NVDLA_ALU_SUM, x, 8);
  net_.output(net_.convolution(one, c), "out");
  Operator op = c.x1;
  op.relu = true;
  const Int32 sum = test::add_bias(test::convolve(r1, w2, 24, 3, 3, g), b2, false);
  expect(in, test::convert(test::apply(sum, op, &in), 0, 1, 9));
}

}  // namespace
}  // namespace nvdla
