// SPDX-License-Identifier: MIT
//
// Convolutions of several cubes of a batch in one layer: the same numbers as cube by cube, in fewer
// layers, wherever the hardware is able to.
#include <gtest/gtest.h>

#include <string>

#include "common/runtime/expect_error.hpp"
#include "common/runtime/only_program.hpp"
#include "common/runtime/random_layers.hpp"
#include "device/compiled_impl.hpp"
#include "support/handles.hpp"

namespace nvdla {
namespace {

using test::expect_error;
using test::Finish;
using test::KernelHolder;
using test::random_conv;
using test::RefConv;
using test::Values;

constexpr Rewrite kForms[] = {Rewrite::kNever, Rewrite::kAuto, Rewrite::kAlways};

// A convolution of a batch with what follows it, and what it makes of random cubes.
struct Batched {
  RefConv ref;
  Values in, expected;
  KernelHolder kernels;
  Finish finish;
  Convolution layer;

  Batched(const RefConv& conv, const Shape& shape, test::Random& random)
      : ref(conv),
        in(test::random_tensor(shape, conv.processing, random)),
        finish(conv.processing, conv.kernels, conv.weights.size() / conv.kernels, random) {
    layer = test::layer_of(ref, kernels.hold(ref.weights, ref.processing));
    finish.tell(layer);
    Shape out;
    const auto sums = test::accumulate(ref, in, out);
    expected = finish.apply(sums, out, ref.processing, ref.processing);
  }

