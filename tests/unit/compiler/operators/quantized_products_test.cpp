// SPDX-License-Identifier: MIT
//
// Quantised fully connected layers, products with constant matrices, deconvolutions and grouped
// convolutions. What the model makes of them is what their operators say, and that is the real
// number, rounded.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "common/property.hpp"
#include "common/runtime/deconvolution_reference.hpp"
#include "common/runtime/expect_error.hpp"
#include "common/runtime/random_layers.hpp"
#include "common/runtime/rounded.hpp"
#include "common/share.hpp"

namespace nvdla {
namespace {

using test::any;
using test::expect_error;
using test::Random;
using test::Values;

// Kernels with their biases and scales, and what stands for what: results fill the output.
struct Numbers {
  std::vector<std::int8_t> weights;
  std::vector<std::int32_t> bias;
  std::vector<float> scales;
  Quantization input;
  ConvolutionScales asked;
  bool relu = false;

  Numbers(Random& random, std::size_t kernels, std::size_t taps)
      : weights(test::random_values<std::int8_t>(kernels * taps, random(), -127, 127)),
        input(test::random_quantization(random, 0.01)) {
    const double reach = 50 * std::sqrt(static_cast<double>(taps));
    if (test::one_in(random, 2))
      bias = test::random_values<std::int32_t>(kernels, random(), -40 * static_cast<int>(reach),
                                               40 * static_cast<int>(reach));
    Random numbers = random.fork();
    const std::size_t count = test::one_in(random, 3) ? 1 : kernels;
    for (std::size_t k = 0; k < count; ++k)
      scales.push_back(static_cast<float>(numbers.pick(5, 99)) / 3000);
    asked.weights = scales;
    asked.output = test::random_quantization(random, 0.01 * 0.01 * reach);
    relu = test::one_in(random, 2);
    if (test::one_in(random, 2)) {
      asked.bounds.high = 60 * asked.output.scale;
      if (test::one_in(random, 2)) asked.bounds.low = -20 * asked.output.scale;
    }
  }

  ConvolutionScales known() const {
    ConvolutionScales scales_and_input = asked;
    scales_and_input.input = input;
    return scales_and_input;
  }

  template <typename Layer>
  void tell(Layer& layer) const {
    layer.bias = bias;
    layer.relu = relu;
  }

