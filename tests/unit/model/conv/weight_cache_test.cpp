// SPDX-License-Identifier: MIT
//
// Weights that are kept packed from run to run: what did not change is not looked at again, what is
// the same elsewhere is not packed again, and what changed is seen.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "common/counting_bus.hpp"
#include "model/conv/conv_weights.hpp"

namespace nvdla::model {
namespace {

class Weights : public testing::Test {
 protected:
  static constexpr std::uint64_t kHere = 0x8000'0000, kThere = 0x9000'0000;
  static constexpr std::uint32_t kKernels = 40, kChannels = 70;

  Weights() {
    std::vector<std::byte> bytes(kKernels * kChannels + 16);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 37);
    for (const std::uint64_t address : {kHere, kThere})
      bus_.memory.load(Ram::kPrimary, address, bytes);
  }

  const WeightCache::Entry& fetch(std::uint64_t address) {
    ConvLayer layer;
    layer.weight_address = address;
    layer.weight_bytes = (kKernels * kChannels + 127) / 128 * 128;
    return cache_.fetch(layer, shape_, false);
  }

  ConvShape shape_{kKernels, kChannels, 1, 1, true, Mac::kBytes, 1};
  test::CountingBus bus_;
  const nvdla_hw& hw_ = *nvdla_hw_find("nv_full");
  Dma dma_{hw_, bus_};
  WeightCache cache_{hw_, dma_};
};

TEST_F(Weights, AreReadOnce) {
  const auto packed = fetch(kHere).packed;
  const unsigned before = bus_.accesses;
  EXPECT_GT(before, 0u);
  EXPECT_EQ(fetch(kHere).packed, packed);
  EXPECT_EQ(bus_.accesses, before);
}

TEST_F(Weights, AreSharedWithEqualOnesElsewhere) {
  const auto packed = fetch(kHere).packed;
  const auto raw = fetch(kHere).raw;
  EXPECT_EQ(fetch(kThere).packed, packed);
  EXPECT_EQ(fetch(kThere).raw, raw);
}

TEST_F(Weights, ThatChangeAreNoLongerShared) {
  const auto packed = fetch(kHere).packed;
  fetch(kThere);
  bus_.memory.fill(Ram::kPrimary, kThere + 1, 1, std::byte{99});
  const auto changed = fetch(kThere).packed;
  EXPECT_NE(changed, packed);
  EXPECT_NE(changed->bytes, packed->bytes);
  EXPECT_EQ(fetch(kHere).packed, packed);
  bus_.memory.fill(Ram::kPrimary, kThere + 1, 1, std::byte{37});
  EXPECT_EQ(fetch(kThere).packed, packed);
}

// Layers take turns in one order, then in another, and one changes.
TEST_F(Weights, OfLayersThatTakeTurns) {
  std::vector<std::byte> bytes(kKernels * kChannels + 16);
  const auto address = [](unsigned i) { return kHere + i * 0x10000; };
  const auto load = [&](unsigned i, unsigned content) {
    bytes[3] = static_cast<std::byte>(content);
    bus_.memory.load(Ram::kPrimary, address(i), bytes);
  };
  for (unsigned i = 0; i < 4; ++i) load(i, i);
  for (const unsigned i : {0, 1, 2, 3, 0, 1, 2, 3, 3, 1, 0, 2, 0, 1, 2, 3})
    EXPECT_EQ((*fetch(address(i)).raw)[3], static_cast<std::byte>(i));
  load(1, 77);
  EXPECT_EQ((*fetch(address(0)).raw)[3], std::byte{0});
  EXPECT_EQ((*fetch(address(1)).raw)[3], std::byte{77});
  EXPECT_EQ((*fetch(address(2)).raw)[3], std::byte{2});
}

// Weights that are equal are the same object for all that have them.
TEST_F(Weights, ThatAreEqualAreOneObject) {
  const RawWeights raw = std::make_shared<const std::vector<std::byte>>(kKernels * kChannels);
  const RawWeights equal = std::make_shared<const std::vector<std::byte>>(*raw);
  EXPECT_EQ(cache_.kept(raw, shape_).raw, raw);
  EXPECT_EQ(cache_.kept(equal, shape_).raw, raw);
  EXPECT_EQ(cache_.kept(raw, shape_).raw, raw);
}

// Memory that lies open and names its changes has the bytes: the cache keeps none of its own.
class OpenWeights : public testing::Test {
 protected:
  static constexpr std::uint64_t kHere = 0x8000'0000, kThere = 0x8008'0000,
                                 kElsewhere = 0x9000'0000;
  static constexpr std::uint32_t kKernels = 40, kChannels = 70;
  static constexpr std::uint64_t kBytes = (kKernels * kChannels + 127) / 128 * 128;

