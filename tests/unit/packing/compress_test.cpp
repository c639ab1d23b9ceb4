// SPDX-License-Identifier: MIT
//
// Compressed weights: the packer against a decoder that knows the format only, and layers that run
// with them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "common/runtime/expect_error.hpp"
#include "nvdla/lowlevel/compression.hpp"
#include "nvdla/types/device_info.hpp"
#include "nvdla/types/precision.hpp"
#include "unit/packing/compressed.hpp"

namespace nvdla {
namespace {

using test::Bytes;
using test::compress;
using test::Compressed;
using test::expect_error;
using test::packed;
using test::random_weights;

// Bit by bit from the mask, element by element from the weights; the words of the table say where
// the elements of a group end.
template <typename T>
Bytes decode(const Compressed& c, const WeightsDesc& desc, std::uint32_t group_kernels) {
  Bytes stream(weights_bytes(desc));
  const std::size_t group = desc.elements() / desc.kernels * group_kernels;
  std::size_t at = 0, bit = 0;
  for (std::size_t word = 0; bit < desc.elements(); ++word) {
    std::uint32_t size = 0;
    std::memcpy(&size, &c.wgs[word * 4], sizeof(size));
    const std::size_t end = at + size;
    for (; bit < std::min<std::size_t>(desc.elements(), (word + 1) * group); ++bit) {
      if ((c.wmb[bit / 8] >> (bit % 8) & std::byte{1}) == std::byte{0}) continue;
      std::memcpy(&stream[bit * sizeof(T)], &c.weights[at], sizeof(T));
      at += sizeof(T);
    }
    EXPECT_EQ(at, end) << "kernel group " << word;
  }
  for (; at < c.weights.size(); ++at) EXPECT_EQ(c.weights[at], std::byte{0}) << at;
  for (; bit < c.wmb.size() * 8; ++bit)
    EXPECT_EQ(c.wmb[bit / 8] >> (bit % 8) & std::byte{1}, std::byte{0}) << bit;
  return stream;
}

template <typename T>
void check_round_trip(const WeightsDesc& desc, unsigned zeros) {
  const DeviceInfo info = configuration_info("nv_full");
  const Bytes stream = packed(info, desc, random_weights<T>(desc, zeros));
  const Compressed c = compress(info, desc, stream);
  EXPECT_TRUE(c.sizes.possible);
  EXPECT_EQ(c.sizes.weights % 128, 0U);
  EXPECT_EQ(c.sizes.wmb, (desc.elements() + 1023) / 1024 * 128);
  EXPECT_EQ(decode<T>(c, desc, sizeof(T) == 1 ? 32 : 16), stream);
}

TEST(Compress, RoundTrip) {
  for (const unsigned zeros : {0U, 30U, 90U}) {
    check_round_trip<std::int8_t>({1, 1, 1, 1}, 0);
    check_round_trip<std::int8_t>({32, 64, 1, 1}, zeros);
    check_round_trip<std::int8_t>({71, 131, 3, 2}, zeros);
    check_round_trip<std::int16_t>({33, 65, 3, 3, Precision::kInt16}, zeros);
    check_round_trip<std::int16_t>({16, 64, 1, 2, Precision::kFp16}, zeros);
  }
}

// 33 kernels of 8: the first group has one weight, the second four.
TEST(Compress, PartsByHand) {
  const DeviceInfo info = configuration_info("nv_full");
  const WeightsDesc desc{33, 8, 1, 1};
  std::vector<std::int8_t> kcrs(33 * 8);
  kcrs[3] = 5;
  for (int i = 0; i < 4; ++i) kcrs[32 * 8 + 2 * i] = static_cast<std::int8_t>(-1 - i);
  const Compressed c = compress(info, desc, packed(info, desc, kcrs));
  EXPECT_EQ(c.sizes.plain, 384U);
  EXPECT_EQ(c.sizes.weights, 128U);
  EXPECT_EQ(c.sizes.wgs, 32U);
  EXPECT_EQ(c.sizes.wmb, 128U);
  EXPECT_TRUE(c.sizes.pays());
  const std::uint8_t weights[] = {5, 0xff, 0xfe, 0xfd, 0xfc};
  EXPECT_EQ(std::memcmp(c.weights.data(), weights, sizeof(weights)), 0);
  const std::uint32_t words[] = {1, 4};
  EXPECT_EQ(std::memcmp(c.wgs.data(), words, sizeof(words)), 0);
  EXPECT_EQ(c.wmb[0], std::byte{0x08});
  EXPECT_EQ(c.wmb[32], std::byte{0x55});
}

TEST(Compress, MinusZeroIsAWeight) {
  const DeviceInfo info = configuration_info("nv_full");
  const WeightsDesc desc{1, 4, 1, 1, Precision::kFp16};
  const std::vector<std::int16_t> kcrs = {0, INT16_MIN, 0x100, 1};
  const Compressed c = compress(info, desc, packed(info, desc, kcrs));
  EXPECT_EQ(c.wmb[0], std::byte{0x0e});
  EXPECT_EQ(c.wgs[0], std::byte{6});
}

TEST(Compress, WhenItIsNotPossible) {
  const WeightsDesc desc{33, 64, 1, 1};
  std::vector<std::int8_t> kcrs = random_weights<std::int8_t>(desc, 50);
  for (const char* name : {"nv_full", "nv_small", "nv_large"}) {
    const DeviceInfo info = configuration_info(name);
    EXPECT_EQ(compressed_sizes(info, desc, packed(info, desc, kcrs)).possible,
              std::string(name) == "nv_full");
  }
  // The second group, one kernel, is all zeros.
  std::fill(kcrs.begin() + 32 * 64, kcrs.end(), std::int8_t{0});
  const DeviceInfo info = configuration_info("nv_full");
  EXPECT_FALSE(compressed_sizes(info, desc, packed(info, desc, kcrs)).possible);
  // 32 kernels of 8160 bits fit a bank beside the margin, of 8161 they do not.
  for (const std::uint32_t channels : {8160U, 8161U}) {
    const WeightsDesc large{32, channels, 1, 1};
    const auto all = random_weights<std::int8_t>(large, 50);
    EXPECT_EQ(compressed_sizes(info, large, packed(info, large, all)).possible, channels == 8160);
  }
}

TEST(Compress, PaysOnlyWithEnoughZeros) {
  const DeviceInfo info = configuration_info("nv_full");
  const WeightsDesc desc{64, 64, 3, 3};
  const auto sizes = [&](unsigned zeros) {
    return compressed_sizes(info, desc,
                            packed(info, desc, random_weights<std::int8_t>(desc, zeros)));
  };
  EXPECT_FALSE(sizes(0).pays());
  EXPECT_TRUE(sizes(0).possible);
  EXPECT_FALSE(sizes(10).pays());
  EXPECT_TRUE(sizes(20).pays());
}

TEST(Compress, WrongSizes) {
  const DeviceInfo info = configuration_info("nv_full");
  const WeightsDesc desc{4, 64, 1, 1};
  const Bytes stream = packed(info, desc, random_weights<std::int8_t>(desc, 0));
  Bytes part(256);
  const auto refused = [&](std::size_t in, std::size_t weights, std::size_t wgs, std::size_t wmb,
                           const std::string& text) {
    expect_error(ErrorCode::kInvalidArgument, text, [&] {
      compress_weights(info, desc, std::span(stream).first(in), std::span(part).first(weights),
                       std::span(part).first(wgs), std::span(part).first(wmb));
    });
  };
  refused(255, 256, 32, 128, "255 bytes of weights given, 4x64x1x1 (KCRS) take 256");
  refused(256, 255, 32, 128, "255 bytes for compressed weights that take 256");
  refused(256, 256, 31, 128, "31 bytes for group sizes that take 32");
  refused(256, 256, 32, 127, "127 bytes for mask bits that take 128");
}

}  // namespace
}  // namespace nvdla