  Network network(Rewrite form) {
    layer.tuning.batch = form;
    Network net;
    net.output(net.convolution(net.input("in", in.shape, ref.processing), layer), "out");
    return net;
  }
};

RefConv plain(std::uint32_t channels, std::uint32_t kernels, std::uint32_t size,
              test::Random& random, Precision precision = Precision::kInt8) {
  RefConv c;
  c.processing = precision;
  c.channels = channels;
  c.kernels = kernels;
  c.kernel_height = c.kernel_width = size;
  c.weights =
      test::random_kernels(std::size_t{kernels} * channels * size * size, precision, random);
  return c;
}

Request build(const Network& net, const std::string& configuration = "nv_full") {
  return net.build(Device::open("model:" + configuration),
                   {.statistics = true, .disabled_passes = {"interleave"}});
}

// Runs `request` and compares with what `b` expects.
void expect_results(Request& request, const Batched& b) {
  test::write(request, "in", b.in);
  request.run();
  ASSERT_TRUE(test::read(request, "out") == b.expected);
  EXPECT_EQ(request.statistics().size(), request.network().layers());
  std::uint64_t macs = 0;
  for (std::uint32_t i = 0; i < request.network().layers(); ++i) {
    macs += request.network().layer_macs(i);
    EXPECT_GT(request.network().layer_cycles(i), 0U);
  }
  EXPECT_EQ(macs, std::uint64_t{b.ref.weights.size()} * b.expected.shape.height *
                      b.expected.shape.width * b.in.shape.batch);
}

// Several cubes in a layer, all of them where that is predicted to be the fastest.
TEST(NetworkBatch, RandomLayersTakeSeveralCubes) {
  std::uint32_t whole = 0;
  test::Random random(21);
  for (int i = 0; i < 25;) {
    auto r = random_conv(random, false);
    if (!r || r->configuration != "nv_full") continue;
    Shape shape = r->in.shape;
    shape.batch = test::any(random, 2, 6);
    Batched b(r->ref, shape, random);
    for (const Rewrite form : kForms) {
      Request request = build(b.network(form));
      const std::uint32_t layers = request.network().layers();
      if (form == Rewrite::kNever) {
        EXPECT_EQ(layers, shape.batch);
        EXPECT_EQ(request.network().layer_name(0), "conv cube 1/" + std::to_string(shape.batch));
      } else {
        EXPECT_LT(layers, shape.batch);
        whole += layers == 1 ? 1 : 0;
      }
      expect_results(request, b);
      if (::testing::Test::HasFailure()) FAIL() << "layer " << i;
    }
    ++i;
  }
  EXPECT_GT(whole, 25U);
}

// Bands of all cubes, which have lines in common that stay in the buffer; where they cannot be cut,
// as many cubes at a time as fit.
TEST(NetworkBatch, CubesThatDoNotFitTogether) {
  test::Random random(22);
  struct Case {
    std::uint32_t channels, kernels, size, pad, height, width, batch;
    Precision precision;
    const char* second;  // name of a layer
    std::uint32_t layers;
  };
  const Case cases[] = {{64, 5, 3, 1, 40, 51, 5, Precision::kInt8, "conv cubes 4..5/5", 2},
                        {64, 3, 1, 1, 40, 60, 7, Precision::kInt8, "conv cubes 4..6/7", 3},
                        {64, 3, 3, 1, 400, 20, 3, Precision::kInt8, "conv 2/4", 4},
                        {40, 3, 2, 1, 270, 31, 4, Precision::kInt16, "conv 2/10", 10},
                        {32, 1, 3, 0, 400, 20, 2, Precision::kFp16, "conv 2/3", 3}};
  for (const Case& one : cases) {
    RefConv ref = plain(one.channels, one.kernels, one.size, random, one.precision);
    ref.geometry.left = ref.geometry.top = static_cast<int>(one.pad);
    ref.geometry.right = ref.geometry.bottom = static_cast<int>(one.pad);
    Batched b(ref, {one.channels, one.height, one.width, one.batch}, random);
    for (const Rewrite form : kForms) {
      Request request = build(b.network(form));
      if (form == Rewrite::kNever) {
        EXPECT_GT(request.network().layers(), one.layers);
      } else {
        EXPECT_EQ(request.network().layers(), one.layers);
        EXPECT_EQ(request.network().layer_name(1), one.second);
      }
      expect_results(request, b);
      if (HasFailure()) FAIL() << one.channels << " channels";
    }
  }
}

// Operands of elements, which every cube takes, and a folded input.
TEST(NetworkBatch, OperandsOfElements) {
  test::Random random(23);
  for (const std::uint32_t width : {7U, 8U}) {
    Batched b(plain(9, 40, 2, random), {9, 6, width, 3}, random);
    const auto values = test::random_values<std::int16_t>(40 * 5 * (width - 1), 24, -300, 300);
    b.layer.x2 = bias(values);
    b.layer.relu = false;
    std::vector<std::int8_t> results[3];
    for (const Rewrite form : kForms) {
      Request request = build(b.network(form));
      EXPECT_EQ(request.network().layers(), form == Rewrite::kNever ? 3U : 1U);
      test::write(request, "in", b.in);
      request.run();
      auto& found = results[static_cast<int>(form)];
      found.resize(b.expected.data.size());
      request.read("out", Layout::kNchw, found);
      EXPECT_EQ(found, results[0]);
    }
  }
}

TEST(NetworkBatch, FoldedInput) {
  test::Random random(25);
  RefConv ref = plain(3, 20, 4, random);
  ref.geometry.stride_width = 2;
  ref.geometry.left = 3;
  ref.geometry.right = 2;  // (3 + 11 + 2 - 4) / 2
  Batched b(ref, {3, 9, 11, 4}, random);
  b.layer.tuning.folding = Rewrite::kAlways;
  for (const Rewrite form : kForms) {
    Request request = build(b.network(form));
    EXPECT_NE(request.network().desc("in").shape, b.in.shape);
    EXPECT_EQ(request.network().layers(), form == Rewrite::kNever ? 4U : 1U);
    expect_results(request, b);
  }
}

// What other layers read, and a fully connected end: lines lie 64 bytes apart, and so do positions.
TEST(NetworkBatch, LayersAfterEachOther) {
  const auto w1 = test::random_values<std::int8_t>(40 * 5 * 9, 26, -30, 30);
  const auto w2 = test::random_values<std::int8_t>(70 * 40 * 25, 27, -30, 30);
  const auto w3 = test::random_values<std::int8_t>(90 * 70, 28, -60, 60);
  const auto input = test::random_values<std::int8_t>(6 * 5 * 7 * 7, 29, -128, 127);
  std::vector<std::int8_t> results[2];
  for (const bool batch : {false, true}) {
    Network net;
    Convolution c{.name = "one", .kernels = 40, .kernel_height = 3, .kernel_width = 3};
    c.weights = w1;
    c.output = {.scale = 1, .shift = 6};
    c.tuning.batch = batch ? Rewrite::kAlways : Rewrite::kNever;
    const Tensor one = net.convolution(net.input("in", {5, 7, 7, 6}), c);
    const Tensor positive = net.pointwise(one, {.name = "relu", .x1 = relu()});
    const Tensor sum =
        net.pointwise(positive, {.name = "sum", .x1 = elementwise(NVDLA_ALU_SUM, one)});
    c = {.name = "two", .kernels = 70, .kernel_height = 5, .kernel_width = 5};
    c.weights = w2;
    c.output = {.scale = 1, .shift = 8};
    c.tuning.batch = batch ? Rewrite::kAlways : Rewrite::kNever;
    const Tensor two = net.convolution(sum, c);
    c = {.name = "three", .kernels = 90};
    c.weights = w3;
    c.output = {.scale = 1, .shift = 5};
    c.tuning.batch = batch ? Rewrite::kAlways : Rewrite::kNever;
    net.output(two, "two");
    net.output(net.convolution(two, c), "three");
    Request request = build(net);
    EXPECT_EQ(request.network().layers(), batch ? 3U + 2 * 6 : 5U * 6);
    request.write("in", Layout::kNchw, input);
    request.run();
    std::vector<std::int8_t>& found = results[batch];
    found.resize(6 * 70);
    request.read("two", Layout::kNchw, found);
    std::vector<std::int8_t> three(6 * 90);
    request.read("three", Layout::kNchw, three);
    found.insert(found.end(), three.begin(), three.end());
  }
  EXPECT_EQ(results[0], results[1]);
}

// With large kernels less is fetched if the pooling goes through memory, with small ones not.
TEST(NetworkBatch, APoolingFliesWhereThatIsLess) {
  for (const bool large : {false, true}) {
    const std::uint32_t channels = large ? 1024 : 64, size = large ? 4 : 16;
    const auto weights = test::random_values<std::int8_t>(channels * channels, 30, -20, 20);
    const auto in = test::random_values<std::int8_t>(channels * size * size * 4, 31, -128, 127);
    Convolution c{.name = "conv", .kernels = channels};
    c.weights = weights;
    c.output = {.scale = 1, .shift = 9};
    std::vector<std::int8_t> results[2];
    for (const Rewrite form : {Rewrite::kNever, Rewrite::kAuto}) {
      c.tuning.batch = form;
      Network net;
      const Tensor sums = net.convolution(net.input("in", {channels, size, size, 4}), c);
      net.output(net.pooling(sums, {.name = "pool", .kernel_height = 2, .kernel_width = 2}), "out");
      Request request = build(net);
      const bool together = large && form == Rewrite::kAuto;
      EXPECT_EQ(request.network().layers(), together ? 5U : 4U);
      EXPECT_EQ(request.network().layer_name(0), together ? "conv" : "conv+pool cube 1/4");
      request.write("in", Layout::kNchw, in);
      request.run();
      auto& found = results[static_cast<int>(form)];
      found.resize(request.network().desc("out").shape.elements());
      request.read("out", Layout::kNchw, found);
    }
    EXPECT_EQ(results[0], results[1]);
  }
}

// Cubes that come one by one share weights that stay in the buffer, bands of them, too.
TEST(NetworkBatch, CubeByCubeWithWeightsThatStay) {
  test::Random random(32);
  for (const std::string configuration : {"nv_small", "nv_full", "nv_large"}) {
    for (const std::uint32_t height : {6U, 300U}) {
      Batched b(plain(64, 3, 3, random), {64, height, 60, 3}, random);
      Request request = build(b.network(Rewrite::kNever), configuration);
      // Fetched by the first layer alone.
      const auto& layers = test::only_program(request).layers;
      for (std::size_t i = 0; i < layers.size(); ++i) {
        EXPECT_EQ((layers[i].conv.flags & NVDLA_CONV_REUSE_WEIGHTS) != 0, i != 0);
        EXPECT_EQ((layers[i].conv.flags & NVDLA_CONV_KEEP_WEIGHTS) != 0, i + 1 != layers.size());
      }
      EXPECT_EQ(request.network().layer_name(0),
                height == 6
                    ? "conv cube 1/3"
                    : "conv 1/" + std::to_string(request.network().layers() / 3) + " cube 1/3");
      expect_results(request, b);
      if (HasFailure()) FAIL() << configuration << " " << height;
    }
  }
}

// Where it cannot be, cubes come one by one.
class OneByOne : public ::testing::Test {
 protected:
  // Whether it is left alone, and why.
  void expect_apart(const std::string& reason, const std::string& configuration = "nv_full",
                    ErrorCode code = ErrorCode::kInvalidArgument) {
    conv_.tuning.batch = Rewrite::kAuto;
    EXPECT_GE(build(network(), configuration).network().layers(), batch_);
    conv_.tuning.batch = Rewrite::kAlways;
    expect_error(code, "layer 0 'conv': " + reason, [&] { build(network(), configuration); });
  }
  Network network() {
    Network net;
    const Tensor in = net.input("in", {4, height_, width_, batch_});
    if (add_input_) conv_.x1 = elementwise(NVDLA_ALU_SUM, in);
    const Tensor sums = net.convolution(in, conv_);
    if (pointwise_) {
      net.output(net.pointwise(sums, {.name = "relu", .x1 = relu()}), "out");
    } else {
      net.output(sums, "out");
    }
    return net;
  }
  void SetUp() override { conv_.weights = weights_; }

