// SPDX-License-Identifier: MIT
//
// Operands for channels that are another tensor, of one position, against one number at a time.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "common/property.hpp"
#include "common/runtime/expect_error.hpp"
#include "common/runtime/networks.hpp"
#include "common/runtime/random_layers.hpp"
#include "common/share.hpp"

namespace nvdla {
namespace {

using test::expect_error;
using test::Int32;
using test::Int8;
using test::Values;

// The factor of the element at `i` (NCHW): each cube of a batch has its own.
std::int32_t factor_of(const Values& factors, std::size_t i, const Shape& shape) {
  return factors.data[i / (std::size_t{shape.height} * shape.width)];
}

Operator random_operator(Tensor tensor, Precision processing, test::Random& random) {
  Operator op;
  op.tensor = tensor;
  if (random() % 2 == 0) {
    op.alu = static_cast<nvdla_alu>(random() % 3 + 1);
    if (processing != Precision::kFp16) op.alu_shift = random() % 4;
  } else {
    op.mul = static_cast<nvdla_mul>(random() % 2 + 1);
    if (processing != Precision::kFp16) op.mul_shift = random() % 8;
  }
  op.relu = op.mul != NVDLA_MUL_PRELU && random() % 2 == 0;
  return op;
}

TEST(ChannelsOfATensor, RandomLayersEqualTheReference) {
  test::for_all(test::share(300), [](test::Random& random) {
    const std::string configuration = test::any_configuration(random);
    const Precision precision = test::any_precision(configuration_info(configuration), random);
    const Shape shape{test::any(random, 1, 100), test::any(random, 1, 6), test::any(random, 1, 6),
                      random() % 4 == 0 ? 3U : 1U};
    const Values in = test::random_tensor(shape, precision, random);
    const Values factors =
        test::random_tensor({shape.channels, 1, 1, shape.batch}, precision, random);
    Network net;
    const Tensor x = net.input("in", shape, precision);
    const Tensor by = net.input("factors", factors.shape, precision);
    Pointwise layer{.name = "layer"};
    const bool first = random() % 2 == 0;
    const Operator op = random_operator(by, precision, random);
    (first ? layer.x1 : layer.x2) = op;
    if (precision != Precision::kFp16) layer.output = {.scale = 3, .shift = 4};
    net.output(net.pointwise(x, layer), "out");
    Request request = net.build(Device::open("model:" + configuration));
    test::write(request, "in", in);
    test::write(request, "factors", factors);
    request.run();
    Values expected(shape, precision);
    for (std::size_t i = 0; i < in.data.size(); ++i) {
      const std::int32_t f = factor_of(factors, i, shape);
      const std::int64_t v =
          test::apply_x(test::stream(in.data[i], precision), op, f, f, precision);
      expected.data[i] = test::convert_to(v, layer.output, precision, precision);
    }
    const bool same = test::read(request, "out") == expected;
    return same ? std::string()
                : configuration + test::numbers({static_cast<int>(precision), shape.channels,
                                                 shape.height, shape.width, shape.batch});
  });
}

class ChannelsThatLayersMake : public test::Networks {};
INSTANTIATE_TEST_SUITE_P(All, ChannelsThatLayersMake,
                         ::testing::Values("nv_full", "nv_large", "nv_small", "nv_medium_512"),
                         [](const auto& which) { return std::string(which.param); });

// Squeeze and excitation: what multiplies the channels follows from the tensor itself. Groups and
// bands see their own channels of it.
TEST_P(ChannelsThatLayersMake, FactorsOfAConvolution) {
  const Int8 in = test::random_cube(40, 9, 70, 51);
  const auto depth = test::random_values<std::int8_t>(40 * 9, 52, -30, 30);
  const auto dense = test::random_values<std::int8_t>(40 * 40, 53, -30, 30);
  test::Geometry g;
  g.left = g.right = g.top = g.bottom = 1;
  const Tensor x = net_.input("in", test::shape(in));
  const Tensor most = net_.pooling(
      x, {.name = "most", .method = NVDLA_POOL_MAX, .kernel_height = 9, .kernel_width = 70});
  Convolution gate{.name = "gate", .kernels = 40};
  gate.weights = dense;
  gate.relu = true;
  gate.output = {.scale = 1, .shift = 8};
  const Tensor factors = net_.convolution(most, gate);
  Convolution conv{.name = "conv", .kernels = 40, .kernel_height = 3, .kernel_width = 3};
  conv.pad_top = conv.pad_bottom = conv.pad_left = conv.pad_right = 1;
  conv.groups = 40;
  conv.weights = depth;
  conv.x1 = multiply(factors, 4);
  conv.x2 = elementwise(NVDLA_ALU_MIN, factors, 3);
  conv.output = {.scale = 1, .shift = 6};
  net_.output(net_.convolution(x, conv), "out");

  Int8 highest(40, 1, 1);
  for (int c = 0; c < 40; ++c) {
    const auto channel = in.data.begin() + c * 9 * 70;
    highest.at(c, 0, 0) = *std::max_element(channel, channel + 9 * 70);
  }
  Int32 sums = test::convolve(highest, dense, 40, 1, 1, {});
  for (std::int32_t& sum : sums.data) sum = std::max(sum, 0);
  const Int8 by = test::convert(sums, 0, 1, 8);
  std::vector<std::int8_t> wide(40 * 40 * 9);
  for (std::size_t k = 0; k < 40; ++k)
    std::copy_n(depth.begin() + static_cast<std::ptrdiff_t>(k * 9), 9,
                wide.begin() + static_cast<std::ptrdiff_t>((k * 40 + k) * 9));
  Int32 v = test::convolve(in, wide, 40, 3, 3, g);
  for (std::size_t i = 0; i < v.data.size(); ++i) {
    const std::int32_t f = by.data[i / (9 * 70)];
    v.data[i] = test::apply(v.data[i], NVDLA_ALU_NONE, 0, 0, NVDLA_MUL_MUL, f, 4, false);
    v.data[i] = test::apply(v.data[i], NVDLA_ALU_MIN, f, 3, NVDLA_MUL_NONE, 0, 0, false);
  }
  expect(in, test::convert(v, 0, 1, 6));
}

// A slice or a part of a concatenation of one position is an operand where it lies.
TEST_P(ChannelsThatLayersMake, PartsOfATensor) {
  const Int8 in = test::random_cube(32, 3, 5, 54);
  const Tensor x = net_.input("in", test::shape(in));
  const auto all = [&](const char* name, nvdla_pool method) {
    return net_.pooling(x, {.name = name, .method = method, .kernel_height = 3, .kernel_width = 5});
  };
  const Tensor parts[] = {all("most", NVDLA_POOL_MAX), all("least", NVDLA_POOL_MIN)};
  const Tensor both = net_.concatenate(parts, {.name = "both"});
  const Tensor least = net_.slice(both, {.name = "least again", .start = 32, .size = 32});
  const Tensor a = net_.pointwise(x, {.name = "a", .x1 = elementwise(NVDLA_ALU_SUM, parts[0])});
  net_.output(net_.pointwise(a, {.name = "b", .x1 = elementwise(NVDLA_ALU_SUM, least)}), "out");
  Int8 expected = in;
  for (std::size_t i = 0; i < in.data.size(); ++i) {
    const auto channel = in.data.begin() + static_cast<std::ptrdiff_t>(i / 15 * 15);
    const auto [low, high] = std::minmax_element(channel, channel + 15);
    const auto sum = test::saturate(in.data[i] + *high, 8);
    expected.data[i] = static_cast<std::int8_t>(test::saturate(sum + *low, 8));
  }
  expect(in, expected);
}

// Operator Y, whose converter works on what comes from memory.
TEST(ChannelsOfATensor, InOperatorY) {
  const Int8 in = test::random_cube(45, 4, 7, 55), by = test::random_cube(45, 1, 1, 56);
  Network net;
  const Tensor x = net.input("in", test::shape(in));
  Pointwise layer{.name = "layer"};
  layer.y.mul = NVDLA_MUL_MUL;
  layer.y.tensor = net.input("factors", test::shape(by));
  layer.y.mul_converter = {.offset = -128, .scale = 1, .shift = 0};
  layer.y.mul_shift = 8;
  net.output(net.pointwise(x, layer), "out");
  Request request = net.build(Device::open("model:nv_full"));
  request.write("in", Layout::kNchw, in.data);
  request.write("factors", Layout::kNchw, by.data);
  request.run();
  Int8 expected = in, found = in;
  for (std::size_t i = 0; i < in.data.size(); ++i) {
    const int product = in.data[i] * (by.data[i / 28] + 128);
    expected.data[i] = static_cast<std::int8_t>(test::saturate(test::round_shift(product, 8), 8));
  }
  request.read("out", Layout::kNchw, found.data);
  EXPECT_EQ(found.data, expected.data);
}

class BadChannels : public ::testing::Test {
 protected:
  void refused(const std::string& words, const Shape& operand) {
    Network net;
    const Tensor x = net.input("in", {8, 5, 5, 2});
    const Tensor by = net.input("by", operand);
    expect_error(ErrorCode::kInvalidArgument, words,
                 [&] { net.pointwise(x, {.name = "l", .x1 = multiply(by)}); });
  }
};

TEST_F(BadChannels, OtherShapes) {
  refused("layer 0 'l': x1: the operand tensor is 2x7x1x1 (NCHW), the layer's output 2x8x5x5",
          {7, 1, 1, 2});
  refused("x1: the operand tensor is 1x8x1x1 (NCHW), the layer's output 2x8x5x5", {8, 1, 1, 1});
  refused("x1: the operand tensor is 2x8x1x5 (NCHW), the layer's output 2x8x5x5", {8, 1, 5, 2});
  refused("x1: the operand tensor is 2x8x5x1 (NCHW), the layer's output 2x8x5x5", {8, 5, 1, 2});
}

// Element by element, or with values.
TEST_F(BadChannels, Comparisons) {
  Network net;
  const Tensor x = net.input("in", {8, 5, 5}), by = net.input("by", {8, 1, 1});
  expect_error(ErrorCode::kInvalidArgument,
               "y: the operand tensor is 1x8x1x1 (NCHW), the layer's output 1x8x5x5",
               [&] { net.compare(x, {.name = "c", .tensor = by}); });
}

// A tile is 4 x 4, so surfaces of one position have gaps; a layer that may choose does without.
TEST_F(BadChannels, GapsBetweenSurfaces) {
  const std::vector<std::int8_t> weights(64 * 16 * 9, 1);
  for (const Rewrite winograd : {Rewrite::kAuto, Rewrite::kAlways}) {
    Network net;
    const Tensor x = net.input("in", {64, 3, 3});
    Convolution conv{.name = "made", .kernels = 64, .kernel_height = 3, .kernel_width = 3};
    conv.weights = weights;
    conv.tuning.winograd = winograd;
    const Tensor made = net.convolution(net.input("small", {16, 3, 3}), conv);
    net.output(net.pointwise(x, {.name = "l", .x1 = multiply(made)}), "out");
    const auto build = [&] { net.build(Device::open("model:nv_full")); };
    if (winograd == Rewrite::kAuto) {
      EXPECT_NO_THROW(build());
    } else {
      expect_error(ErrorCode::kInvalidArgument,
                   "layer 1 'l': the output of layer 0 'made' is an operand for channels, but the "
                   "layer that makes it writes more than one position: let a copy be the operand",
                   build);
    }
  }
}

}  // namespace
}  // namespace nvdla
