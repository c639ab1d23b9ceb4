// SPDX-License-Identifier: MIT
//
// Products with constant matrices, of any size that there is, against plain numbers.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "common/random.hpp"
#include "common/runtime/expect_error.hpp"
#include "common/runtime/reference.hpp"
#include "nvdla/network.hpp"
#include "nvdla/operators/tensor_handle.hpp"
#include "nvdla/types/precision.hpp"
#include "nvdla/types/shape.hpp"

namespace nvdla {
namespace {

using test::expect_error;
using test::random_values;

struct Case {
  const char* configuration;
  Shape shape;
  std::uint32_t outputs;
};

// Random numbers take longer than the product that they are for: some are repeated, in a period
// that divides no row.
std::vector<std::int8_t> random_weights(std::size_t count) {
  constexpr std::size_t kPeriod = 10007;
  const auto some = random_values<std::int8_t>(std::min(count, kPeriod), 1, -128, 127);
  std::vector<std::int8_t> weights(count);
  for (std::size_t i = 0; i < count; ++i) weights[i] = some[i % kPeriod];
  return weights;
}

// Sums of rows of weights, with what follows. Returns the name of the last layer.
template <typename Out>
std::string expect_right(const Case& c, Precision precision) {
  const std::size_t each = c.shape.elements();
  const auto weights = random_weights(each * c.outputs);
  const auto bias = random_values<std::int32_t>(c.outputs, 2, -90000, 90000);
  const auto x = random_values<std::int8_t>(each, 3, -128, 127);
  FullyConnected layer{.name = "fc", .outputs = c.outputs};
  layer.weights = weights;
  layer.bias = bias;
  layer.relu = true;
  layer.output = {.offset = 5, .scale = 3, .shift = 15};
  layer.precision = precision;
  Network net;
  const Tensor out = net.fully_connected(net.input("in", c.shape), layer);
  EXPECT_EQ(net.shape(out), (Shape{c.outputs, 1, 1}));
  net.output(out, "out");
  Request request = net.build(Device::open(std::string("model:") + c.configuration));
  request.write("in", Layout::kNchw, x);
  request.run();
  std::vector<Out> found(c.outputs), expected;
  request.read("out", Layout::kNchw, found);
  for (std::size_t k = 0; k < c.outputs; ++k) {
    std::int64_t sum = bias[k];
    for (std::size_t i = 0; i < each; ++i) sum += x[i] * weights[k * each + i];
    if (sum < 0) sum = 0;
    expected.push_back(
        static_cast<Out>(test::saturate(test::round_shift((sum - 5) * 3, 15), 8 * sizeof(Out))));
  }
  EXPECT_EQ(found, expected) << c.configuration;
  return std::string(request.network().layer_name(request.network().layers() - 1));
}

TEST(FullyConnectedLayers, EqualTheReference) {
  for (const Case& c : {Case{"nv_small", {10, 3, 5}, 7}, Case{"nv_full", {64, 7, 7}, 100},
                        Case{"nv_large", {8192, 1, 1}, 40}, Case{"nv_full", {3, 32, 32}, 65}}) {
    expect_right<std::int8_t>(c, Precision::kInt8);
  }
}

// As the largest of networks: a row is many thousand elements, and few of them fit at a time.
TEST(FullyConnectedLayers, OfMoreInputsThanThereAreChannels) {
  expect_right<std::int8_t>({"nv_full", {512, 7, 7}, 100}, Precision::kInt8);
  expect_right<std::int8_t>({"nv_small", {512, 7, 7}, 50}, Precision::kInt8);
  expect_right<std::int8_t>({"nv_small", {2400, 5, 5}, 11}, Precision::kInt8);
  expect_right<std::int16_t>({"nv_full", {512, 7, 7}, 70}, Precision::kInt16);
}

// So few at a time that their atoms are more channels than there can be.
TEST(FullyConnectedLayers, OfSoManyPartsThatTheyAreGatheredInSeveral) {
  const std::string last =
      expect_right<std::int8_t>({"nv_small", {2400, 5, 5}, 1030}, Precision::kInt8);
  EXPECT_EQ(last.substr(0, 13), "fc gather 2/2");
}

TEST(MatrixProducts, EqualTheReference) {
  constexpr std::uint32_t kRows = 20, kInner = 37, kColumns = 45;
  const auto matrix = random_values<std::int8_t>(kInner * kColumns, 1, -128, 127);
  MatrixProduct product{.name = "product", .columns = kColumns};
  product.matrix = matrix;
  product.output = {.scale = 1, .shift = 9};
  Network net;
  // Rows along the width, their elements along the channels.
  net.output(net.matrix_product(net.input("in", {kInner, 1, kRows}), product), "out");
  EXPECT_EQ(net.macs(), std::uint64_t{kRows} * kInner * kColumns);
  const auto x = random_values<std::int8_t>(kRows * kInner, 2, -128, 127);
  for (const char* device : {"model:nv_full", "model:nv_small"}) {
    Request request = net.build(Device::open(device));
    request.write("in", Layout::kNhwc, x);
    request.run();
    std::vector<std::int8_t> found(kRows * kColumns), expected;
    request.read("out", Layout::kNhwc, found);
    for (std::size_t r = 0; r < kRows; ++r) {
      for (std::size_t c = 0; c < kColumns; ++c) {
        std::int32_t sum = 0;
        for (std::size_t i = 0; i < kInner; ++i)
          sum += x[r * kInner + i] * matrix[i * kColumns + c];
        expected.push_back(test::convert(sum, 0, 1, 9));
      }
    }
    EXPECT_EQ(found, expected) << device;
  }
}

TEST(BadProducts, AreNamedExactly) {
  Network net;
  const Tensor in = net.input("in", {8, 3, 4}), wide = net.input("wide", {8, 33, 4});
  const std::vector<std::int8_t> weights(96);
  const auto refused = [&](const std::string& text, const auto& add) {
    expect_error(ErrorCode::kInvalidArgument, "layer 0 'p': " + text, add);
  };
  FullyConnected layer{.name = "p", .outputs = 2};
  layer.weights = weights;
  refused("96 weights given, 2 outputs of 8x3x4 elements (CHW) take 192",
          [&] { net.fully_connected(in, layer); });
  refused("an input of 33x4 positions: at most 32x32, let a pooling make them fewer",
          [&] { net.fully_connected(wide, layer); });
  refused("outputs 0 is not in 1..8192", [&] {
    layer.outputs = 0;
    net.fully_connected(in, layer);
  });
  MatrixProduct product{.name = "p", .columns = 5};
  product.matrix = weights;
  refused("96 elements given, a matrix of 8 rows, as the input has channels, and 5 columns has 40",
          [&] { net.matrix_product(in, product); });
  refused("columns 8193 is not in 1..8192", [&] {
    product.columns = 8193;
    net.matrix_product(in, product);
  });
  refused("input: the tensor handle is empty", [&] { net.matrix_product(Tensor(), product); });
  EXPECT_EQ(net.layers(), 0u);
}

}  // namespace
}  // namespace nvdla
