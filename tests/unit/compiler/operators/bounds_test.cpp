// SPDX-License-Identifier: MIT
//
// Results held to bounds, wherever the hardware has a place for that, and in which layer.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
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

ElementBounds any_bounds(Random& random) {
  const auto end = [&] { return static_cast<std::int32_t>(random.pick(-135, 135)); };
  ElementBounds bounds = {end(), end()};
  if (bounds.least > bounds.greatest) std::swap(bounds.least, bounds.greatest);
  if (test::one_in(random, 3)) bounds.least = ElementBounds{}.least;
  if (test::one_in(random, 3)) bounds.greatest = ElementBounds{}.greatest;
  return bounds;
}

// Both ends may lie on one side of all elements: these saturate in any case.
Values held(Values values, const ElementBounds& bounds) {
  const std::int32_t low = values.precision == Precision::kInt8 ? -128 : -32768;
  for (std::int32_t& value : values.data)
    value = std::clamp(std::clamp(value, bounds.least, bounds.greatest), low, -low - 1);
  return values;
}

// What the network makes without bounds, held: what is free of them is tested elsewhere.
std::string compare_held(const Network& free, const Network& bound, const ElementBounds& bounds,
                         const std::string& configuration, const Values& in) {
  Request request = free.build(Device::open("model:" + configuration));
  test::write(request, "in", in);
  request.run();
  return test::compare(bound, configuration, in, held(test::read(request, "out"), bounds));
}

// Of no, one or two operators, and converters that rise, fall or leap.
template <typename Layer>
void any_operators(Random& random, std::vector<std::int16_t>& numbers, Layer& layer) {
  const std::uint32_t used = any(random, 0, 2);
  for (int i = 0; i < 4; ++i) numbers.push_back(static_cast<std::int16_t>(random.pick(1, 90)));
  const std::span<const std::int16_t> all(numbers);
  if (used > 0) layer.x1 = batch_norm(all.subspan(0, 1), all.subspan(1, 1), 2);
  if (used > 1) layer.x2 = batch_norm(all.subspan(2, 1), all.subspan(3, 1), 3);
  if (test::one_in(random, 4)) layer.x1.relu = true;
  const std::uint32_t shift = any(random, 0, 9);
  layer.output = {static_cast<std::int32_t>(random.pick(-9000, 9000)),
                  static_cast<std::int16_t>(random.pick(-9, 9)), shift};
}

TEST(NetworkBounds, HoldWhateverOperatorsMake) {
  test::for_all(test::share(150), [](Random& random) -> std::string {
    const Shape shape{any(random, 1, 40), any(random, 1, 5), any(random, 1, 5), any(random, 1, 2)};
    const std::string configuration = test::any_configuration(random);
    Pointwise layer{.name = "layer"};
    std::vector<std::int16_t> numbers;
    any_operators(random, numbers, layer);
    if (configuration_info(configuration).has_int16 && test::one_in(random, 3))
      layer.precision = Precision::kInt16;
    Network free, bound;
    free.output(free.pointwise(free.input("in", shape), layer), "out");
    layer.bounds = any_bounds(random);
    bound.output(bound.pointwise(bound.input("in", shape), layer), "out");
    const Values in = test::random_tensor(shape, Precision::kInt8, random);
    return compare_held(free, bound, layer.bounds, configuration, in);
  });
}

TEST(NetworkBounds, HoldConvolutionsOfAnyKind) {
  test::for_all(test::share(80), [](Random& random) -> std::string {
    auto r = test::random_conv(random, false);
    if (!r || r->ref.processing != Precision::kInt8) test::discard();
    const std::vector<std::int8_t> weights(r->ref.weights.begin(), r->ref.weights.end());
    Convolution layer = test::layer_of(r->ref, std::span<const std::int8_t>(weights));
    std::vector<std::int16_t> numbers;
    any_operators(random, numbers, layer);
    layer.output.shift += 8;
    layer.tuning.winograd = layer.tuning.batch = Rewrite::kAuto;
    Network free, bound;
    free.output(free.convolution(free.input("in", r->in.shape), layer), "out");
    layer.bounds = any_bounds(random);
    bound.output(bound.convolution(bound.input("in", r->in.shape), layer), "out");
    return compare_held(free, bound, layer.bounds, r->configuration, r->in);
  });
}