  std::vector<std::int8_t> weights_ = std::vector<std::int8_t>(4 * 4);
  Convolution conv_{.name = "conv", .kernels = 4};
  std::uint32_t height_ = 5, width_ = 6, batch_ = 3;
  bool add_input_ = false, pointwise_ = false;
};

TEST_F(OneByOne, WithoutTheHardware) {
  expect_apart("nv_large has no convolutions of several cubes", "nv_large",
               ErrorCode::kNotAvailable);
}

TEST_F(OneByOne, OneCube) {
  batch_ = 1;
  expect_apart("not several cubes at once: there is one cube");
}

TEST_F(OneByOne, ResultOfAnotherPrecision) {
  conv_.precision = Precision::kInt16;
  expect_apart("not several cubes at once: the result has another precision than the layer works");
}

TEST_F(OneByOne, TensorAsOperand) {
  add_input_ = true;
  expect_apart("not several cubes at once: cubes share their operands");
}

TEST_F(OneByOne, PositionThatSdpReads) {
  height_ = width_ = 1;
  weights_.resize(4 * 40);
  conv_.weights = weights_;
  conv_.kernels = 40;
  pointwise_ = true;
  expect_apart("not several cubes at once: its output of one position is read by SDP");
}

TEST_F(OneByOne, NoRoom) {
  // A line of each cube takes 2000 of 4096 entries.
  width_ = 8000;
  height_ = 2;
  batch_ = 3;
  expect_apart("not several cubes at once: the convolution buffer does not hold two of them");
}

TEST_F(OneByOne, OperandsOfElementsInBands) {
  const std::vector<std::int16_t> elements(4 * 100 * 101);
  conv_.x2 = bias(elements);
  height_ = 100;
  width_ = 101;
  expect_apart("not several cubes at once: operands of elements would be cut inside the 64 bytes");
}

TEST(NetworkBatch, TilesOrCubes) {
  const std::vector<std::int8_t> weights(9);
  Convolution c{.name = "conv", .kernel_height = 3, .kernel_width = 3};
  c.weights = weights;
  c.tuning.winograd = Rewrite::kAuto;
  c.tuning.batch = Rewrite::kAlways;
  Network net;
  const Tensor in = net.input("in", {1, 8, 8, 2});
  expect_error(ErrorCode::kInvalidArgument,
               "layer 0 'conv': there are no tiles of several cubes: batch or winograd",
               [&] { net.convolution(in, c); });
}

// Tiles are chosen first, and are of one cube.
TEST(NetworkBatch, TilesComeFirst) {
  const auto weights = test::random_values<std::int8_t>(64 * 64 * 9, 31, -3, 3);
  Convolution c{.name = "conv", .kernels = 64, .kernel_height = 3, .kernel_width = 3};
  c.weights = weights;
  c.tuning.winograd = Rewrite::kAuto;
  c.arithmetic.accumulator_shift = 2;
  for (const bool tiles : {false, true}) {
    c.tuning.winograd = tiles ? Rewrite::kAuto : Rewrite::kNever;
    Network net;
    net.output(net.convolution(net.input("in", {64, 18, 18, 2}), c), "out");
    EXPECT_EQ(build(net).network().layers(), tiles ? 2U : 1U);
  }
}

}  // namespace
}  // namespace nvdla
