// SPDX-License-Identifier: MIT
//
// Tensors side by side: where nothing has to be moved nothing is, and elements are where they
// belong.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "nvdla/network.hpp"
#include "support/random.hpp"
#include "support/runtime/expect_error.hpp"
#include "support/runtime/reference.hpp"

namespace nvdla {
namespace {

constexpr std::int16_t kOne[] = {1};

// x + 1, saturated: so every part differs from what it is made of.
Tensor plus_one(Network& net, Tensor tensor, const std::string& name) {
  Pointwise p{.name = name};
  p.x1 = nvdla::bias(kOne);
  return net.pointwise(tensor, p);
}

// Of fp16: the other sign.
Tensor minus(Network& net, Tensor tensor, const std::string& name) {
  constexpr float kMinusOne[] = {-1};
  Pointwise p{.name = name};
  p.x1.mul = NVDLA_MUL_MUL;
  p.x1.mul_reals = kMinusOne;
  return net.pointwise(tensor, p);
}

struct Cube {
  Shape shape;
  std::vector<int> data;  // CHW

  int& at(std::uint32_t c, std::uint32_t y, std::uint32_t x) {
    return data[(std::size_t{c} * shape.height + y) * shape.width + x];
  }
};

Cube zeros(const Shape& shape) { return {shape, std::vector<int>(shape.elements())}; }

Cube concatenated(std::vector<Cube> parts, Axis axis) {
  Shape shape = parts[0].shape;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (axis == Axis::kChannels) shape.channels += parts[i].shape.channels;
    if (axis == Axis::kHeight) shape.height += parts[i].shape.height;
    if (axis == Axis::kWidth) shape.width += parts[i].shape.width;
  }
  Cube out = zeros(shape);
  std::uint32_t c0 = 0, y0 = 0, x0 = 0;
  for (Cube& part : parts) {
    for (std::uint32_t c = 0; c < part.shape.channels; ++c)
      for (std::uint32_t y = 0; y < part.shape.height; ++y)
        for (std::uint32_t x = 0; x < part.shape.width; ++x)
          out.at(c0 + c, y0 + y, x0 + x) = part.at(c, y, x);
    if (axis == Axis::kChannels) c0 += part.shape.channels;
    if (axis == Axis::kHeight) y0 += part.shape.height;
    if (axis == Axis::kWidth) x0 += part.shape.width;
  }
  return out;
}

// Bits of fp16.
template <typename T>
constexpr bool kIsHalf = std::is_same_v<T, std::uint16_t>;

// A network and what its tensors hold, worked out beside it.
template <typename T>
class Pair {
 public:
  Tensor input(const Shape& shape, test::Random& random) {
    constexpr Precision precision = sizeof(T) == 1 ? Precision::kInt8
                                    : kIsHalf<T>   ? Precision::kFp16
                                                   : Precision::kInt16;
    Cube cube = zeros(shape);
    for (int& value : cube.data) {
      value = static_cast<int>(kIsHalf<T> ? random.pick(0, 1) * 0x8000 + random.pick(0, 0x7bff)
                                          : random.pick(-100, 100));
    }
    const std::string name = "in" + std::to_string(inputs_.size());
    inputs_.push_back(cube);
    return add(net.input(name, shape, precision), cube);
  }
  Tensor more(Tensor tensor) {
    Cube cube = of(tensor);
    if (kIsHalf<T>) {
      for (int& value : cube.data) value ^= 0x8000;
      return add(minus(net, tensor, new_name()), cube);
    }
    for (int& value : cube.data) value = std::min<int>(value + 1, std::numeric_limits<T>::max());
    return add(plus_one(net, tensor, new_name()), cube);
  }
  Tensor join(const std::vector<Tensor>& parts, Axis axis) {
    std::vector<Cube> cubes;
    for (const Tensor& part : parts) cubes.push_back(of(part));
    const std::string name = new_name();
    return add(net.concatenate(parts, {.name = name, .axis = axis}), concatenated(cubes, axis));
  }
  void output(Tensor tensor) {
    net.output(tensor, "out" + std::to_string(outputs_.size()));
    outputs_.push_back(of(tensor));
  }
  void expect_right(const std::string& device, const std::string& what) const {
    Session session = net.build(Device::open(device));
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const std::vector<T> values(inputs_[i].data.begin(), inputs_[i].data.end());
      session.write("in" + std::to_string(i), Layout::kNchw, std::span<const T>(values));
    }
    session.run();
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      std::vector<T> values(outputs_[i].data.size());
      session.read("out" + std::to_string(i), Layout::kNchw, std::span(values));
      const std::vector<int> got(values.begin(), values.end());
      ASSERT_EQ(got, outputs_[i].data) << what << ", output " << i << " on " << device;
    }
  }

  Network net;

 private:
  std::string new_name() { return "layer" + std::to_string(names_++); }
  const Cube& of(Tensor tensor) const {
    return std::find_if(cubes_.begin(), cubes_.end(),
                        [&](const auto& known) { return known.first == tensor; })
        ->second;
  }
  Tensor add(Tensor tensor, const Cube& cube) {
    cubes_.emplace_back(tensor, cube);
    return tensor;
  }

  std::vector<std::pair<Tensor, Cube>> cubes_;
  std::vector<Cube> inputs_, outputs_;
  unsigned names_ = 0;
};

std::vector<std::string> names(const Session& session) {
  std::vector<std::string> list;
  for (std::uint32_t i = 0; i < session.layers(); ++i) list.emplace_back(session.layer_name(i));
  return list;
}

using Names = std::vector<std::string>;

