// SPDX-License-Identifier: MIT
//
// Quantised products, differences, maxima and functions of elements in networks: what the model
// makes of them is what is said of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/property.hpp"
#include "common/runtime/expect_error.hpp"
#include "common/runtime/random_layers.hpp"
#include "common/share.hpp"
#include "nvdla/operators/functions.hpp"

namespace nvdla {
namespace {

using test::any;
using test::expect_error;
using test::Random;
using test::random_quantization;
using test::Values;

std::int8_t byte(std::int32_t value) { return static_cast<std::int8_t>(value); }

// Two tensors, of which the second may have one position only, and what is made of both.
template <typename Add, typename Result>
std::string run(const std::string& configuration, const Values& a, const Quantization& of_a,
                const Values& b, const Quantization& of_b, const Add& add, const Result& result) {
  Network net;
  const Tensor first = net.input("a", a.shape, of_a), second = net.input("b", b.shape, of_b);
  net.output(add(net, first, second), "out");
  Request request = net.build(Device::open("model:" + configuration));
  test::write(request, "a", a);
  test::write(request, "b", b);
  request.run();
  const Values found = test::read(request, "out");
  const bool point = b.shape != a.shape;
  const std::size_t plane = std::size_t{a.shape.height} * a.shape.width;
  for (std::size_t i = 0; i < a.data.size(); ++i) {
    const std::int32_t other = b.data[point ? i / plane : i];
    const int expected = result(byte(a.data[i]), byte(other));
    if (found.data[i] != expected)
      return "element " + std::to_string(i) + " is " + std::to_string(found.data[i]) + ", not " +
             std::to_string(expected);
  }
  return {};
}

TEST(NetworkElements, ProductsEqualTheirOperators) {
  test::for_all(test::share(120), [](Random& random) -> std::string {
    const Shape shape{any(random, 1, 40), any(random, 1, 5), any(random, 1, 5)};
    const bool point = test::one_in(random, 2);
    const Shape other = point ? Shape{shape.channels, 1, 1} : shape;
    const std::string configuration = test::any_configuration(random);
    const Quantization of_a = random_quantization(random, 0.02);
    Quantization of_b = random_quantization(random, 0.004);
    // What operator Y is for.
    const bool needs_y = of_b.zero_point != 0 && (other == shape ? of_a.zero_point != 0 : true);
    if (needs_y && !configuration_info(configuration).has_sdp_y) test::discard();
    Multiplication layer{.name = "product", .output = random_quantization(random, 0.01)};
    if (test::one_in(random, 3)) layer.bounds = {-0.3F, 0.7F};
    Multiplication known = layer;
    known.a = of_a;
    known.b = of_b;
    const QuantizedMultiplication fitted = QuantizedMultiplication::fit(known);
    const bool swapped = test::one_in(random, 2);
    return run(
        configuration, test::random_tensor(shape, Precision::kInt8, random), of_a,
        test::random_tensor(other, Precision::kInt8, random), of_b,
        [&](Network& net, Tensor a, Tensor b) {
          const Tensor out = swapped ? net.multiply(b, a, layer) : net.multiply(a, b, layer);
          EXPECT_EQ(net.quantization(out), layer.output);
          return out;
        },
        [&](std::int8_t a, std::int8_t b) { return int{fitted.result(a, b)}; });
  });
}

// nv_small has no operator for the second zero point, and says so.
TEST(NetworkElements, TwoZeroPointsTakeOperatorY) {
  const std::string text = "layer 0 'product': nv_small has no third SDP operator (Y): ";
  const auto build = [](const Quantization& of_a, const Quantization& of_b, const Shape& other) {
    Network net;
    const Tensor a = net.input("a", {4, 2, 2}, of_a), b = net.input("b", other, of_b);
    net.output(net.multiply(a, b, {.name = "product"}), "out");
    (void)net.build(Device::open("model:nv_small"));
  };
  build({1, 0}, {1, 5}, {4, 2, 2});
  build({1, 5}, {1, 0}, {4, 2, 2});
  build({1, 5}, {1, 0}, {4, 1, 1});
  expect_error(ErrorCode::kNotAvailable,
               text + "a has zero point 3 and b 5: give one factor zero point 0", [&] {
                 build({1, 3}, {1, 5}, {4, 2, 2});
               });
  expect_error(ErrorCode::kNotAvailable, text + "a has zero point 0 and b 5: give b zero point 0",
               [&] {
                 build({1, 0}, {1, 5}, {4, 1, 1});
               });
}

TEST(NetworkElements, DifferencesEqualTheirOperators) {
  test::for_all(test::share(60), [](Random& random) -> std::string {
    const Shape shape{any(random, 1, 40), any(random, 1, 5), any(random, 1, 5)};
    const Quantization of_a = random_quantization(random, 0.02),
                       of_b = random_quantization(random, 0.02);
    Addition layer{.name = "difference", .output = random_quantization(random, 0.03)};
    layer.subtract = true;
    layer.relu = test::one_in(random, 2);
    Addition known = layer;
    known.a = of_a;
    known.b = of_b;
    const QuantizedAddition fitted = QuantizedAddition::fit(known);
    return run(
        test::any_configuration(random), test::random_tensor(shape, Precision::kInt8, random), of_a,
        test::random_tensor(shape, Precision::kInt8, random), of_b,
        [&](Network& net, Tensor a, Tensor b) { return net.add(a, b, layer); },
        [&](std::int8_t a, std::int8_t b) { return int{fitted.result(a, b)}; });
  });
}

TEST(NetworkElements, MaximaAndMinimaStandForWhatBothDo) {
  test::for_all(test::share(30), [](Random& random) -> std::string {
    const Shape shape{any(random, 1, 40), any(random, 1, 5), any(random, 1, 5)};
    const Quantization both = random_quantization(random, 0.02);
    const bool greatest = test::one_in(random, 2);
    return run(
        test::any_configuration(random), test::random_tensor(shape, Precision::kInt8, random), both,
        test::random_tensor(shape, Precision::kInt8, random), both,
        [&](Network& net, Tensor a, Tensor b) {
          const Tensor out = greatest ? net.maximum(a, b, "max") : net.minimum(a, b, "min");
          EXPECT_EQ(net.quantization(out), both);
          return out;
        },
        [&](int a, int b) { return greatest ? std::max(a, b) : std::min(a, b); });
  });
}

// Every element, on devices with tables and without.
TEST(NetworkElements, ActivationsAreExactOnEveryDevice) {
  const Quantization input = {0.06F, -20};
  const std::pair<const char*, std::function<double(double)>> functions[] = {
      {"sigmoid", sigmoid},
      {"tanh", [](double x) { return std::tanh(x); }},
      {"swish", swish},
      {"hard-swish", hard_swish},
      {"gelu", gelu},
      {"leaky", [](double x) { return leaky_relu(x, 0.1); }},
      {"sawtooth", [](double x) { return x - std::floor(x); }}};
  Values in({32, 2, 4}, Precision::kInt8);
  for (std::size_t i = 0; i < in.data.size(); ++i) in.data[i] = static_cast<int>(i) - 128;
  for (const auto& [name, function] : functions) {
    const Activation layer{.name = name, .output = {1 / 100.0F, -100}, .function = function};
    Network net;
    const Tensor out = net.activation(net.input("in", in.shape, input), layer);
    EXPECT_EQ(net.quantization(out), layer.output);
    net.output(out, "out");
    Values expected(in.shape, Precision::kInt8);
    for (std::size_t i = 0; i < in.data.size(); ++i) {
      const double x = (in.data[i] + 20) * static_cast<double>(input.scale);
      const double steps = std::round(function(x) / static_cast<double>(1 / 100.0F));
      expected.data[i] = static_cast<int>(std::clamp(steps - 100, -128.0, 127.0));
    }
    for (const char* configuration : {"nv_small", "nv_full"})
      EXPECT_EQ(test::compare(net, configuration, in, expected), "") << name;
  }
}

// Behind a convolution, before a pooling, and as a part of a concatenation.
TEST(NetworkElements, ActivationsAreLayersAsOthersAre) {
  const std::vector<std::int8_t> weights(8, 60);
  const float scale = 0.01F;
  Network net;
  const Tensor in = net.input("in", {8, 4, 4}, {0.1F, 0});
  Convolution layer{.name = "conv"};
  layer.weights = std::span<const std::int8_t>(weights);
  const Tensor conv = net.convolution(in, layer, {.weights = {&scale, 1}, .output = {0.1F, 4}});
  const Tensor swished =
      net.activation(conv, {.name = "swish", .output = {0.06F, -120}, .function = swish});
  const Tensor pooled =
      net.pooling(swished, {.name = "pool", .kernel_height = 2, .kernel_width = 2});
  net.output(pooled, "out");
  EXPECT_EQ(net.quantization(pooled), (Quantization{0.06F, -120}));
  Random random(3);
  const Values values = test::random_tensor({8, 4, 4}, Precision::kInt8, random);
  std::vector<Values> found;
  for (const char* device : {"model:nv_small", "model:nv_full"}) {
    const CompiledNetwork compiled = net.compile(Device::open(device));
    for (std::uint32_t i = 0; i < compiled.layers(); ++i)
      EXPECT_FALSE(compiled.layer_on_cpu(i)) << device << " " << compiled.layer_name(i);
    Request request = compiled.create_request();
    test::write(request, "in", values);
    request.run();
    found.push_back(test::read(request, "out"));
  }
  EXPECT_EQ(found[0].data, found[1].data);
}

// As many tables as a deep network has: more than one program.
TEST(NetworkElements, TablesBeyondThoseOfAProgram) {
  Network net;
  Tensor x = net.input("in", {4, 1, 1}, {0.05F, 0});
  std::vector<double> expected = {-100, 3, 50, 127};
  for (int i = 0; i < NVDLA_MAX_LUTS + 6; ++i) {
    const double factor = 0.9 + 0.0029 * i;
    const auto function = [factor](double value) { return value * factor + 0.1; };
    x = net.activation(x, {.output = {0.05F, 0}, .function = function});
    const double scale = static_cast<double>(0.05F);
    for (double& value : expected)
      value = std::clamp(std::round(function(value * scale) / scale), -128.0, 127.0);
  }
  net.output(x, "out");
  const CompiledNetwork compiled = net.compile(Device::open("model:nv_full"));
  EXPECT_EQ(compiled.programs(), 2U);
  Request request = compiled.create_request();
  request.write("in", Layout::kNchw, std::vector<std::int8_t>{-100, 3, 50, 127});
  request.run();
  std::vector<std::int8_t> found(4);
  request.read("out", Layout::kNchw, found);
  EXPECT_EQ(std::vector<double>(found.begin(), found.end()), expected);
}

TEST(NetworkElements, BadOnesAreNamedExactly) {
  Network net;
  const Tensor in = net.input("in", {4, 2, 2}, {0.5F, 0});
  const Tensor other = net.input("other", {4, 2, 2}, {0.25F, 3});
  const Tensor half = net.input("half", {4, 2, 2}, Precision::kFp16);
  const Tensor small = net.input("small", {3, 1, 1});
  const auto refused = [](const std::string& text, const auto& add) {
    expect_error(ErrorCode::kInvalidArgument, "layer 0 'p': " + text, add);
  };
  refused("b is fp16: quantised layers are of int8",
          [&] { net.multiply(in, half, {.name = "p"}); });
  refused("a is fp16: quantised layers are of int8", [&] { net.add(half, in, {.name = "p"}); });
  refused("x2: ", [&] { net.multiply(in, small, {.name = "p"}); });
  refused("a has scale 0.5 and zero point 0, b 0.25 and 3: they are to be the same",
          [&] { net.maximum(in, other, "p"); });
  refused("the function is empty", [&] { net.activation(in, {.name = "p"}); });
  refused("input is fp16: quantised layers are of int8",
          [&] { net.activation(half, {.name = "p", .function = swish}); });
  refused("input: the tensor handle is empty",
          [&] { net.activation(Tensor(), {.name = "p", .function = swish}); });
  EXPECT_EQ(net.layers(), 0U);
  const Tensor unknown = net.pointwise(in, {.name = "unknown"});
  expect_error(ErrorCode::kInvalidArgument, "layer 1 'm': the quantisation of a is not known",
               [&] { net.multiply(unknown, in, {.name = "m"}); });
  expect_error(ErrorCode::kInvalidArgument, "layer 1 'm': the quantisation of b is not known",
               [&] { net.minimum(in, unknown, "m"); });
  expect_error(ErrorCode::kInvalidArgument, "layer 1 'f': the quantisation of the input is not",
               [&] { net.activation(unknown, {.name = "f", .function = swish}); });
}

}  // namespace
}  // namespace nvdla
