// SPDX-License-Identifier: MIT
//
// Convolutions of several cubes: rules with one fault a test, boundaries, what
// they touch, and what the accumulator is told of where results go.
#include <gtest/gtest.h>

#include "faults.hpp"

namespace nvdla::test {
namespace {

TEST(Batch, OnlyOneConfigurationHasIt) {
  EXPECT_EQ(compile(base_batch("nv_full")).rule, NVDLA_RULE_NONE)
      << to_string(compile(base_batch("nv_full")));
  for (const char* name : {"nv_large", "nv_medium_1024_full", "nv_medium_512", "nv_small"}) {
    const nvdla_error error = compile(base_batch(name));
    EXPECT_EQ(error.rule, NVDLA_RULE_FEATURE) << name;
    EXPECT_EQ(error.field, F(conv.batch)) << name;
    EXPECT_EQ(error.value, NVDLA_FEATURE_BATCH) << name;
  }
}

class BatchFaults : public testing::TestWithParam<Fault> {};
TEST_P(BatchFaults, IsNamedExactly) { expect_fault(GetParam()); }
class BatchBoundaries : public testing::TestWithParam<Legal> {};
TEST_P(BatchBoundaries, IsAccepted) { expect_legal(GetParam()); }

#define BATCH(name, statement, ...)                                 \
  Fault {                                                           \
    name, base_batch, "nv_full", CHANGE(statement), { __VA_ARGS__ } \
  }
const Fault kBatchFaults[] = {
    BATCH("before a pooling", l.kind = NVDLA_LAYER_CONV_SDP_PDP, NVDLA_RULE_RANGE, F(conv.batch), 3,
          1, 1),
    BATCH("33 cubes", c.batch = 33, NVDLA_RULE_RANGE, F(conv.batch), 33, 1, 32),
    /* 10 entries of each of 8 lines of 13 cubes: 1040 of 256 in a bank */
    BATCH("data banks", c.batch = 13, NVDLA_RULE_DATA_BANKS, F(conv.data_banks), 4, 5, 12),
    BATCH("input stride", c.input.batch_stride = 9744, NVDLA_RULE_MULTIPLE,
          F(conv.input.batch_stride), 9744, 0, 0, 32),
    BATCH("short input stride", c.input.batch_stride = 9696, NVDLA_RULE_STRIDE,
          F(conv.input.batch_stride), 9696, 9728, 0, 0, NVDLA_DMA_CDMA_DATA, kInput),
    /* The last surface takes its stride as a whole. */
    BATCH("input stride of surfaces with gaps",
          (c.input.surface_stride = 4896, slots[kInput].size += 4096), NVDLA_RULE_STRIDE,
          F(conv.input.batch_stride), 9728, 9792, 0, 0, NVDLA_DMA_CDMA_DATA, kInput),
    BATCH("short output stride", s.output.batch_stride = 2496, NVDLA_RULE_STRIDE,
          F(sdp.output.batch_stride), 2496, 2560, 0, 0, NVDLA_DMA_SDP_WDMA, kOutput),
    BATCH("short output stride of one surface",
          (s.output.surface_stride = 0, s.output.batch_stride = 2496), NVDLA_RULE_STRIDE,
          F(sdp.output.batch_stride), 2496, 2560, 0, 0, NVDLA_DMA_SDP_WDMA, kOutput),
    BATCH("output stride of an atom", (s.output.batch_stride = 2592, slots[kOutput].size += 64),
          NVDLA_RULE_MULTIPLE, F(sdp.output.batch_stride), 2592, 0, 0, 64),
    BATCH("output lines of an atom",
          (s.output.line_stride = 352, s.output.surface_stride = s.output.batch_stride = 2816,
           slots[kOutput].size = 3 * 2816),
          NVDLA_RULE_MULTIPLE, F(sdp.output.line_stride), 352, 0, 0, 64),
    BATCH("output surfaces of an atom",
          (s.output.surface_stride = 2592, s.output.batch_stride = 2624,
           slots[kOutput].size = 3 * 2624),
          NVDLA_RULE_MULTIPLE, F(sdp.output.surface_stride), 2592, 0, 0, 64),
    BATCH("output on an atom", (s.output.offset = 32, slots[kOutput].size += 32),
          NVDLA_RULE_MULTIPLE, F(sdp.output), 32, 0, 0, 64),
    BATCH("output in a slot of atoms", slots[kOutput].alignment = 32, NVDLA_RULE_SLOT_ALIGNMENT,
          F(sdp.output.slot), 32, 64, 0, 0, NVDLA_DMA_SDP_WDMA, kOutput),
    BATCH("operands on an atom", (s.x1.operand.offset = 32, slots[kX1].size += 32),
          NVDLA_RULE_MULTIPLE, F(sdp.x1.operand), 32, 0, 0, 64),
    BATCH("operands of y on an atom",
          (s.y = {.flags = NVDLA_SDP_ENABLE,
                  .alu = NVDLA_ALU_SUM,
                  .mode = NVDLA_OPERAND_CHANNEL,
                  .operand_bytes = 1},
           s.y.operand.slot = kX1, s.y.operand.offset = 32),
          NVDLA_RULE_MULTIPLE, F(sdp.y.operand), 32, 0, 0, 64),
    BATCH("operands in a slot of atoms", slots[kX2].alignment = 32, NVDLA_RULE_SLOT_ALIGNMENT,
          F(sdp.x2.operand.slot), 32, 64, 0, 0, NVDLA_DMA_SDP_NRDMA, kX2),
    BATCH("operands of each cube", s.x2.operand.batch_stride = 2560, NVDLA_RULE_ZERO,
          F(sdp.x2.operand.batch_stride), 2560),
    BATCH("operands in place",
          (slots[kX2].access |= NVDLA_SLOT_WRITE, slots[kX2].size *= 3, s.output.slot = kX2),
          NVDLA_RULE_OVERLAP, F(sdp.output), 0, 0, 2559, 0, NVDLA_DMA_SDP_WDMA, kX2),
    BATCH("conversion", s.out_precision = NVDLA_PRECISION_INT16, NVDLA_RULE_PRECISIONS,
          F(sdp.proc_precision), 0, 0, 1),
    BATCH("comparison", (s.y.flags = NVDLA_SDP_ENABLE, s.y.alu = NVDLA_ALU_EQUAL, s.output = {}),
          NVDLA_RULE_CHOICE, F(sdp.y.alu), 4, 0, 3),
    BATCH("strides of one cube", c.batch = 1, NVDLA_RULE_ZERO, F(conv.input.batch_stride), 9728),
};

const Legal kBatchLegal[] = {
    {"all cubes that fit", base_batch, "nv_full",
     CHANGE((c.batch = 12, slots[kInput].size *= 4, slots[kOutput].size *= 4))},
    {"32 cubes", base_batch, "nv_full",
     CHANGE(
         (c.batch = 32, c.data_banks = 10, slots[kInput].size *= 11, slots[kOutput].size *= 11))},
    {"dilation", base_batch, "nv_full",
     CHANGE((c.dilation_width = c.dilation_height = 2, c.pad_left = c.pad_right = 2, c.pad_top = 2,
             c.pad_bottom = 2))},
    {"cubes far apart", base_batch, "nv_full",
     CHANGE((c.input.batch_stride = 1 << 20, s.output.batch_stride = 1 << 20,
             slots[kInput].size = slots[kOutput].size = 3 << 20))},
};

INSTANTIATE_TEST_SUITE_P(All, BatchFaults, testing::ValuesIn(kBatchFaults), row_name<Fault>);
INSTANTIATE_TEST_SUITE_P(All, BatchBoundaries, testing::ValuesIn(kBatchLegal), row_name<Legal>);

TEST(Batch, ClientsToTheByte) {
  expect_exact_slots(base_batch("nv_full"), {{kInput, NVDLA_DMA_CDMA_DATA},
                                             {kWeights, NVDLA_DMA_CDMA_WEIGHT},
                                             {kOutput, NVDLA_DMA_SDP_WDMA},
                                             {kX1, NVDLA_DMA_SDP_BRDMA},
                                             {kX2, NVDLA_DMA_SDP_NRDMA}});
}

// Even a single position uses the strides, and the accumulator has to know them.
TEST(Batch, AccumulatorKnowsWhereResultsGo) {
  Base base = base_batch("nv_full");
  base.layer.conv.stride_width = base.layer.conv.stride_height = 8;
  base.layer.conv.pad_right = base.layer.conv.pad_left = 0;
  base.layer.conv.kernel_width = 19;
  base.slots[kWeights].size *= 7;
  base.layer.conv.weight_banks = 2;
  base.layer.sdp.x2 = {};
  base.layer.sdp.output.line_stride = base.layer.sdp.output.surface_stride = 192;
  base.layer.sdp.output.batch_stride = 256;
  Program program(*base.hw, base.slots, 1);
  ASSERT_TRUE(program.add(base.layer)) << to_string(program.error());
  const std::uint64_t bases[5] = {0x10000, 0x20000, 0x30000, 0x40000, 0x50000};
  const auto values = program.registers(0, bases);
  const auto value = [&](const char* name) {
    return values.at(*model::register_address(NVDLA_REGMAP_NV_FULL, *model::find_register(name)));
  };
  EXPECT_EQ(value("CSC.D_ATOMICS"), 0u);
  EXPECT_EQ(value("CACC.D_DATAOUT_ADDR"), 0x30000u);
  EXPECT_EQ(value("CACC.D_LINE_STRIDE"), 192u);
  EXPECT_EQ(value("CACC.D_SURF_STRIDE"), 192u);
  EXPECT_EQ(value("CACC.D_DATAOUT_MAP"), 0x10001u);
  EXPECT_EQ(value("SDP.D_DST_BATCH_STRIDE"), 256u);
  EXPECT_EQ(value("CDMA.D_BATCH_STRIDE"), 9728u);
  for (const char* name : {"CDMA.D_BATCH_NUMBER", "CSC.D_BATCH_NUMBER", "CACC.D_BATCH_NUMBER"})
    EXPECT_EQ(value(name), 2u) << name;
  EXPECT_EQ(value("SDP.D_FEATURE_MODE_CFG") >> 8, 2u);
  EXPECT_EQ(value("SDP_RDMA.D_FEATURE_MODE_CFG") >> 8, 2u);
}

}  // namespace
}  // namespace nvdla::test
