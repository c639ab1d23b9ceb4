// SPDX-License-Identifier: MIT
//
// Where a layer touches memory: the claim of each DMA client to the byte, what
// may overlap, and numbers that are made to overflow.
#include <gtest/gtest.h>

#include <map>

#include "common/configurations.hpp"
#include "faults.hpp"
#include "unit_layers.hpp"

namespace nvdla::test {
namespace {

struct Range {
  std::uint64_t begin, end;
  bool write;
  bool operator==(const Range&) const = default;
};

std::map<std::uint32_t, Range> claims(const Base& base) {
  Program program(*base.hw, base.slots, 1);
  EXPECT_TRUE(program.add(base.layer)) << to_string(program.error());
  std::map<std::uint32_t, Range> found;
  for (const auto& access : program.accesses(0)) {
    EXPECT_LE(access.write, 1);
    found[access.dma] = {access.begin, access.end, access.write != 0};
  }
  return found;
}

struct Client {
  std::uint32_t dma, slot, field;
};

// Slots of the base layers end where the last client ends: one byte less and
// that client is named.
void one_byte_less(Base (*make)(const char*), const std::vector<Client>& clients) {
  for (const char* configuration : kConfigurations) {
    for (const auto& client : clients) {
      SCOPED_TRACE(std::string(configuration) + " dma " + std::to_string(client.dma));
      Base base = make(configuration);
      const auto exact = claims(base);
      ASSERT_TRUE(exact.contains(client.dma));
      // The 1-byte margin is meaningful only if the slot is exact.
      base.slots[client.slot].size = exact.at(client.dma).end;
      ASSERT_EQ(compile(base).rule, NVDLA_RULE_NONE);
      base.slots[client.slot].size--;
      const nvdla_error error = compile(base);
      EXPECT_EQ(error.rule, NVDLA_RULE_EXTENT);
      EXPECT_EQ(error.dma, client.dma);
      EXPECT_EQ(error.slot, client.slot);
      EXPECT_EQ(error.field, client.field);
      EXPECT_EQ(error.value, static_cast<std::int64_t>(exact.at(client.dma).end - 1));
      EXPECT_EQ(error.min, static_cast<std::int64_t>(exact.at(client.dma).begin));
      EXPECT_EQ(error.max, static_cast<std::int64_t>(base.slots[client.slot].size));
    }
  }
}

TEST(Memory, SdpClientsToTheByte) {
  one_byte_less(base_sdp, {{NVDLA_DMA_SDP_RDMA, kInput, LAYER_FIELD(sdp.input)},
                           {NVDLA_DMA_SDP_WDMA, kOutput, LAYER_FIELD(sdp.output)},
                           {NVDLA_DMA_SDP_BRDMA, kX1, LAYER_FIELD(sdp.x1.operand)},
                           {NVDLA_DMA_SDP_NRDMA, kX2, LAYER_FIELD(sdp.x2.operand)}});
}

TEST(Memory, ConvClientsToTheByte) {
  one_byte_less(base_conv, {{NVDLA_DMA_CDMA_DATA, kInput, LAYER_FIELD(conv.input)},
                            {NVDLA_DMA_CDMA_WEIGHT, kWeights, LAYER_FIELD(conv.weights)},
                            {NVDLA_DMA_SDP_WDMA, kOutput, LAYER_FIELD(sdp.output)},
                            {NVDLA_DMA_SDP_BRDMA, kX1, LAYER_FIELD(sdp.x1.operand)},
                            {NVDLA_DMA_SDP_NRDMA, kX2, LAYER_FIELD(sdp.x2.operand)}});
}

// Worked out by hand: 20 channels are one atom of 32 bytes, three of 8.
TEST(Memory, ClaimsOfSdp) {
  const auto full = claims(base_sdp("nv_full"));
  EXPECT_EQ(full.size(), 4u);
  EXPECT_EQ(full.at(NVDLA_DMA_SDP_RDMA), (Range{0, 10 * 8 * 32, false}));
  EXPECT_EQ(full.at(NVDLA_DMA_SDP_WDMA), (Range{0, 10 * 8 * 32, true}));
  EXPECT_EQ(full.at(NVDLA_DMA_SDP_BRDMA), (Range{0, 64, false}));
  EXPECT_EQ(full.at(NVDLA_DMA_SDP_NRDMA), (Range{0, 10 * 8 * 32, false}));
  const auto small = claims(base_sdp("nv_small"));
  EXPECT_EQ(small.at(NVDLA_DMA_SDP_RDMA), (Range{0, 3 * 10 * 8 * 8, false}));
  EXPECT_EQ(small.at(NVDLA_DMA_SDP_BRDMA), (Range{0, 3 * 16, false}));
}

TEST(Memory, ClaimsWithGaps) {
  Base base = base_sdp("nv_small");
  base.layer.sdp.input.offset = 1000;
  base.layer.sdp.input.line_stride = 104;
  base.layer.sdp.input.surface_stride = 4000;
  base.slots[kInput].size = 100000;
  EXPECT_EQ(claims(base).at(NVDLA_DMA_SDP_RDMA),
            (Range{1000, 1000 + 2 * 4000 + 7 * 104 + 80, false}));
}

// Both parts of two bytes: four atoms a column.
TEST(Memory, ClaimsOfWideOperands) {
  Base base = base_sdp("nv_full");
  nvdla_sdp_x& x = base.layer.sdp.x2;
  x.alu = NVDLA_ALU_SUM;
  x.operand_bytes = 2;
  x.operand.line_stride = 10 * 128;
  x.operand.surface_stride = 8 * 10 * 128;
  base.slots[kX2].size = 8 * 10 * 128;
  EXPECT_EQ(claims(base).at(NVDLA_DMA_SDP_NRDMA), (Range{0, 8 * 10 * 128, false}));
}

// Where int8 meets int16 surfaces come in pairs, used or not.
TEST(Memory, ClaimsOfConvertingLayers) {
  Base base = base_sdp("nv_full");
  base.layer.sdp.channels = 3;
  base.layer.sdp.out_precision = NVDLA_PRECISION_INT16;
  base.slots[kOutput].size = 2 * 10 * 8 * 32;
  EXPECT_EQ(claims(base).at(NVDLA_DMA_SDP_WDMA), (Range{0, 2 * 10 * 8 * 32, true}));
  base = base_sdp("nv_full");
  base.layer.sdp.channels = 3;
  base.layer.sdp.in_precision = NVDLA_PRECISION_INT16;
  base.slots[kInput].size = 2 * 10 * 8 * 32;
  EXPECT_EQ(claims(base).at(NVDLA_DMA_SDP_RDMA), (Range{0, 2 * 10 * 8 * 32, false}));
}

// The whole input is claimed even if the hardware is told to reuse it.
TEST(Memory, ReuseClaimsEverything) {
  Base base = base_conv("nv_small");
  Program program(*base.hw, base.slots, 2);
  base.layer.conv.flags = NVDLA_CONV_KEEP_DATA | NVDLA_CONV_KEEP_WEIGHTS;
  ASSERT_TRUE(program.add(base.layer));
  base.layer.conv.flags = NVDLA_CONV_REUSE_DATA | NVDLA_CONV_REUSE_WEIGHTS;
  ASSERT_TRUE(program.add(base.layer)) << to_string(program.error());
  const auto first = program.accesses(0);
  const auto second = program.accesses(1);
  ASSERT_EQ(first.size(), second.size());
  for (std::size_t i = 0; i < first.size(); i++) EXPECT_EQ(first[i].end, second[i].end);
}

TEST(Memory, NothingOverflows) {
  struct Attempt {
    const char* name;
    void (*change)(Base&);
  };
  const Attempt attempts[] = {
      {"offset at the end of memory", [](Base& b) { b.layer.sdp.input.offset = ~0ull - 31; }},
      {"offset whose end wraps to a small number",
       [](Base& b) { b.layer.sdp.input.offset = 0 - std::uint64_t{64}; }},
      {"surface stride",
       [](Base& b) {
         b.layer.sdp.channels = 8192;
         b.layer.sdp.x1 = {};
         b.layer.sdp.x2 = {};
         b.layer.sdp.input.surface_stride = 0xffffffe0;
       }},
      {"line stride",
       [](Base& b) {
         b.layer.sdp.height = 8192;
         b.layer.sdp.x1 = {};
         b.layer.sdp.x2 = {};
         b.layer.sdp.channels = 8;
         b.layer.sdp.input.line_stride = 0xffffffe0;
       }},
      {"output offset", [](Base& b) { b.layer.sdp.output.offset = 1ull << 63; }},
      {"operand offset", [](Base& b) { b.layer.sdp.x1.operand.offset = 0 - std::uint64_t{32}; }},
      {"operand stride",
       [](Base& b) {
         b.layer.sdp.x2.operand.line_stride = 0xffffffe0;
         b.layer.sdp.x2.operand.surface_stride = 0xffffffe0;
       }},
  };
  for (const char* configuration : {"nv_full", "nv_small"}) {
    for (const auto& attempt : attempts) {
      Base base = base_sdp(configuration);
      attempt.change(base);
      const nvdla_error error = compile(base);
      EXPECT_TRUE(error.rule == NVDLA_RULE_EXTENT || error.rule == NVDLA_RULE_STRIDE)
          << configuration << " " << attempt.name << ": " << to_string(error);
      EXPECT_GE(error.value, 0) << attempt.name;
    }
  }
}

// A slot may be as large as the address space, and the last atom of it used.
TEST(Memory, LastByteOfTheAddressSpace) {
  Base base = base_sdp("nv_full");
  base.slots[kInput].size = ~0ull;
  base.layer.sdp.input.offset = (~0ull - 10 * 8 * 32) & ~31ull;
  EXPECT_EQ(compile(base).rule, NVDLA_RULE_NONE);
  base.layer.sdp.input.offset += 32;
  EXPECT_EQ(compile(base).rule, NVDLA_RULE_EXTENT);
}

class Overlap : public testing::Test {
 protected:
  // Everything in one slot, the output away from all that is read.
  Base base_ = base_sdp("nv_small");
  static constexpr std::uint64_t kSize = 3 * 10 * 8 * 8;
  void SetUp() override {
    base_.slots = {slot(1 << 20, NVDLA_SLOT_READ | NVDLA_SLOT_WRITE, 64)};
    nvdla_sdp& sdp = base_.layer.sdp;
    sdp.input.slot = sdp.output.slot = sdp.x1.operand.slot = sdp.x2.operand.slot = 0;
    sdp.input.offset = 0x10000;
    sdp.output.offset = 0x20000;
    sdp.x1.operand.offset = 0x30000;
    sdp.x2.operand.offset = 0x40000;
  }
};

TEST_F(Overlap, ApartIsLegal) { EXPECT_EQ(compile(base_).rule, NVDLA_RULE_NONE); }

TEST_F(Overlap, NeighboursAreLegal) {
  base_.layer.sdp.output.offset = 0x10000 + kSize;
  EXPECT_EQ(compile(base_).rule, NVDLA_RULE_NONE);
  base_.layer.sdp.output.offset = 0x10000 - kSize;
  EXPECT_EQ(compile(base_).rule, NVDLA_RULE_NONE);
}

TEST_F(Overlap, OneAtomIsRefused) {
  base_.layer.sdp.output.offset = 0x10000 + kSize - 8;
  const nvdla_error error = compile(base_);
  EXPECT_EQ(error.rule, NVDLA_RULE_OVERLAP);
  EXPECT_EQ(error.field, LAYER_FIELD(sdp.output));
  EXPECT_EQ(error.dma, NVDLA_DMA_SDP_WDMA);
  EXPECT_EQ(error.slot, 0u);
  EXPECT_EQ(error.value, static_cast<std::int64_t>(0x10000 + kSize - 8));
  EXPECT_EQ(error.min, 0x10000);
  EXPECT_EQ(error.max, static_cast<std::int64_t>(0x10000 + kSize - 1));
  base_.layer.sdp.output.offset = 0x10000 - kSize + 8;
  EXPECT_EQ(compile(base_).rule, NVDLA_RULE_OVERLAP);
}

TEST_F(Overlap, ExactlyInPlaceIsLegal) {
  base_.layer.sdp.output = base_.layer.sdp.input;
  EXPECT_EQ(compile(base_).rule, NVDLA_RULE_NONE);
  base_.layer.sdp.output = base_.layer.sdp.x2.operand;
  EXPECT_EQ(compile(base_).rule, NVDLA_RULE_NONE);
}

TEST_F(Overlap, OtherStridesInPlaceAreRefused) {
  base_.layer.sdp.output = base_.layer.sdp.input;
  base_.layer.sdp.output.surface_stride += 8;
  EXPECT_EQ(compile(base_).rule, NVDLA_RULE_OVERLAP);
  base_.layer.sdp.output = base_.layer.sdp.input;
  base_.layer.sdp.output.line_stride += 8;
  base_.layer.sdp.output.surface_stride += 80;
  EXPECT_EQ(compile(base_).rule, NVDLA_RULE_OVERLAP);
}

TEST_F(Overlap, WideOperandsInPlaceAreRefused) {
  base_.layer.sdp.x2.operand_bytes = 2;
  base_.layer.sdp.x2.operand.line_stride = 160;
  base_.layer.sdp.x2.operand.surface_stride = 1280;
  ASSERT_EQ(compile(base_).rule, NVDLA_RULE_NONE);
  base_.layer.sdp.output = base_.layer.sdp.x2.operand;
  EXPECT_EQ(compile(base_).rule, NVDLA_RULE_OVERLAP);
}

// Elements of two bytes take two atoms where one is read.
TEST(OverlapOfPrecisions, WiderOutputInPlaceIsRefused) {
  Base base = base_sdp("nv_full");
  base.slots = {slot(1 << 20, NVDLA_SLOT_READ | NVDLA_SLOT_WRITE, 64)};
  nvdla_sdp& sdp = base.layer.sdp;
  sdp.x1 = sdp.x2 = {};
  sdp.output = sdp.input;
  ASSERT_EQ(compile(base).rule, NVDLA_RULE_NONE);
  sdp.out_precision = kInt16;
  EXPECT_EQ(compile(base).rule, NVDLA_RULE_OVERLAP);
}

TEST(OverlapOfY, ExactlyInPlaceIsLegal) {
  Base base = base_y("nv_full");
  for (nvdla_slot& slot : base.slots) slot.access = NVDLA_SLOT_READ | NVDLA_SLOT_WRITE;
  nvdla_sdp_y& y = base.layer.sdp.y;
  y.flags = NVDLA_SDP_ENABLE | NVDLA_SDP_LUT | NVDLA_SDP_CONVERT_ALU;
  y.mul = 0;
  y.mul_truncate = 0;
  y.mul_cvt = {};
  y.operand_bytes = 1;
  y.operand = base.layer.sdp.output;
  EXPECT_EQ(compile(base).rule, NVDLA_RULE_NONE) << to_string(compile(base));
  // Both parts: two columns are read for one that is written.
  y.flags |= NVDLA_SDP_CONVERT_MUL;
  y.mul = NVDLA_MUL_MUL;
  y.operand.line_stride *= 2;
  y.operand.surface_stride *= 2;
  base.layer.sdp.output = y.operand;
  for (nvdla_slot& slot : base.slots) slot.size *= 2;
  EXPECT_EQ(compile(base).rule, NVDLA_RULE_OVERLAP);
}

// The operands of all cubes are those that the first one overwrites.
TEST(OverlapOfBatches, OperandsInPlaceAreRefused) {
  Base base = base_batch("nv_full");
  base.layer.conv.batch = 2;
  base.slots[kOutput].access = NVDLA_SLOT_READ | NVDLA_SLOT_WRITE;
  const std::uint32_t apart = base.layer.sdp.output.batch_stride;
  base.layer.sdp.x2.operand = base.layer.sdp.output;
  base.layer.sdp.x2.operand.batch_stride = 0;
  EXPECT_EQ(compile(base).rule, NVDLA_RULE_OVERLAP) << to_string(compile(base));
  base.layer.sdp.x2.operand.offset = 2ull * apart;
  EXPECT_EQ(compile(base).rule, NVDLA_RULE_NONE) << to_string(compile(base));
}

// A line of one surface, whose strides may be those that operands per channel have to have.
TEST(OverlapOfLines, OperandsPerChannelAreRefusedWhateverTheStrides) {
  Base base = base_sdp("nv_small");
  base.slots = {slot(1 << 20, NVDLA_SLOT_READ | NVDLA_SLOT_WRITE, 64)};
  nvdla_sdp& sdp = base.layer.sdp;
  sdp.height = 1;
  sdp.channels = 8;
  sdp.x2 = {};
  sdp.x1.operand_bytes = 1;
  sdp.x1.operand = {};
  sdp.input = sdp.output = {};
  sdp.input.offset = 0x10000;
  sdp.output.offset = 0x20000;
  ASSERT_EQ(compile(base).rule, NVDLA_RULE_NONE) << to_string(compile(base));
  sdp.output.offset = 0;
  EXPECT_EQ(compile(base).rule, NVDLA_RULE_OVERLAP);
}

TEST_F(Overlap, OperandsPerChannelAreRefused) {
  base_.layer.sdp.output.offset = 0x30000;
  EXPECT_EQ(compile(base_).rule, NVDLA_RULE_OVERLAP);
}

TEST_F(Overlap, AConvolutionIsNeverInPlace) {
  Base base = base_conv("nv_small");
  base.slots = {slot(1 << 20, NVDLA_SLOT_READ | NVDLA_SLOT_WRITE, 64)};
  base.layer.conv.input.slot = base.layer.conv.weights.slot = 0;
  base.layer.sdp.output.slot = 0;
  base.layer.sdp.x1 = {};
  base.layer.sdp.x2 = {};
  base.layer.conv.weights.offset = 0x10000;
  base.layer.sdp.output.offset = 0x20000;
  ASSERT_EQ(compile(base).rule, NVDLA_RULE_NONE);
  base.layer.sdp.output.offset = 0;
  EXPECT_EQ(compile(base).rule, NVDLA_RULE_OVERLAP);
  base.layer.sdp.output.offset = 0x10000;
  EXPECT_EQ(compile(base).rule, NVDLA_RULE_OVERLAP);
}

}  // namespace
}  // namespace nvdla::test
