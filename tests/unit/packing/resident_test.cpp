// SPDX-License-Identifier: MIT
//
// Convolutions that are cut for a device on which all weights have to stay: every result is made
// once, and what the parts take and keep fits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "common/runtime/expect_error.hpp"
#include "nvdla/lowlevel/descriptors.hpp"
#include "nvdla/types/device_info.hpp"
#include "nvdla/types/shape.hpp"
#include "nvdla/types/tensor_desc.hpp"
#include "packing/bands.hpp"

namespace nvdla {
namespace {

using detail::Band;
using test::expect_error;

nvdla_conv plain_conv(const Shape& input, const WeightsDesc& weights) {
  TensorDesc desc;
  desc.shape = input;
  return make_conv(desc, weights);
}

std::uint64_t bank_bytes(const DeviceInfo& info) {
  return std::uint64_t{info.cbuf_entries} * info.cbuf_entry_bytes;
}

// int8, direct: whole entries, and 128 bytes where there are several groups.
std::uint64_t weight_bytes(const DeviceInfo& info, const nvdla_conv& c) {
  const std::uint64_t packed =
      std::uint64_t{c.kernels} * c.channels * c.kernel_height * c.kernel_width;
  const std::uint64_t entry = info.cbuf_entry_bytes;
  return (packed + entry - 1) / entry * entry + (c.kernels > info.atomic_k ? 128 : 0);
}

void expect_fits(const DeviceInfo& info, const Band& band) {
  const nvdla_conv& c = band.conv;
  EXPECT_LE(c.data_banks + c.weight_banks, info.cbuf_banks);
  EXPECT_LE(conv_entries_per_line(info, c) * c.height,
            std::uint64_t{c.data_banks} * info.cbuf_entries);
  EXPECT_LE(weight_bytes(info, c), c.weight_banks * bank_bytes(info));
  EXPECT_EQ(band.first_kernel % info.atomic_k, 0U);
}

bool cut_kernels(const Band& band, const nvdla_conv& whole) {
  return band.conv.kernels < whole.kernels;
}

// Has `next` lines of `last` and some behind them?
bool overlap(const Band& last, const Band& next) {
  const std::uint32_t end = last.input_line + last.conv.height;
  return last.first_kernel == next.first_kernel && last.input_line < next.input_line &&
         next.input_line < end && end < next.input_line + next.conv.height;
}

// What `next` reuses is what `last` leaves.
void expect_kept(const Band& last, const Band& next) {
  const std::uint32_t end = last.input_line + last.conv.height;
  if ((next.conv.flags & NVDLA_CONV_REUSE_DATA) == 0) {
    EXPECT_EQ(last.conv.flags & NVDLA_CONV_KEEP_DATA, 0U);
    EXPECT_EQ(last.conv.release, 0U);
  } else if ((last.conv.flags & NVDLA_CONV_KEEP_DATA) != 0) {
    EXPECT_EQ(last.input_line, next.input_line);
    EXPECT_EQ(last.conv.height, next.conv.height);
    EXPECT_EQ(last.conv.release, 0U);
  } else {
    EXPECT_EQ(last.input_line + last.conv.release, next.input_line);
    EXPECT_GT(last.conv.release, 0U);
    EXPECT_LT(last.conv.release, last.conv.height);
    EXPECT_GT(next.input_line + next.conv.height, end);
  }
  const bool weights = (next.conv.flags & NVDLA_CONV_REUSE_WEIGHTS) != 0;
  EXPECT_EQ(weights, (last.conv.flags & NVDLA_CONV_KEEP_WEIGHTS) != 0);
  if (weights) {
    EXPECT_EQ(last.first_kernel, next.first_kernel);
    EXPECT_EQ(last.conv.kernels, next.conv.kernels);
  }
  EXPECT_EQ(last.conv.data_banks, next.conv.data_banks);
  EXPECT_EQ(last.conv.weight_banks, next.conv.weight_banks);
}

TEST(SplitResident, RandomConvolutions) {
  std::mt19937 random(11);
  const auto within = [&](std::uint32_t low, std::uint32_t high) {
    return std::uniform_int_distribution<std::uint32_t>(low, high)(random);
  };
  unsigned lines = 0, kernels = 0, both = 0, shared = 0;
  for (int i = 0; i < 2000; ++i) {
    const std::string name(configuration_name(within(1, 6)));
    const DeviceInfo info = configuration_info(name);
    ASSERT_TRUE(info.has_weight_gating);
    DeviceInfo mended = info;
    mended.has_weight_gating = false;
    const std::uint32_t size = within(1, 5);
    const std::uint32_t channels = within(1, i % 2 == 0 ? 64 : 2048);
    nvdla_conv c =
        plain_conv({channels, within(size, 120), within(size, 120)}, {.kernels = within(1, 700),
                                                                      .channels = channels,
                                                                      .kernel_height = size,
                                                                      .kernel_width = size});
    c.stride_height = within(1, 3);
    c.pad_top = within(0, size - 1);
    c.pad_bottom = within(0, size - 1);
    const bool keep = i % 3 != 0;
    std::vector<Band> bands;
    try {
      bands = detail::split_conv(info, c, keep);
    } catch (const Error&) {
      // Then there is no way without the fault, either.
      EXPECT_THROW(detail::split_conv(mended, c, keep), Error);
      continue;
    }
    SCOPED_TRACE(name + " " + std::to_string(i));
    const Shape out = conv_output(c);
    std::vector<int> made(std::size_t{out.height} * c.kernels);
    for (std::size_t b = 0; b < bands.size(); ++b) {
      const Band& band = bands[b];
      expect_fits(info, band);
      if (b != 0) expect_kept(bands[b - 1], band);
      if (!keep) {
        EXPECT_EQ(band.conv.flags & (NVDLA_CONV_KEEP_DATA | NVDLA_CONV_REUSE_DATA), 0U);
      } else if (b != 0 && overlap(bands[b - 1], band)) {
        EXPECT_NE(band.conv.flags & NVDLA_CONV_REUSE_DATA, 0U) << "lines of both are read twice";
        shared += cut_kernels(band, c);
      }
      for (std::uint32_t y = 0; y < band.output_lines; ++y)
        for (std::uint32_t k = 0; k < band.conv.kernels; ++k)
          ++made[std::size_t{band.output_line + y} * c.kernels + band.first_kernel + k];
    }
    EXPECT_TRUE(std::all_of(made.begin(), made.end(), [](int times) { return times == 1; }));
    const bool cut_lines = bands[0].output_lines < out.height;
    const bool parts = cut_kernels(bands[0], c);
    lines += cut_lines && !parts;
    kernels += parts && !cut_lines;
    both += cut_lines && parts;
  }
  EXPECT_GT(lines, 100U);
  EXPECT_GT(kernels, 100U);
  EXPECT_GT(both, 100U);
  EXPECT_GT(shared, 100U) << "between bands of a part of the kernels";
}

// 25 banks for 7 x 7 x 2,048 leave seven: kernels in 64 parts, while the data stay.
TEST(SplitResident, KeepsDataFromPartToPart) {
  const DeviceInfo info = configuration_info("nv_small");
  const auto bands =
      detail::split_conv(info, plain_conv({2048, 7, 7}, {.kernels = 512, .channels = 2048}), true);
  ASSERT_EQ(bands.size(), 64U);
  for (std::size_t i = 0; i < bands.size(); ++i) {
    EXPECT_EQ(bands[i].conv.kernels, 8U);
    EXPECT_EQ(bands[i].first_kernel, 8 * i);
    EXPECT_EQ((bands[i].conv.flags & NVDLA_CONV_REUSE_DATA) != 0, i != 0);
    EXPECT_EQ((bands[i].conv.flags & NVDLA_CONV_KEEP_DATA) != 0, i != 63);
  }
}

TEST(ChooseBanks, AllWeightsWhereTheyHaveToStay) {
  const DeviceInfo info = configuration_info("nv_small");
  DeviceInfo mended = info;
  mended.has_weight_gating = false;
  // A group of 8 kernels of 512 bytes fills a bank; nine kernels want the margin, too.
  nvdla_conv c = plain_conv({512, 4, 4}, {.kernels = 8, .channels = 512});
  choose_banks(info, c);
  EXPECT_EQ(c.weight_banks, 1U);
  c.kernels = 16;
  choose_banks(info, c);
  EXPECT_EQ(c.weight_banks, 3U);
  c.kernels = 8 * 29;  // 29 banks and the margin; the data take two
  choose_banks(info, c);
  EXPECT_EQ(c.data_banks + c.weight_banks, 32U);
  c.kernels += 8;
  expect_error(ErrorCode::kNotAvailable,
               "takes 2, all weights, which have to stay in it, 31: it must be split",
               [&] { choose_banks(info, c); });
  choose_banks(mended, c);
  EXPECT_EQ(c.weight_banks, 3U);
}

}  // namespace
}  // namespace nvdla
