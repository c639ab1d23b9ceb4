// SPDX-License-Identifier: MIT
//
// Networks layer by layer, whatever their layers share: what is in memory then is what a run
// leaves.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "nvdla/network.hpp"
#include "nvdla/operators/tensor_handle.hpp"

namespace nvdla {
namespace {

// From "in", whose bytes are some, to "out".
void expect_same(const Network& net, const std::string& device, std::uint32_t least) {
  SCOPED_TRACE(device);
  Request request = net.build(Device::open(device));
  EXPECT_GE(request.network().layers(), least);
  {
    const Map map = request.buffer("in").map(MapMode::kWrite);
    for (std::size_t i = 0; i < map.size(); ++i) map.bytes()[i] = static_cast<std::byte>(i * 37);
  }
  std::vector<std::byte> last;
  std::uint64_t offset = 0;
  const auto found = request.compare_layers(Device::open(device), [&](const LayerTensor& tensor) {
    if (tensor.name != "output 'out'") return;
    last.assign(tensor.bytes.begin(), tensor.bytes.end());
    offset = tensor.offset;
  });
  EXPECT_FALSE(found) << describe(*found);
  ASSERT_FALSE(last.empty());
  request.run();
  const Map map = request.buffer("out").map(MapMode::kRead);
  const auto rest = map.bytes().subspan(static_cast<std::size_t>(offset));
  EXPECT_TRUE(std::equal(rest.begin(), rest.end(), last.begin(), last.end()));
}

std::vector<std::int8_t> sparse(std::size_t count, std::size_t step) {
  std::vector<std::int8_t> weights(count);
  for (std::size_t i = 0; i < count; i += step)
    weights[i] = static_cast<std::int8_t>(i / step % 5 + 1);
  return weights;
}

Convolution convolution(const std::vector<std::int8_t>& weights, std::uint32_t kernels) {
  Convolution layer{.name = "conv", .kernels = kernels, .kernel_height = 3, .kernel_width = 3};
  layer.weights = weights;
  layer.output = {.shift = 6};
  return layer;
}

TEST(NetworkLayers, CompressedWeights) {
  Network net;
  const auto weights = sparse(64 * 64 * 9, 7);
  net.output(net.convolution(net.input("in", {64, 10, 10}), convolution(weights, 64)), "out");
  expect_same(net, "model:nv_full", 1);
}

TEST(NetworkLayers, BandsWithLinesThatStay) {
  Network net;
  const auto weights = sparse(16 * 32 * 9, 1);
  net.output(net.convolution(net.input("in", {32, 60, 200}), convolution(weights, 16)), "out");
  expect_same(net, "model:nv_small", 3);
}

TEST(NetworkLayers, SomeKernelsAtATime) {
  Network net;
  const auto weights = sparse(300 * 512 * 9, 1);
  net.output(net.convolution(net.input("in", {512, 4, 4}), convolution(weights, 300)), "out");
  expect_same(net, "model:nv_small", 4);
}

TEST(NetworkLayers, BatchesWithWeightsThatStay) {
  Network net;
  const auto weights = sparse(32 * 32 * 9, 1);
  net.output(net.convolution(net.input("in", {32, 7, 7, 5}), convolution(weights, 32)), "out");
  expect_same(net, "model:nv_small", 5);
}

TEST(NetworkLayers, DeconvolutionsInPhases) {
  Network net;
  const auto weights = sparse(8 * 8 * 16, 1);
  Deconvolution up;
  up.name = "up";
  up.kernels = 8;
  up.kernel_height = up.kernel_width = 4;
  up.stride_height = up.stride_width = 2;
  up.weights = weights;
  up.output = {.shift = 4};
  net.output(net.deconvolution(net.input("in", {8, 9, 9}), up), "out");
  for (const char* device : {"model:nv_full", "model:nv_small"}) expect_same(net, device, 5);
}

TEST(NetworkLayers, CopiesAndPlanes) {
  Network net;
  const Tensor copy = net.copy(net.input("in", {40, 9, 9, 3}), "copy");
  net.output(net.merge(net.split(copy, "split"), "merge"), "out");
  expect_same(net, "model:nv_full", 7);
}

TEST(NetworkLayers, PoolingInBands) {
  Network net;
  const Pooling pool{
      .name = "pool", .kernel_height = 3, .kernel_width = 3, .stride_height = 2, .stride_width = 2};
  net.output(net.pooling(net.input("in", {8, 31, 701}), pool), "out");
  for (const char* device : {"model:nv_full", "model:nv_small"}) expect_same(net, device, 1);
}

}  // namespace
}  // namespace nvdla
