// SPDX-License-Identifier: MIT
//
// Winograd mode: what becomes of the sizes, its rules with one fault a test,
// boundaries, and what it touches.
#include <gtest/gtest.h>

#include "faults.hpp"
#include "unit_layers.hpp"

namespace nvdla::test {
namespace {

TEST(Winograd, OnlyOneConfigurationHasIt) {
  EXPECT_EQ(compile(base_winograd("nv_full")).rule, NVDLA_RULE_NONE)
      << to_string(compile(base_winograd("nv_full")));
  for (const char* name : {"nv_large", "nv_medium_1024_full", "nv_medium_512", "nv_small"}) {
    Base base = base_conv(name);
    base.layer.conv.mode = NVDLA_CONV_WINOGRAD;
    const nvdla_error error = compile(base);
    EXPECT_EQ(error.rule, NVDLA_RULE_FEATURE) << name;
    EXPECT_EQ(error.field, F(conv.mode)) << name;
    EXPECT_EQ(error.value, NVDLA_FEATURE_WINOGRAD) << name;
  }
}

// By hand: tiles of 8 x 16, 20 channels are 32, times a stride of 2.
TEST(Winograd, DerivesWhatTheUnitsAreTold) {
  const Base base = base_winograd("nv_full");
  Program program(*base.hw, base.slots, 1);
  ASSERT_TRUE(program.add(base.layer)) << to_string(program.error());
  const std::uint64_t bases[5] = {};
  const auto values = program.registers(0, bases);
  const auto value = [&](const char* name) {
    return values.at(*model::register_address(NVDLA_REGMAP_NV_FULL, *model::find_register(name)));
  };
  EXPECT_EQ(value("CDMA.D_DATAIN_SIZE_0"), 12u << 16 | 10u);
  EXPECT_EQ(value("CDMA.D_DATAIN_SIZE_1"), 19u);
  EXPECT_EQ(value("CDMA.D_DATAIN_SIZE_EXT_0"), 15u << 16 | 7u);
  EXPECT_EQ(value("CDMA.D_ENTRY_PER_SLICE"), 8u / 4 * 2 * 2 - 1);
  EXPECT_EQ(value("CDMA.D_FETCH_GRAIN"), 0u);
  EXPECT_EQ(value("CDMA.D_CONV_STRIDE"), 1u);
  EXPECT_EQ(value("CDMA.D_ZERO_PADDING"), 2u << 24 | 1u << 16 | 4u << 8 | 1u);
  EXPECT_EQ(value("CDMA.D_WEIGHT_SIZE_0"), 16u * 64 * 2 - 1);
  EXPECT_EQ(value("CSC.D_DATAIN_SIZE_EXT_0"), 15u << 16 | 7u);
  EXPECT_EQ(value("CSC.D_DATAIN_SIZE_EXT_1"), 63u);
  EXPECT_EQ(value("CSC.D_WEIGHT_SIZE_EXT_0"), 3u << 16 | 3u);
  EXPECT_EQ(value("CSC.D_WEIGHT_SIZE_EXT_1"), 19u << 16 | 63u);
  EXPECT_EQ(value("CSC.D_DATAOUT_SIZE_0"), 11u << 16 | 3u);
  EXPECT_EQ(value("CSC.D_ATOMICS"), 4u * 12 - 1);
  EXPECT_EQ(value("CSC.D_RELEASE"), 15u);
  EXPECT_EQ(value("CSC.D_CONV_STRIDE_EXT"), 0u);
  EXPECT_EQ(value("CSC.D_ZERO_PADDING"), 0u);
  EXPECT_EQ(value("CSC.D_PRA_CFG"), 2u);
  for (const char* name : {"CDMA.D_MISC_CFG", "CSC.D_MISC_CFG", "CMAC_A.D_MISC_CFG",
                           "CMAC_B.D_MISC_CFG", "CACC.D_MISC_CFG"})
    EXPECT_EQ(value(name) & 1, 1u) << name;
  EXPECT_EQ(value("SDP.D_FEATURE_MODE_CFG"), 5u);
  EXPECT_EQ(value("SDP_RDMA.D_FEATURE_MODE_CFG") & 3, 3u);
}

class WinogradFaults : public testing::TestWithParam<Fault> {};
TEST_P(WinogradFaults, IsNamedExactly) { expect_fault(GetParam()); }
class WinogradBoundaries : public testing::TestWithParam<Legal> {};
TEST_P(WinogradBoundaries, IsAccepted) { expect_legal(GetParam()); }

#define WINO(name, statement, ...)                                     \
  Fault {                                                              \
    name, base_winograd, "nv_full", CHANGE(statement), { __VA_ARGS__ } \
  }
const Fault kWinogradFaults[] = {
    WINO("before a pooling", l.kind = NVDLA_LAYER_CONV_SDP_PDP, NVDLA_RULE_CHOICE, F(conv.mode), 2,
         0, 1),
    WINO("batch", c.batch = 2, NVDLA_RULE_RANGE, F(conv.batch), 2, 1, 1),
    WINO("dilation width", c.dilation_width = 2, NVDLA_RULE_RANGE, F(conv.dilation_width), 2, 1, 1),
    WINO("dilation height", c.dilation_height = 2, NVDLA_RULE_RANGE, F(conv.dilation_height), 2, 1,
         1),
    WINO("int16 into fp16", c.proc_precision = NVDLA_PRECISION_FP16, NVDLA_RULE_PRECISIONS,
         F(conv.in_precision), 1, 2, 2),
    WINO("int8 into int16", c.in_precision = NVDLA_PRECISION_INT8, NVDLA_RULE_PRECISIONS,
         F(conv.in_precision), 0, 1, 1),
    WINO("converter", c.flags = NVDLA_CONV_CONVERT, NVDLA_RULE_FLAGS, F(conv.flags), 0x20, 0, 0x1f),
    WINO("mean", c.flags = NVDLA_CONV_MEAN, NVDLA_RULE_FLAGS, F(conv.flags), 0x40, 0, 0x1f),
    WINO("converter scale", c.cvt_scale = 1, NVDLA_RULE_ZERO, F(conv.cvt_scale), 1),
    WINO("kernel width of two strides", c.kernel_width = 4, NVDLA_RULE_RANGE, F(conv.kernel_width),
         4, 5, 6),
    WINO("kernel width above three strides", c.kernel_width = 7, NVDLA_RULE_RANGE,
         F(conv.kernel_width), 7, 5, 6),
    WINO("kernel height 2", c.kernel_height = 2, NVDLA_RULE_RANGE, F(conv.kernel_height), 2, 3, 3),
    WINO("kernel height 4", c.kernel_height = 4, NVDLA_RULE_RANGE, F(conv.kernel_height), 4, 3, 3),
    WINO("pad left of three strides", c.pad_left = 6, NVDLA_RULE_RANGE, F(conv.pad_left), 6, 0, 5),
    WINO("pad top", c.pad_top = 2, NVDLA_RULE_RANGE, F(conv.pad_top), 2, 0, 1),
    WINO("columns of no tile", c.pad_right = 5, NVDLA_RULE_WINOGRAD_TILES, F(conv.pad_right), 17,
         16, 16384, 8),
    WINO("a tile of columns without a result", (c.width = 3), NVDLA_RULE_WINOGRAD_TILES,
         F(conv.pad_right), 8, 16, 16384, 8),
    WINO("too many columns",
         (c.stride_width = 1, c.kernel_width = 3, c.width = 8192, c.pad_left = 0, c.pad_right = 4),
         NVDLA_RULE_WINOGRAD_TILES, F(conv.pad_right), 8196, 8, 8192, 4),
    WINO("lines of no tile", c.pad_bottom = 0, NVDLA_RULE_WINOGRAD_TILES, F(conv.pad_bottom), 14, 8,
         4092, 4),
    WINO("a tile of lines without a result", (c.height = 1), NVDLA_RULE_WINOGRAD_TILES,
         F(conv.pad_bottom), 4, 8, 4092, 4),
    WINO("too many lines", (c.height = 4093), NVDLA_RULE_WINOGRAD_TILES, F(conv.pad_bottom), 4096,
         8, 4092, 4),
    WINO("channels", c.channels = 4097, NVDLA_RULE_RANGE, F(conv.channels), 4097, 1, 4096),
    /* 8 entries of each of 48 lines: 384 of 256 in a bank */
    WINO("data banks", c.height = 45, NVDLA_RULE_DATA_BANKS, F(conv.data_banks), 1, 2, 14),
    /* 2048 bytes of 16 kernels fill one bank, and another group follows */
    WINO("weight banks", c.weight_banks = 1, NVDLA_RULE_WEIGHT_BANKS, F(conv.weight_banks), 1, 2,
         15),
    WINO("weight bytes", c.weights.bytes = 40832, NVDLA_RULE_RANGE, F(conv.weights.bytes), 40832,
         40960, 40960),
    WINO("grain", c.fetch_grain = 2, NVDLA_RULE_GRAIN, F(conv.fetch_grain), 2, 1, 1),
    WINO("release", c.release = 4, NVDLA_RULE_ZERO, F(conv.release), 4),
    WINO("post extension", c.post_extension = 2, NVDLA_RULE_RANGE, F(conv.post_extension), 2, 1, 1),
    WINO("pra truncate", c.pra_truncate = 3, NVDLA_RULE_RANGE, F(conv.pra_truncate), 3, 0, 2),
    WINO("pra truncate of fp16",
         (c.in_precision = c.proc_precision = NVDLA_PRECISION_FP16, c.clip_truncate = 0,
          c.pad_value = 0),
         NVDLA_RULE_RANGE, F(conv.pra_truncate), 2, 0, 0),
    WINO("clip truncate", c.clip_truncate = 17, NVDLA_RULE_RANGE, F(conv.clip_truncate), 17, 0, 16),
    WINO("pixel format", c.pixel_format = 1, NVDLA_RULE_ZERO, F(conv.pixel_format), 1),
    WINO("second plane", c.input_uv.slot = 1, NVDLA_RULE_ZERO, F(conv.input_uv.slot), 1),
    WINO("conversion", s.out_precision = NVDLA_PRECISION_FP16, NVDLA_RULE_PRECISIONS,
         F(sdp.proc_precision), 1, 1, 2),
    WINO("comparison", (s.y.flags = NVDLA_SDP_ENABLE, s.y.alu = NVDLA_ALU_EQUAL, s.output = {}),
         NVDLA_RULE_CHOICE, F(sdp.y.alu), 4, 0, 3),
    WINO("operands in place", (slots[kX2].access |= NVDLA_SLOT_WRITE, s.output = s.x2.operand),
         NVDLA_RULE_OVERLAP, F(sdp.output), 0, 0, 2 * 4 * 12 * 32 - 1, 0, NVDLA_DMA_SDP_WDMA, kX2),
};

const Legal kWinogradLegal[] = {
    /* The document wants 8 columns and lines at least, golden cases have 4: conv_wino/i16_basic. */
    {"an output of one tile", base_winograd, "nv_full",
     CHANGE((c.height = 5, c.input = cube(kInput, 11, 5, 32), s.x2.operand = cube(kX2, 4, 4, 32),
             s.output = cube(kOutput, 4, 4, 32)))},
    {"full kernel", base_winograd, "nv_full", CHANGE(c.kernel_width = 6)},
    {"most padding before", base_winograd, "nv_full", CHANGE((c.pad_left = 5, c.pad_right = 0))},
    {"no padding", base_winograd, "nv_full",
     CHANGE((c.pad_left = c.pad_right = c.pad_top = c.pad_bottom = 0, c.width = c.height = 16,
             c.input = cube(kInput, 16, 16, 32), slots[kInput].size = 2 * 16 * 16 * 32))},
    /* One group begins where an entry does. */
    {"a bank of weights", base_winograd, "nv_full",
     CHANGE((c.weight_banks = 1, c.kernels = 16, slots[kWeights].size = 32768))},
    {"all lines of data banks", base_winograd, "nv_full",
     CHANGE((c.height = 29, c.input = cube(kInput, 11, 29, 32), s.x2 = {},
             s.output = cube(kOutput, 4, 28, 32), slots[kInput].size = 2 * 11 * 29 * 32,
             slots[kOutput].size = 2 * 4 * 28 * 32))},
    {"int8", base_winograd, "nv_full",
     CHANGE((c.in_precision = c.proc_precision = NVDLA_PRECISION_INT8, c.pad_value = -128,
             s.proc_precision = s.out_precision = NVDLA_PRECISION_INT8, s.x2 = {}))},
    {"fp16", base_winograd, "nv_full",
     CHANGE((c.in_precision = c.proc_precision = NVDLA_PRECISION_FP16, c.pad_value = 0x3c00,
             c.pra_truncate = c.clip_truncate = 0, c.flags = NVDLA_CONV_NAN_TO_ZERO,
             s.proc_precision = s.out_precision = NVDLA_PRECISION_FP16, s.out_cvt.scale = 0))},
};

INSTANTIATE_TEST_SUITE_P(All, WinogradFaults, testing::ValuesIn(kWinogradFaults), row_name<Fault>);
INSTANTIATE_TEST_SUITE_P(All, WinogradBoundaries, testing::ValuesIn(kWinogradLegal),
                         row_name<Legal>);

// The real cube, and no padding; slots are exact.
TEST(Winograd, ClientsToTheByte) {
  expect_exact_slots(base_winograd("nv_full"), {{kInput, NVDLA_DMA_CDMA_DATA},
                                                {kWeights, NVDLA_DMA_CDMA_WEIGHT},
                                                {kOutput, NVDLA_DMA_SDP_WDMA},
                                                {kX1, NVDLA_DMA_SDP_BRDMA},
                                                {kX2, NVDLA_DMA_SDP_NRDMA}});
}

// What is in the buffer was padded and folded when it was loaded.
TEST(Winograd, ReuseNeedsTheSameTiles) {
  const Base base = base_winograd("nv_full");
  struct Change {
    const char* name;
    void (*change)(nvdla_conv&);
    std::uint32_t rule, field;
  };
  const Change changes[] = {
      {"none", [](nvdla_conv&) {}, NVDLA_RULE_NONE, 0},
      {"left",
       [](nvdla_conv& c) {
         c.pad_left = 2;
         c.pad_right = 3;
       },
       NVDLA_RULE_REUSE_DIFFERS, F(conv.pad_left)},
      {"value", [](nvdla_conv& c) { c.pad_value = 1; }, NVDLA_RULE_REUSE_DIFFERS,
       F(conv.pad_value)},
      {"top",
       [](nvdla_conv& c) {
         c.pad_top = 0;
         c.pad_bottom = 3;
       },
       NVDLA_RULE_REUSE_DIFFERS, F(conv.pad_top)},
      {"bottom", [](nvdla_conv& c) { c.pad_bottom = 6; }, NVDLA_RULE_REUSE_DIFFERS,
       F(conv.pad_bottom)},
      {"stride",
       [](nvdla_conv& c) {
         c.stride_width = 1;
         c.kernel_width = 3;
       },
       NVDLA_RULE_REUSE_DIFFERS, F(conv.stride_width)},
  };
  for (const Change& change : changes) {
    SCOPED_TRACE(change.name);
    Program program(*base.hw, base.slots, 2);
    nvdla_layer layer = base.layer;
    layer.conv.flags = NVDLA_CONV_KEEP_DATA | NVDLA_CONV_KEEP_WEIGHTS;
    ASSERT_TRUE(program.add(layer)) << to_string(program.error());
    layer.conv.flags = NVDLA_CONV_REUSE_DATA;
    change.change(layer.conv);
    program.add(layer);
    EXPECT_EQ(program.error().rule, change.rule) << to_string(program.error());
    EXPECT_EQ(program.error().field, change.field);
  }
}

}  // namespace
}  // namespace nvdla::test
