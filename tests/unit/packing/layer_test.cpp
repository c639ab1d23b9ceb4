// SPDX-License-Identifier: MIT
//
// Numbers that the helpers work out for descriptors.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "common/runtime/expect_error.hpp"
#include "nvdla/lowlevel/descriptors.hpp"
#include "nvdla/operators/requantization.hpp"
#include "nvdla/types/conversion.hpp"
#include "nvdla/types/device_info.hpp"
#include "nvdla/types/precision.hpp"
#include "nvdla/types/shape.hpp"
#include "nvdla/types/tensor_desc.hpp"

namespace nvdla {
namespace {

using test::expect_error;

nvdla_conv conv(Shape input, WeightsDesc weights) {
  TensorDesc d;
  d.shape = input;
  weights.channels = input.channels;
  return make_conv(d, weights);
}

TEST(Requantize, IsAsCloseAsFifteenBitsAllow) {
  for (double factor = 1e-9; factor < 32767; factor *= 1.37) {
    const Converter c = requantize(factor);
    const double reached = std::ldexp(c.scale, -static_cast<int>(c.shift));
    EXPECT_NEAR(reached / factor, 1.0, 1.0 / 32768) << factor;
    EXPECT_LE(c.shift, 63U);
    EXPECT_EQ(c.offset, 0);
  }
}

TEST(Requantize, PowersOfTwoAreExact) {
  const Converter c = requantize(0.25, 3);
  EXPECT_EQ(std::ldexp(c.scale, -static_cast<int>(c.shift)), 0.25);
  EXPECT_EQ(c.offset, -12);  // (x + 12) / 4 = x / 4 + 3
}

TEST(Requantize, NearTheEnds) {
  EXPECT_EQ(requantize(32767.0).scale, 32767);
  EXPECT_EQ(requantize(32767.4).shift, 0U);
  EXPECT_EQ(requantize(0.99999).scale, 16384);  // 32767.67 rounds to 2^15, which is 2^14 / 2^14
}

TEST(Requantize, Refuses) {
  for (const double factor : {0.0, -1.0, 40000.0, std::nan(""), HUGE_VAL}) {
    expect_error(ErrorCode::kInvalidArgument, "requantisation factor", [&] { requantize(factor); });
  }
  expect_error(ErrorCode::kInvalidArgument, "rounds to 0", [] { requantize(1e-25); });
  expect_error(ErrorCode::kInvalidArgument, "beyond 32 bits", [] { requantize(1e-9, 127); });
}

// What the hardware makes of x, by the facts: (x - offset) * scale >> shift, halves away from zero,
// saturated to 17 bits and to the result.
std::int64_t shifted(std::int64_t value, std::uint32_t shift) {
  if (shift == 0) return value;
  const std::int64_t magnitude = (std::abs(value) + (std::int64_t{1} << (shift - 1))) >> shift;
  return value < 0 ? -magnitude : magnitude;
}

std::int64_t saturated(std::int64_t value, int bits) {
  const std::int64_t top = (std::int64_t{1} << (bits - 1)) - 1;
  return std::clamp(value, -top - 1, top);
}

std::int64_t converted(std::int64_t x, const Converter& c, int bits) {
  return saturated(saturated(shifted((x - c.offset) * c.scale, c.shift), 17), bits);
}

// sat(round(x * f + zero_point)) with f = scale / 2^shift, in whole numbers.
std::int64_t wanted(std::int64_t x, std::int64_t scale, std::uint32_t shift,
                    std::int64_t zero_point, int bits) {
  return saturated(shifted(x * scale + zero_point * (std::int64_t{1} << shift), shift), bits);
}

// Inputs all over 32 bits, and close to 0 each.
std::vector<std::int64_t> inputs() {
  std::vector<std::int64_t> list;
  for (std::int64_t x = -600; x <= 600; ++x) list.push_back(x);
  for (std::int64_t x = 601; x < INT32_MAX; x += x / 7) list.insert(list.end(), {x, -x});
  list.insert(list.end(), {INT32_MAX, INT32_MIN});
  return list;
}

TEST(Requantize, RefusesAZeroPointThatItLoses) {
  expect_error(ErrorCode::kInvalidArgument,
               "zero point -3 with factor 20 would come out as 0: the converter subtracts before "
               "it multiplies",
               [] { requantize(20.0, -3); });
  expect_error(ErrorCode::kInvalidArgument, "zero point 1 with factor 0.75 would come out as 0.75",
               [] { requantize(0.75, 1); });
  EXPECT_EQ(requantize(20.0, -40).offset, 2);
  EXPECT_EQ(requantize(0.75, 3).offset, -4);
}

// Of each factor and zero point: refused, or a zero becomes the zero point and no result is more
// than a step beside the right one.
TEST(Requantize, KeepsTheZeroPointsThatItTakes) {
  int taken = 0, refused = 0;
  for (double factor = 1e-5; factor < 1000; factor *= 1.7) {
    for (const std::int32_t zero_point : {-128, -127, -5, -1, 0, 1, 3, 64, 127}) {
      Converter c;
      try {
        c = requantize(factor, zero_point);
      } catch (const Error&) {
        EXPECT_GT(factor, 0.125) << zero_point;
        ++refused;
        continue;
      }
      ++taken;
      EXPECT_EQ(converted(0, c, 8), zero_point) << factor;
      EXPECT_LE(std::abs(-c.offset * std::ldexp(c.scale, -static_cast<int>(c.shift)) - zero_point),
                1.0 / 16);
      for (const std::int64_t x : inputs()) {
        const std::int64_t right = wanted(x, c.scale, c.shift, zero_point, 8);
        ASSERT_LE(std::abs(converted(x, c, 8) - right), 1) << factor << " " << x;
      }
    }
  }
  EXPECT_GT(taken, 100);
  EXPECT_GT(refused, 20);
}

TEST(RequantizeExactly, IsRoundedOnceForEveryInput) {
  for (const bool wide : {false, true}) {
    const int bits = wide ? 16 : 8;
    const std::uint32_t most = wide ? 15 : 22;
    const std::int32_t end = wide ? 32767 : 127;
    for (double factor = wide ? 0.0625 : 0.000489; factor < 32767; factor *= 1.9) {
      for (const std::int32_t zero_point : {-end - 1, -3, 0, 1, 77, end}) {
        const Requantization r =
            requantize_exactly(factor, zero_point, wide ? Precision::kInt16 : Precision::kInt8);
        ASSERT_LE(r.output.shift, most);
        EXPECT_EQ(r.output.scale, 1);
        // The nearest of 15 bits, or of the greatest shift.
        const double f = std::ldexp(r.factor, -static_cast<int>(r.output.shift));
        const double step = std::ldexp(1.0, -static_cast<int>(r.output.shift));
        EXPECT_LE(std::abs(f - factor), std::max(step / 2, factor / 32768)) << factor;
        EXPECT_TRUE(r.output.shift == most || r.output.shift == 0 || r.factor >= 16384) << factor;
        for (const std::int64_t x : inputs()) {
          // The operator multiplies, and saturates to 32 bits.
          const std::int64_t product = saturated(x * r.factor, 32);
          ASSERT_EQ(converted(product, r.output, bits),
                    wanted(x, r.factor, r.output.shift, zero_point, bits))
              << factor << " " << zero_point << " " << x;
        }
      }
    }
  }
}

TEST(RequantizeExactly, MultipliesInAnOperator) {
  const Requantization r = requantize_exactly(20.0, -3);
  const Operator op = r.multiply();
  EXPECT_EQ(op.mul, NVDLA_MUL_MUL);
  ASSERT_EQ(op.mul_values.size(), 1U);
  EXPECT_EQ(op.mul_values[0], r.factor);
  EXPECT_EQ(op.alu, NVDLA_ALU_NONE);
  EXPECT_EQ(op.mul_shift, 0U);
}

TEST(RequantizeExactly, Refuses) {
  const auto refused = [](const std::string& text, double factor, std::int32_t zero_point,
                          Precision result) {
    expect_error(ErrorCode::kInvalidArgument, text,
                 [&] { requantize_exactly(factor, zero_point, result); });
  };
  refused("zero point 128 is not in -128..127", 1, 128, Precision::kInt8);
  refused("zero point -32769 is not in -32768..32767", 1, -32769, Precision::kInt16);
  refused("fp16 has no zero point", 1, 1, Precision::kFp16);
  refused("greater than 0", 0, 1, Precision::kInt8);
  refused("factor of 0.0004 is below 0.00048828125", 0.0004, 1, Precision::kInt8);
  refused("factor of 0.06 is below 0.0625", 0.06, 1, Precision::kInt16);
  // What is too small there is taken here, with a small error.
  EXPECT_NO_THROW(requantize(0.0004, 1));
  EXPECT_NO_THROW(requantize(0.06, 1));
}

TEST(ConvOutput, WithEverything) {
  nvdla_conv c = conv({3, 20, 30}, {8, 3, 3, 5});
  c.stride_width = 2;
  c.dilation_height = 3;
  c.pad_left = 2;
  c.pad_right = 1;
  c.pad_top = c.pad_bottom = 1;
  EXPECT_EQ(conv_output(c), (Shape{8, 22 - 7 + 1, (33 - 5) / 2 + 1}));
}

TEST(ConvOutput, DropsWhatAStrideLeavesOver) {
  nvdla_conv c = conv({1, 28, 28}, {16, 1, 5, 5});
  c.stride_width = c.stride_height = 2;
  c.pad_top = c.pad_left = 1;
  c.pad_bottom = c.pad_right = 1;
  EXPECT_EQ(conv_output(c), (Shape{16, 13, 13}));
  c.pad_bottom = c.pad_right = 2;
  EXPECT_EQ(conv_output(c), (Shape{16, 14, 14}));
}

TEST(ConvOutput, KernelLargerThanInput) {
  expect_error(ErrorCode::kInvalidArgument, "padded height 2 is smaller than the dilated kernel, 3",
               [] {
                 conv_output(conv({1, 2, 9}, {1, 1, 3, 3}));
               });
}

TEST(ConvOutput, PaddingAsLargeAsTheKernel) {
  nvdla_conv c = conv({1, 9, 9}, {1, 1, 3, 3});
  c.pad_left = 3;
  EXPECT_EQ(conv_output(c), (Shape{1, 7, 10}));
}

// By hand from the rule: q atoms an entry, n atoms a pixel.
TEST(EntriesPerLine, FollowTheEntrySize) {
  const auto entries = [](const char* name, std::uint32_t channels, std::uint32_t width) {
    return conv_entries_per_line(configuration_info(name),
                                 conv({channels, 1, width}, {1, 1, 1, 1}));
  };
  EXPECT_EQ(entries("nv_full", 32, 10), 3U);   // a quarter each
  EXPECT_EQ(entries("nv_full", 64, 10), 5U);   // a half each
  EXPECT_EQ(entries("nv_full", 96, 10), 10U);  // three quarters take one
  EXPECT_EQ(entries("nv_full", 128, 10), 10U);
  EXPECT_EQ(entries("nv_full", 129, 10), 13U);
  EXPECT_EQ(entries("nv_small", 1, 10), 10U);
  EXPECT_EQ(entries("nv_small", 9, 10), 20U);
  EXPECT_EQ(entries("nv_large", 32, 9), 5U);
  EXPECT_EQ(entries("nv_medium_512", 16, 9), 5U);
  EXPECT_EQ(entries("nv_small_256", 8, 9), 3U);
}

TEST(ChooseBanks, AllWhereItFits) {
  nvdla_conv c = conv({16, 32, 32}, {24, 16, 3, 3});
  choose_banks(configuration_info("nv_full"), c);
  EXPECT_EQ(c.data_banks, 1U);    // 8 entries x 32 lines of 256
  EXPECT_EQ(c.weight_banks, 1U);  // 3456 bytes of 32768
  choose_banks(configuration_info("nv_small"), c);
  EXPECT_EQ(c.data_banks, 4U);    // 64 entries x 32 lines of 512
  EXPECT_EQ(c.weight_banks, 1U);  // 3456 of 4096
}

TEST(ChooseBanks, TwoGroupsThenOne) {
  // A group of 32 kernels takes 32 x 4608 = 147,456 bytes: 4.5 banks and the margin.
  nvdla_conv c = conv({512, 14, 14}, {512, 512, 3, 3});
  choose_banks(configuration_info("nv_full"), c);
  EXPECT_EQ(c.data_banks, 4U);  // 56 entries x 14 lines
  EXPECT_EQ(c.weight_banks, 10U);
  c = conv({512, 20, 20}, {512, 512, 3, 3});
  choose_banks(configuration_info("nv_full"), c);
  EXPECT_EQ(c.data_banks, 7U);
  EXPECT_EQ(c.weight_banks, 5U);
}

TEST(ChooseBanks, RefusesWhatMustBeSplit) {
  nvdla_conv c = conv({64, 224, 224}, {64, 64, 3, 3});
  expect_error(ErrorCode::kNotAvailable, "it must be split",
               [&] { choose_banks(configuration_info("nv_full"), c); });
}

TEST(AddWait, KeepsOneOfEach) {
  nvdla_layer layer = {};
  add_wait(layer, 3);
  add_wait(layer, 3);
  EXPECT_EQ(layer.num_waits, 1U);
  for (std::uint32_t i = 10; layer.num_waits < NVDLA_MAX_WAITS; ++i) add_wait(layer, i);
  expect_error(ErrorCode::kInvalidArgument, "8 others at most", [&] { add_wait(layer, 99); });
}

}  // namespace
}  // namespace nvdla
