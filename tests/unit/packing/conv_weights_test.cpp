// SPDX-License-Identifier: MIT
//
// Weights of images and of Winograd, packed, against the positions and numbers that the formats
// give, on all configurations.
#include "nvdla/lowlevel/conv_weights.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "common/runtime/expect_error.hpp"
#include "common/runtime/reference.hpp"
#include "nvdla/types/device_info.hpp"
#include "nvdla/types/half.hpp"
#include "nvdla/types/precision.hpp"

namespace nvdla {
namespace {

using test::expect_error;

template <typename T>
T load(const std::vector<std::byte>& stream, std::uint64_t element) {
  T value;
  std::memcpy(&value, &stream.at(element * sizeof(T)), sizeof value);
  return value;
}

std::vector<std::string> configurations() {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < configuration_count(); ++i) {
    names.emplace_back(configuration_name(i));
  }
  return names;
}

class ConvWeights : public ::testing::TestWithParam<std::string> {
 protected:
  // Where channel c of row r of kernel k lies: what comes before it in the order of the axes.
  std::uint64_t image_position(const WeightsDesc& d, std::uint64_t lines, std::uint64_t k,
                               std::uint64_t c, std::uint64_t r) const {
    const std::uint64_t group = info_.atomic_k / precision_bytes(d.precision);
    const std::uint64_t wide = std::uint64_t{d.channels} * d.kernel_width;
    const std::uint64_t k0 = k / group * group;
    const std::uint64_t kernels = std::min<std::uint64_t>(group, d.kernels - k0);
    const std::uint64_t before = k0 * wide * d.kernel_height;
    if (lines == 1) {
      const std::uint64_t c0 = c / info_.atomic_c * info_.atomic_c;
      const std::uint64_t channels = std::min<std::uint64_t>(info_.atomic_c, wide - c0);
      return before + kernels * c0 * d.kernel_height + r * kernels * channels +
             (k - k0) * channels + (c - c0);
    }
    const std::uint64_t r0 = r / lines * lines;
    const std::uint64_t rows = std::min<std::uint64_t>(lines, d.kernel_height - r0);
    return before + kernels * r0 * wide + (k - k0) * rows * wide + (r - r0) * wide + c;
  }

  template <typename T>
  void check_image(const WeightsDesc& d, std::uint32_t lines) {
    std::vector<T> kcrs(d.elements());
    for (std::size_t i = 0; i < kcrs.size(); ++i) kcrs[i] = static_cast<T>(i * 37 + 3);
    std::vector<std::byte> stream(weights_bytes(d), std::byte{0x55});
    pack_image_weights(info_, d, lines, kcrs, stream);
    std::size_t i = 0;
    for (std::uint64_t k = 0; k < d.kernels; ++k) {
      for (std::uint64_t c = 0; c < d.channels; ++c) {
        for (std::uint64_t r = 0; r < d.kernel_height; ++r) {
          for (std::uint64_t s = 0; s < d.kernel_width; ++s, ++i) {
            ASSERT_EQ(load<T>(stream, image_position(d, lines, k, s * d.channels + c, r)), kcrs[i])
                << "k " << k << " c " << c << " r " << r << " s " << s;
          }
        }
      }
    }
    for (std::size_t b = d.elements() * sizeof(T); b < stream.size(); ++b) {
      ASSERT_EQ(stream[b], std::byte{0}) << b;
    }
  }

