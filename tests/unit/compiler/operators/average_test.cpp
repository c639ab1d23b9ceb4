// SPDX-License-Identifier: MIT
//
// Averages of windows of any size, with and without their padding, against whole numbers.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "common/property.hpp"
#include "common/runtime/expect_error.hpp"
#include "common/runtime/rounded.hpp"
#include "common/runtime/values.hpp"
#include "common/share.hpp"
#include "compiler/operators/reciprocal.hpp"
#include "nvdla/types/half.hpp"

namespace nvdla {
namespace {

using test::expect_error;
using test::Values;

// Halves away from zero.
std::int64_t divide(std::int64_t sum, std::int64_t count) {
  const std::int64_t size = (2 * std::abs(sum) + count) / (2 * count);
  return sum < 0 ? -size : size;
}

// What a window adds up to, and how many elements it has.
struct Quotients {
  Shape shape;
  std::vector<std::pair<std::int64_t, std::int64_t>> list;
};

Quotients quotients_of(const Values& in, const Average& a) {
  const auto kh = static_cast<int>(a.kernel_height != 0 ? a.kernel_height : in.shape.height);
  const auto kw = static_cast<int>(a.kernel_width != 0 ? a.kernel_width : in.shape.width);
  const int h = static_cast<int>(in.shape.height), w = static_cast<int>(in.shape.width);
  const int sy = static_cast<int>(a.stride_height), sx = static_cast<int>(a.stride_width);
  const int top = static_cast<int>(a.pad_top), left = static_cast<int>(a.pad_left);
  Quotients out{in.shape, {}};
  out.shape.height =
      static_cast<std::uint32_t>((top + h + static_cast<int>(a.pad_bottom) - kh) / sy + 1);
  out.shape.width =
      static_cast<std::uint32_t>((left + w + static_cast<int>(a.pad_right) - kw) / sx + 1);
  for (std::size_t plane = 0; plane < std::size_t{in.shape.batch} * in.shape.channels; ++plane) {
    for (int y = 0; y < static_cast<int>(out.shape.height); ++y) {
      for (int x = 0; x < static_cast<int>(out.shape.width); ++x) {
        std::int64_t sum = 0, count = 0;
        for (int r = y * sy - top; r < y * sy - top + kh; ++r) {
          for (int s = x * sx - left; s < x * sx - left + kw; ++s) {
            const bool there = r >= 0 && r < h && s >= 0 && s < w;
            if (there) {
              sum +=
                  in.data[(plane * in.shape.height + static_cast<std::size_t>(r)) * in.shape.width +
                          static_cast<std::size_t>(s)];
            } else {
              sum += a.pad_value.value_or(0);
            }
            count += there || a.pad_value ? 1 : 0;
          }
        }
        out.list.emplace_back(sum, count);
      }
    }
  }
  return out;
}

Values averaged(const Values& in, const Average& a) {
  const Quotients quotients = quotients_of(in, a);
  Values out(quotients.shape, in.precision);
  for (std::size_t i = 0; i < out.data.size(); ++i)
    out.data[i] =
        static_cast<std::int32_t>(divide(quotients.list[i].first, quotients.list[i].second));
  return out;
}

struct Most {
  std::uint32_t channels, side, kernel, stride;
};

// A random average of integers, with and without paddings, against the quotient.
std::string wrong_average(test::Random& random, const Most& most) {
  const auto any = [&](std::uint32_t low, std::uint32_t high) {
    return static_cast<std::uint32_t>(test::pick(random, low, high));
  };
  const bool wide = any(0, 3) == 3;
  const Precision precision = wide ? Precision::kInt16 : Precision::kInt8;
  const std::string device = !wide && any(0, 1) == 0 ? "nv_small" : "nv_full";
  Average a{.name = "average"};
  Shape shape{any(1, most.channels), any(1, most.side), any(1, most.side), any(1, 2)};
  if (any(0, 3) != 0) {
    a.kernel_height = any(1, most.kernel);
    a.kernel_width = any(1, most.kernel);
    a.stride_height = any(1, most.stride);
    a.stride_width = any(1, most.stride);
    a.pad_top = any(0, a.kernel_height - 1);
    a.pad_bottom = any(0, a.kernel_height - 1);
    a.pad_left = any(0, a.kernel_width - 1);
    a.pad_right = any(0, a.kernel_width - 1);
    if (any(0, 1) != 0) a.pad_value = static_cast<std::int32_t>(test::pick(random, -128, 127));
    if (a.pad_top + shape.height + a.pad_bottom < a.kernel_height ||
        a.pad_left + shape.width + a.pad_right < a.kernel_width) {
      test::discard();
    }
  }
  const Values in = test::random_tensor(shape, precision, random);
  Network net;
  net.output(net.average(net.input("in", shape, precision), a), "out");
  const Values found = test::run_one(net, Device::open("model:" + device), in);
  return test::with_name(
      device + test::numbers({static_cast<int>(precision), shape.channels, shape.height,
                              shape.width, a.kernel_height, a.kernel_width, a.stride_height,
                              a.stride_width, a.pad_top, a.pad_left, a.pad_value ? 1 : 0}),
      found == averaged(in, a) ? "" : "differs");
}

TEST(Averages, EqualTheQuotient) {
  test::for_all(test::share(100), [](test::Random& random) {
    return wrong_average(random, {.channels = 70, .side = 20, .kernel = 16, .stride = 3});
  });
}

TEST(Averages, OfLargeWindowsEqualTheQuotient) {
  test::for_all(test::share(150), [](test::Random& random) {
    return wrong_average(random, {.channels = 40, .side = 90, .kernel = 80, .stride = 20});
  });
}

bool is_on_cpu(const Network& net, const std::string& device) {
  const CompiledNetwork compiled = net.compile(Device::open(device));
  bool any = false;
  for (std::uint32_t i = 0; i < compiled.layers(); ++i) any = any || compiled.layer_on_cpu(i);
  return any;
}

// The device has what a convolution and two multipliers do exactly; the CPU has the rest.
TEST(Averages, AreTheCpusWhereTheDeviceHasNone) {
  const auto on_cpu = [](const Shape& shape, Precision precision, const Average& a) {
    Network net;
    net.output(net.average(net.input("in", shape, precision), a), "out");
    return is_on_cpu(net, "model:nv_full");
  };
  const Average all{.name = "average"};
  Average padded{.name = "average", .kernel_height = 8, .kernel_width = 8};
  padded.pad_top = padded.pad_left = 4;
  EXPECT_FALSE(on_cpu({8, 32, 32}, Precision::kInt8, all));
  EXPECT_FALSE(on_cpu({8, 32, 32}, Precision::kInt16, all));
  EXPECT_FALSE(on_cpu({8, 32, 32}, Precision::kFp16, all));
  EXPECT_FALSE(on_cpu({8, 9, 9}, Precision::kInt8, padded));
  EXPECT_FALSE(on_cpu({8, 33, 1}, Precision::kInt8, all));
  EXPECT_TRUE(on_cpu({8, 33, 1}, Precision::kInt16, all));
  EXPECT_TRUE(on_cpu({8, 1, 2000}, Precision::kFp16, all));
  EXPECT_TRUE(on_cpu({8, 9, 9}, Precision::kInt16, padded));
  EXPECT_TRUE(on_cpu({8, 9, 9}, Precision::kFp16, padded));
  EXPECT_TRUE(
      on_cpu({8, 40, 2}, Precision::kInt8,
             {.name = "average", .kernel_height = 2, .kernel_width = 2, .stride_height = 9}));
}

// int16 holds sums of so many elements that any size is the device's, where it has int16.
TEST(Averages, OfAnySizeAreTheDevicesWhereStepsAreExact) {
  struct Case {
    Shape shape;
    Average average;
  };
  const Average all{.name = "average"};
  const Case cases[] = {
      {{8, 56, 56}, all},
      {{1, 1, 33, 2}, all},
      {{3, 33, 1}, all},
      {{5, 1, 2000}, all},
      {{2, 8192, 1}, all},
      {{2, 300, 201, 2}, all},
      {{4, 512, 256}, all},
      {{9, 96, 80},
       {.name = "a",
        .kernel_height = 48,
        .kernel_width = 64,
        .stride_height = 16,
        .stride_width = 16}},
      {{9, 64, 7}, {.name = "a", .kernel_height = 16, .kernel_width = 7, .stride_height = 16}},
      {{6, 40, 40},
       {.name = "a",
        .kernel_height = 40,
        .kernel_width = 40,
        .stride_height = 8,
        .stride_width = 8,
        .pad_top = 8,
        .pad_bottom = 8,
        .pad_left = 16,
        .pad_value = 0}}};
  test::Random random(9);
  for (const Case& c : cases) {
    Network net;
    net.output(net.average(net.input("in", c.shape), c.average), "out");
    Values in = test::random_tensor(c.shape, Precision::kInt8, random);
    // The sums that reach farthest, too.
    for (std::size_t i = 0; i < in.data.size() / c.shape.channels; ++i) in.data[i] = -128;
    EXPECT_FALSE(is_on_cpu(net, "model:nv_full")) << c.shape.height << 'x' << c.shape.width;
    EXPECT_TRUE(is_on_cpu(net, "model:nv_small"));
    const Values expected = averaged(in, c.average);
    for (const char* device : {"model:nv_full", "model:nv_small"})
      EXPECT_EQ(test::run_one(net, Device::open(device), in), expected)
          << device << ' ' << c.shape.height << 'x' << c.shape.width;
  }
}

// Results have the scale of the output, as long double computes them, and are the same on every
// device.
TEST(Averages, TakeScalesAsConvolutionsDo) {
  test::for_all(test::share(120), [](test::Random& random) -> std::string {
    const auto any = [&](std::uint32_t low, std::uint32_t high) {
      return static_cast<std::uint32_t>(test::pick(random, low, high));
    };
    const std::uint32_t side = any(0, 2) == 0 ? 60 : 20;
    const Shape shape{any(1, 30), any(1, side), any(1, side)};
    Average a{.name = "average"};
    if (any(0, 1) != 0) {
      a.kernel_height = any(1, shape.height);
      a.kernel_width = any(1, shape.width);
      a.stride_height = any(1, 9);
      a.pad_top = any(0, a.kernel_height - 1);
      if (any(0, 1) != 0) a.pad_value = static_cast<std::int32_t>(test::pick(random, -128, 127));
    }
    const auto zero = [&] { return static_cast<std::int32_t>(test::pick(random, -128, 127)); };
    const Quantization input{0.25F, zero()};
    a.output = Quantization{
        static_cast<float>(static_cast<double>(test::pick(random, 4, 400)) / 1000), zero()};
    const Values in = test::random_tensor(shape, Precision::kInt8, random);
    const Quotients quotients = quotients_of(in, a);
    Network net;
    const Tensor out = net.average(net.input("in", shape, input), a);
    if (net.quantization(out) != a.output) return "stands for something else";
    net.output(out, "out");
    Values first;
    for (const char* device : {"nv_full", "nv_small"}) {
      const Values found = test::run_one(net, Device::open(std::string("model:") + device), in);
      if (found.shape != quotients.shape) return "another shape";
      for (std::size_t i = 0; i < found.data.size(); ++i) {
        const auto& [sum, count] = quotients.list[i];
        const long double real =
            (static_cast<long double>(sum) / static_cast<long double>(count) - input.zero_point) *
            input.scale / a.output->scale;
        if (!test::is_rounded(found.data[i], real, a.output->zero_point, 1e-3))
          return std::string(device) + ": element " + std::to_string(i) + " is " +
                 std::to_string(found.data[i]) + ", not " +
                 std::to_string(static_cast<double>(real) + a.output->zero_point);
      }
      if (first.data.empty()) first = found;
      if (!(found == first)) return "nv_small differs from nv_full";
    }
    return {};
  });
}

// The multipliers of every count give every quotient, as far as they say so.
TEST(Averages, MultipliersAreExactWhereTheySaySo) {
  for (std::uint32_t count = 1; count <= 1024; ++count) {
    const detail::Reciprocals r = detail::find_reciprocals({count}, 8);
    ASSERT_TRUE(r.exact) << count;
    const std::int64_t largest = std::int64_t{count} * 128;
    for (std::int64_t sum = -largest; sum <= largest; sum += count < 100 ? 1 : 37) {
      const std::int64_t first = sum * r.factors[0].first;
      ASSERT_LE(std::abs(first), std::int64_t{INT32_MAX}) << count;
      ASSERT_EQ(test::round_shift(static_cast<__int128>(first) * r.factors[0].second, r.shift),
                divide(sum, count))
          << sum << " / " << count;
    }
  }
  EXPECT_TRUE(detail::find_reciprocals({1, 2, 3, 4, 6, 9}, 16).exact);
  EXPECT_FALSE(detail::find_reciprocals({48}, 16).exact);
}

TEST(Averages, OfFp16AreProductsInFp32) {
  test::Random random(1);
  const Shape shape{20, 14, 14};
  Values in(shape, Precision::kFp16), expected({20, 1, 1}, Precision::kFp16);
  for (std::size_t c = 0; c < 20; ++c) {
    float sum = 0;
    for (std::size_t i = 0; i < 196; ++i) {
      const auto value = static_cast<float>(test::pick(random, -100, 100));
      in.data[c * 196 + i] = to_half(value);
      sum += value;
    }
    expected.data[c] = to_half(sum * (1.0F / 196));
  }
  Network net;
  net.output(net.average(net.input("in", shape, Precision::kFp16), {.name = "all"}), "out");
  EXPECT_EQ(test::run_one(net, Device::open("model:nv_full"), in), expected);
}

// Of numbers whose sums doubles have exactly, and so does every window.
TEST(Averages, OfFp16OnTheCpuAreRoundedOnce) {
  test::for_all(test::share(60), [](test::Random& random) -> std::string {
    const auto any = [&](std::uint32_t low, std::uint32_t high) {
      return static_cast<std::uint32_t>(test::pick(random, low, high));
    };
    const Shape shape{any(1, 20), any(1, 60), any(1, 60)};
    Average a{.name = "average", .kernel_height = any(33, 50), .kernel_width = any(1, 50)};
    a.stride_width = any(1, 12);
    a.pad_top = any(0, 32);
    a.pad_bottom = any(0, 32);
    a.pad_left = any(0, a.kernel_width - 1);
    a.pad_right = any(0, a.kernel_width - 1);
    if (any(0, 1) != 0) a.pad_value = static_cast<std::int32_t>(test::pick(random, -2048, 2048));
    if (a.pad_top + shape.height + a.pad_bottom < a.kernel_height ||
        a.pad_left + shape.width + a.pad_right < a.kernel_width) {
      test::discard();
    }
    // In steps of 2^-6, as which the reference has them.
    Values in(shape, Precision::kFp16), steps(shape, Precision::kInt16);
    for (std::size_t i = 0; i < in.data.size(); ++i) {
      steps.data[i] = static_cast<std::int32_t>(test::pick(random, -2000, 2000));
      in.data[i] = to_half(steps.data[i] / 64.0);
    }
    Average of_steps = a;
    if (a.pad_value) of_steps.pad_value = *a.pad_value * 64;
    const Quotients quotients = quotients_of(steps, of_steps);
    Values expected(quotients.shape, Precision::kFp16);
    for (std::size_t i = 0; i < expected.data.size(); ++i) {
      const auto& [sum, count] = quotients.list[i];
      expected.data[i] = to_half(static_cast<double>(sum) / 64 / static_cast<double>(count));
    }
    Network net;
    net.output(net.average(net.input("in", shape, Precision::kFp16), a), "out");
    const Values found = test::run_one(net, Device::open("model:nv_full"), in);
    return test::with_name(
        test::numbers({shape.channels, shape.height, shape.width, a.kernel_height, a.kernel_width,
                       a.stride_width, a.pad_top, a.pad_left, a.pad_value ? 1 : 0}),
        found == expected ? "" : "differs");
  });
}

// What is no number stays in its channel.
TEST(Averages, OfFp16OnTheCpuKeepNanToThemselves) {
  const Shape shape{3, 1, 40};
  Values in(shape, Precision::kFp16), expected({3, 1, 1}, Precision::kFp16);
  for (std::int32_t& value : in.data) value = to_half(2);
  in.data[50] = 0x7e00;
  in.data[90] = to_half(-3);
  expected.data = {to_half(2), 0x7e00, to_half((39 * 2 - 3) / 40.0)};
  Network net;
  net.output(net.average(net.input("in", shape, Precision::kFp16), {.name = "all"}), "out");
  EXPECT_EQ(test::run_one(net, Device::open("model:nv_full"), in), expected);
}

// What the application sees of a network with its average in the middle.
TEST(Averages, OnTheCpuLieBetweenPrograms) {
  Network net;
  const Tensor in = net.input("in", {40, 56, 56}, Quantization{.scale = 0.5F, .zero_point = 3});
  const Tensor most = net.pooling(in, {.name = "most", .method = NVDLA_POOL_MAX});
  const Tensor mean = net.average(most, {.name = "mean"});
  ASSERT_TRUE(net.quantization(mean));
  EXPECT_EQ(net.quantization(mean)->scale, 0.5F);
  EXPECT_EQ(net.quantization(mean)->zero_point, 3);
  net.output(net.pooling(mean, {.name = "same", .method = NVDLA_POOL_MAX}), "out");
  test::Random random(3);
  const Values values = test::random_tensor({40, 56, 56}, Precision::kInt8, random);
  for (const char* device : {"model:nv_full", "model:nv_small"}) {
    const bool small = std::string(device) == "model:nv_small";
    EXPECT_EQ(net.compile(Device::open(device)).programs(), small ? 2U : 1U);
    EXPECT_EQ(test::run_one(net, Device::open(device), values), averaged(values, {}));
  }
}

TEST(BadAverages, AreNamedExactly) {
  Network net;
  const Tensor in = net.input("in", {4, 40, 6}), high = net.input("high", {1, 5000, 1}),
               half = net.input("half", {4, 6, 6}, Precision::kFp16);
  const auto refused = [&](Tensor tensor, const Average& a, const std::string& text) {
    expect_error(ErrorCode::kInvalidArgument, "layer 0 'a': " + text,
                 [&] { net.average(tensor, a); });
  };
  refused(in, {.name = "a", .kernel_height = 8193}, "kernel_height 8193 is not in 1..8192");
  refused(in, {.name = "a", .kernel_height = 3, .stride_height = 0},
          "stride in height 0 is not in 1..8192");
  refused(in, {.name = "a", .kernel_height = 3, .kernel_width = 2, .pad_left = 2},
          "padding before the width 2 is not in 0..1");
  refused(in, {.name = "a", .kernel_height = 3, .kernel_width = 7},
          "padded width 6 is smaller than the kernel, 7");
  refused(in, {.name = "a", .kernel_height = 3, .pad_value = 128},
          "pad_value 128 is not in -128..127");
  refused(high, {.name = "a", .kernel_height = 4000, .pad_top = 3999, .pad_bottom = 3999},
          "output height 8999 is not in 1..8192");
  refused(half, {.name = "a", .kernel_height = 3, .pad_top = 1, .pad_value = 2049},
          "pad_value 2049 is not in -2048..2048");
  refused(half, {.name = "a", .output = Quantization{0.1F}},
          "the input is fp16: averages with an output scale are of int8");
  refused(in, {.name = "a", .input = Quantization{0.1F}}, "input scale 0.1: an output that has");
  refused(in, {.name = "a", .output = Quantization{0.0F}}, "output scale 0: right are positive");
  EXPECT_EQ(net.layers(), 0u);
}

}  // namespace
}  // namespace nvdla
