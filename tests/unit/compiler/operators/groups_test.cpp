// SPDX-License-Identifier: MIT
//
// Convolutions of groups against dense ones with zeros, in plain numbers, and how many layers and
// steps they take.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/property.hpp"
#include "common/runtime/expect_error.hpp"
#include "common/runtime/random_layers.hpp"
#include "common/runtime/reference.hpp"
#include "common/share.hpp"

namespace nvdla {
namespace {

using test::any;
using test::expect_error;
using test::Finish;
using test::KernelHolder;
using test::random_conv;
using test::RandomConv;
using test::RefConv;

// With zeros for the channels of other groups.
std::vector<std::int32_t> dense(const std::vector<std::int32_t>& weights, std::uint32_t channels,
                                std::uint32_t kernels, std::uint32_t groups) {
  const std::size_t taps = weights.size() / kernels / (channels / groups);
  std::vector<std::int32_t> all(std::size_t{kernels} * channels * taps);
  for (std::size_t k = 0; k < kernels; ++k) {
    const std::size_t group = k / (kernels / groups);
    for (std::size_t c = 0; c < channels / groups; ++c)
      for (std::size_t t = 0; t < taps; ++t)
        all[(k * channels + group * (channels / groups) + c) * taps + t] =
            weights[(k * (channels / groups) + c) * taps + t];
  }
  return all;
}

// fp16 in whole numbers that are small enough for sums to be exact in any order.
void make_small(std::vector<std::int32_t>& values, test::Random& random) {
  for (std::int32_t& value : values)
    value = to_half(static_cast<float>(test::pick(random, -15, 15)));
}

std::string run(RandomConv& r, std::uint32_t groups, test::Random& random) {
  RefConv& c = r.ref;
  const bool half = c.processing == Precision::kFp16;
  std::vector<std::int32_t> weights = test::random_kernels(
      std::size_t{c.kernels} * (c.channels / groups) * c.kernel_height * c.kernel_width,
      c.processing, random);
  if (half) {
    make_small(weights, random);
    make_small(r.in.data, random);
    c.geometry.pad_value = 0;
  }
  c.weights = dense(weights, c.channels, c.kernels, groups);
  KernelHolder holder;
  Convolution layer = test::layer_of(c, holder.hold(weights, c.processing));
  layer.groups = groups;
  const Finish finish(c.processing, c.kernels, weights.size() / c.kernels, random);
  finish.tell(layer);
  layer.precision = test::any_result(c.processing, configuration_info(r.configuration), random);
  Network net;
  net.output(net.convolution(net.input("in", r.in.shape, c.processing), layer), "out");
  Shape shape;
  const auto sums = test::accumulate(c, r.in, shape);
  return test::compare(
      net, r.configuration, r.in,
      finish.apply(sums, shape, c.processing, layer.precision.value_or(c.processing)));
}

TEST(NetworkGroups, RandomOnesEqualTheReference) {
  test::for_all(test::share(80), [](test::Random& random) {
    auto r = random_conv(random, false);
    if (!r) test::discard();
    // Depthwise ones, also with several kernels for a channel, and larger groups.
    const std::uint32_t groups = any(random, 1, 40);
    const std::uint32_t each = random() % 2 == 0 ? 1 : any(random, 1, 12);
    r->ref.channels = groups * each;
    r->ref.kernels = groups * any(random, 1, random() % 2 == 0 ? 1 : 7);
    r->in.shape.channels = r->ref.channels;
    r->in = test::random_tensor(r->in.shape, r->ref.processing, random);
    return test::with_name(
        r->configuration +
            test::numbers({static_cast<int>(r->ref.processing), r->ref.channels, r->ref.kernels,
                           groups, r->in.shape.width, r->in.shape.height}),
        run(*r, groups, random));
  });
}

// Where kernels for the lanes of an atom do not fit the convolution buffer, fewer do.
TEST(NetworkGroups, LargeKernelsAreComputedAFewAtATime) {
  test::Random random(7);
  for (const auto precision : {Precision::kInt8, Precision::kInt16, Precision::kFp16}) {
    RandomConv r;
    r.configuration = "nv_full";
    r.ref.processing = precision;
    r.ref.channels = 40;
    r.ref.kernels = 80;
    r.ref.kernel_height = 31;
    r.ref.kernel_width = 32;
    r.in = test::random_tensor({40, 33, 33}, precision, random);
    EXPECT_EQ(run(r, 40, random), "");
  }
}

struct Depthwise {
  Network net;
  Tensor out;
};

Depthwise depthwise(std::uint32_t channels, std::uint32_t size, std::uint32_t groups) {
  Depthwise d;
  const std::vector<std::int8_t> weights(std::size_t{channels} * (channels / groups) * 9, 1);
  Convolution conv{.name = "dw", .kernels = channels, .groups = groups};
  conv.kernel_height = conv.kernel_width = 3;
  conv.pad_top = conv.pad_bottom = conv.pad_left = conv.pad_right = 1;
  conv.weights = weights;
  conv.output = {.scale = 1, .shift = 5};
  d.out = d.net.convolution(d.net.input("in", {channels, size, size}), conv);
  d.net.output(d.out, "out");
  return d;
}

// As many groups in a layer as share the steps of the multipliers, and more of them where layers
// are so small that starting them takes longer.
TEST(NetworkGroups, TakeAsManyAtATimeAsTakesLeast) {
  const auto layers = [](std::uint32_t channels, std::uint32_t size, const std::string& device) {
    return depthwise(channels, size, channels)
        .net.build(Device::open("model:" + device), {.disabled_passes = {"interleave"}})
        .network()
        .layers();
  };
  EXPECT_EQ(layers(512, 28, "nv_full"), 8u);  // 64 channels in a step
  EXPECT_EQ(layers(64, 28, "nv_large"), 1u);
  EXPECT_EQ(layers(64, 56, "nv_small"), 8u);  // 8 channels in a step
  EXPECT_LT(layers(64, 2, "nv_small"), 8u);
}

// Its arithmetic is counted, not the zeros.
TEST(NetworkGroups, CountTheirOwnArithmetic) {
  EXPECT_EQ(depthwise(64, 10, 64).net.macs(), 64u * 9 * 100);
  EXPECT_EQ(depthwise(64, 10, 4).net.macs(), 64u * 16 * 9 * 100);
}

// One block is one layer, to which a pooling belongs as to any other.
TEST(NetworkGroups, APoolingFollowsOneBlockOnTheFly) {
  Network net;
  const std::vector<std::int8_t> weights(32 * 9, 1);
  Convolution conv{.name = "dw", .kernels = 32, .groups = 32};
  conv.kernel_height = conv.kernel_width = 3;
  conv.weights = weights;
  const Tensor out = net.convolution(net.input("in", {32, 8, 8}), conv);
  net.output(net.pooling(out, {.name = "pool", .kernel_height = 2, .kernel_width = 2}), "out");
  const Request request = net.build(Device::open("model:nv_full"));
  ASSERT_EQ(request.network().layers(), 1u);
  EXPECT_EQ(request.network().layer_name(0), "dw+pool");
}

// Operands of channels and of elements go with the kernels that they are for.
TEST(NetworkGroups, OperandsGoWithTheirKernels) {
  constexpr std::uint32_t kChannels = 200, kSize = 3;
  const Shape shape{kChannels, kSize, kSize};
  Network net;
  const Tensor in = net.input("in", shape), other = net.input("other", shape);
  const auto weights = test::random_values<std::int8_t>(kChannels, 1, -20, 20);
  const auto scales = test::random_values<std::int16_t>(kChannels, 2, -9, 9);
  const auto shifts = test::random_values<std::int16_t>(kChannels, 3, -90, 90);
  Convolution conv{.name = "dw", .kernels = kChannels, .groups = kChannels};
  conv.weights = weights;
  conv.x1 = batch_norm(shifts, scales, 4);
  conv.x2 = elementwise(NVDLA_ALU_SUM, other);
  conv.output = {.scale = 1, .shift = 3};
  net.output(net.convolution(in, conv), "out");
  const auto x = test::random_values<std::int8_t>(shape.elements(), 4, -128, 127);
  const auto y = test::random_values<std::int8_t>(shape.elements(), 5, -128, 127);
  for (const char* device : {"model:nv_full", "model:nv_small"}) {
    Request request = net.build(Device::open(device));
    EXPECT_GT(request.network().layers(), 1u) << device;
    request.write("in", Layout::kNchw, x);
    request.write("other", Layout::kNchw, y);
    request.run();
    std::vector<std::int8_t> out(x.size()), expected;
    request.read("out", Layout::kNchw, out);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::size_t c = i / (kSize * kSize);
      std::int32_t v = test::apply(x[i] * weights[c], 3, shifts[c], 0, 1, scales[c], 4, false);
      v = test::apply(v, 3, y[i], 0, 0, 0, 0, false);
      expected.push_back(test::convert(v, 0, 1, 3));
    }
    EXPECT_EQ(out, expected) << device;
  }
}

TEST(BadGroups, AreNamedExactly) {
  Network net;
  const Tensor in = net.input("in", {12, 8, 8});
  ImageDesc pixels;
  pixels.width = pixels.height = 8;
  pixels.format = NVDLA_PIXEL_A8B8G8R8;
  const Tensor image = net.image("image", pixels);
  const std::vector<std::int8_t> weights(12 * 12, 1);
  const auto refused = [&](Tensor tensor, std::uint32_t groups, std::size_t count,
                           const std::string& text, const auto& change) {
    Convolution conv{.name = "dw", .kernels = 12, .groups = groups};
    conv.weights = std::span(weights).first(count);
    change(conv);
    expect_error(ErrorCode::kInvalidArgument, "layer 0 'dw': " + text,
                 [&] { net.convolution(tensor, conv); });
  };
  const auto as_it_is = [](Convolution&) {};
  refused(in, 0, 12, "groups 0: they are equal parts of 12 channels and 12 kernels", as_it_is);
  refused(in, 5, 12, "groups 5: they are equal parts of 12 channels and 12 kernels", as_it_is);
  refused(in, 6, 12, "groups 6: they are equal parts of 12 channels and 15 kernels",
          [](Convolution& c) { c.kernels = 15; });
  refused(in, 4, 12, "12 weights given, 12x3x1x1 (KCRS) are 36", as_it_is);
  refused(image, 4, 12, "groups 4: the input is an image, which has one group", as_it_is);
  refused(in, 12, 12, "groups 12: tuning.folding is kAlways, which has one group",
          [](Convolution& c) { c.tuning.folding = Rewrite::kAlways; });
  refused(in, 12, 12, "groups 12: tuning.winograd is kAlways, which has one group",
          [](Convolution& c) { c.tuning.winograd = Rewrite::kAlways; });
  refused(in, 12, 12, "groups 12: tuning.batch is kAlways, which has one group",
          [](Convolution& c) { c.tuning.batch = Rewrite::kAlways; });
  Convolution conv{.kernels = 12, .groups = 12};
  conv.weights = std::span(weights).first(12);
  const std::vector<std::int32_t> zero = {0};
  expect_error(ErrorCode::kInvalidArgument,
               "layer 0 'equal': no comparison behind a convolution with groups",
               [&] { net.compare(in, conv, {.name = "equal", .values = zero}); });
  EXPECT_EQ(net.layers(), 0u);
}

}  // namespace
}  // namespace nvdla