  DeviceInfo info_ = configuration_info(GetParam());
};

INSTANTIATE_TEST_SUITE_P(All, ConvWeights, ::testing::ValuesIn(configurations()),
                         [](const auto& param) { return param.param; });

TEST_P(ConvWeights, Image) {
  check_image<std::int8_t>({1, 1, 1, 1}, 1);
  check_image<std::int8_t>({71, 4, 5, 7}, 1);
  check_image<std::int8_t>({33, 3, 3, 31}, 1);
  check_image<std::int16_t>({19, 4, 3, 3, Precision::kInt16}, 1);
  check_image<std::int16_t>({17, 1, 2, 5, Precision::kFp16}, 1);
}

TEST_P(ConvWeights, ImageWithPostExtension) {
  for (const std::uint32_t lines : {2U, 4U}) {
    const std::uint32_t lanes = info_.atomic_c / lines;
    check_image<std::int8_t>({37, 1, 7, lanes}, lines);
    check_image<std::int8_t>({9, 1, 1, 1}, lines);
    check_image<std::int16_t>({21, 1, 6, lanes - 1, Precision::kInt16}, lines);
  }
}

TEST_P(ConvWeights, ALineMoreThanFits) {
  const WeightsDesc d{4, 1, 3, info_.atomic_c / 4 + 1};
  std::vector<std::byte> stream(weights_bytes(d));
  expect_error(ErrorCode::kInvalidArgument, "at most 2 would do", [&] {
    pack_image_weights(info_, d, 4, std::vector<std::int8_t>(d.elements()), stream);
  });
}

TEST(PostExtension, IsAsLargeAsFits) {
  const DeviceInfo info = configuration_info("nv_full");  // 64 channels a step
  EXPECT_EQ(most_post_extension(info, 4, 1, 4), 4U);
  EXPECT_EQ(most_post_extension(info, 5, 1, 4), 2U);
  EXPECT_EQ(most_post_extension(info, 8, 1, 4), 2U);
  EXPECT_EQ(most_post_extension(info, 9, 1, 4), 1U);
  // The stride is wider than the kernel.
  EXPECT_EQ(most_post_extension(info, 1, 8, 4), 2U);
}

TEST(AddChannels, PutsZerosBehind) {
  const WeightsDesc d{2, 2, 1, 2};
  const std::vector<std::int8_t> kcrs = {1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(add_channels(d, kcrs, 3),
            (std::vector<std::int8_t>{1, 2, 3, 4, 0, 0, 5, 6, 7, 8, 0, 0}));
  expect_error(ErrorCode::kInvalidArgument, "kernels of 2 channels have no place in 1",
               [&] { add_channels(d, kcrs, 1); });
}

// G w G^T in halves, one side after the other.
std::vector<double> transformed(const std::vector<double>& w) {
  const double g[4][3] = {{1, 0, 0}, {.5, .5, .5}, {.5, -.5, .5}, {0, 0, 1}};
  double half[4][3] = {};
  for (int y = 0; y < 4; ++y) {
    for (int x = 0; x < 3; ++x) {
      for (int i = 0; i < 3; ++i) half[y][x] += g[y][i] * w[static_cast<std::size_t>(i * 3 + x)];
    }
  }
  std::vector<double> out(16);
  for (int y = 0; y < 4; ++y) {
    for (int x = 0; x < 4; ++x) {
      for (int i = 0; i < 3; ++i) out[static_cast<std::size_t>(y * 4 + x)] += half[y][i] * g[x][i];
    }
  }
  return out;
}

template <typename T>
void check_winograd(const WinogradDesc& d, const std::vector<T>& kcrs) {
  const DeviceInfo info = configuration_info("nv_full");
  const WeightsDesc& w = d.weights;
  const bool half = w.precision == Precision::kFp16;
  std::vector<std::byte> stream(winograd_bytes(info, d), std::byte{0x5a});
  pack_winograd_weights(info, d, kcrs, stream);

  const std::uint32_t lanes = 32 / precision_bytes(w.precision);
  const std::uint32_t aligned = (w.channels + lanes - 1) / lanes * lanes;
  const std::uint32_t channels = aligned * d.stride_width * d.stride_height;
  ASSERT_EQ(winograd_channels(info, d), channels);
  const std::uint64_t group = info.atomic_k / precision_bytes(w.precision);
  for (std::uint64_t k = 0; k < w.kernels; ++k) {
    const std::uint64_t k0 = k / group * group;
    const std::uint64_t kernels = std::min<std::uint64_t>(group, w.kernels - k0);
    for (std::uint64_t ce = 0; ce < channels; ++ce) {
      const std::uint64_t position = ce / aligned, c = ce % aligned;
      std::vector<double> taps(9);
      for (std::uint64_t i = 0; i < 9 && c < w.channels; ++i) {
        const std::uint64_t r = i / 3 * d.stride_height + position / d.stride_width;
        const std::uint64_t s = i % 3 * d.stride_width + position % d.stride_width;
        if (r >= w.kernel_height || s >= w.kernel_width) continue;
        const T weight = kcrs[((k * w.channels + c) * w.kernel_height + r) * w.kernel_width + s];
        taps[i] = half ? from_half(static_cast<std::uint16_t>(weight)) : weight;
      }
      const std::vector<double> want = transformed(taps);
      for (std::uint64_t i = 0; i < 16; ++i) {
        const std::uint64_t at =
            k0 * channels * 16 + kernels * (ce / 4 * 4) * 16 + (k - k0) * 64 + i * 4 + ce % 4;
        const T expected =
            half ? static_cast<T>(to_half(want[i]))
                 : static_cast<T>(std::round(want[i] * std::pow(2.0, d.weight_shift)));
        ASSERT_EQ(load<T>(stream, at), expected) << "k " << k << " c " << ce << " at " << i;
      }
    }
  }
  for (std::size_t b = std::size_t{w.kernels} * channels * 16 * sizeof(T); b < stream.size(); ++b) {
    ASSERT_EQ(stream[b], std::byte{0}) << b;
  }
}

WinogradDesc winograd(const WeightsDesc& weights, std::int32_t shift,
                      std::uint32_t stride_width = 1, std::uint32_t stride_height = 1) {
  return {weights, stride_width, stride_height, shift};
}

TEST(Winograd, Int8) {
  const WeightsDesc d{37, 5, 3, 3};
  for (const std::int32_t shift : {-2, -1}) {
    check_winograd(winograd(d, shift), test::random_values<std::int8_t>(d.elements(), 1, -56, 56));
  }
  check_winograd(winograd(d, 2), test::random_values<std::int8_t>(d.elements(), 2, -14, 14));
}

TEST(Winograd, Int16) {
  const WeightsDesc d{19, 33, 3, 3, Precision::kInt16};
  for (const std::int32_t shift : {-2, 0, 1, 2}) {
    check_winograd(winograd(d, shift),
                   test::random_values<std::int16_t>(d.elements(), 3, -3640, 3640));
  }
}

TEST(Winograd, Strides) {
  const WeightsDesc d{33, 7, 5, 9};
  check_winograd(winograd(d, 0, 3, 2), test::random_values<std::int8_t>(d.elements(), 4, -56, 56));
  const WeightsDesc e{5, 40, 6, 5, Precision::kInt16};
  check_winograd(winograd(e, 0, 2, 2),
                 test::random_values<std::int16_t>(e.elements(), 5, -3000, 3000));
}

TEST(Winograd, Fp16IsRoundedOnce) {
  const WeightsDesc d{20, 18, 3, 3, Precision::kFp16};
  auto bits = test::random_values<std::int16_t>(d.elements(), 6, -32768, 32767);
  for (std::int16_t& b : bits) {
    if ((b & 0x7c00) >= 0x7800) b = static_cast<std::int16_t>(b & ~0x7000);
  }
  check_winograd(winograd(d, 0), bits);
}

TEST(Winograd, ShiftIsTheLargestThatFits) {
  const WeightsDesc d{1, 1, 3, 3};
  const auto shift = [&](int weight) {
    return winograd_weight_shift(winograd(d, 0),
                                 std::vector<std::int8_t>(9, static_cast<std::int8_t>(weight)));
  };
  // 9/4 of the weight in the middle.
  EXPECT_EQ(shift(14), 2);     // 126
  EXPECT_EQ(shift(15), 1);     // 67.5
  EXPECT_EQ(shift(-28), 1);    // -126
  EXPECT_EQ(shift(56), 0);     // 126
  EXPECT_EQ(shift(57), -1);    // 128.25
  EXPECT_EQ(shift(-128), -2);  // -288: -144 would not fit
}

TEST(Winograd, WhatDoesNotFitIsRefused) {
  const DeviceInfo info = configuration_info("nv_full");
  const WinogradDesc d = winograd({1, 1, 3, 3}, 0);
  std::vector<std::byte> stream(winograd_bytes(info, d));
  expect_error(ErrorCode::kInvalidArgument, "the transformed weight 128 does not fit 8 bits",
               [&] { pack_winograd_weights(info, d, std::vector<std::int8_t>(9, 57), stream); });
  const WinogradDesc half = winograd({1, 1, 3, 3, Precision::kFp16}, 0);
  const auto bits = [](double value) {
    return std::vector<std::int16_t>(9, static_cast<std::int16_t>(to_half(value)));
  };
  stream.resize(winograd_bytes(info, half));
  expect_error(ErrorCode::kInvalidArgument, "does not fit fp16",
               [&] { pack_winograd_weights(info, half, bits(30000), stream); });
  expect_error(ErrorCode::kInvalidArgument, "must be finite", [&] {
    pack_winograd_weights(info, half, std::vector<std::int16_t>(9, 0x7c00), stream);
  });
}

TEST(Winograd, OtherKernelsAreRefused) {
  const DeviceInfo info = configuration_info("nv_full");
  expect_error(ErrorCode::kInvalidArgument, "a kernel of 5 folds to 5", [&] {
    winograd_bytes(info, winograd({1, 1, 5, 3}, 0));
  });
  expect_error(ErrorCode::kInvalidArgument,
               "a stride of 2 folds to 3, of 5 to 6; a kernel of 4 folds to 2", [&] {
                 winograd_bytes(info, winograd({1, 1, 3, 4}, 0, 2, 1));
               });
  expect_error(ErrorCode::kInvalidArgument, "weight_shift 3 is not in -2..2", [&] {
    winograd_bytes(info, winograd({1, 1, 3, 3}, 3));
  });
}

}  // namespace
}  // namespace nvdla
