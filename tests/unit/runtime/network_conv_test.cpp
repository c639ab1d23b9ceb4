// SPDX-License-Identifier: MIT
//
// Convolutions and deconvolutions of networks, of all precisions and on all configurations, against
// plain numbers: random layers, layers that do not fit the convolution buffer, folded ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <string>

#include "conv_reference.hpp"
#include "deconvolution_reference.hpp"
#include "expect_error.hpp"
#include "nvdla/folding.hpp"
#include "nvdla/half.hpp"

namespace nvdla {
namespace {

using test::expect_error;
using test::KernelHolder;
using test::RefConv;
using test::Values;

std::uint32_t pick(std::mt19937& random, std::uint32_t low, std::uint32_t high) {
  return std::uniform_int_distribution<std::uint32_t>(low, high)(random);
}

std::string any_configuration(std::mt19937& random) {
  // Half of them on the one that has everything.
  if (random() % 2 == 0) return "nv_full";
  return std::string(configuration_name(random() % configuration_count()));
}

Precision any_precision(const DeviceInfo& info, std::mt19937& random) {
  if (!info.has_int16) return Precision::kInt8;
  return static_cast<Precision>(random() % 3);
}

std::optional<Precision> any_result(Precision processing, const DeviceInfo& info,
                                    std::mt19937& random) {
  if (!info.has_int16 || random() % 2 == 0) return std::nullopt;
  return processing == Precision::kInt16 ? Precision::kFp16 : Precision::kInt16;
}

// Bias, and what the converter makes of accumulators.
struct Finish {
  std::vector<std::int32_t> bias;
  std::vector<float> reals;
  Converter converter;
  bool relu = false;

  Finish(Precision processing, std::uint32_t kernels, std::uint64_t taps, std::mt19937& random) {
    const bool some = random() % 2 == 0;
    if (processing == Precision::kFp16) {
      for (std::uint32_t k = 0; some && k < kernels; ++k) {
        reals.push_back(static_cast<float>(random() % 4001) - 2000.0F);
      }
    } else {
      const std::uint32_t range = random() % 2 == 0 ? 60000 : 2000000;
      for (std::uint32_t k = 0; some && k < kernels; ++k) {
        bias.push_back(static_cast<std::int32_t>(random() % range) -
                       static_cast<std::int32_t>(range / 2));
      }
      const double size = processing == Precision::kInt8 ? 64.0 * 64 : 12000.0 * 40000;
      converter = requantize(40.0 / (size * std::sqrt(static_cast<double>(taps))), 3);
    }
    relu = random() % 2 == 0;
  }

  template <typename Layer>
  void tell(Layer& layer) const {
    layer.bias = bias;
    layer.bias_reals = reals;
    layer.relu = relu;
    layer.output = converter;
  }

