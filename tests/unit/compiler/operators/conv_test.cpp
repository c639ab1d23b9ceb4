// SPDX-License-Identifier: MIT
//
// Convolutions of networks, of all precisions and on all configurations, against plain numbers:
// random layers, layers that do not fit the convolution buffer, folded ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "common/property.hpp"
#include "common/runtime/expect_error.hpp"
#include "common/runtime/random_layers.hpp"
#include "common/share.hpp"
#include "nvdla/device.hpp"
#include "nvdla/lowlevel/folding.hpp"
#include "nvdla/types/device_info.hpp"
#include "nvdla/types/precision.hpp"
#include "nvdla/types/shape.hpp"

namespace nvdla {
namespace {

using test::compare;
using test::exact_after;
using test::expect_error;
using test::Finish;
using test::KernelHolder;
using test::pick;
using test::random_conv;
using test::RandomConv;
using test::RefConv;
using test::Values;

std::string describe(const RandomConv& r) {
  const RefConv& c = r.ref;
  const test::Geometry& g = c.geometry;
  return r.configuration +
         test::numbers({static_cast<int>(c.processing), r.in.shape.width, r.in.shape.height,
                        c.channels, c.kernels, c.kernel_width, c.kernel_height, g.stride_width,
                        g.stride_height, g.dilation_width, g.dilation_height, g.left, g.right,
                        g.top, g.bottom, g.clip});
}

std::string run(const RandomConv& r, test::Random& random) {
  const RefConv& c = r.ref;
  const DeviceInfo info = configuration_info(r.configuration);
  KernelHolder holder;
  Convolution layer = test::layer_of(c, holder.hold(c.weights, c.processing));
  const Finish finish(c.processing, c.kernels, c.weights.size() / c.kernels, random);
  finish.tell(layer);
  layer.precision = test::any_result(c.processing, info, random);
  Network net;
  net.output(net.convolution(net.input("in", r.in.shape, c.processing), layer), "out");
  Shape shape;
  const auto sums = test::accumulate(c, r.in, shape);
  return compare(net, r.configuration, r.in,
                 finish.apply(sums, shape, c.processing, layer.precision.value_or(c.processing)));
}

TEST(NetworkConv, RandomLayersEqualTheReference) {
  test::for_all(test::share(60), [](test::Random& random) {
    const auto r = random_conv(random, false);
    if (!r) test::discard();
    return test::with_name(describe(*r), run(*r, random));
  });
}

// Bands of lines, with what they have in common kept in the buffer.
TEST(NetworkConv, LayersThatDoNotFitEqualTheReference) {
  test::for_all(test::share(6), [](test::Random& random) {
    auto r = random_conv(random, true);
    if (!r || r->ref.processing == Precision::kFp16) test::discard();
    r->ref.kernels = std::min(r->ref.kernels, 3U);
    r->ref.weights = test::random_kernels(
        std::size_t{r->ref.kernels} * r->ref.channels * r->ref.kernel_height * r->ref.kernel_width,
        r->ref.processing, random);
    return test::with_name(describe(*r), run(*r, random));
  });
}

// Kernels so large that not even one group of them fits.
TEST(NetworkConv, LargeKernelsEqualTheReference) {
  test::Random random(8);
  struct Case {
    const char* configuration;
    Precision precision;
    std::uint32_t channels, kernels, height, width, size;
  };
  const Case cases[] = {{"nv_small", Precision::kInt8, 700, 21, 5, 6, 5},
                        {"nv_full", Precision::kInt8, 480, 40, 7, 7, 7},
                        {"nv_full", Precision::kInt16, 500, 20, 7, 8, 7},
                        {"nv_full", Precision::kFp16, 550, 37, 7, 8, 7},
                        {"nv_medium_512", Precision::kInt8, 1500, 17, 9, 5, 5}};
  for (const Case& one : cases) {
    RandomConv r;
    r.configuration = one.configuration;
    RefConv& c = r.ref;
    c.processing = one.precision;
    c.kernels = one.kernels;
    c.channels = one.channels;
    c.kernel_height = c.kernel_width = one.size;
    r.in = test::random_tensor({one.channels, one.height, one.width, 1}, one.precision, random);
    c.weights =
        test::random_kernels(std::size_t{c.kernels} * c.channels * c.kernel_height * c.kernel_width,
                             one.precision, random);
    Finish finish(one.precision == Precision::kFp16 ? Precision::kFp16 : Precision::kInt8,
                  c.kernels, c.weights.size() / c.kernels, random);
    if (one.precision == Precision::kInt16) {
      c.geometry.clip = 10;
      finish.converter = {.offset = 3, .scale = 1, .shift = 11};
    }
    KernelHolder holder;
    Convolution layer = test::layer_of(c, holder.hold(c.weights, c.processing));
    finish.tell(layer);
    Network net;
    net.output(net.convolution(net.input("in", r.in.shape, c.processing), layer), "out");
    Shape shape;
    const auto sums = test::accumulate(c, r.in, shape);
    ASSERT_EQ(
        compare(net, r.configuration, r.in, finish.apply(sums, shape, c.processing, c.processing)),
        "")
        << one.configuration;
    const Request request = net.build(Device::open(std::string("model:") + one.configuration));
    EXPECT_EQ(request.network().layer_name(0).substr(0, 15), "conv kernels 1/");
  }
}

// int16 tensors through the converter.
TEST(NetworkConv, Int16TensorsInFp16Layers) {
  test::Random random(3);
  const Values in = test::random_tensor({9, 5, 6}, Precision::kInt16, random);
  RefConv c;
  c.processing = Precision::kFp16;
  c.kernels = 5;
  c.channels = 9;
  c.kernel_height = 2;
  c.kernel_width = 3;
  c.weights = test::random_kernels(5 * 9 * 6, Precision::kFp16, random);
  KernelHolder holder;
  Convolution layer = test::layer_of(c, holder.hold(c.weights, Precision::kFp16));
  layer.input.scale = 77;
  layer.input.shift = 9;
  Network net;
  net.output(net.convolution(net.input("in", in.shape, Precision::kInt16), layer), "out");
  Values converted(in.shape, Precision::kFp16);
  for (std::size_t i = 0; i < in.data.size(); ++i) {
    converted.data[i] = test::convert_to(in.data[i], {.offset = 0, .scale = 77, .shift = 9},
                                         Precision::kInt16, Precision::kFp16);
  }
  Shape shape;
  const auto sums = test::accumulate(c, converted, shape);
  Values expected(shape, Precision::kFp16);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    expected.data[i] = test::convert_to(sums[i], {}, Precision::kFp16, Precision::kFp16);
  }
  EXPECT_EQ(compare(net, "nv_full", in, expected), "");
}

TEST(NetworkConv, FoldedLayersEqualOthers) {
  int folded = 0;
  test::expect_for_all(30, [&](test::Random& random) {
    auto r = random_conv(random, false);
    if (!r || r->ref.processing == Precision::kFp16) test::discard();
    // Strides and paddings of all kinds in W; nothing left over there.
    RefConv& c = r->ref;
    c.geometry.dilation_width = 1;
    c.geometry.stride_width = static_cast<int>(test::any(random, 2, 5));
    c.geometry.left = static_cast<int>(random() % c.kernel_width);
    c.geometry.right =
        exact_after(c.geometry.left, static_cast<int>(r->in.shape.width),
                    static_cast<int>(c.kernel_width), c.geometry.stride_width, random);
    const int across = c.geometry.left + static_cast<int>(r->in.shape.width) + c.geometry.right -
                       static_cast<int>(c.kernel_width);
    if (across < 0 || across % c.geometry.stride_width != 0) test::discard();
    KernelHolder holder;
    Convolution layer = test::layer_of(c, holder.hold(c.weights, c.processing));
    layer.output = {.scale = 3, .shift = 12};
    Values expected;
    for (const Rewrite folding : {Rewrite::kNever, Rewrite::kAlways, Rewrite::kAuto}) {
      layer.tuning.folding = folding;
      Network net;
      net.output(net.convolution(net.input("in", r->in.shape, c.processing), layer), "out");
      Request request = net.build(Device::open("model:" + r->configuration));
      test::write(request, "in", r->in);
      request.run();
      const Values found = test::read(request, "out");
      if (folding == Rewrite::kNever) expected = found;
      ASSERT_TRUE(found == expected) << describe(*r);
      const bool other = request.network().desc("in").shape != r->in.shape;
      if (folding != Rewrite::kAuto) {
        EXPECT_EQ(other, folding == Rewrite::kAlways);
      }
      if (folding == Rewrite::kAuto) folded += other ? 1 : 0;
    }
  });
  EXPECT_GT(folded, 0);
}

// A convolution of up to four channels of integers, for which the device can read pixels.
RandomConv random_pixels(test::Random& random) {
  auto r = random_conv(random, false);
  if (!r || r->ref.processing == Precision::kFp16 || r->in.precision != r->ref.processing)
    test::discard();
  const RefConv& c = r->ref;
  const test::Geometry& g = c.geometry;
  const bool padded =
      g.left >= static_cast<int>(c.kernel_width) || g.right >= static_cast<int>(c.kernel_width) ||
      g.top >= static_cast<int>(c.kernel_height) || g.bottom >= static_cast<int>(c.kernel_height);
  if (g.dilation_width != 1 || g.dilation_height != 1 || padded) test::discard();
  r->in.shape.channels = r->ref.channels = test::any(random, 1, 4);
  return *r;
}

// Inputs of up to four channels of integers, whatever their signs, paddings and batch.
TEST(NetworkConv, PixelsGiveTheResultsOfTensors) {
  test::expect_for_all(60, [&](test::Random& random) {
    const RandomConv r = random_pixels(random);
    RefConv c = r.ref;
    Shape shape = r.in.shape;
    shape.batch = test::any(random, 1, 3);
    const Values in = test::random_tensor(shape, c.processing, random);
    c.weights =
        test::random_kernels(std::size_t{c.kernels} * c.channels * c.kernel_height * c.kernel_width,
                             c.processing, random);
    KernelHolder holder;
    Convolution layer = test::layer_of(c, holder.hold(c.weights, c.processing));
    layer.output = {.scale = 3, .shift = 12};
    Values expected;
    for (const Rewrite pixels : {Rewrite::kNever, Rewrite::kAlways, Rewrite::kAuto}) {
      layer.tuning.pixels = pixels;
      Network net;
      net.output(net.convolution(net.input("in", shape, c.processing), layer), "out");
      Request request = net.build(Device::open("model:" + r.configuration));
      test::write(request, "in", in);
      request.run();
      const Values found = test::read(request, "out");
      if (pixels == Rewrite::kNever) expected = found;
      ASSERT_TRUE(found == expected) << describe(r);
      EXPECT_TRUE(test::read(request, "in") == in);
      const bool lies_so = request.network().desc("in").pixel != 0;
      if (pixels != Rewrite::kAuto) {
        EXPECT_EQ(lies_so, pixels == Rewrite::kAlways);
      }
    }
  });
}

// Whole numbers, whose sums are exact in any order.
std::vector<float> small_numbers(std::size_t count, std::uint32_t seed) {
  const auto drawn = test::random_values<std::int8_t>(count, seed, -3, 3);
  return {drawn.begin(), drawn.end()};
}

// Pixels of fp16 change the order of sums alone, and only where that may be.
TEST(NetworkConv, PixelsOfFp16GiveTheResultsOfTensors) {
  const Device device = Device::open("model:nv_full");
  test::expect_for_all(60, [&](test::Random& random) {
    const Shape shape{.channels = test::any(random, 1, 4),
                      .height = test::any(random, 7, 30),
                      .width = test::any(random, 7, 30),
                      .batch = test::any(random, 1, 3)};
    const std::uint32_t kernels = test::any(random, 1, 20), rows = test::any(random, 1, 5),
                        columns = test::any(random, 1, 5), seed = test::any(random, 1, 1000);
    const auto weights =
        small_numbers(std::size_t{kernels} * shape.channels * rows * columns, seed);
    const auto in = small_numbers(shape.elements(), seed + 1);
    Convolution conv{.name = "stem", .kernels = kernels};
    conv.kernel_height = rows;
    conv.kernel_width = columns;
    conv.stride_height = test::any(random, 1, 3);
    conv.stride_width = test::any(random, 1, 3);
    conv.pad_top = conv.pad_bottom = rows / 2;
    conv.pad_left = conv.pad_right = columns / 2;
    conv.weights = weights;
    std::vector<float> results[2];
    for (const bool any_order : {false, true}) {
      conv.arithmetic.any_order = any_order;
      conv.tuning.pixels = any_order ? Rewrite::kAlways : Rewrite::kAuto;
      Network net;
      net.output(net.convolution(net.input("in", shape, Precision::kFp16), conv), "out");
      Request request = net.build(device);
      EXPECT_EQ(request.network().desc("in").pixel != 0, any_order);
      request.write("in", Layout::kNchw, in);
      request.run();
      results[any_order].resize(request.network().desc("out").shape.elements());
      request.read("out", Layout::kNchw, results[any_order]);
    }
    ASSERT_EQ(results[0], results[1]);
  });
}

// One layer in fourteen is quicker with a tensor.
TEST(NetworkConv, PixelsAreChosenWhereTheyPay) {
  int chosen = 0, declined = 0;
  test::expect_for_all(2000, [&](test::Random& random) {
    if (chosen > 0 && declined > 0) return;
    const RandomConv r = random_pixels(random);
    KernelHolder holder;
    const auto weights = test::random_kernels(
        std::size_t{r.ref.kernels} * r.ref.channels * r.ref.kernel_height * r.ref.kernel_width,
        r.ref.processing, random);
    Convolution layer = test::layer_of(r.ref, holder.hold(weights, r.ref.processing));
    layer.output = {.scale = 3, .shift = 12};
    Network net;
    net.output(net.convolution(net.input("in", r.in.shape, r.ref.processing), layer), "out");
    const Request request = net.build(Device::open("model:" + r.configuration));
    ++(request.network().desc("in").pixel != 0 ? chosen : declined);
  });
  EXPECT_GT(chosen, 0);
  EXPECT_GT(declined, 0);
}

TEST(NetworkConv, PixelsThatCannotBe) {
  const std::vector<std::int8_t> weights(4 * 8 * 3 * 3, 1);
  Convolution c{.name = "stem", .kernels = 4, .kernel_height = 3, .kernel_width = 3};
  c.tuning.pixels = Rewrite::kAlways;
  const auto refused = [&](const std::string& reason, std::uint32_t channels, bool read_twice,
                           const BuildOptions& options = {}) {
    c.weights = std::span(weights).first(std::size_t{4} * channels * 9);
    Network net;
    const Tensor in = net.input("in", {channels, 9, 9});
    net.output(net.convolution(in, c), "out");
    if (read_twice) net.output(net.pointwise(in, {.x1 = {.relu = true}}), "other");
    expect_error(ErrorCode::kInvalidArgument, "layer 0 'stem': " + reason,
                 [&] { net.build(Device::open("model:nv_small"), options); });
  };
  const std::string why = "its input does not lie as pixels: ";
  refused(why + "pixels have up to four channels", 5, false);
  refused(why + "its input is not one of the network that this layer alone reads", 3, true);
  refused("it insists on what the pass 'pixels' does", 3, false, {.disabled_passes = {"pixels"}});
  c.dilation_width = 2;
  refused(why + "the kernel is dilated", 3, false);
  c.dilation_width = 1;
  c.pad_top = 3;
  refused(why + "positions of the kernel would lie in the padding", 3, false);
  c.pad_top = 0;
  c.tuning.folding = Rewrite::kAuto;
  c.tuning.batch = Rewrite::kAlways;
  refused(why + "tuning.batch is kAlways", 3, false);
}

// Floats are quantised as ever, also behind the last column.
TEST(NetworkConv, InputsLieAsTheyAreOnDemand) {
  const std::vector<std::int8_t> weights(4 * 3 * 5 * 5, 1);
  Convolution c{.name = "stem", .kernels = 4, .kernel_height = 5, .kernel_width = 5};
  c.stride_width = c.stride_height = 2;
  c.weights = weights;
  const auto build = [&](Rewrite folding, bool fold_inputs) {
    c.tuning.folding = folding;
    Network net;
    net.output(net.convolution(net.input("in", {3, 21, 24}), c), "out");
    return net.build(Device::open("model:nv_small"), {.fold_inputs = fold_inputs});
  };
  EXPECT_EQ(build(Rewrite::kAuto, true).network().desc("in").shape.channels, 6U);
  EXPECT_EQ(build(Rewrite::kAuto, false).network().desc("in").shape, (Shape{3, 21, 24}));
  expect_error(ErrorCode::kNotAvailable, "layer 0 'stem': not folded in width: inputs are to lie",
               [&] { build(Rewrite::kAlways, false); });
}

TEST(NetworkConv, FoldedInputsTakeFloats) {
  test::Random random(5);
  std::vector<float> in(3 * 4 * 7);
  for (float& value : in) value = static_cast<float>(random() % 1000) / 100 - 5;
  const auto weights = test::random_values<std::int8_t>(4 * 3 * 3, 6, -128, 127);
  std::vector<std::int8_t> results[2];
  for (const bool fold : {false, true}) {
    Convolution c{.name = "conv", .kernels = 4, .kernel_width = 3, .stride_width = 2};
    c.pad_left = 2;
    c.pad_right = 2;
    c.pad_value = -17;
    c.weights = weights;
    c.output = {.scale = 1, .shift = 7};
    c.tuning.folding = fold ? Rewrite::kAlways : Rewrite::kNever;
    Network net;
    net.output(net.convolution(net.input("in", {3, 4, 7}, {.scale = 0.043F, .zero_point = -17}), c),
               "out");
    Request request = net.build(Device::open("model:nv_small"));
    request.write("in", Layout::kNchw, in);
    request.run();
    results[fold].resize(request.network().desc("out").shape.elements());
    request.read("out", Layout::kNchw, results[fold]);
  }
  EXPECT_EQ(results[0], results[1]);
}

class BadConvolution : public ::testing::Test {
 protected:
  void refused(const std::string& text, ErrorCode code = ErrorCode::kInvalidArgument) {
    expect_error(code, text, [&] {
      Network net;
      net.output(net.convolution(net.input("in", {4, 6, 7}, precision_), conv_), "out");
      net.build(Device::open("model:nv_full"));
    });
  }
  void SetUp() override {
    conv_.weights = weights_;
    conv_.stride_width = 2;
  }
  std::vector<std::int8_t> weights_ = std::vector<std::int8_t>(3 * 4 * 3);
  std::vector<std::int16_t> wide_ = std::vector<std::int16_t>(3 * 4 * 3);
  std::vector<float> reals_ = std::vector<float>(3 * 4 * 3);
  std::vector<float> three_ = std::vector<float>(3);
  Precision precision_ = Precision::kInt8;
  Convolution conv_{.name = "c", .kernels = 3, .kernel_width = 3};
};

TEST_F(BadConvolution, OtherPrecision) {
  conv_.weights = wide_;
  refused("layer 0 'c': the input is int8, the kernels are int16: let a pointwise layer");
}

TEST_F(BadConvolution, ResultThatNoConvolutionMakes) {
  precision_ = Precision::kInt16;
  conv_.weights = wide_;
  conv_.precision = Precision::kInt8;
  refused("a convolution in int16 makes no int8: let a pointwise layer convert its result");
}

TEST_F(BadConvolution, ConverterOfATensor) {
  conv_.input.offset = 3;
  refused("there is no converter between a tensor of int8 and int8");
}

TEST_F(BadConvolution, IntegerLayerWithRealBias) {
  conv_.bias_reals = three_;
  refused("the layer works in int8, its bias is bias");
}

TEST_F(BadConvolution, ShiftInFp16) {
  precision_ = Precision::kFp16;
  conv_.weights = reals_;
  conv_.arithmetic.accumulator_shift = 1;
  refused("fp16 has no shifts, found an accumulator_shift of 1");
}

TEST_F(BadConvolution, FoldedFp16) {
  precision_ = Precision::kFp16;
  conv_.weights = reals_;
  conv_.tuning.folding = Rewrite::kAlways;
  refused("not folded in width: fp16 sums depend on their order");
}

TEST_F(BadConvolution, FoldedTensorOfTwoLayers) {
  conv_.tuning.folding = Rewrite::kAlways;
  expect_error(ErrorCode::kInvalidArgument,
               "layer 0 'c': not folded in width: its input is not one of the network that this "
               "layer alone reads",
               [&] {
                 Network net;
                 const Tensor in = net.input("in", {4, 6, 7});
                 net.output(net.convolution(in, conv_), "out");
                 net.output(net.pointwise(in, {.name = "other"}), "copy");
                 net.build(Device::open("model:nv_full"));
               });
}

TEST_F(BadConvolution, LargeKernelsWithATensor) {
  const std::vector<std::int8_t> many(40 * 600 * 49);
  Network net;
  const Tensor in = net.input("in", {600, 7, 7}), other = net.input("other", {40, 1, 1});
  Convolution c{.name = "c", .kernels = 40, .kernel_height = 7, .kernel_width = 7};
  c.weights = many;
  c.x1 = elementwise(NVDLA_ALU_SUM, other);
  net.output(net.convolution(in, c), "out");
  expect_error(ErrorCode::kNotAvailable,
               "layer 0 'c': not even one group of kernels of 600x7x7 (CHW) fits the convolution "
               "buffer, and they cannot be split with operands from a tensor: let a pointwise "
               "layer apply it",
               [&] { net.build(Device::open("model:nv_full")); });
}

TEST_F(BadConvolution, PostExtensionOfATensor) {
  conv_.tuning.post_extension = 2;
  refused("tuning.post_extension 2 is of images, the input is a tensor");
}

}  // namespace
}  // namespace nvdla