TEST(NetworkBounds, HoldDeconvolutionsGroupsAndProducts) {
  test::for_all(test::share(60), [](Random& random) -> std::string {
    const Shape shape{any(random, 2, 20), any(random, 1, 4), any(random, 1, 4)};
    const ElementBounds bounds = any_bounds(random);
    const auto weights =
        test::random_values<std::int8_t>(shape.channels * std::size_t{64}, random(), -128, 127);
    const std::span<const std::int8_t> kernels(weights);
    const std::uint32_t kind = any(random, 0, 2);
    // More than the kernel, too, where some phases have nothing to take back.
    const std::uint32_t stride = any(random, 1, 5);
    const auto zero_point = static_cast<std::int32_t>(random.pick(-1, 1) * 100);
    std::vector<std::int16_t> numbers;
    Convolution operators;
    any_operators(random, numbers, operators);
    if (zero_point != 0) operators.x1 = operators.x2 = {};
    operators.output.shift += 8;
    const auto add = [&](const ElementBounds& held_to) {
      Network net;
      const Tensor in = net.input("in", shape);
      const auto tell = [&](auto& layer) {
        layer.x1 = operators.x1;
        layer.x2 = operators.x2;
        layer.output = operators.output;
        layer.bounds = held_to;
      };
      if (kind == 0) {
        Deconvolution layer{.name = "up", .kernels = 7, .kernel_height = 3, .kernel_width = 3};
        layer.stride_width = layer.stride_height = stride;
        layer.zero_point = zero_point;
        layer.weights = kernels.first(shape.channels * std::size_t{63});
        tell(layer);
        net.output(net.deconvolution(in, layer), "out");
      } else if (kind == 1) {
        Convolution layer{.name = "dw", .kernels = shape.channels, .groups = shape.channels};
        layer.weights = kernels.first(shape.channels);
        tell(layer);
        net.output(net.convolution(in, layer), "out");
      } else {
        MatrixProduct layer{.name = "product", .columns = 64};
        layer.matrix = kernels;
        tell(layer);
        net.output(net.matrix_product(in, layer), "out");
      }
      return net;
    };
    const Values in = test::random_tensor(shape, Precision::kInt8, random);
    return compare_held(add({}), add(bounds), bounds, test::any_configuration(random), in);
  });
}

// Where the layer has no operators left, what it writes is held in place before it is pooled, and
// where it lies among others.
TEST(NetworkBounds, ComeBeforeWhatFollows) {
  const std::vector<std::int8_t> weights = {70, -90};
  const std::int16_t one[] = {3};
  const auto add = [&](const ElementBounds& bounds) {
    Network net;
    const Tensor in = net.input("in", {1, 8, 8});
    Convolution layer{.name = "conv", .kernels = 2};
    layer.weights = std::span<const std::int8_t>(weights);
    layer.x1 = layer.x2 = scale(one);
    layer.output.shift = 9;
    layer.bounds = bounds;
    const Tensor conv = net.convolution(in, layer);
    const Tensor pooled = net.pooling(conv, {.name = "pool",
                                             .method = NVDLA_POOL_AVERAGE,
                                             .kernel_height = 2,
                                             .kernel_width = 2,
                                             .stride_height = 2,
                                             .stride_width = 2});
    const Tensor padded = net.pad(pooled, {.name = "pad", .top = 1, .bottom = 2});
    net.output(padded, "out");
    return net;
  };
  test::Random random(3);
  const Values in = test::random_tensor({1, 8, 8}, Precision::kInt8, random);
  for (const char* configuration : {"nv_small", "nv_full"}) {
    Network net = add({-30, 40});
    Request request = net.build(Device::open(std::string("model:") + configuration));
    test::write(request, "in", in);
    request.run();
    const Values found = test::read(request, "out");
    for (std::size_t i = 0; i < found.data.size(); ++i) {
      const std::size_t k = i / (7 * 4), y = i / 4 % 7, x = i % 4;
      std::int64_t sum = 0;
      for (std::size_t at = 0; y >= 1 && y < 5 && at < 4; ++at) {
        const std::int64_t element =
            in.data[(2 * (y - 1) + at / 2) * 8 + 2 * x + at % 2] * weights[k] * 9;
        sum += std::clamp<std::int64_t>(test::round_shift(element, 9), -30, 40);
      }
      // The hardware's average: by 1/2 twice, halves away from zero.
      const std::int64_t half = test::round_shift(sum, 1);
      EXPECT_EQ(found.data[i], test::round_shift(half, 1)) << configuration << ' ' << i;
    }
  }
}

// A cube of one position whose surfaces lie apart: of a batch that is worked on at once, and what a
// deconvolution leaves of more.
TEST(NetworkBounds, OfOnePositionWithGaps) {
  Random random(7);
  const auto weights = test::random_values<std::int8_t>(70 * 70, random(), -128, 127);
  const std::int16_t one[] = {3};
  const ElementBounds bounds = {-20, 35};
  const auto add = [&](bool batch, const ElementBounds& held_to) {
    Network net;
    const Tensor in = net.input("in", {70, 1, 1, batch ? 3U : 1U});
    const auto tell = [&](auto& layer) {
      layer.kernels = 70;
      layer.weights = std::span<const std::int8_t>(weights);
      layer.x1 = layer.x2 = scale(one);
      layer.output.shift = 12;
      layer.bounds = held_to;
    };
    if (batch) {
      Convolution layer{.name = "conv"};
      tell(layer);
      net.output(net.convolution(in, layer), "out");
    } else {
      Deconvolution layer{.name = "up"};
      layer.stride_width = layer.stride_height = 2;
      tell(layer);
      net.output(net.deconvolution(in, layer), "out");
    }
    return net;
  };
  for (const bool batch : {true, false}) {
    const Values in = test::random_tensor({70, 1, 1, batch ? 3U : 1U}, Precision::kInt8, random);
    for (const char* configuration : {"nv_small", "nv_full", "nv_large"})
      EXPECT_EQ(compare_held(add(batch, {}), add(batch, bounds), bounds, configuration, in), "")
          << configuration << batch;
  }
}

