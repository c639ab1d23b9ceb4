// SPDX-License-Identifier: MIT
//
// Averages of windows of any size, with and without their padding, against whole numbers.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>

#include "network/reciprocal.hpp"
#include "nvdla/half.hpp"
#include "support/property.hpp"
#include "support/runtime/expect_error.hpp"
#include "support/runtime/values.hpp"

namespace nvdla {
namespace {

using test::expect_error;
using test::Values;

// Halves away from zero.
std::int64_t divide(std::int64_t sum, std::int64_t count) {
  const std::int64_t size = (2 * std::abs(sum) + count) / (2 * count);
  return sum < 0 ? -size : size;
}

Values averaged(const Values& in, const Average& a) {
  const auto kh = static_cast<int>(a.kernel_height != 0 ? a.kernel_height : in.shape.height);
  const auto kw = static_cast<int>(a.kernel_width != 0 ? a.kernel_width : in.shape.width);
  const int h = static_cast<int>(in.shape.height), w = static_cast<int>(in.shape.width);
  const int sy = static_cast<int>(a.stride_y), sx = static_cast<int>(a.stride_x);
  const int top = static_cast<int>(a.pad_top), left = static_cast<int>(a.pad_left);
  Shape shape = in.shape;
  shape.height =
      static_cast<std::uint32_t>((top + h + static_cast<int>(a.pad_bottom) - kh) / sy + 1);
  shape.width =
      static_cast<std::uint32_t>((left + w + static_cast<int>(a.pad_right) - kw) / sx + 1);
  Values out(shape, in.precision);
  std::size_t next = 0;
  for (std::size_t plane = 0; plane < std::size_t{shape.batch} * shape.channels; ++plane) {
    for (int y = 0; y < static_cast<int>(shape.height); ++y) {
      for (int x = 0; x < static_cast<int>(shape.width); ++x) {
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
        out.data[next++] = static_cast<std::int32_t>(divide(sum, count));
      }
    }
  }
  return out;
}

TEST(Averages, EqualTheQuotient) {
  test::for_all(100, [](test::Random& random) {
    const auto any = [&](std::uint32_t low, std::uint32_t high) {
      return static_cast<std::uint32_t>(test::pick(random, low, high));
    };
    const bool wide = any(0, 3) == 3;
    const Precision precision = wide ? Precision::kInt16 : Precision::kInt8;
    const std::string device = !wide && any(0, 1) == 0 ? "nv_small" : "nv_full";
    Average a{.name = "average"};
    Shape shape{any(1, 70), any(1, 20), any(1, 20), any(1, 2)};
    if (any(0, 3) != 0) {
      // Of int16 as far as it is exact.
      const bool counts = any(0, 1) != 0;
      const std::uint32_t most = wide && !counts ? 5 : 16;
      a.kernel_height = any(1, most);
      a.kernel_width = any(1, most);
      a.stride_y = any(1, 3);
      a.stride_x = any(1, 3);
      a.pad_top = any(0, a.kernel_height - 1);
      a.pad_bottom = any(0, a.kernel_height - 1);
      a.pad_left = any(0, a.kernel_width - 1);
      a.pad_right = any(0, a.kernel_width - 1);
      if (counts) a.pad_value = static_cast<std::int32_t>(test::pick(random, -128, 127));
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
                                shape.width, a.kernel_height, a.kernel_width, a.stride_y,
                                a.stride_x, a.pad_top, a.pad_left, a.pad_value ? 1 : 0}),
        found == averaged(in, a) ? "" : "differs");
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

TEST(BadAverages, AreNamedExactly) {
  Network net;
  const Tensor in = net.input("in", {4, 40, 6}),
               half = net.input("half", {4, 6, 6}, Precision::kFp16);
  const auto refused = [&](Tensor tensor, const Average& a, const std::string& text) {
    expect_error(ErrorCode::kInvalidArgument, "layer 0 'a': " + text,
                 [&] { net.average(tensor, a); });
  };
  refused(in, {.name = "a"}, "kernel_height (all of the height) 40 is not in 1..32");
  refused(in, {.name = "a", .kernel_height = 33}, "kernel_height 33 is not in 1..32");
  refused(in, {.name = "a", .kernel_height = 3, .stride_y = 9},
          "stride in height 9 is not in 1..8");
  refused(in, {.name = "a", .kernel_height = 3, .kernel_width = 2, .pad_left = 2},
          "padding before the width 2 is not in 0..1");
  refused(in, {.name = "a", .kernel_height = 3, .kernel_width = 7},
          "padded width 6 is smaller than the kernel, 7");
  refused(in, {.name = "a", .kernel_height = 3, .pad_value = 128},
          "pad_value 128 is not in -128..127");
  refused(half, {.name = "a", .kernel_height = 3, .pad_top = 1},
          "fp16 has one count for all positions and zeros around them: right is a pad_value of 0");
  EXPECT_EQ(net.layers(), 0u);
}

}  // namespace
}  // namespace nvdla
