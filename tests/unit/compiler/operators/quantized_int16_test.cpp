// SPDX-License-Identifier: MIT
//
// Quantised layers of int16 in networks: what the model makes of them is what their operators say.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
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

constexpr const char* kDevice = "nv_full";

// int16 has no zero points in imported networks, but it may.
Quantization any_of_int16(Random& random, float scale) {
  return {scale * (1 + static_cast<float>(any(random, 0, 999)) / 1000),
          test::one_in(random, 2) ? 0 : static_cast<std::int32_t>(random.pick(-500, 500))};
}

TEST(NetworkInt16, ConvolutionsEqualTheirOperators) {
  test::for_all(test::share(60), [](Random& random) -> std::string {
    auto r = test::random_conv(random, false);
    if (!r || r->ref.processing != Precision::kInt16) test::discard();
    test::RefConv& ref = r->ref;
    const Quantization input = any_of_int16(random, 1e-4F);
    ref.geometry.pad_value = input.zero_point;
    ref.geometry.clip = 0;
    const std::vector<std::int16_t> weights(ref.weights.begin(), ref.weights.end());
    const std::size_t taps = weights.size() / ref.kernels;
    Random numbers = random.fork();
    std::vector<float> scales, bias;
    for (std::uint32_t k = 0; k < ref.kernels; ++k) {
      scales.push_back(1e-5F * static_cast<float>(numbers.pick(1, 64)));
      bias.push_back(static_cast<float>(numbers.pick(-2000, 2000)) / 100);
    }
    Convolution layer = test::layer_of(ref, std::span<const std::int16_t>(weights));
    layer.relu = test::one_in(random, 2);
    if (test::one_in(random, 2)) layer.bias_reals = bias;
    const auto reach = static_cast<float>(std::sqrt(static_cast<double>(taps)));
    const ConvolutionScales asked = {.weights = scales,
                                     .output = any_of_int16(random, 1e-3F * reach)};
    Network net;
    const Tensor in = net.input("in", r->in.shape, Precision::kInt16, input);
    const Tensor out = net.convolution(in, layer, asked);
    net.output(out, "out");
    ConvolutionScales known = asked;
    known.input = input;
    const QuantizedOperators fitted = QuantizedOperators::fit(layer, known);
    ref.geometry.clip = fitted.accumulator_shift();
    Shape shape;
    const auto sums = test::accumulate(ref, r->in, shape);
    Values expected(shape, Precision::kInt16);
    const std::size_t area = std::size_t{shape.height} * shape.width;
    // What the shift left of the sums, before it.
    for (std::size_t i = 0; i < sums.size(); ++i)
      expected.data[i] = fitted.result(static_cast<std::uint32_t>(i / area % shape.channels),
                                       sums[i] * (std::int64_t{1} << ref.geometry.clip));
    if (net.quantization(out) != asked.output) return "the network forgot what its output is";
    return test::compare(net, r->configuration, r->in, expected);
  });
}

// Runs a network of one input of int16 whose elements are `in`, and returns those of its output.
Values run_net(Network& net, Tensor out, const Values& in) {
  net.output(out, "out");
  Request request = net.build(Device::open(std::string("model:") + kDevice));
  test::write(request, "in", in);
  request.run();
  return test::read(request, "out");
}

TEST(NetworkInt16, SumsAndProductsEqualTheirOperators) {
  test::for_all(test::share(40), [](Random& random) -> std::string {
    const Shape shape{any(random, 1, 40), any(random, 1, 5), any(random, 1, 5)};
    const Quantization of_a = any_of_int16(random, 1e-3F), of_b = any_of_int16(random, 2e-4F);
    const Addition sum{.b = of_b,
                       .output = any_of_int16(random, 1e-3F),
                       .relu = of_b.zero_point == 0 && test::one_in(random, 2),
                       .subtract = test::one_in(random, 2)};
    const Multiplication product{.b = of_b, .output = any_of_int16(random, 1e-2F)};
    Addition known_sum = sum;
    known_sum.a = of_a;
    Multiplication known_product = product;
    known_product.a = of_a;
    const auto fitted_sum = QuantizedAddition::fit(known_sum, Precision::kInt16);
    const auto fitted_product = QuantizedMultiplication::fit(known_product, Precision::kInt16);
    const Values in = test::random_tensor(shape, Precision::kInt16, random);
    for (const bool multiplies : {false, true}) {
      Network net;
      const Tensor a = net.input("in", shape, Precision::kInt16, of_a);
      // The same elements, which then stand for something else.
      const Tensor b = net.pointwise(a, {.name = "other"});
      const Tensor out = multiplies ? net.multiply(a, b, product) : net.add(a, b, sum);
      const Values found = run_net(net, out, in);
      for (std::size_t i = 0; i < in.data.size(); ++i) {
        const auto x = static_cast<std::int16_t>(in.data[i]);
        // 32 bits do not hold all that zero points add at the ends.
        if (std::abs(x) > 32000) continue;
        const std::int16_t expected =
            multiplies ? fitted_product.result(x, x) : fitted_sum.result(x, x);
        if (found.data[i] != expected)
          return "element " + std::to_string(x) + " becomes " + std::to_string(found.data[i]) +
                 ", not " + std::to_string(expected);
      }
    }
    return {};
  });
}

