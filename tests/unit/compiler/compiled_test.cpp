// SPDX-License-Identifier: MIT
//
// What the compiler makes does not change by accident: hashes of programs, constants and loadables,
// and the texts of refusals, were recorded in compiled/. Who changes them on purpose records them
// anew (support/recorded.hpp) and gives the reason with the change.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/configurations.hpp"
#include "common/random.hpp"
#include "common/recorded.hpp"
#include "common/runtime/compiled_hash.hpp"
#include "common/runtime/random_graph.hpp"

namespace nvdla {
namespace {

constexpr const char* kFolder = "tests/unit/compiler/compiled/";

std::string configuration_of(std::uint32_t seed) {
  return test::kConfigurations[seed % test::kConfigurations.size()];
}

// A line for each ten graphs, whose hashes are hashed again.
TEST(Compiled, RandomGraphs) {
  constexpr std::uint32_t kGraphs = 2000, kGraphsInALine = 10;
  std::string text;
  for (std::uint32_t first = 0; first < kGraphs; first += kGraphsInALine) {
    test::Hash hash;
    for (std::uint32_t seed = first; seed < first + kGraphsInALine; ++seed) {
      test::Random random(seed);
      const std::string configuration = configuration_of(seed);
      const test::RandomGraph graph(random, configuration_info(configuration));
      hash.add(test::compiled_text(graph.network(), configuration));
    }
    text += std::to_string(first) + " " + hash.text() + "\n";
  }
  test::expect_recorded(std::string(kFolder) + "random_graphs.txt", text);
}

template <typename T>
T one_of(test::Random& random, const std::vector<T>& values) {
  return values[static_cast<std::size_t>(
      random.pick(0, static_cast<std::int64_t>(values.size()) - 1))];
}

std::uint32_t any(test::Random& random, std::int64_t low, std::int64_t high) {
  return static_cast<std::uint32_t>(random.pick(low, high));
}

// A convolution in any of its forms, many of which are refused.
std::string convolution_text(std::uint32_t seed) {
  test::Random random(seed);
  const std::string configuration = configuration_of(seed);
  const bool only_int8 = !configuration_info(configuration).has_int16 && !one_in(random, 20);
  const auto precision =
      only_int8
          ? Precision::kInt8
          : one_of<Precision>(random, {Precision::kInt8, Precision::kInt16, Precision::kFp16});
  const Shape shape = {any(random, 1, 70), any(random, 1, one_in(random, 10) ? 9000 : 40),
                       any(random, 1, 40)};
  Convolution layer{.name = "conv", .kernels = any(random, 1, 40)};
  if (one_in(random, 5)) layer.groups = one_of<std::uint32_t>(random, {2, 3, shape.channels});
  if (layer.groups == shape.channels) layer.kernels = shape.channels;
  const auto size = one_in(random, 30) ? 33 : one_of<std::uint32_t>(random, {1, 1, 3, 3, 3, 5, 7});
  layer.kernel_height = layer.kernel_width = size;
  layer.stride_height = layer.stride_width =
      one_in(random, 30) ? 9 : one_of<std::uint32_t>(random, {1, 1, 1, 2, 4});
  if (one_in(random, 6)) layer.dilation_height = layer.dilation_width = any(random, 2, 33);
  layer.pad_top = layer.pad_bottom = layer.pad_left = layer.pad_right =
      one_in(random, 12) ? any(random, 0, 40) : size / 2;
  layer.pad_value = one_in(random, 4) ? static_cast<std::int32_t>(random.pick(-200, 200)) : 0;
  layer.relu = one_in(random, 3);
  Rewrite& rewrite = one_in(random, 2) ? layer.tuning.folding : layer.tuning.winograd;
  rewrite = one_in(random, 6) ? Rewrite::kAlways : Rewrite::kAuto;
  layer.arithmetic.winograd_truncate = one_in(random, 8) ? any(random, 0, 3) : 0;
  layer.arithmetic.accumulator_shift = one_in(random, 8) ? any(random, 0, 20) : 0;
  layer.arithmetic.nan_to_zero = precision == Precision::kFp16 && one_in(random, 4);
  if (precision != Precision::kFp16) {
    layer.output = {.offset = static_cast<std::int32_t>(random.pick(-100, 100)),
                    .scale = static_cast<std::int16_t>(random.pick(1, 99)),
                    .shift = any(random, 0, one_in(random, 8) ? 70 : 20)};
  }
  if (one_in(random, 10))
    layer.precision =
        one_of<Precision>(random, {Precision::kInt8, Precision::kInt16, Precision::kFp16});
  const std::size_t elements =
      std::size_t{layer.kernels} * (shape.channels / std::max(layer.groups, 1U)) * size * size;
  std::vector<std::int8_t> bytes(elements);
  std::vector<std::int16_t> words(elements);
  std::vector<float> floats(elements);
  for (std::size_t i = 0; i < elements; ++i) {
    bytes[i] = static_cast<std::int8_t>(random.pick(-127, 127));
    words[i] = static_cast<std::int16_t>(bytes[i] * 100);
    floats[i] = static_cast<float>(bytes[i]) / 64;
  }
  if (precision == Precision::kInt8) layer.weights = std::span<const std::int8_t>(bytes);
  if (precision == Precision::kInt16) layer.weights = std::span<const std::int16_t>(words);
  if (precision == Precision::kFp16) layer.weights = std::span<const float>(floats);
  std::vector<std::int32_t> bias(layer.kernels);
  for (std::int32_t& b : bias) b = static_cast<std::int32_t>(random.pick(-3000, 3000));
  const std::vector<float> reals(bias.begin(), bias.end());
  if (one_in(random, 2)) {
    if (precision == Precision::kFp16)
      layer.bias_reals = reals;
    else
      layer.bias = bias;
  }
  const auto pool = one_of<std::uint32_t>(random, {0, 0, 0, 2, 3});
  const std::string text = test::text_or_error([&] {
    Network network;
    Tensor tensor = one_in(random, 6)
                        ? network.image("in", {.format = one_of<nvdla_pixel_format>(
                                                   random, {NVDLA_PIXEL_R8, NVDLA_PIXEL_A8R8G8B8,
                                                            NVDLA_PIXEL_Y8_U8V8_N444}),
                                               .width = shape.width,
                                               .height = shape.height})
                        : network.input("in", shape, precision);
    tensor = network.convolution(tensor, layer);
    if (pool != 0) {
      const auto stride = one_of<std::uint32_t>(random, {1, 1, 1, 2, 2, 2, 3, 17});
      tensor = network.pooling(tensor, {.name = "pool",
                                        .method = NVDLA_POOL_MAX,
                                        .kernel_height = pool,
                                        .kernel_width = pool,
                                        .stride_height = stride,
                                        .stride_width = stride});
    }
    network.output(tensor, "out");
    return test::compiled_text(network, configuration);
  });
  return std::to_string(seed) + " " + configuration + " " + text + "\n";
}

// Each has a line; about half of them are refusals.
TEST(Compiled, RandomConvolutions) {
  std::string text;
  for (std::uint32_t seed = 0; seed < 800; ++seed) text += convolution_text(seed);
  test::expect_recorded(std::string(kFolder) + "convolutions.txt", text);
}

}  // namespace
}  // namespace nvdla
