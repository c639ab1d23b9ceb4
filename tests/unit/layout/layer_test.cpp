// SPDX-License-Identifier: MIT
//
// Numbers that the helpers work out for descriptors.
#include "nvdla/layer.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/runtime/expect_error.hpp"

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

TEST(ConvOutput, WithEverything) {
  nvdla_conv c = conv({3, 20, 30}, {8, 3, 3, 5});
  c.stride_x = 2;
  c.dilation_y = 3;
  c.pad_left = 2;
  c.pad_right = 1;
  c.pad_top = c.pad_bottom = 1;
  EXPECT_EQ(conv_output(c), (Shape{8, 22 - 7 + 1, (33 - 5) / 2 + 1}));
}

TEST(ConvOutput, DropsWhatAStrideLeavesOver) {
  nvdla_conv c = conv({1, 28, 28}, {16, 1, 5, 5});
  c.stride_x = c.stride_y = 2;
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
