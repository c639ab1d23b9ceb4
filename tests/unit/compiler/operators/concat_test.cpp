// SPDX-License-Identifier: MIT
//
// Tensors side by side: where nothing has to be moved nothing is, and elements are where they
// belong.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "common/runtime/expect_error.hpp"
#include "common/runtime/reference.hpp"
#include "common/runtime/tensor_pair.hpp"
#include "nvdla/network.hpp"
#include "nvdla/operators/tensor_handle.hpp"
#include "nvdla/types/precision.hpp"
#include "nvdla/types/shape.hpp"

namespace nvdla {
namespace {

using test::expect_error;
using test::layer_names;
using test::plus_one;
using test::TensorPair;
using Names = std::vector<std::string>;

TEST(Concatenation, NothingIsMovedWherePartsFillAtoms) {
  test::Random random(1);
  TensorPair<std::int8_t> pair;
  const Tensor in = pair.input({64, 5, 7}, random);
  const Tensor joined = pair.join({pair.more(in), pair.more(in)}, Axis::kChannels);
  pair.output(pair.more(joined));
  for (const char* device : {"model:nv_small", "model:nv_full"}) {
    EXPECT_EQ(layer_names(pair.net.build(Device::open(device))),
              (Names{"layer0", "layer1", "layer3"}));
    pair.expect_right(device, "two of 64 channels");
  }
}

TEST(Concatenation, ALayerThatReadsItWaitsForAllParts) {
  test::Random random(2);
  TensorPair<std::int8_t> pair;
  const Tensor in = pair.input({32, 6, 6}, random);
  std::vector<Tensor> parts;
  for (int i = 0; i < 12; ++i) parts.push_back(pair.more(in));
  pair.output(pair.more(pair.join(parts, Axis::kChannels)));
  pair.expect_right("model:nv_full", "twelve parts, more than a layer can wait for");
}

TEST(Concatenation, ChannelsInsideOfAtomsAreGathered) {
  test::Random random(3);
  for (const auto& [a, b, c] : {std::tuple{3U, 7U, 1U}, {13U, 40U, 33U}, {48U, 16U, 5U}}) {
    TensorPair<std::int8_t> pair;
    const Tensor x = pair.input({a, 4, 5}, random), y = pair.input({b, 4, 5}, random),
                 z = pair.input({c, 4, 5}, random);
    pair.output(pair.join({x, pair.more(y), pair.more(z)}, Axis::kChannels));
    EXPECT_EQ(layer_names(pair.net.build(Device::open("model:nv_full"))).back(), "layer2 gather");
    for (const char* device : {"model:nv_full", "model:nv_small"})
      pair.expect_right(device, std::to_string(a) + " " + std::to_string(b));
  }
}

TEST(Concatenation, WhatCannotLieThereIsCopied) {
  test::Random random(4);
  TensorPair<std::int8_t> pair;
  const Tensor in = pair.input({32, 3, 3}, random);
  const Tensor one = pair.more(in);
  pair.output(one);
  // An input, an output, and twice the same.
  pair.output(pair.join({in, one, one}, Axis::kChannels));
  EXPECT_EQ(layer_names(pair.net.build(Device::open("model:nv_full"))),
            (Names{"layer0", "layer1 part 1/3", "layer1 part 2/3", "layer1 part 3/3"}));
  pair.expect_right("model:nv_full", "copies");
}

// As dense blocks grow: each is a part of the next.
TEST(Concatenation, OfConcatenations) {
  test::Random random(5);
  TensorPair<std::int8_t> pair;
  Tensor all = pair.more(pair.input({32, 5, 5}, random));
  for (int i = 0; i < 5; ++i) all = pair.join({all, pair.more(all)}, Axis::kChannels);
  pair.output(pair.more(all));
  const Request request = pair.net.build(Device::open("model:nv_full"));
  EXPECT_EQ(request.network().layers(), 7u);
  pair.expect_right("model:nv_full", "a dense block");
}

template <typename T>
void expect_random(const std::string& device, std::uint64_t seed) {
  test::Random random(seed);
  TensorPair<T> pair;
  const auto axis = static_cast<Axis>(random.pick(0, 2));
  Shape shape{static_cast<std::uint32_t>(random.pick(1, 70)),
              static_cast<std::uint32_t>(random.pick(1, 6)),
              static_cast<std::uint32_t>(random.pick(1, 6))};
  std::vector<Tensor> parts;
  for (std::int64_t count = random.pick(2, 5); count > 0; --count) {
    const auto size = static_cast<std::uint32_t>(random.pick(1, axis == Axis::kChannels ? 70 : 6));
    (axis == Axis::kChannels ? shape.channels
     : axis == Axis::kHeight ? shape.height
                             : shape.width) = size;
    Tensor part = pair.input(shape, random);
    if (random.pick(0, 3) != 0) part = pair.more(part);
    parts.push_back(part);
  }
  if (random.pick(0, 3) == 0) parts.push_back(parts[0]);
  Tensor joined = pair.join(parts, axis);
  if (random.pick(0, 1) != 0) {
    // Another one around it.
    joined = pair.join({joined, pair.more(joined)}, static_cast<Axis>(random.pick(0, 2)));
  }
  pair.output(random.pick(0, 1) != 0 ? pair.more(joined) : joined);
  if (random.pick(0, 3) == 0) pair.output(pair.more(parts[1]));
  pair.expect_right(device, "seed " + std::to_string(seed));
}

TEST(Concatenation, RandomOnesEqualTheReference) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    expect_random<std::int8_t>(seed % 2 == 0 ? "model:nv_small" : "model:nv_full", seed);
    if (seed % 3 == 0) expect_random<std::int16_t>("model:nv_full", seed);
    if (seed % 3 == 1) expect_random<std::uint16_t>("model:nv_full", seed);
    if (HasFatalFailure()) return;
  }
}