  OpenWeights() {
    for (std::size_t i = 0; i < bytes_.size(); ++i) bytes_[i] = static_cast<std::byte>(i * 37);
    for (const std::uint64_t address : {kHere, kElsewhere})
      memory_.load(Ram::kPrimary, address, bytes_);
  }

  const WeightCache::Entry& fetch(std::uint64_t address, bool needs_raw = false) {
    ConvLayer layer;
    layer.weight_address = address;
    layer.weight_bytes = kBytes;
    return cache_.fetch(layer, shape_, needs_raw);
  }

  ConvShape shape_{kKernels, kChannels, 1, 1, true, Mac::kBytes, 1};
  std::vector<std::byte> bytes_ = std::vector<std::byte>(kBytes);
  Memory memory_;
  const nvdla_hw& hw_ = *nvdla_hw_find("nv_full");
  Dma dma_{hw_, memory_};
  WeightCache cache_{hw_, dma_};
};

TEST_F(OpenWeights, StayInMemory) {
  const auto packed = fetch(kHere).packed;
  EXPECT_EQ(fetch(kHere).raw, nullptr);
  EXPECT_EQ(fetch(kHere).packed, packed);
  EXPECT_EQ(packed->bytes, pack_weights(hw_, shape_, bytes_).bytes);
}

TEST_F(OpenWeights, AreReadForWhoNeedsTheBytes) {
  const auto packed = fetch(kHere).packed;
  const auto raw = fetch(kHere, true).raw;
  ASSERT_NE(raw, nullptr);
  EXPECT_EQ(*raw, bytes_);
  EXPECT_EQ(fetch(kHere).packed, packed);
  EXPECT_EQ(*fetch(kElsewhere, true).raw, bytes_);
}

TEST_F(OpenWeights, AreSharedWithEqualOnesElsewhere) {
  const auto packed = fetch(kHere).packed;
  EXPECT_EQ(fetch(kElsewhere).packed, packed);
  EXPECT_EQ(fetch(kElsewhere).raw, nullptr);
}

// A neighbour in the page changes, then a weight, then it changes back.
TEST_F(OpenWeights, AreLookedAtAgainInANewGeneration) {
  const auto packed = fetch(kHere).packed;
  for (unsigned i = 0; i < 3; ++i) {
    memory_.fill(Ram::kPrimary, kThere, 1, static_cast<std::byte>(i + 1));
    EXPECT_EQ(fetch(kHere).packed, packed);
    EXPECT_NE(fetch(kHere).raw, nullptr) << "what is compared next time";
  }
  memory_.fill(Ram::kPrimary, kHere + 1, 1, std::byte{99});
  const auto changed = fetch(kHere).packed;
  EXPECT_NE(changed->bytes, packed->bytes);
  memory_.load(Ram::kPrimary, kHere, bytes_);
  EXPECT_EQ(fetch(kHere).packed->bytes, pack_weights(hw_, shape_, bytes_).bytes);
}

TEST_F(OpenWeights, ThatChangeAtOnceAreSeen) {
  const auto packed = fetch(kHere).packed;
  memory_.fill(Ram::kPrimary, kHere + 1, 1, std::byte{99});
  EXPECT_NE(fetch(kHere).packed->bytes, packed->bytes);
}

// Weights that stayed in the buffer have bytes of their own, those in memory need not be the same.
TEST_F(OpenWeights, AreNotTakenForKeptOnes) {
  fetch(kHere);
  const auto raw = std::make_shared<const std::vector<std::byte>>(kBytes, std::byte{5});
  EXPECT_EQ(cache_.kept(raw, shape_).packed->bytes, pack_weights(hw_, shape_, *raw).bytes);
  const auto equal = std::make_shared<const std::vector<std::byte>>(bytes_);
  EXPECT_EQ(cache_.kept(equal, shape_).raw, equal);
  EXPECT_EQ(cache_.kept(equal, shape_).packed, fetch(kHere).packed);
}

// Kernels of nv_full come 32 at a time, channels 64: the place of each weight, and what sums begin
// with where activations are biased.
TEST_F(Weights, ArePackedByFourChannels) {
  shape_.biased = true;
  const PackedWeights& packed = *fetch(kHere).packed;
  shape_.biased = false;
  const PackedWeights& plain = *fetch(kHere).packed;
  const auto raw = *fetch(kHere).raw;
  std::size_t at = 0;
  std::vector<std::int32_t> starts(packed.starts.size());
  std::vector<std::int8_t> want(packed.bytes.size());
  for (std::uint32_t k0 = 0; k0 < kKernels; k0 += 32)
    for (std::uint32_t c0 = 0; c0 < kChannels; c0 += 64)
      for (std::uint32_t k = k0; k < std::min(kKernels, k0 + 32); ++k)
        for (std::uint32_t c = c0; c < std::min(kChannels, c0 + 64); ++c, ++at) {
          const auto weight = static_cast<std::int8_t>(raw[at]);
          want[k / 32 * 72 * 32 + c / 4 * 128 + k % 32 * 4 + c % 4] = weight;
          starts[k] -= 128 * weight;
        }
  EXPECT_EQ(packed.bytes, want);
  EXPECT_EQ(packed.starts, starts);
  EXPECT_EQ(plain.bytes, want);
  EXPECT_EQ(plain.starts, std::vector<std::int32_t>(starts.size()));
}

// A kernel of 3 x 3 for each of 70 channels, which lie in two blocks of 64.
class DepthwiseWeights : public testing::Test {
 protected:
  static constexpr std::uint32_t kChannels = 70;
  static constexpr ConvShape kShape{kChannels, kChannels, 3, 3, true, Mac::kBytes, 1, 1, true};