  Values apply(const std::vector<std::int64_t>& sums, const Shape& shape, Precision processing,
               Precision out) const {
    Values values(shape, out);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      std::int64_t v = sums[i];
      if (!reals.empty()) {
        Operator op;
        op.alu = NVDLA_ALU_SUM;
        v = test::apply_x(v, op, static_cast<std::int32_t>(to_half(test::pick(reals, i, shape))), 0,
                          processing);
      } else if (!bias.empty()) {
        v = test::saturate(v + test::pick(bias, i, shape), 32);
      }
      if (relu) {
        Operator op;
        op.relu = true;
        v = test::apply_x(v, op, 0, 0, processing);
      }
      values.data[i] = test::convert_to(v, converter, processing, out);
    }
    return values;
  }
};

// Runs `net` on `in` and compares; the text of a difference.
std::string compare(const Network& net, const std::string& configuration, const Values& in,
                    const Values& expected) {
  Session session = net.build(Device::open("model:" + configuration));
  test::write(session, "in", in);
  session.run();
  const Values found = test::read(session, "out");
  if (found.shape != expected.shape) return "another shape";
  if (found.precision != expected.precision) return "another precision";
  for (std::size_t i = 0; i < found.data.size(); ++i) {
    if (found.data[i] != expected.data[i]) {
      return "element " + std::to_string(i) + " is " + std::to_string(found.data[i]) + ", not " +
             std::to_string(expected.data[i]);
    }
  }
  return {};
}

// A padding after the input with which the last window ends at the last column or line.
int exact_after(int before, int size, int kernel, int stride, std::mt19937& random) {
  int after = static_cast<int>(random() % static_cast<std::uint32_t>(kernel));
  while (after > 0 && (before + size + after - kernel) % stride != 0) --after;
  return after;
}

struct RandomConv {
  std::string configuration;
  RefConv ref;
  Values in;
};

// Nothing where the sizes picked do not go together.
std::optional<RandomConv> random_conv(std::mt19937& random, bool tall) {
  RandomConv r;
  r.configuration = any_configuration(random);
  const DeviceInfo info = configuration_info(r.configuration);
  RefConv& c = r.ref;
  c.processing = any_precision(info, random);
  c.atomic_c = info.atomic_c;
  c.kernels = pick(random, 1, tall ? 9 : 40);
  c.channels = pick(random, tall ? 60 : 1, tall ? 90 : 80);
  c.kernel_height = pick(random, 1, 4);
  c.kernel_width = pick(random, 1, tall ? 2 : 5);
  test::Geometry& g = c.geometry;
  g.stride_x = static_cast<int>(pick(random, 1, 3));
  g.stride_y = static_cast<int>(pick(random, 1, 3));
  g.dilation_x = static_cast<int>(pick(random, 1, 2));
  g.dilation_y = static_cast<int>(pick(random, 1, 2));
  const int kh = static_cast<int>(c.kernel_height - 1) * g.dilation_y + 1;
  const int kw = static_cast<int>(c.kernel_width - 1) * g.dilation_x + 1;
  // Tall ones have more than the whole convolution buffer.
  const std::uint32_t height =
      tall ? (info.cbuf_banks * info.cbuf_entries * info.cbuf_entry_bytes) / (c.channels * 10) +
                 pick(random, 1, 100)
           : pick(random, 1, 12);
  const std::uint32_t width = tall ? pick(random, 10, 13) : pick(random, 1, 14);
  g.left = static_cast<int>(random() % static_cast<std::uint32_t>(kw));
  g.top = static_cast<int>(random() % static_cast<std::uint32_t>(kh));
  g.right = exact_after(g.left, static_cast<int>(width), kw, g.stride_x, random);
  g.bottom = exact_after(g.top, static_cast<int>(height), kh, g.stride_y, random);
  const int across = g.left + static_cast<int>(width) + g.right - kw;
  const int down = g.top + static_cast<int>(height) + g.bottom - kh;
  if (across < 0 || down < 0 || across % g.stride_x != 0 || down % g.stride_y != 0) return {};
  if (height > 4000) return {};
  g.clip = c.processing == Precision::kFp16 ? 0 : static_cast<unsigned>(random() % 3);
  r.in = test::random_tensor({c.channels, height, width, tall ? 1 : pick(random, 1, 2)},
                             c.processing, random);
  g.pad_value = test::random_tensor({}, c.processing, random).data[0];
  c.weights = test::random_kernels(
      std::size_t{c.kernels} * c.channels * c.kernel_height * c.kernel_width, c.processing, random);
  return r;
}

std::string run(const RandomConv& r, std::mt19937& random) {
  const RefConv& c = r.ref;
  const DeviceInfo info = configuration_info(r.configuration);
  KernelHolder holder;
  Convolution layer = test::layer_of(c, holder.hold(c.weights, c.processing));
  const Finish finish(c.processing, c.kernels, c.weights.size() / c.kernels, random);
  finish.tell(layer);
  layer.precision = any_result(c.processing, info, random);
  Network net;
  net.output(net.convolution(net.input("in", r.in.shape, c.processing), layer), "out");
  Shape shape;
  const auto sums = test::accumulate(c, r.in, shape);
  return compare(net, r.configuration, r.in,
                 finish.apply(sums, shape, c.processing, layer.precision.value_or(c.processing)));
}

TEST(NetworkConv, RandomLayersEqualTheReference) {
  std::mt19937 random(1);
  for (int i = 0; i < 60;) {
    const auto r = random_conv(random, false);
    if (!r) continue;
    ASSERT_EQ(run(*r, random), "") << r->configuration << " layer " << i;
    ++i;
  }
}

// Bands of lines, with what they have in common kept in the buffer.
TEST(NetworkConv, LayersThatDoNotFitEqualTheReference) {
  std::mt19937 random(2);
  for (int i = 0; i < 6;) {
    auto r = random_conv(random, true);
    if (!r || r->ref.processing == Precision::kFp16) continue;
    r->ref.kernels = std::min(r->ref.kernels, 3U);
    r->ref.weights = test::random_kernels(
        std::size_t{r->ref.kernels} * r->ref.channels * r->ref.kernel_height * r->ref.kernel_width,
        r->ref.processing, random);
    ASSERT_EQ(run(*r, random), "") << r->configuration << " layer " << i;
    ++i;
  }
}

// Kernels so large that not even one group of them fits.
TEST(NetworkConv, LargeKernelsEqualTheReference) {
  std::mt19937 random(8);
  struct Case {
    const char* configuration;
    Precision precision;
    std::uint32_t channels, kernels, height, width, size;
  };
  const Case cases[] = {{"nv_small", Precision::kInt8, 700, 21, 5, 6, 5},
                        {"nv_full", Precision::kInt8, 480, 40, 7, 7, 7},
                        {"nv_full", Precision::kInt16, 500, 20, 7, 8, 7},
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
    Finish finish(Precision::kInt8, c.kernels, c.weights.size() / c.kernels, random);
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
    const Session session = net.build(Device::open(std::string("model:") + one.configuration));
    EXPECT_EQ(session.layer_name(0).substr(0, 15), "conv kernels 1/");
  }
}

// int16 tensors through the converter.
TEST(NetworkConv, Int16TensorsInFp16Layers) {
  std::mt19937 random(3);
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
  std::mt19937 random(4);
  int folded = 0;
  for (int i = 0; i < 30;) {
    auto r = random_conv(random, false);
    if (!r || r->ref.processing == Precision::kFp16) continue;
    // Strides and paddings of all kinds in W; nothing left over there.
    RefConv& c = r->ref;
    c.geometry.dilation_x = 1;
    c.geometry.stride_x = static_cast<int>(pick(random, 2, 5));
    c.geometry.left = static_cast<int>(random() % c.kernel_width);
    c.geometry.right = exact_after(c.geometry.left, static_cast<int>(r->in.shape.width),
                                   static_cast<int>(c.kernel_width), c.geometry.stride_x, random);
    const int across = c.geometry.left + static_cast<int>(r->in.shape.width) + c.geometry.right -
                       static_cast<int>(c.kernel_width);
    if (across < 0 || across % c.geometry.stride_x != 0) continue;
    ++i;
    KernelHolder holder;
    Convolution layer = test::layer_of(c, holder.hold(c.weights, c.processing));
    layer.output = {.scale = 3, .shift = 12};
    Values expected;
    for (const Rewrite folding : {Rewrite::kNever, Rewrite::kAlways, Rewrite::kWhenItPays}) {
      layer.folding = folding;
      Network net;
      net.output(net.convolution(net.input("in", r->in.shape, c.processing), layer), "out");
      Session session = net.build(Device::open("model:" + r->configuration));
      test::write(session, "in", r->in);
      session.run();
      const Values found = test::read(session, "out");
      if (folding == Rewrite::kNever) expected = found;
      ASSERT_TRUE(found == expected) << r->configuration << " layer " << i;
      const bool other = session.desc("in").shape != r->in.shape;
      if (folding != Rewrite::kWhenItPays) {
        EXPECT_EQ(other, folding == Rewrite::kAlways);
      }
      if (folding == Rewrite::kWhenItPays) folded += other ? 1 : 0;
    }
  }
  EXPECT_GT(folded, 0);
}

// Floats are quantised as ever, also behind the last column.
TEST(NetworkConv, FoldedInputsTakeFloats) {
  std::mt19937 random(5);
  std::vector<float> in(3 * 4 * 7);
  for (float& value : in) value = static_cast<float>(random() % 1000) / 100 - 5;
  const auto weights = test::random_values<std::int8_t>(4 * 3 * 3, 6, -128, 127);
  std::vector<std::int8_t> results[2];
  for (const bool fold : {false, true}) {
    Convolution c{.name = "conv", .kernels = 4, .kernel_width = 3, .stride_x = 2};
    c.pad_left = 2;
    c.pad_right = 2;
    c.pad_value = -17;
    c.weights = weights;
    c.output = {.scale = 1, .shift = 7};
    c.folding = fold ? Rewrite::kAlways : Rewrite::kNever;
    Network net;
    net.output(net.convolution(net.input("in", {3, 4, 7}, {.scale = 0.043F, .zero_point = -17}), c),
               "out");
    Session session = net.build(Device::open("model:nv_small"));
    session.write("in", Layout::kNchw, in);
    session.run();
    results[fold].resize(session.desc("out").shape.elements());
    session.read("out", Layout::kNchw, results[fold]);
  }
  EXPECT_EQ(results[0], results[1]);
}

TEST(NetworkDeconv, RandomLayersEqualTheReference) {
  std::mt19937 random(7);
  for (int i = 0; i < 80;) {
    auto d = test::random_deconvolution(random);
    if (!d) continue;
    ++i;
    const std::string configuration = any_configuration(random);
    const DeviceInfo info = configuration_info(configuration);
    // Kernels of more than one surface, too.
    d->weights.kernels = pick(random, 1, 70);
    const test::Int8 in =
        test::random_cube(static_cast<int>(d->input.channels), static_cast<int>(d->input.height),
                          static_cast<int>(d->input.width), random());
    const auto weights =
        test::random_values<std::int8_t>(d->weights.elements(), random(), -128, 127);
    const test::Int32 sums = test::deconvolve(in, weights, *d);

    Deconvolution layer{.name = "up", .kernels = d->weights.kernels};
    layer.kernel_height = d->weights.kernel_height;
    layer.kernel_width = d->weights.kernel_width;
    layer.stride_y = d->stride_y;
    layer.stride_x = d->stride_x;
    layer.pad_top = d->pad_top;
    layer.pad_bottom = d->pad_bottom;
    layer.pad_left = d->pad_left;
    layer.pad_right = d->pad_right;
    layer.extra_bottom = d->extra_bottom;
    layer.extra_right = d->extra_right;
    const Finish finish(Precision::kInt8, d->weights.kernels, d->weights.channels, random);
    finish.tell(layer);
    // Integers of both sizes; the second is the first one with more room.
    const bool wide = info.has_int16 && random() % 2 == 0;
    KernelHolder holder;
    const Precision precision = wide ? Precision::kInt16 : Precision::kInt8;
    layer.weights =
        holder.hold(std::vector<std::int32_t>(weights.begin(), weights.end()), precision);
    if (!wide) layer.precision = any_result(Precision::kInt8, info, random);
    const Precision result = layer.precision.value_or(precision);

    Network net;
    net.output(net.deconvolution(net.input("in", d->input, precision), layer), "out");
    const Shape shape = deconvolution_output(*d);
    Values given(d->input, precision);
    given.data.assign(in.data.begin(), in.data.end());
    ASSERT_EQ(compare(net, configuration, given,
                      finish.apply({sums.data.begin(), sums.data.end()}, shape, precision, result)),
              "")
        << configuration << " " << test::describe(*d) << (wide ? " int16" : "");
  }
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
    conv_.stride_x = 2;
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
  conv_.accumulator_shift = 1;
  refused("fp16 has no shifts, found an accumulator_shift of 1");
}

TEST_F(BadConvolution, FoldedFp16) {
  precision_ = Precision::kFp16;
  conv_.weights = reals_;
  conv_.folding = Rewrite::kAlways;
  refused("not folded in width: fp16 sums depend on their order");
}

TEST_F(BadConvolution, FoldedTensorOfTwoLayers) {
  conv_.folding = Rewrite::kAlways;
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

TEST_F(BadConvolution, LargeKernelsInFp16) {
  const std::vector<float> many(20 * 600 * 49);
  Convolution c{.name = "c", .kernels = 20, .kernel_height = 7, .kernel_width = 7};
  c.weights = many;
  Network net;
  net.output(net.convolution(net.input("in", {600, 7, 7}, Precision::kFp16), c), "out");
  expect_error(ErrorCode::kNotAvailable,
               "layer 0 'c': not even one group of kernels of 600x7x7 (CHW) fits the convolution "
               "buffer, and they cannot be split with fp16, which would lose the sign of zeros",
               [&] { net.build(Device::open("model:nv_full")); });
}

TEST_F(BadConvolution, PostExtensionOfATensor) {
  conv_.post_extension = 2;
  refused("post_extension 2 is of images, the input is a tensor");
}

TEST(BadDeconvolutionLayer, OperandsOfElements) {
  const std::vector<std::int8_t> weights(2 * 3 * 4);
  const std::vector<std::int16_t> many(2 * 8 * 8);
  Deconvolution d{.name = "up", .kernels = 2, .kernel_height = 2, .kernel_width = 2};
  d.stride_x = d.stride_y = 2;
  d.weights = weights;
  d.x1 = bias(many);
  Network net;
  const Tensor in = net.input("in", {3, 4, 4});
  expect_error(ErrorCode::kInvalidArgument,
               "layer 0 'up': operands of a deconvolution are of the layer or per channel",
               [&] { net.deconvolution(in, d); });
}

}  // namespace
}  // namespace nvdla
