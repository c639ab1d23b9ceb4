// SPDX-License-Identifier: MIT
//
// Slices, paddings and reshapes: where nothing has to be moved nothing is, and elements are where
// they belong.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "common/runtime/expect_error.hpp"
#include "common/runtime/random_layers.hpp"
#include "common/runtime/tensor_pair.hpp"
#include "nvdla/types/half.hpp"

namespace nvdla {
namespace {

using test::any;
using test::Cube3;
using test::expect_error;
using test::layer_names;
using test::Random;
using test::TensorPair;
using Names = std::vector<std::string>;

std::uint32_t size_of(const Shape& shape, Axis axis) {
  return axis == Axis::kChannels ? shape.channels
         : axis == Axis::kHeight ? shape.height
                                 : shape.width;
}

Cube3 sliced(const Cube3& in, const Slice& s) {
  Shape shape = in.shape;
  std::uint32_t c0 = 0, y0 = 0, x0 = 0;
  (s.axis == Axis::kChannels ? shape.channels
   : s.axis == Axis::kHeight ? shape.height
                             : shape.width) = s.size;
  (s.axis == Axis::kChannels ? c0 : s.axis == Axis::kHeight ? y0 : x0) = s.start;
  Cube3 out(shape);
  for (std::uint32_t c = 0; c < shape.channels; ++c)
    for (std::uint32_t y = 0; y < shape.height; ++y)
      for (std::uint32_t x = 0; x < shape.width; ++x)
        out.at(c, y, x) = in.at(c0 + c, y0 + y, x0 + x);
  return out;
}

Cube3 padded(const Cube3& in, const Padding& p, int value) {
  Shape shape = in.shape;
  shape.height += p.top + p.bottom;
  shape.width += p.left + p.right;
  Cube3 out(shape);
  for (int& element : out.data) element = value;
  for (std::uint32_t c = 0; c < in.shape.channels; ++c)
    for (std::uint32_t y = 0; y < in.shape.height; ++y)
      for (std::uint32_t x = 0; x < in.shape.width; ++x)
        out.at(c, p.top + y, p.left + x) = in.at(c, y, x);
  return out;
}

template <typename T>
Tensor slice(TensorPair<T>& pair, Tensor in, Slice s) {
  const std::string name = pair.new_name();
  s.name = name;
  return pair.add(pair.net.slice(in, s), sliced(pair.of(in), s));
}

template <typename T>
Tensor pad(TensorPair<T>& pair, Tensor in, Padding p) {
  const std::string name = pair.new_name();
  p.name = name;
  const int value =
      test::kIsHalf<T> ? to_half(static_cast<float>(p.value)) : static_cast<int>(p.value);
  return pair.add(pair.net.pad(in, p), padded(pair.of(in), p, value));
}

template <typename T>
Tensor reshape(TensorPair<T>& pair, Tensor in, Reshape r) {
  const std::string name = pair.new_name();
  r.name = name;
  Cube3 out = pair.of(in);
  out.shape = {r.channels, r.height, r.width};
  return pair.add(pair.net.reshape(in, r), out);
}

TEST(Slices, AreReadWhereTheyAre) {
  Random random(1);
  TensorPair<std::int8_t> pair;
  const Tensor in = pair.more(pair.input({96, 6, 7}, random));
  for (const Slice& s : {Slice{"", Axis::kChannels, 32, 40}, Slice{"", Axis::kHeight, 1, 4},
                         Slice{"", Axis::kWidth, 2, 3}}) {
    pair.output(pair.more(slice(pair, in, s)));
  }
  // Of an input, and of a slice.
  const Tensor half = slice(pair, pair.input({64, 5, 5}, random), {"", Axis::kChannels, 32, 32});
  pair.output(pair.more(slice(pair, half, {"", Axis::kWidth, 1, 2})));
  for (const char* device : {"model:nv_full", "model:nv_small"}) {
    EXPECT_EQ(pair.net.build(Device::open(device)).network().layers(), 5u) << device;
    pair.expect_right(device, "views");
  }
}

TEST(Slices, ThatCannotBeReadThereAreCopied) {
  Random random(2);
  TensorPair<std::int8_t> pair;
  const Tensor in = pair.input({96, 6, 7}, random);
  pair.output(slice(pair, in, {"", Axis::kHeight, 1, 4}));
  const Tensor column = slice(pair, in, {"", Axis::kWidth, 3, 1});
  pair.output(pair.more(slice(pair, column, {"", Axis::kHeight, 2, 1})));
  EXPECT_EQ(layer_names(pair.net.build(Device::open("model:nv_full"))),
            (Names{"layer0", "layer2 surface 1/3", "layer2 surface 2/3", "layer2 surface 3/3",
                   "layer3"}));
  pair.expect_right("model:nv_full", "copies");
  pair.expect_right("model:nv_small", "copies");
}

TEST(Slices, OfChannelsInsideOfAtomsAreGathered) {
  Random random(3);
  TensorPair<std::int8_t> pair;
  const Tensor in = pair.input({100, 3, 4}, random);
  pair.output(pair.more(slice(pair, in, {"", Axis::kChannels, 37, 50})));
  EXPECT_EQ(layer_names(pair.net.build(Device::open("model:nv_full"))),
            (Names{"layer0", "layer1"}));
  for (const char* device : {"model:nv_full", "model:nv_small"})
    pair.expect_right(device, "gathered");
  TensorPair<std::uint16_t> half;
  half.output(slice(half, half.input({50, 3, 4}, random), {"", Axis::kChannels, 21, 20}));
  EXPECT_EQ(layer_names(half.net.build(Device::open("model:nv_full"))),
            (Names{"layer0 planes 1/1", "layer0"}));
  half.expect_right("model:nv_full", "planes");
}

TEST(Slices, OfBatchesAreReadWhereTheyAre) {
  Network net;
  const Shape shape{96, 2, 3, 4};
  const Tensor in = net.input("in", shape);
  const Tensor part = net.slice(in, {.name = "part", .start = 32, .size = 32});
  net.output(test::plus_one(net, part, "out"), "out");
  Request request = net.build(Device::open("model:nv_full"));
  EXPECT_EQ(request.network().layers(), 4u);
  std::vector<std::int8_t> values(shape.elements()), out(shape.elements() / 3);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int8_t>(i % 101);
  request.write("in", Layout::kNchw, values);
  request.run();
  request.read("out", Layout::kNchw, out);
  constexpr std::size_t kPart = 32 * 6;
  for (std::size_t i = 0; i < out.size(); ++i)
    ASSERT_EQ(out[i], values[i / kPart * 3 * kPart + kPart + i % kPart] + 1) << i;
}

TEST(Paddings, AreWrittenAroundWhatIsMadeInside) {
  Random random(4);
  TensorPair<std::int8_t> pair;
  const Tensor in = pair.more(pair.input({40, 4, 5}, random));
  pair.output(pair.more(pad(pair, in, {"", 1, 2, 3, 1, -7})));
  EXPECT_EQ(layer_names(pair.net.build(Device::open("model:nv_full"))),
            (Names{"layer0", "layer1 border 1/4", "layer1 border 2/4", "layer1 border 3/4",
                   "layer1 border 4/4", "layer2"}));
  for (const char* device : {"model:nv_full", "model:nv_small"})
    pair.expect_right(device, "inside");
  // What the application writes is copied.
  TensorPair<std::int8_t> copied;
  copied.output(pad(copied, copied.input({40, 4, 5}, random), {"", 0, 0, 0, 2, 9}));
  EXPECT_EQ(layer_names(copied.net.build(Device::open("model:nv_full"))),
            (Names{"layer0 border 1/1", "layer0"}));
  copied.expect_right("model:nv_full", "copied");
}

TEST(Reshapes, KeepChannelsOrMakeOnePosition) {
  Random random(5);
  for (const char* device : {"model:nv_full", "model:nv_small"}) {
    TensorPair<std::int8_t> pair;
    const Tensor in = pair.more(pair.input({40, 4, 6}, random));
    pair.output(pair.more(reshape(pair, in, {"", 40, 3, 8})));
    pair.output(pair.more(reshape(pair, in, {"", 40, 1, 24})));
    pair.output(reshape(pair, in, {"", 960, 1, 1}));
    pair.expect_right(device, "reshapes");
  }
  TensorPair<std::int16_t> wide;
  wide.output(reshape(wide, wide.input({21, 3, 5}, random), {"", 315, 1, 1}));
  wide.expect_right("model:nv_full", "int16");
}

// Channels that stay are copied. Planes of whole lines are put one behind the other by Rubik. What
// becomes one position of integers is a convolution. The CPU has the rest.
TEST(Reshapes, MoveNothingOnTheCpuThatTheDeviceCan) {
  const auto on_cpu = [](const std::string& device, Precision precision, const Shape& from,
                         const Shape& to) {
    Network net;
    net.output(
        net.reshape(
            net.input("in", from, precision),
            {.name = "shape", .channels = to.channels, .height = to.height, .width = to.width}),
        "out");
    const CompiledNetwork compiled = net.compile(Device::open("model:" + device));
    return compiled.layer_on_cpu(compiled.layers() - 1);
  };
  constexpr Precision kInt8 = Precision::kInt8, kFp16 = Precision::kFp16;
  EXPECT_FALSE(on_cpu("nv_small", kInt8, {40, 4, 6}, {40, 3, 8}));
  EXPECT_FALSE(on_cpu("nv_small", kInt8, {40, 4, 6}, {960, 1, 1}));
  EXPECT_TRUE(on_cpu("nv_small", kInt8, {16, 8, 16}, {8, 16, 16}));
  EXPECT_FALSE(on_cpu("nv_full", kInt8, {16, 8, 16}, {8, 16, 16}));
  EXPECT_FALSE(on_cpu("nv_full", kFp16, {16, 8, 12}, {24, 2, 32}));
  EXPECT_TRUE(on_cpu("nv_full", kInt8, {20, 4, 6}, {10, 8, 6}));
  EXPECT_TRUE(on_cpu("nv_full", kFp16, {4, 4, 4}, {64, 1, 1}));
  EXPECT_TRUE(on_cpu("nv_full", kInt8, {64, 1, 1}, {4, 4, 4}));
  EXPECT_TRUE(on_cpu("nv_full", kInt8, {4, 1, 40}, {160, 1, 1}));
}

TEST(Reshapes, ByPlanesAreTwoLayers) {
  Random random(6);
  TensorPair<std::int8_t> pair;
  const Tensor in = pair.more(pair.input({40, 8, 8}, random));
  pair.output(pair.more(reshape(pair, in, {"", 20, 8, 16})));
  // Lines of a slice lie apart.
  const Tensor part =
      slice(pair, pair.more(pair.input({20, 3, 80}, random)), {"", Axis::kWidth, 5, 64});
  pair.output(reshape(pair, part, {"", 30, 1, 128}));
  EXPECT_EQ(
      layer_names(pair.net.build(Device::open("model:nv_full"))),
      (Names{"layer0", "layer1 planes", "layer1", "layer2", "layer3", "layer5 planes", "layer5"}));
  for (const char* device : {"model:nv_full", "model:nv_small"})
    pair.expect_right(device, "planes");
}

template <typename T>
void expect_reshaped(const std::string& device, std::uint64_t seed) {
  Random random(seed);
  TensorPair<T> pair;
  // Half of them have planes of whole lines.
  const std::uint32_t step = random.pick(0, 1) == 0 ? 1 : 8;
  const Shape from{step * any(random, 1, 9), step * any(random, 1, 6), step * any(random, 1, 6)};
  Shape to = from;
  for (std::uint32_t turns = any(random, 1, 3); turns > 0; --turns) {
    // Some of one side go to another.
    std::uint32_t Shape::*const sides[] = {&Shape::channels, &Shape::height, &Shape::width};
    const auto give = sides[any(random, 0, 2)], take = sides[any(random, 0, 2)];
    std::uint32_t factor = any(random, 1, to.*give);
    while (to.*give % factor != 0) --factor;
    to.*give /= factor;
    to.*take *= factor;
  }
  Tensor in = pair.input(from, random);
  if (random.pick(0, 1) == 0) in = pair.more(in);
  Tensor made = reshape(pair, in, {"", to.channels, to.height, to.width});
  if (random.pick(0, 1) == 0) made = pair.more(made);
  pair.output(made);
  pair.expect_right(device, "seed " + std::to_string(seed));
}

TEST(Reshapes, AnyShapeOfAsManyElements) {
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    expect_reshaped<std::int8_t>(seed % 2 == 0 ? "model:nv_small" : "model:nv_full", seed);
    if (seed % 3 == 0) expect_reshaped<std::int16_t>("model:nv_full", seed);
    if (seed % 3 == 1) expect_reshaped<std::uint16_t>("model:nv_full", seed);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(Reshapes, OfBatchesKeepEachCube) {
  for (const Shape& to : {Shape{8, 16, 16, 3}, Shape{64, 4, 8, 3}, Shape{32, 8, 8, 3}}) {
    Network net;
    const Tensor in = net.input("in", {32, 4, 16, 3});
    net.output(
        net.reshape(
            in, {.name = "shape", .channels = to.channels, .height = to.height, .width = to.width}),
        "out");
    std::vector<std::int8_t> values(to.elements()), out(to.elements());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int8_t>(i % 101);
    for (const char* device : {"model:nv_full", "model:nv_small"}) {
      Request request = net.build(Device::open(device));
      request.write("in", Layout::kNchw, values);
      request.run();
      request.read("out", Layout::kNchw, out);
      EXPECT_EQ(out, values) << device << " " << to.channels;
    }
  }
}

template <typename T>
void expect_upsampled(const std::string& device, std::uint64_t seed) {
  Random random(seed);
  TensorPair<T> pair;
  const Shape shape{any(random, 1, 70), any(random, 1, 5), any(random, 1, 5)};
  const std::uint32_t sy = any(random, 1, 4), sx = any(random, 1, 4);
  const Tensor in = pair.more(pair.input(shape, random));
  Cube3 out({shape.channels, shape.height * sy, shape.width * sx});
  for (std::uint32_t c = 0; c < shape.channels; ++c)
    for (std::uint32_t y = 0; y < out.shape.height; ++y)
      for (std::uint32_t x = 0; x < out.shape.width; ++x)
        out.at(c, y, x) = pair.of(in).at(c, y / sy, x / sx);
  pair.output(pair.more(
      pair.add(pair.net.upsample(in, {.name = "up", .scale_height = sy, .scale_width = sx}), out)));
  pair.expect_right(device, "seed " + std::to_string(seed));
}

TEST(Upsamplings, RepeatEachElement) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    expect_upsampled<std::int8_t>(seed % 2 == 0 ? "model:nv_small" : "model:nv_full", seed);
    if (seed % 3 == 0) expect_upsampled<std::int16_t>("model:nv_full", seed);
    if (seed % 3 == 1) expect_upsampled<std::uint16_t>("model:nv_full", seed);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

// Rubik makes wider lines of blocks; without it columns are copied.
TEST(Upsamplings, TakeAsManyLayersAsThereAreBlocksAndLines) {
  Network net;
  net.output(net.upsample(net.input("in", {32, 3, 4}), {.name = "up"}), "out");
  EXPECT_EQ(layer_names(net.build(Device::open("model:nv_full"))),
            (Names{"up block 1/2", "up block 2/2", "up lines 1/2", "up lines 2/2"}));
  EXPECT_EQ(net.build(Device::open("model:nv_small")).network().layers(), 16u);
}

TEST(Upsamplings, BadOnesAreNamedExactly) {
  Network net;
  const Tensor in = net.input("in", {4, 300, 4});
  const auto refused = [&](const std::string& text, const Upsampling& u) {
    expect_error(ErrorCode::kInvalidArgument, "layer 0 'up': " + text,
                 [&] { net.upsample(in, u); });
  };
  refused("scale_height 0 is not in 1..32", {.name = "up", .scale_height = 0});
  refused("scale_width 33 is not in 1..32", {.name = "up", .scale_width = 33});
  refused("output height 9600 is not in 1..8192", {.name = "up", .scale_height = 32});
}

template <typename T>
void expect_random(const std::string& device, std::uint64_t seed) {
  Random random(seed);
  TensorPair<T> pair;
  std::vector<Tensor> tensors = {
      pair.input({any(random, 1, 90), any(random, 1, 7), any(random, 1, 7)}, random)};
  for (std::uint32_t count = any(random, 2, 6); count > 0; --count) {
    const Tensor from = tensors[any(random, 0, static_cast<std::uint32_t>(tensors.size() - 1))];
    const Shape shape = pair.of(from).shape;
    const std::uint32_t what = any(random, 0, 4);
    Tensor made;
    if (what == 0) {
      made = pair.more(from);
    } else if (what == 1) {
      made = pad(pair, from,
                 {"", any(random, 0, 2), any(random, 0, 2), any(random, 0, 2), any(random, 0, 2),
                  static_cast<double>(random.pick(-9, 9))});
    } else if (what == 2) {
      made = pair.join({from, pair.more(from), from}, static_cast<Axis>(random.pick(0, 2)));
    } else {
      const auto axis = static_cast<Axis>(random.pick(0, 2));
      const std::uint32_t all = size_of(shape, axis);
      // Half of those along channels begin with an atom.
      std::uint32_t start = any(random, 0, all - 1);
      if (random.pick(0, 1) == 0) start = start / 32 * 32;
      made = slice(pair, from, {"", axis, start, any(random, 1, all - start)});
    }
    tensors.push_back(made);
  }
  for (std::size_t i = 1; i < tensors.size(); ++i)
    if (i + 1 == tensors.size() || random.pick(0, 2) == 0)
      pair.output(random.pick(0, 1) != 0 ? pair.more(tensors[i]) : tensors[i]);
  pair.expect_right(device, "seed " + std::to_string(seed));
}

TEST(Slices, RandomOnesWithPaddingsAndConcatenationsEqualTheReference) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    expect_random<std::int8_t>(seed % 2 == 0 ? "model:nv_small" : "model:nv_full", seed);
    if (seed % 3 == 0) expect_random<std::int16_t>("model:nv_full", seed);
    if (seed % 3 == 1) expect_random<std::uint16_t>("model:nv_full", seed);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

// What only moves or averages elements changes nothing of what they stand for.
TEST(Slices, StandForWhatTheirInputDoes) {
  Network net;
  const Tensor in = net.input("in", {40, 4, 6}, Quantization{.scale = 0.25F, .zero_point = 7});
  for (const Tensor& tensor :
       {net.slice(in, {.start = 3, .size = 5}), net.pad(in, {.top = 1}),
        net.reshape(in, {.channels = 40, .height = 3, .width = 8}),
        net.reshape(in, {.channels = 960}), net.upsample(in, {}), net.average(in, {})}) {
    ASSERT_TRUE(net.quantization(tensor));
    EXPECT_EQ(net.quantization(tensor)->scale, 0.25F);
    EXPECT_EQ(net.quantization(tensor)->zero_point, 7);
  }
}

TEST(BadSlices, AreNamedExactly) {
  Network net;
  const Tensor in = net.input("in", {40, 4, 6}),
               half = net.input("half", {4, 4, 4}, Precision::kFp16);
  const auto refused = [&](const std::string& text, const auto& add) {
    expect_error(ErrorCode::kInvalidArgument, "layer 0 's': " + text, add);
  };
  const auto slice = [&](const Slice& s) { return [&net, in, s] { net.slice(in, s); }; };
  refused("channels 32..41 (size 9) are not within the 40 that the input has",
          slice({"s", Axis::kChannels, 32, 9}));
  refused("height 0..0 (size 0) are not within the 4 that the input has",
          slice({"s", Axis::kHeight, 0, 0}));
  refused("width 6..7 (size 1) are not within the 6 that the input has",
          slice({"s", Axis::kWidth, 6, 1}));
  refused("width 1..4294967296 (size 4294967295) are not within the 6 that the input has",
          slice({"s", Axis::kWidth, 1, ~0U}));
  refused("axis 7 is none of channels (0), height (1), width (2)",
          slice({"s", static_cast<Axis>(7), 0, 1}));
  const auto pad = [&](Tensor tensor, const Padding& p) {
    return [&net, tensor, p] { net.pad(tensor, p); };
  };
  refused("padding 8193 is not in 0..8192", pad(in, {"s", 8193}));
  refused("height with padding 8196 is not in 1..8192", pad(in, {"s", 8192}));
  refused("value 0.5 is no integer, the tensor is int8", pad(in, {"s", 1, 0, 0, 0, 0.5}));
  refused("value 128 is not in -128..127", pad(in, {"s", 1, 0, 0, 0, 128}));
  refused("value inf is not finite",
          pad(half, {"s", 1, 0, 0, 0, std::numeric_limits<double>::infinity()}));
  const auto reshape = [&](Tensor tensor, const Reshape& r) {
    return [&net, tensor, r] { net.reshape(tensor, r); };
  };
  refused("40x4x5 (CHW) are not as many elements as the 40x4x6 of the input",
          reshape(in, {"s", 40, 4, 5}));
  refused("channels 0 is not in 1..8192", reshape(in, {"s", 0, 4, 6}));
  refused("height 8200 is not in 1..8192", reshape(in, {"s", 1, 8200, 1}));
  refused("input: the tensor handle is empty", [&] { net.slice(Tensor(), {.name = "s"}); });
  EXPECT_EQ(net.layers(), 0u);
}

}  // namespace
}  // namespace nvdla