// Behind convolutions with poolings on the fly, whose own tensors are nowhere.
TEST(Concatenation, OfPooledConvolutions) {
  Network together, apart;
  const std::vector<std::int8_t> weights = test::random_values<std::int8_t>(32 * 32, 7, -9, 9);
  const auto branch = [&](Network& net, Tensor in, const std::string& name) {
    Convolution conv{.name = name, .kernels = 32};
    conv.weights = weights;
    conv.output = {.scale = 1, .shift = 5};
    return net.pooling(net.convolution(in, conv), {.name = name + " pool",
                                                   .method = NVDLA_POOL_MAX,
                                                   .kernel_height = 2,
                                                   .kernel_width = 2,
                                                   .stride_height = 2,
                                                   .stride_width = 2});
  };
  const Tensor in = together.input("in", {32, 8, 8});
  const std::vector<Tensor> parts = {branch(together, in, "a"), branch(together, in, "b")};
  together.output(together.concatenate(parts, {.name = "both"}), "out");
  apart.output(branch(apart, apart.input("in", {32, 8, 8}), "a"), "out");

  const auto pixels = test::random_values<std::int8_t>(32 * 64, 8, -128, 127);
  const auto run = [&](const Network& net) {
    Request request = net.build(Device::open("model:nv_full"));
    request.write("in", Layout::kNchw, pixels);
    request.run();
    std::vector<std::int8_t> out(request.network().desc("out").shape.elements());
    request.read("out", Layout::kNchw, out);
    return out;
  };
  const std::vector<std::int8_t> one = run(apart);
  std::vector<std::int8_t> both = one;
  both.insert(both.end(), one.begin(), one.end());
  EXPECT_EQ(run(together), both);
  EXPECT_EQ(layer_names(together.build(Device::open("model:nv_full"))),
            (Names{"a+a pool", "b+b pool"}));
}

TEST(Concatenation, BatchesAreCopied) {
  Network net;
  const Tensor in = net.input("in", {32, 2, 3, 4});
  const std::vector<Tensor> parts = {plus_one(net, in, "a"), in};
  net.output(net.concatenate(parts, {.name = "both"}), "out");
  Request request = net.build(Device::open("model:nv_full"));
  const auto values = test::random_values<std::int8_t>(32 * 6 * 4, 9, -100, 100);
  request.write("in", Layout::kNchw, values);
  request.run();
  std::vector<std::int8_t> out(values.size() * 2);
  request.read("out", Layout::kNchw, out);
  constexpr std::size_t kCube = 32 * 6;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t cube = i / kCube, element = i % kCube;
    ASSERT_EQ(out[2 * cube * kCube + element], values[i] + 1);
    ASSERT_EQ(out[(2 * cube + 1) * kCube + element], values[i]);
  }
}

TEST(BadConcatenation, IsNamedExactly) {
  Network net;
  const Tensor a = net.input("a", {8, 4, 4}), b = net.input("b", {8, 4, 5}),
               c = net.input("c", {8, 4, 4}, Precision::kInt16), d = net.input("d", {8192, 4, 4});
  const auto refused = [&](const std::vector<Tensor>& parts, const Concatenation& how,
                           const std::string& text) {
    expect_error(ErrorCode::kInvalidArgument, "layer 0 'cat': " + text,
                 [&] { net.concatenate(parts, how); });
  };
  refused({a}, {.name = "cat"}, "1 parts: a concatenation takes two or more");
  refused({a, b}, {.name = "cat"},
          "part 1: width 5 differs from that of part 0, 4: parts differ in channels only");
  refused({a, b}, {.name = "cat", .axis = Axis::kHeight},
          "part 1: width 5 differs from that of part 0, 4: parts differ in height only");
  refused({a, c}, {.name = "cat"},
          "part 1: its precision is int16, that of part 0 is int8: convert one of them");
  refused({a, Tensor()}, {.name = "cat"}, "part 1: the tensor handle is empty");
  refused({a, d}, {.name = "cat"}, "channels 8200 is not in 1..8192");
  refused({a, a}, {.name = "cat", .axis = static_cast<Axis>(3)},
          "axis 3 is none of channels (0), height (1), width (2)");
  EXPECT_EQ(net.layers(), 0u);
}

// Planes of channels, each made of the part that it is in, and a cube of those.
TEST(Concatenation, InFp16ChannelsInsideOfAtomsKeepTheirBits) {
  test::Random random(10);
  TensorPair<std::uint16_t> pair;
  const Tensor a = pair.input({24, 4, 5}, random), b = pair.input({9, 4, 5}, random);
  pair.output(pair.join({a, pair.more(b), b}, Axis::kChannels));
  EXPECT_EQ(layer_names(pair.net.build(Device::open("model:nv_full"))),
            (Names{"layer0", "layer1 part 1/3", "layer1 part 2/3", "layer1 part 3/3",
                   "layer1 gather planes 1/3", "layer1 gather planes 2/3",
                   "layer1 gather planes 3/3", "layer1 gather"}));
  pair.expect_right("model:nv_full", "fp16");
}

}  // namespace
}  // namespace nvdla
