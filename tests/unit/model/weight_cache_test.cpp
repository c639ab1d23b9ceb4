// SPDX-License-Identifier: MIT
//
// Weights that are kept packed from run to run: what did not change is not looked at again, what is
// the same elsewhere is not packed again, and what changed is seen.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "model/conv_weights.hpp"
#include "model/memory.hpp"

namespace nvdla::model {
namespace {

// Counts what is asked of the memory behind it.
class CountingBus final : public Bus {
 public:
  Mapping map(Ram ram, std::uint64_t address, std::uint64_t size, bool write) noexcept override {
    ++accesses;
    return memory.map(ram, address, size, write);
  }
  std::uint64_t generation(Ram ram, std::uint64_t address,
                           std::uint64_t size) const noexcept override {
    return memory.generation(ram, address, size);
  }
  void written(Ram, std::uint64_t, std::uint64_t) noexcept override {}

  Memory memory;
  unsigned accesses = 0;
};

class Weights : public testing::Test {
 protected:
  static constexpr std::uint64_t kHere = 0x8000'0000, kThere = 0x9000'0000;
  static constexpr std::uint32_t kKernels = 40, kChannels = 70;
  static constexpr ConvShape kShape{kKernels, kChannels, 1, 1, true, Mac::kBytes, 1};

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
    return cache_.fetch(layer, kShape);
  }

  CountingBus bus_;
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

// Kernels of nv_full come 32 at a time, channels 64: the place of each weight, and the sums.
TEST_F(Weights, ArePackedByFourChannels) {
  const PackedWeights& packed = *fetch(kHere).packed;
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
}

}  // namespace
}  // namespace nvdla::model