  // Calls `visit(k, c, tap, byte)` for each weight of the stream.
  template <typename Visit>
  void each(Visit visit) {
    std::size_t at = 0;
    for (std::uint32_t k0 = 0; k0 < kChannels; k0 += 32)
      for (std::uint32_t c0 = 0; c0 < kChannels; c0 += 64)
        for (std::uint32_t tap = 0; tap < 9; ++tap)
          for (std::uint32_t k = k0; k < std::min(kChannels, k0 + 32); ++k)
            for (std::uint32_t c = c0; c < std::min(kChannels, c0 + 64); ++c)
              visit(k, c, tap, raw_[at++]);
  }
  static std::int8_t weight(std::uint32_t k, std::uint32_t tap) {
    return static_cast<std::int8_t>(k * 29 + tap * 7 + 1);
  }
  PackedWeights packed() const { return pack_weights(*nvdla_hw_find("nv_full"), kShape, raw_); }

  std::vector<std::byte> raw_ = std::vector<std::byte>(std::size_t{kChannels} * kChannels * 9 + 60);
};

TEST_F(DepthwiseWeights, ArePackedWithoutZeros) {
  each([](std::uint32_t k, std::uint32_t c, std::uint32_t tap, std::byte& byte) {
    if (c == k) byte = static_cast<std::byte>(weight(k, tap));
  });
  const PackedWeights found = packed();
  EXPECT_TRUE(found.bytes.empty());
  EXPECT_EQ(found.depthwise_channels, (std::vector<std::uint32_t>{0, 32, 64}));
  ASSERT_EQ(found.depthwise.size(), 3u * 3 * 4 * kBlock);
  for (std::uint32_t k = 0; k < 3 * kBlock; ++k) {
    std::int32_t sum = 0;
    for (std::uint32_t tap = 0; tap < 12; ++tap) {
      // Each row of three has four taps, of which the last weighs nothing.
      const bool real = k < kChannels && tap % 4 != 3;
      const std::int8_t want = real ? weight(k, tap / 4 * 3 + tap % 4) : std::int8_t{0};
      EXPECT_EQ(found.depthwise[((k / kBlock * 3 + tap / 4) * kBlock + k % kBlock) * 4 + tap % 4],
                want)
          << "kernel " << k << ", tap " << tap;
      sum += want;
    }
    EXPECT_EQ(found.starts[k], -128 * sum);
  }
}

TEST_F(DepthwiseWeights, WithAnotherChannelAreNot) {
  each([](std::uint32_t k, std::uint32_t c, std::uint32_t tap, std::byte& byte) {
    if (c == k) byte = static_cast<std::byte>(weight(k, tap));
    if (k == kChannels - 1 && c == 2 && tap == 8) byte = std::byte{1};
  });
  EXPECT_TRUE(packed().depthwise.empty());
  EXPECT_FALSE(packed().bytes.empty());
}

// Kernel 1 sees channel 0: none comes before it for kernel 0.
TEST_F(DepthwiseWeights, BeforeTheFirstChannelAreNot) {
  each([](std::uint32_t k, std::uint32_t c, std::uint32_t, std::byte& byte) {
    if (k == c + 1) byte = std::byte{3};
  });
  EXPECT_TRUE(packed().depthwise.empty());
}

}  // namespace
}  // namespace nvdla::model
