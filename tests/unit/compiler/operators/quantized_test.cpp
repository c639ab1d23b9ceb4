// SPDX-License-Identifier: MIT
//
// Quantised layers in networks: what the model makes of them is what their operators say.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "common/property.hpp"
#include "common/runtime/expect_error.hpp"
#include "common/runtime/random_layers.hpp"
#include "common/share.hpp"

namespace nvdla {
namespace {

using test::any;
using test::expect_error;
using test::Random;
using test::Values;

Quantization any_quantization(Random& random, float scale) {
  return {scale * (1 + static_cast<float>(any(random, 0, 999)) / 1000),
          static_cast<std::int32_t>(random.pick(-128, 127))};
}

TEST(NetworkQuantized, ConvolutionsEqualTheirOperators) {
  test::for_all(test::share(60), [](Random& random) -> std::string {
    auto r = test::random_conv(random, false);
    if (!r || r->ref.processing != Precision::kInt8) test::discard();
    test::RefConv& ref = r->ref;
    const Quantization input = any_quantization(random, 0.01F);
    ref.geometry.pad_value = input.zero_point;
    ref.geometry.clip = 0;
    const std::vector<std::int8_t> weights(ref.weights.begin(), ref.weights.end());
    const std::size_t taps = weights.size() / ref.kernels;
    Random numbers = random.fork();
    std::vector<float> scales;
    std::vector<std::int32_t> bias;
    for (std::uint32_t k = 0; k < ref.kernels; ++k) {
      scales.push_back(0.001F * static_cast<float>(numbers.pick(1, 64)));
      bias.push_back(static_cast<std::int32_t>(numbers.pick(-200000, 200000)));
    }
    Convolution layer = test::layer_of(ref, std::span<const std::int8_t>(weights));
    layer.relu = test::one_in(random, 2);
    if (test::one_in(random, 2)) layer.bias = bias;
    const auto reach = static_cast<float>(std::sqrt(static_cast<double>(taps)));
    const ConvolutionScales asked = {.weights = scales,
                                     .output = any_quantization(random, 0.02F * reach)};
    Network net;
    const Tensor in = net.input("in", r->in.shape, input);
    const Tensor out = net.convolution(in, layer, asked);
    net.output(out, "out");

    ConvolutionScales known = asked;
    known.input = input;
    const QuantizedOperators fitted = QuantizedOperators::fit(layer, known);
    Shape shape;
    const auto sums = test::accumulate(ref, r->in, shape);
    Values expected(shape, Precision::kInt8);
    const std::size_t area = std::size_t{shape.height} * shape.width;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const auto k = static_cast<std::uint32_t>(i / area % shape.channels);
      expected.data[i] = fitted.result(k, static_cast<std::int32_t>(sums[i]));
    }
    if (net.quantization(out) != asked.output) return "the network forgot what its output is";
    return test::compare(net, r->configuration, r->in, expected);
  });
}

TEST(NetworkQuantized, SumsEqualTheirOperators) {
  test::for_all(test::share(60), [](Random& random) -> std::string {
    const Shape shape{any(random, 1, 40), any(random, 1, 6), any(random, 1, 6)};
    const Quantization of_a = any_quantization(random, 0.5F), of_b = any_quantization(random, 0.3F);
    Addition sum{.name = "sum", .output = any_quantization(random, 0.8F)};
    sum.relu = test::one_in(random, 2);
    if (test::one_in(random, 3)) sum.output.zero_point = -128;
    if (test::one_in(random, 3)) sum.bounds.high = 20;
    Network net;
    Quantization a = of_a, b = of_b;
    if (test::one_in(random, 2)) (test::one_in(random, 2) ? a : b).zero_point = 0;
    const Tensor in = net.input("in", shape, a);
    // The same elements, which then stand for something else.
    const Tensor other = net.pointwise(in, {.name = "other"});
    sum.b = b;
    net.output(net.add(in, other, sum), "out");
    sum.a = a;
    const QuantizedAddition fitted = QuantizedAddition::fit(sum);
    const Values values = test::random_tensor(shape, Precision::kInt8, random);
    Values expected = values;
    for (std::int32_t& value : expected.data) {
      const auto element = static_cast<std::int8_t>(value);
      value = fitted.result(element, element);
    }
    return test::compare(net, test::any_configuration(random), values, expected);
  });
}

// Reals in, reals out, without a scale having to be said twice.
TEST(NetworkQuantized, TellsWhatTensorsStandFor) {
  const std::vector<std::int8_t> weights = {100, -50};
  Network net;
  const Tensor in = net.input("in", {.channels = 1, .height = 2, .width = 2}, {0.5F, 3});
  const Convolution layer = {
      .name = "conv", .kernels = 2, .weights = std::span<const std::int8_t>(weights)};
  const float scale = 0.01F;
  const Tensor conv = net.convolution(in, layer, {.weights = {&scale, 1}, .output = {0.25F, -2}});
  const Tensor pooled = net.pooling(conv, {.name = "pool", .kernel_height = 2, .kernel_width = 2});
  const Tensor parts[] = {pooled, pooled};
  const Tensor both = net.concatenate(parts, {.name = "both"});
  const Tensor apart = net.pointwise(conv, {.name = "table"});
  EXPECT_EQ(net.quantization(both), (Quantization{0.25F, -2}));
  EXPECT_EQ(net.quantization(apart), std::nullopt);
  net.output(both, "out");
  Request request = net.build(Device::open("model:nv_small"));
  request.write("in", Layout::kNchw, std::vector<float>{1.0F, 2.0F, 4.0F, 3.0F});
  request.run();
  std::vector<float> out(4);
  request.read("out", Layout::kNchw, out);
  EXPECT_EQ(out, (std::vector<float>{4.0F, -0.5F, 4.0F, -0.5F}));
}

TEST(NetworkQuantized, ErrorsNameTheLayer) {
  Network net;
  const Tensor in = net.input("in", {.channels = 1, .height = 2, .width = 2}, {0.0F, 3});
  const std::vector<std::int8_t> weights = {1};
  const Convolution layer = {.name = "conv", .weights = std::span<const std::int8_t>(weights)};
  const float scale = 1;
  expect_error(ErrorCode::kInvalidArgument, "layer 0 'conv': input scale 0", [&] {
    net.convolution(in, layer, {.weights = {&scale, 1}});
  });
  const Tensor unknown = net.pointwise(in, {.name = "other"});
  expect_error(ErrorCode::kInvalidArgument,
               "layer 1 'conv': the quantisation of the input is not known", [&] {
                 net.convolution(unknown, layer, {.weights = {&scale, 1}});
               });
  expect_error(ErrorCode::kInvalidArgument, "layer 1 'sum': the quantisation of b is not known",
               [&] { net.add(in, unknown, {.name = "sum", .a = Quantization{}}); });
  EXPECT_EQ(net.layers(), 1U);
}

}  // namespace
}  // namespace nvdla
