// SPDX-License-Identifier: MIT
//
// Compressed weights that are kept expanded from run to run: read again when any of their three
// buffers has changed, and never kept where they are wrong.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/counting_bus.hpp"
#include "model/conv/conv_expand.hpp"
#include "model/core/memory.hpp"

namespace nvdla::model {
namespace {

class Expander : public testing::Test {
 protected:
  static constexpr std::uint64_t kWeights = 0x8000'0000, kMask = 0x9000'0000, kSizes = 0xa000'0000;

  // Two kernels of 8 weights, of which the mask has 0, 3 and 8.
  Expander() {
    layer_.proc = Precision::kInt8;
    layer_.compressed = true;
    layer_.kernels = 2;
    layer_.kernel_bytes = 8;
    layer_.weight_banks = 1;
    layer_.weight_address = kWeights;
    layer_.mask_address = kMask;
    layer_.group_address = kSizes;
    layer_.weight_bytes = layer_.mask_bytes = 128;
    for (const std::uint64_t address : {kWeights, kMask, kSizes})
      bus_.memory.fill(Ram::kPrimary, address, 128, std::byte{0});
    for (unsigned i = 0; i < 4; ++i) set(kWeights + i, 5 + i);
    set(kMask, 0b1001);
    set(kMask + 1, 0b1);
    set(kSizes, 3);
  }

  void set(std::uint64_t address, unsigned byte) {
    bus_.memory.fill(Ram::kPrimary, address, 1, static_cast<std::byte>(byte));
  }
  std::vector<int> expanded() {
    EXPECT_EQ(expander_.expand(layer_), "");
    std::vector<int> values;
    for (const std::byte byte : *expander_.stream()) values.push_back(static_cast<int>(byte));
    values.resize(16);
    return values;
  }
  static std::vector<int> stream(int first, int third, int eighth) {
    return {first, 0, 0, third, 0, 0, 0, 0, eighth, 0, 0, 0, 0, 0, 0, 0};
  }

  test::CountingBus bus_;
  const nvdla_hw& hw_ = *nvdla_hw_find("nv_full");
  Dma dma_{hw_, bus_};
  WeightExpander expander_{hw_, dma_};
  ConvLayer layer_;
};

TEST_F(Expander, ReadsOnce) {
  EXPECT_EQ(expanded(), stream(5, 6, 7));
  const RawWeights kept = expander_.stream();
  const unsigned before = bus_.accesses;
  EXPECT_GT(before, 0u);
  EXPECT_EQ(expanded(), stream(5, 6, 7));
  EXPECT_EQ(bus_.accesses, before);
  EXPECT_EQ(expander_.stream(), kept);
}

// Equal bytes that others have found take the stream's place in later runs, too.
TEST_F(Expander, SharesEqualStreams) {
  expanded();
  const RawWeights equal = std::make_shared<const std::vector<std::byte>>(*expander_.stream());
  expander_.share(equal);
  EXPECT_EQ(expanded(), stream(5, 6, 7));
  EXPECT_EQ(expander_.stream(), equal);
}

TEST_F(Expander, SeesNewWeights) {
  expanded();
  set(kWeights + 1, 99);
  EXPECT_EQ(expanded(), stream(5, 99, 7));
}

TEST_F(Expander, SeesANewMask) {
  expanded();
  set(kMask + 1, 0b10);
  std::vector<int> want = stream(5, 6, 0);
  want[9] = 7;
  EXPECT_EQ(expanded(), want);
}

// Their sizes are looked at where another group follows.
TEST_F(Expander, SeesNewSizesOfGroups) {
  layer_.kernels = 33;
  set(kMask + 32, 0b1);
  EXPECT_EQ(expander_.expand(layer_), "");
  set(kSizes, 2);
  EXPECT_EQ(expander_.expand(layer_), "WGS says 2 bytes of kernel group 0, its mask 3");
}

TEST_F(Expander, KeepsLayersApart) {
  const auto first = expanded();
  ConvLayer other = layer_;
  layer_.kernels = 1;
  set(kMask + 1, 0);
  EXPECT_EQ(expanded(), stream(5, 6, 0));
  set(kMask + 1, 0b1);
  layer_ = other;
  EXPECT_EQ(expanded(), first);
}

TEST_F(Expander, TellsAFaultEachTime) {
  layer_.weight_bytes = 256;
  const std::string fault = expander_.expand(layer_);
  EXPECT_EQ(fault, "WEIGHT_BYTES 256, the mask has weights of 3 bytes");
  EXPECT_EQ(expander_.expand(layer_), fault);
}

// What the bus does not vouch for is read each time.
TEST_F(Expander, ReadsAgainWithoutAGeneration) {
  bus_.vouches = false;
  expanded();
  const unsigned before = bus_.accesses;
  EXPECT_EQ(expanded(), stream(5, 6, 7));
  EXPECT_EQ(bus_.accesses, 2 * before);
}

}  // namespace
}  // namespace nvdla::model