std::vector<std::string> layers_of(const Network& net, const char* device) {
  const Request request = net.build(Device::open(device));
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < request.network().layers(); ++i)
    names.emplace_back(request.network().layer_name(i));
  return names;
}

// With scales: one operator, or two.
Network quantized(bool two, const Bounds& bounds, const Quantization& output) {
  const std::vector<std::int8_t> weights(4, 99);
  const float scale = two ? 0.0123F : 1 / 64.0F;
  Network net;
  const Tensor in = net.input("in", {4, 2, 2}, {0.25F, 5});
  Convolution layer{.name = "conv"};
  layer.weights = std::span<const std::int8_t>(weights);
  net.output(
      net.convolution(in, layer, {.weights = {&scale, 1}, .output = output, .bounds = bounds}),
      "out");
  return net;
}

TEST(NetworkBounds, TakeAnOperatorWhereOneIsLeft) {
  using Names = std::vector<std::string>;
  const Names one = {"conv"}, two = {"conv", "conv clamp"};
  for (const bool operators : {false, true}) {
    // Saturation does it, or ReLU.
    const Network saturated = quantized(operators, {0, 6}, {6 / 256.0F, -128});
    EXPECT_EQ(layers_of(saturated, "model:nv_small"), one);
    const Network positive = quantized(operators, {.low = 0}, {0.125F, 3});
    EXPECT_EQ(layers_of(positive, "model:nv_small"), one);
    // Of an upper end X2, if it is free, or Y.
    const Network relu6 = quantized(operators, {0, 6}, {0.125F, 3});
    EXPECT_EQ(layers_of(relu6, "model:nv_small"), operators ? two : one);
    EXPECT_EQ(layers_of(relu6, "model:nv_full"), one);
    // Both.
    const Network tanh = quantized(operators, {-1, 1}, {0.125F, 3});
    EXPECT_EQ(layers_of(tanh, "model:nv_small"), two);
    EXPECT_EQ(layers_of(tanh, "model:nv_full"), operators ? two : one);
  }
}

TEST(NetworkBounds, OfQuantisedTensorsAreReal) {
  Network net;
  const Tensor in = net.input("in", {1, 1, 7}, {0.5F, -3});
  const Tensor out = net.clamp(in, {.name = "relu6", .bounds = {0, 6}});
  EXPECT_EQ(net.quantization(out), (Quantization{0.5F, -3}));
  net.output(out, "out");
  EXPECT_EQ(layers_of(net, "model:nv_small"), std::vector<std::string>{"relu6"});
  Request request = net.build(Device::open("model:nv_small"));
  request.write("in", Layout::kNchw,
                std::vector<float>{-60.0F, -0.5F, 0.0F, 0.5F, 6.0F, 6.5F, 60.0F});
  request.run();
  std::vector<float> found(7);
  request.read("out", Layout::kNchw, found);
  EXPECT_EQ(found, (std::vector<float>{0.0F, 0.0F, 0.0F, 0.5F, 6.0F, 6.0F, 6.0F}));
}

TEST(NetworkBounds, BadOnesAreNamedExactly) {
  Network net;
  const Tensor in = net.input("in", {4, 1, 1});
  const auto refused = [](const std::string& text, const auto& add) {
    expect_error(ErrorCode::kInvalidArgument, "layer 0 'p': " + text, add);
  };
  refused("bounds 5..4: the least is at most the greatest", [&] {
    net.pointwise(in, {.name = "p", .bounds = {5, 4}});
  });
  refused("bounds 6..0: right are two numbers", [&] {
    net.clamp(in, {.name = "p", .bounds = {6, 0}});
  });
  const Tensor half = net.input("half", {4, 1, 1}, Precision::kFp16);
  refused("bounds 0..6 are of integers, the result is fp16", [&] {
    net.pointwise(half, {.name = "p", .bounds = {0, 6}});
  });
  refused("input is fp16: quantised layers are of int8", [&] { net.clamp(half, {.name = "p"}); });
  const std::vector<std::int8_t> weights(4);
  Convolution conv;
  conv.weights = std::span<const std::int8_t>(weights);
  conv.bounds.least = 0;
  refused("no comparison behind a convolution with bounds",
          [&] { net.compare(in, conv, {.name = "p"}); });
  const float one = 1;
  conv.name = "p";
  refused("output converter, bounds, accumulator_shift", [&] {
    net.convolution(in, conv, {.weights = {&one, 1}});
  });
  EXPECT_EQ(net.layers(), 0U);
  const Tensor unknown = net.pointwise(in, {.name = "unknown"});
  expect_error(ErrorCode::kInvalidArgument, "layer 1 'c': the quantisation of the input is not",
               [&] { net.clamp(unknown, {.name = "c"}); });
}

}  // namespace
}  // namespace nvdla