  // Of a kernel whose elements, less the input's zero point, times their weights are `sum`.
  bool right(const QuantizedOperators& fitted, std::size_t kernel, std::int64_t sum,
             std::int32_t found) const {
    if (!bias.empty()) sum += bias[kernel];
    const long double factor = static_cast<long double>(input.scale) *
                               scales[scales.size() == 1 ? 0 : kernel] / asked.output.scale;
    long double real = static_cast<long double>(sum) * factor;
    if (relu) real = std::max(real, 0.0L);
    const ElementBounds bounds = element_bounds(asked.bounds, asked.output);
    return test::is_rounded(found, real, asked.output.zero_point, fitted.error(), bounds.least,
                            bounds.greatest);
  }
};

std::string wrong(std::size_t at, std::int64_t found) {
  return "element " + std::to_string(at) +
         " is not the number nearest to the real one: " + std::to_string(found);
}

// A row of weights for each output, `positions` of them: what fully connected layers and matrix
// products have in common. The element at i of row r is input(r, i), weight(k, i).
template <typename Input, typename Weight>
std::string fill(const Numbers& n, const QuantizedOperators& fitted, std::size_t count,
                 const Input& input, const Weight& weight, std::size_t positions,
                 Values& expected) {
  for (std::size_t k = 0; k < expected.shape.channels; ++k) {
    for (std::size_t p = 0; p < positions; ++p) {
      std::int64_t sum = 0, exact = 0;
      for (std::size_t i = 0; i < count; ++i) {
        sum += std::int64_t{input(p, i)} * weight(k, i);
        exact += std::int64_t{input(p, i) - n.input.zero_point} * weight(k, i);
      }
      const std::int32_t found =
          fitted.result(static_cast<std::uint32_t>(k), static_cast<std::int32_t>(sum));
      const std::size_t at = k * positions + p;
      if (!n.right(fitted, k, exact, found)) return wrong(at, found);
      expected.data[at] = found;
    }
  }
  return {};
}

std::string run_fully_connected(Random& random, const Shape& shape, std::uint32_t outputs,
                                const std::string& configuration) {
  const std::size_t each = shape.elements();
  const Numbers n(random, outputs, each);
  FullyConnected layer{.name = "fc", .outputs = outputs};
  layer.weights = std::span<const std::int8_t>(n.weights);
  n.tell(layer);
  const QuantizedOperators fitted = QuantizedOperators::fit(layer, n.known());
  const Values in = test::random_tensor(shape, Precision::kInt8, random);
  Values expected({outputs, 1, 1}, Precision::kInt8);
  const auto input = [&](std::size_t, std::size_t i) { return in.data[i]; };
  const auto weight = [&](std::size_t k, std::size_t i) { return n.weights[k * each + i]; };
  const std::string text = fill(n, fitted, each, input, weight, 1, expected);
  if (!text.empty()) return text;
  Network net;
  const Tensor out = net.fully_connected(net.input("in", shape, n.input), layer, n.asked);
  net.output(out, "out");
  if (net.quantization(out) != n.asked.output) return "the network forgot what its output is";
  return test::compare(net, configuration, in, expected);
}

TEST(NetworkQuantized, FullyConnectedLayersEqualTheirOperators) {
  test::for_all(test::share(40), [](Random& random) {
    const Shape shape{any(random, 1, 60), any(random, 1, 5), any(random, 1, 5)};
    return run_fully_connected(random, shape, any(random, 1, 50), test::any_configuration(random));
  });
}

// Rows of 25,088 weights, of which few fit at a time: nothing is rounded before the sum is whole.
TEST(NetworkQuantized, OfMoreInputsThanThereAreChannels) {
  Random random(5);
  EXPECT_EQ(run_fully_connected(random, {512, 7, 7}, 40, "nv_small"), "");
  EXPECT_EQ(run_fully_connected(random, {512, 7, 7}, 33, "nv_full"), "");
}

TEST(NetworkQuantized, MatrixProductsEqualTheirOperators) {
  test::for_all(test::share(40), [](Random& random) -> std::string {
    const Shape shape{any(random, 1, 70), any(random, 1, 4), any(random, 1, 9)};
    const std::uint32_t columns = any(random, 1, 50), rows = shape.channels;
    const std::size_t positions = std::size_t{shape.height} * shape.width;
    const Numbers n(random, columns, rows);
    MatrixProduct product{.name = "product", .columns = columns};
    product.matrix = std::span<const std::int8_t>(n.weights);
    n.tell(product);
    const QuantizedOperators fitted = QuantizedOperators::fit(product, n.known());
    const Values in = test::random_tensor(shape, Precision::kInt8, random);
    Values expected({columns, shape.height, shape.width}, Precision::kInt8);
    const auto input = [&](std::size_t p, std::size_t i) { return in.data[i * positions + p]; };
    const auto weight = [&](std::size_t k, std::size_t i) { return n.weights[i * columns + k]; };
    const std::string text = fill(n, fitted, rows, input, weight, positions, expected);
    if (!text.empty()) return text;
    Network net;
    const Tensor out = net.matrix_product(net.input("in", shape, n.input), product, n.asked);
    net.output(out, "out");
    if (net.quantization(out) != n.asked.output) return "the network forgot what its output is";
    return test::compare(net, test::any_configuration(random), in, expected);
  });
}

// The weights that an element of line `y` and column `x` sees, all of them.
std::int64_t weights_of(const DeconvolutionDesc& d, const std::vector<std::int8_t>& weights,
                        std::uint32_t k, std::uint32_t y, std::uint32_t x) {
  std::int64_t sum = 0;
  for (std::size_t c = 0; c < d.input.channels; ++c) {
    for (std::uint32_t r = (y + d.pad_top) % d.stride_height; r < d.weights.kernel_height;
         r += d.stride_height) {
      for (std::uint32_t s = (x + d.pad_left) % d.stride_width; s < d.weights.kernel_width;
           s += d.stride_width) {
        const std::size_t line = (k * d.input.channels + c) * d.weights.kernel_height + r;
        sum += weights[line * d.weights.kernel_width + s];
      }
    }
  }
  return sum;
}

TEST(NetworkQuantized, DeconvolutionsEqualTheirOperators) {
  test::for_all(test::share(80), [](Random& random) -> std::string {
    auto desc = test::random_deconvolution(random);
    if (!desc) test::discard();
    DeconvolutionDesc& d = *desc;
    d.weights.kernels = any(random, 1, 40);
    const std::size_t taps = d.weights.elements() / d.weights.kernels;
    const Numbers n(random, d.weights.kernels, taps);
    Deconvolution layer = test::deconvolution_layer(d);
    layer.weights = std::span<const std::int8_t>(n.weights);
    n.tell(layer);
    const QuantizedOperators fitted = QuantizedOperators::fit(layer, n.known());
    if (fitted.phases() != d.stride_width * d.stride_height) return "another number of phases";

    const auto cube =
        test::random_cube(static_cast<int>(d.input.channels), static_cast<int>(d.input.height),
                          static_cast<int>(d.input.width), random());
    const test::Int32 sums = test::deconvolve(cube, n.weights, d, n.input.zero_point);
    const Shape shape = deconvolution_output(d);
    Values expected(shape, Precision::kInt8);
    for (std::size_t i = 0; i < sums.data.size(); ++i) {
      const auto x = static_cast<std::uint32_t>(i % shape.width);
      const auto y = static_cast<std::uint32_t>(i / shape.width % shape.height);
      const auto k = static_cast<std::uint32_t>(i / shape.width / shape.height);
      const std::int64_t seen = weights_of(d, n.weights, k, y, x) * n.input.zero_point;
      const std::uint32_t phase = y % d.stride_height * d.stride_width + x % d.stride_width;
      expected.data[i] = fitted.result(k, static_cast<std::int32_t>(sums.data[i] + seen), phase);
      if (!n.right(fitted, k, sums.data[i], expected.data[i])) return wrong(i, expected.data[i]);
    }
    Values in(d.input, Precision::kInt8);
    in.data.assign(cube.data.begin(), cube.data.end());
    Network net;
    const Tensor out = net.deconvolution(net.input("in", d.input, n.input), layer, n.asked);
    net.output(out, "out");
    if (net.quantization(out) != n.asked.output) return "the network forgot what its output is";
    return test::with_name(test::describe(d),
                           test::compare(net, test::any_configuration(random), in, expected));
  });
}

// Depthwise ones among them: each kernel has the sums of its own group.
TEST(NetworkQuantized, ConvolutionsOfGroupsEqualTheirOperators) {
  test::for_all(test::share(40), [](Random& random) -> std::string {
    const std::uint32_t groups = any(random, 2, 40), channels = any(random, 1, 3);
    const std::uint32_t kernels = groups * any(random, 1, 2);
    const Shape shape{groups * channels, any(random, 1, 6), any(random, 1, 6)};
    const Numbers n(random, kernels, std::size_t{9} * channels);
    Convolution layer{.name = "dw", .kernels = kernels, .groups = groups};
    layer.kernel_height = layer.kernel_width = 3;
    layer.pad_top = layer.pad_bottom = layer.pad_left = layer.pad_right = 1;
    layer.weights = std::span<const std::int8_t>(n.weights);
    n.tell(layer);
    const QuantizedOperators fitted = QuantizedOperators::fit(layer, n.known());
    const Values in = test::random_tensor(shape, Precision::kInt8, random);
    Values expected({kernels, shape.height, shape.width}, Precision::kInt8);
    const int height = static_cast<int>(shape.height), width = static_cast<int>(shape.width);
    for (std::size_t i = 0; i < expected.data.size(); ++i) {
      const int x = static_cast<int>(i) % width, y = static_cast<int>(i) / width % height;
      const std::size_t k = i / shape.width / shape.height;
      const std::size_t first = k / (kernels / groups) * channels;
      std::int64_t sum = 0, exact = 0;
      for (std::size_t t = 0; t < std::size_t{9} * channels; ++t) {
        const int at_y = y + static_cast<int>(t % 9 / 3) - 1,
                  at_x = x + static_cast<int>(t % 3) - 1;
        const bool inside = at_y >= 0 && at_y < height && at_x >= 0 && at_x < width;
        const std::size_t plane = (first + t / 9) * shape.height * shape.width;
        const std::int64_t element =
            inside ? in.data[plane + static_cast<std::size_t>(at_y * width + at_x)]
                   : n.input.zero_point;
        const std::int64_t weight = n.weights[k * 9 * channels + t];
        sum += element * weight;
        exact += (element - n.input.zero_point) * weight;
      }
      expected.data[i] =
          fitted.result(static_cast<std::uint32_t>(k), static_cast<std::int32_t>(sum));
      if (!n.right(fitted, k, exact, expected.data[i])) return wrong(i, expected.data[i]);
    }
    Network net;
    net.output(net.convolution(net.input("in", shape, n.input), layer, n.asked), "out");
    return test::compare(net, test::any_configuration(random), in, expected);
  });
}

TEST(NetworkQuantized, BadProductsAreNamedExactly) {
  Network net;
  const Tensor in = net.input("in", {.channels = 4, .height = 1, .width = 2}, {0.5F, 3});
  const std::vector<std::int8_t> weights(16, 1);
  const float scale = 0.1F;
  const ConvolutionScales asked = {.weights = {&scale, 1}, .output = {0.5F, 0}};
  const auto refused = [](const std::string& text, const auto& add) {
    expect_error(ErrorCode::kInvalidArgument, "layer 0 'p': " + text, add);
  };
  FullyConnected fc{.name = "p", .outputs = 2};
  fc.weights = std::span<const std::int8_t>(weights);
  const std::vector<std::int32_t> bias = {1, 2, 3};
  fc.bias = bias;
  refused("3 bias values given, 2 kernels need", [&] { net.fully_connected(in, fc, asked); });
  fc.bias = {};
  fc.x2.relu = true;
  refused("x1 and x2 of a quantised layer", [&] { net.fully_connected(in, fc, asked); });
  fc.x2.relu = false;
  fc.outputs = 1;
  refused("16 weights given, 1 outputs of 4x1x2 elements (CHW) take 8",
          [&] { net.fully_connected(in, fc, asked); });
  MatrixProduct product{.name = "p", .columns = 3};
  product.matrix = std::span<const std::int8_t>(weights);
  refused("16 weights cannot be those of 3 kernels",
          [&] { net.matrix_product(in, product, asked); });
  product.columns = 4;
  const float zero = 0;
  refused("kernel 0: weight scale 0: right are positive numbers", [&] {
    net.matrix_product(in, product, {.weights = {&zero, 1}});
  });
  Deconvolution up{.name = "p", .kernels = 2, .kernel_height = 3, .kernel_width = 2};
  up.weights = std::span<const std::int8_t>(weights);
  refused("16 weights cannot be those of 2 kernels of 3x2",
          [&] { net.deconvolution(in, up, asked); });
  up.kernel_height = 1;
  up.zero_point = 3;
  refused("zero_point 3 of a quantised layer is chosen by its scales",
          [&] { net.deconvolution(in, up, asked); });
  up.zero_point = 0;
  up.stride_width = 33;
  refused("stride_width 33 is not in 1..32", [&] { net.deconvolution(in, up, asked); });
  up.stride_width = 2;
  ConvolutionScales known = asked;
  known.input = Quantization{0.5F, 3};
  const QuantizedOperators fitted = QuantizedOperators::fit(up, known);
  expect_error(ErrorCode::kInvalidArgument, "phase 2: there are operators of 2",
               [&] { (void)fitted.result(0, 0, 2); });
  expect_error(ErrorCode::kInvalidArgument, "phase 2: there are operators of 2",
               [&] { (void)fitted.phase(2); });
  Convolution conv;
  expect_error(ErrorCode::kInvalidArgument, "operators of 2 phases: phase() has those of one",
               [&] { fitted.apply(conv); });
  EXPECT_EQ(net.layers(), 0U);
}

}  // namespace
}  // namespace nvdla