TEST(Concatenation, NothingIsMovedWherePartsFillAtoms) {
  test::Random random(1);
  Pair<std::int8_t> pair;
  const Tensor in = pair.input({64, 5, 7}, random);
  const Tensor joined = pair.join({pair.more(in), pair.more(in)}, Axis::kChannels);
  pair.output(pair.more(joined));
  for (const char* device : {"model:nv_small", "model:nv_full"}) {
    EXPECT_EQ(names(pair.net.build(Device::open(device))), (Names{"layer0", "layer1", "layer3"}));
    pair.expect_right(device, "two of 64 channels");
  }
}

TEST(Concatenation, ALayerThatReadsItWaitsForAllParts) {
  test::Random random(2);
  Pair<std::int8_t> pair;
  const Tensor in = pair.input({32, 6, 6}, random);
  std::vector<Tensor> parts;
  for (int i = 0; i < 12; ++i) parts.push_back(pair.more(in));
  pair.output(pair.more(pair.join(parts, Axis::kChannels)));
  pair.expect_right("model:nv_full", "twelve parts, more than a layer can wait for");
}

TEST(Concatenation, ChannelsInsideOfAtomsAreGathered) {
  test::Random random(3);
  for (const auto& [a, b, c] : {std::tuple{3U, 7U, 1U}, {13U, 40U, 33U}, {48U, 16U, 5U}}) {
    Pair<std::int8_t> pair;
    const Tensor x = pair.input({a, 4, 5}, random), y = pair.input({b, 4, 5}, random),
                 z = pair.input({c, 4, 5}, random);
    pair.output(pair.join({x, pair.more(y), pair.more(z)}, Axis::kChannels));
    EXPECT_EQ(names(pair.net.build(Device::open("model:nv_full"))).back(), "layer2 gather");
    for (const char* device : {"model:nv_full", "model:nv_small"})
      pair.expect_right(device, std::to_string(a) + " " + std::to_string(b));
  }
}

TEST(Concatenation, WhatCannotLieThereIsCopied) {
  test::Random random(4);
  Pair<std::int8_t> pair;
  const Tensor in = pair.input({32, 3, 3}, random);
  const Tensor one = pair.more(in);
  pair.output(one);
  // An input, an output, and twice the same.
  pair.output(pair.join({in, one, one}, Axis::kChannels));
  EXPECT_EQ(names(pair.net.build(Device::open("model:nv_full"))),
            (Names{"layer0", "layer1 part 1/3", "layer1 part 2/3", "layer1 part 3/3"}));
  pair.expect_right("model:nv_full", "copies");
}

// As dense blocks grow: each is a part of the next.
TEST(Concatenation, OfConcatenations) {
  test::Random random(5);
  Pair<std::int8_t> pair;
  Tensor all = pair.more(pair.input({32, 5, 5}, random));
  for (int i = 0; i < 5; ++i) all = pair.join({all, pair.more(all)}, Axis::kChannels);
  pair.output(pair.more(all));
  const Session session = pair.net.build(Device::open("model:nv_full"));
  EXPECT_EQ(session.layers(), 7u);
  pair.expect_right("model:nv_full", "a dense block");
}

template <typename T>
void expect_random(const std::string& device, std::uint64_t seed) {
  test::Random random(seed);
  Pair<T> pair;
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
                                                   .stride_y = 2,
                                                   .stride_x = 2});
  };
  const Tensor in = together.input("in", {32, 8, 8});
  const std::vector<Tensor> parts = {branch(together, in, "a"), branch(together, in, "b")};
  together.output(together.concatenate(parts, {.name = "both"}), "out");
  apart.output(branch(apart, apart.input("in", {32, 8, 8}), "a"), "out");

  const auto pixels = test::random_values<std::int8_t>(32 * 64, 8, -128, 127);
  const auto run = [&](const Network& net) {
    Session session = net.build(Device::open("model:nv_full"));
    session.write("in", Layout::kNchw, pixels);
    session.run();
    std::vector<std::int8_t> out(session.desc("out").shape.elements());
    session.read("out", Layout::kNchw, out);
    return out;
  };
  const std::vector<std::int8_t> one = run(apart);
  std::vector<std::int8_t> both = one;
  both.insert(both.end(), one.begin(), one.end());
  EXPECT_EQ(run(together), both);
  EXPECT_EQ(names(together.build(Device::open("model:nv_full"))), (Names{"a+a pool", "b+b pool"}));
}

TEST(Concatenation, BatchesAreCopied) {
  Network net;
  const Tensor in = net.input("in", {32, 2, 3, 4});
  const std::vector<Tensor> parts = {plus_one(net, in, "a"), in};
  net.output(net.concatenate(parts, {.name = "both"}), "out");
  Session session = net.build(Device::open("model:nv_full"));
  const auto values = test::random_values<std::int8_t>(32 * 6 * 4, 9, -100, 100);
  session.write("in", Layout::kNchw, values);
  session.run();
  std::vector<std::int8_t> out(values.size() * 2);
  session.read("out", Layout::kNchw, out);
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
  Pair<std::uint16_t> pair;
  const Tensor a = pair.input({24, 4, 5}, random), b = pair.input({9, 4, 5}, random);
  pair.output(pair.join({a, pair.more(b), b}, Axis::kChannels));
  EXPECT_EQ(names(pair.net.build(Device::open("model:nv_full"))),
            (Names{"layer0", "layer1 part 1/3", "layer1 part 2/3", "layer1 part 3/3",
                   "layer1 gather planes 1/3", "layer1 gather planes 2/3",
                   "layer1 gather planes 3/3", "layer1 gather"}));
  pair.expect_right("model:nv_full", "fp16");
}

}  // namespace
}  // namespace nvdla
