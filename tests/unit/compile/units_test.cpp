// SPDX-License-Identifier: MIT
//
// What holds of all layers behind and beside convolution and SDP: no field
// escapes, slots that are one byte too small, units that are not built.
#include <gtest/gtest.h>

#include <cstring>

#include "common/configurations.hpp"
#include "unit_faults.hpp"

namespace nvdla::test {
namespace {

TEST(Units, BaseLayersAreValid) {
  for (const char* name : kConfigurations) {
    SCOPED_TRACE(name);
    for (auto make :
         {base_pdp, base_bands, base_sdp_pdp, base_conv_pdp, base_cdp, base_image, base_planes})
      EXPECT_EQ(compile(make(name)).rule, NVDLA_RULE_NONE) << to_string(compile(make(name)));
  }
  for (auto make : {base_y, base_equal, base_contract, base_split, base_merge, base_bdma})
    EXPECT_EQ(compile(make("nv_full")).rule, NVDLA_RULE_NONE)
        << to_string(compile(make("nv_full")));
}

// Words of a layer in which any value is legal, or has no effect on a layer.
bool is_free(const nvdla_layer& layer, std::uint32_t field) {
  // Where nothing is converted the operand's offset is one of those, too.
  if (field == F(sdp.y.alu_cvt.offset) || field == F(sdp.y.mul_cvt.offset))
    return layer.sdp.y.mul != NVDLA_MUL_NONE;
  if (layer.sdp.y.alu == NVDLA_ALU_EQUAL) return false;
  return (field == F(sdp.out_cvt.offset) && layer.sdp.channels + layer.conv.kernels != 0);
}

TEST(Units, EveryWordIsChecked) {
  for (auto make :
       {base_pdp, base_bands, base_sdp_pdp, base_conv_pdp, base_image, base_planes, base_y,
        base_equal, base_cdp, base_contract, base_split, base_merge, base_bdma}) {
    for (std::uint32_t field = 0; field < sizeof(nvdla_layer); field += 4) {
      Base base = make("nv_full");
      if (is_free(base.layer, field)) continue;
      const std::uint32_t absurd = 0x7fffff01;
      std::memcpy(reinterpret_cast<char*>(&base.layer) + field, &absurd, 4);
      EXPECT_NE(compile(base).rule, NVDLA_RULE_NONE) << base.layer.kind << " " << field;
    }
  }
}

// Slots end where the client that is the last to use them ends.
TEST(Units, OneByteLessIsRefused) {
  const struct {
    Base (*make)(const char*);
    std::uint32_t slot, dma, object;
  } clients[] = {
      {base_pdp, 0, NVDLA_DMA_PDP_RDMA, NVDLA_OBJECT_LAYER},
      {base_pdp, 1, NVDLA_DMA_PDP_WDMA, NVDLA_OBJECT_LAYER},
      {base_bands, 0, NVDLA_DMA_PDP_RDMA, NVDLA_OBJECT_LAYER},
      {base_bands, 1, NVDLA_DMA_PDP_WDMA, NVDLA_OBJECT_LAYER},
      {base_sdp_pdp, kOutput, NVDLA_DMA_PDP_WDMA, NVDLA_OBJECT_LAYER},
      {base_conv_pdp, kOutput, NVDLA_DMA_PDP_WDMA, NVDLA_OBJECT_LAYER},
      {base_image, 0, NVDLA_DMA_CDMA_DATA, NVDLA_OBJECT_LAYER},
      {base_planes, 0, NVDLA_DMA_CDMA_DATA, NVDLA_OBJECT_LAYER},
      {base_planes, 3, NVDLA_DMA_CDMA_DATA_UV, NVDLA_OBJECT_LAYER},
      {base_y, 5, NVDLA_DMA_SDP_ERDMA, NVDLA_OBJECT_LAYER},
      {base_cdp, 0, NVDLA_DMA_CDP_RDMA, NVDLA_OBJECT_LAYER},
      {base_cdp, 1, NVDLA_DMA_CDP_WDMA, NVDLA_OBJECT_LAYER},
      {base_contract, 0, NVDLA_DMA_RUBIK_READ, NVDLA_OBJECT_LAYER},
      {base_contract, 1, NVDLA_DMA_RUBIK_WRITE, NVDLA_OBJECT_LAYER},
      {base_split, 0, NVDLA_DMA_RUBIK_READ, NVDLA_OBJECT_LAYER},
      {base_split, 1, NVDLA_DMA_RUBIK_WRITE, NVDLA_OBJECT_LAYER},
      {base_merge, 0, NVDLA_DMA_RUBIK_READ, NVDLA_OBJECT_LAYER},
      {base_merge, 1, NVDLA_DMA_RUBIK_WRITE, NVDLA_OBJECT_LAYER},
      {base_bdma, 0, NVDLA_DMA_BDMA_READ, NVDLA_OBJECT_TRANSFER},
      {base_bdma, 1, NVDLA_DMA_BDMA_WRITE, NVDLA_OBJECT_TRANSFER},
  };
  for (const char* name : kConfigurations) {
    for (const auto& client : clients) {
      Base base = client.make(name);
      const bool built =
          (base.layer.sdp.y.flags == 0 || base.hw->features & NVDLA_HW_SDP_Y) &&
          (base.layer.kind != NVDLA_LAYER_RUBIK || base.hw->features & NVDLA_HW_RUBIK) &&
          (base.layer.kind != NVDLA_LAYER_BDMA || base.hw->features & NVDLA_HW_BDMA);
      if (!built) continue;
      SCOPED_TRACE(std::string(name) + " dma " + std::to_string(client.dma));
      ASSERT_EQ(compile(base).rule, NVDLA_RULE_NONE);
      base.slots[client.slot].size--;
      const nvdla_error error = compile(base);
      EXPECT_EQ(error.rule, NVDLA_RULE_EXTENT) << to_string(error);
      EXPECT_EQ(error.dma, client.dma);
      EXPECT_EQ(error.slot, client.slot);
      EXPECT_EQ(error.object, client.object);
      EXPECT_EQ(error.max, static_cast<std::int64_t>(base.slots[client.slot].size));
    }
  }
}

TEST(Units, WhatIsNotBuilt) {
  for (const char* name : kConfigurations) {
    const nvdla_hw* hw = nvdla_hw_find(name);
    if (!(hw->features & NVDLA_HW_RUBIK)) {
      const nvdla_error error = compile(base_split(name));
      EXPECT_EQ(error.rule, NVDLA_RULE_FEATURE);
      EXPECT_EQ(error.value, NVDLA_FEATURE_RUBIK);
    }
    if (!(hw->features & NVDLA_HW_BDMA)) {
      nvdla_error error = compile(base_bdma(name));
      EXPECT_EQ(error.rule, NVDLA_RULE_FEATURE);
      EXPECT_EQ(error.value, NVDLA_FEATURE_BDMA);
      EXPECT_EQ(error.object, NVDLA_OBJECT_TRANSFER);
      Base base = base_bdma(name);
      base.transfers.clear();
      error = compile(base);
      EXPECT_EQ(error.rule, NVDLA_RULE_FEATURE);
      EXPECT_EQ(error.field, F(kind));
    }
  }
}

TEST(Units, YIsNotBuiltEverywhere) {
  for (const char* name : kConfigurations) {
    const nvdla_hw* hw = nvdla_hw_find(name);
    Base base = base_y(name);
    const bool built = (hw->features & NVDLA_HW_SDP_Y) != 0;
    EXPECT_EQ(compile(base).rule, built ? NVDLA_RULE_NONE : NVDLA_RULE_FEATURE) << name;
    if (!built) {
      EXPECT_EQ(compile(base).value, NVDLA_FEATURE_LUT);
      base.luts.clear();
      base.layer.lut = 0;
      EXPECT_EQ(compile(base).value, NVDLA_FEATURE_SDP_Y);
      EXPECT_EQ(compile(base).field, F(sdp.y.flags));
    }
  }
}

// A comparison ends before the memory of the layer ahead of it is written, so
// it waits for that layer, also beside as many waits as a layer may have.
TEST(Units, ComparisonsWaitForWriters) {
  const Base write = base_sdp("nv_full");
  Base equal = base_equal("nv_full");
  Program program(*write.hw, write.slots, 13);
  ASSERT_TRUE(program.add(equal.layer)) << to_string(program.error());
  EXPECT_EQ(program.image(0).num_waits, 0u);
  for (int i = 1; i < 10; i++) ASSERT_TRUE(program.add(write.layer));
  ASSERT_TRUE(program.add(equal.layer));
  ASSERT_EQ(program.image(10).num_waits, 1u);
  EXPECT_EQ(program.image(10).waits[0], 9u);
  equal.layer.num_waits = 8;
  for (std::uint32_t i = 0; i < 8; i++) equal.layer.waits[i] = i;
  ASSERT_TRUE(program.add(equal.layer));
  ASSERT_EQ(program.image(11).num_waits, 9u);
  EXPECT_EQ(program.image(11).waits[8], 9u);
  equal.layer.waits[3] = 9;
  ASSERT_TRUE(program.add(equal.layer));
  EXPECT_EQ(program.image(12).num_waits, 8u);
  // The verdict is among the counters, and nothing is written.
  for (const auto& access : program.accesses(12)) EXPECT_EQ(access.write, 0u);
}

// Numbers that are made to overflow.
TEST(Units, NothingOverflows) {
  Base base = base_bdma("nv_full");
  base.transfers[0].surfaces = 8192;
  base.transfers[0].source.surface_stride = 0xffffffe0;
  EXPECT_EQ(compile(base).rule, NVDLA_RULE_EXTENT);
  base.transfers[0].lines = 8192;
  base.transfers[0].source.line_stride = 0xffffffe0;
  EXPECT_EQ(compile(base).rule, NVDLA_RULE_STRIDE);
  base.transfers[0].lines = base.transfers[0].surfaces = 1;
  base.transfers[0].source.offset = ~0ull - 31;
  EXPECT_EQ(compile(base).rule, NVDLA_RULE_EXTENT);
  base = base_split("nv_full");
  base.layer.rubik.channels = 8192;
  base.layer.rubik.height = 8192;
  base.layer.rubik.output.line_stride = 0xffffffc0;
  base.layer.rubik.output.surface_stride = 0xffffffc0;
  base.slots[0].size = 1ull << 40;
  base.layer.rubik.input.surface_stride = 0xffffffc0;
  EXPECT_EQ(compile(base).rule, NVDLA_RULE_STRIDE);
}

}  // namespace
}  // namespace nvdla::test