// All 65536 elements of smooth functions are a few steps beside them; at a jump that is more.
TEST(NetworkInt16, FunctionsAreInterpolated) {
  const Shape shape{.channels = 16, .height = 64, .width = 64};
  Values in(shape, Precision::kInt16);
  for (std::size_t i = 0; i < in.data.size(); ++i)
    in.data[i] = static_cast<std::int32_t>(i) - 32768;
  struct Case {
    const char* name;
    std::function<double(double)> function;
    float output;
    double most;
  };
  const Case cases[] = {{"sigmoid", nvdla::sigmoid, 1 / 32767.0F, 3},
                        {"tanh", [](double x) { return std::tanh(x); }, 1 / 32767.0F, 11},
                        {"same", [](double x) { return x; }, 8 / 32767.0F, 1},
                        {"bend", [](double x) { return x > 1.23 ? x : 0.0; }, 8 / 32767.0F, 2600},
                        {"leaky", [](double x) { return x > 0 ? x : x / 10; }, 8 / 32767.0F, 1}};
  for (const Case& c : cases) {
    Network net;
    const Tensor x = net.input("in", shape, Precision::kInt16, {8 / 32767.0F, 0});
    const Values found =
        run_net(net, net.activation(x, {.output = {c.output, 0}, .function = c.function}), in);
    double worst = 0;
    for (std::size_t i = 0; i < in.data.size(); ++i) {
      const double real = c.function(in.data[i] * double{8 / 32767.0F}) / double{c.output};
      worst = std::max(worst, std::fabs(found.data[i] - std::clamp(real, -32768.0, 32767.0)));
    }
    EXPECT_LE(worst, c.most) << c.name;
    const double error = interpolation_error(
        {.input = Quantization{8 / 32767.0F, 0}, .output = {c.output, 0}, .function = c.function});
    EXPECT_LE(error, c.name == std::string("bend") ? 0.005 : 0.0005) << c.name;
  }
}

TEST(NetworkInt16, ClampsAndAveragesHaveScales) {
  const Shape shape{.channels = 3, .height = 4, .width = 4};
  Values in(shape, Precision::kInt16);
  for (std::size_t i = 0; i < in.data.size(); ++i)
    in.data[i] = static_cast<std::int32_t>(i * 1000) - 24000;
  Network held;
  const Tensor x = held.input("in", shape, Precision::kInt16, {0.001F, 0});
  const Values clamped = run_net(held, held.clamp(x, {.bounds = {-1, 20}}), in);
  for (std::size_t i = 0; i < in.data.size(); ++i)
    EXPECT_EQ(clamped.data[i], std::clamp(in.data[i], -1000, 20000));
  Network mean;
  const Tensor y = mean.input("in", shape, Precision::kInt16, {0.001F, 0});
  const Quantization output{0.0008F, 0};
  const Values averages = run_net(mean, mean.average(y, {.output = output}), in);
  for (std::size_t c = 0; c < 3; ++c) {
    double sum = 0;
    for (std::size_t i = 0; i < 16; ++i) sum += in.data[c * 16 + i];
    EXPECT_NEAR(averages.data[c], sum / 16 * 0.001 / 0.0008, 1);
  }
}

TEST(NetworkInt16, RefusesTwoPrecisionsInOneLayer) {
  Network net;
  const Tensor a = net.input("a", {4, 2, 2}, Precision::kInt16, {1, 0});
  const Tensor b = net.input("b", {4, 2, 2}, {1, 0});
  const Tensor half = net.input("half", {4, 2, 2}, Precision::kFp16);
  expect_error(ErrorCode::kInvalidArgument, "a is int16, b is int8: they are to be the same",
               [&] { net.add(a, b, {}); });
  expect_error(ErrorCode::kInvalidArgument, "input is fp16: quantised layers are of int8 or int16",
               [&] { net.clamp(half, {}); });
  expect_error(ErrorCode::kInvalidArgument,
               "an average of int16 with an output scale is one of the device: its windows are up "
               "to 32x32, with strides of up to 8",
               [&] {
                 const Tensor large = net.input("large", {1, 40, 1}, Precision::kInt16, {1, 0});
                 net.average(large, {.output = Quantization{1, 0}});
               });
}

}  // namespace
}  // namespace nvdla
