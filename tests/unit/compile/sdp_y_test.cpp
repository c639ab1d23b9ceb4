// SPDX-License-Identifier: MIT
//
// Rules of SDP's operator Y: one fault per test, and the neighbour that is still legal.
#include <gtest/gtest.h>

#include "unit_faults.hpp"

namespace nvdla::test {
namespace {

class YFaults : public testing::TestWithParam<Fault> {};
TEST_P(YFaults, IsNamedExactly) { expect_fault(GetParam()); }
class YBoundaries : public testing::TestWithParam<Legal> {};
TEST_P(YBoundaries, IsAccepted) { expect_legal(GetParam()); }

const Fault kSdpYFaults[] = {
    Y("flags", s.y.flags |= NVDLA_SDP_RELU, NVDLA_RULE_FLAGS, F(sdp.y.flags), 31, 0, 29),
    Y("off", s.y.flags = 0, NVDLA_RULE_LUT_NAMED, F(lut), 1),
    Y("off, no table", (s.y.flags = 0, l.lut = 0), NVDLA_RULE_ZERO, F(sdp.y.alu), 3),
    Y("no table", l.lut = 0, NVDLA_RULE_LUT_NAMED, F(lut), 0, 1, 1),
    Y("table of nobody", s.y.flags &= ~NVDLA_SDP_LUT, NVDLA_RULE_LUT_NAMED, F(lut), 1),
    Y("table of cdp", luts[0].unit = NVDLA_LUT_CDP, NVDLA_RULE_CHOICE, F(lut), 1, 0, 0),
    Y("table for cdp's range", luts[0].le_start = -(1ll << 31) - 1, NVDLA_RULE_RANGE,
      LUT_FIELD(le_start), -(1ll << 31) - 1, -(1ll << 31), (1ll << 31) - 1, OF_LUT),
    Y("exponent of the table", (luts[0].flags = 0, luts[0].le_index_offset = 32), NVDLA_RULE_RANGE,
      LUT_FIELD(le_index_offset), 32, -64, 31, OF_LUT),
    Y("alu", s.y.alu = 5, NVDLA_RULE_CHOICE, F(sdp.y.alu), 5, 0, 4),
    Y("mul", s.y.mul = 3, NVDLA_RULE_CHOICE, F(sdp.y.mul), 3, 0, 2),
    Y("mode", s.y.mode = 3, NVDLA_RULE_CHOICE, F(sdp.y.mode), 3, 0, 2),
    Y("operands of no part", s.y.alu = s.y.mul = 0, NVDLA_RULE_OPERAND, F(sdp.y.mode), 2),
    Y("alu value", s.y.alu_value = 1, NVDLA_RULE_ZERO, F(sdp.y.alu_value), 1),
    Y("mul value", s.y.mul_value = 1, NVDLA_RULE_ZERO, F(sdp.y.mul_value), 1),
    Y("mul truncate", s.y.mul_truncate = 1024, NVDLA_RULE_RANGE, F(sdp.y.mul_truncate), 1024, 0,
      1023),
    Y("truncate without mul", s.y.mul = 0, NVDLA_RULE_FLAGS, F(sdp.y.flags), 29, 0, 13),
    Y("conversion of no alu", s.y.alu = 0, NVDLA_RULE_FLAGS, F(sdp.y.flags), 29, 0, 21),
    Y("conversion of a value", s.y.mode = 0, NVDLA_RULE_FLAGS, F(sdp.y.flags), 29, 0, 5),
    Y("converter that is off", s.y.flags &= ~NVDLA_SDP_CONVERT_ALU, NVDLA_RULE_ZERO,
      F(sdp.y.alu_cvt.offset), 3),
    Y("alu scale", s.y.alu_cvt.scale = 32768, NVDLA_RULE_RANGE, F(sdp.y.alu_cvt.scale), 32768,
      -32768, 32767),
    Y("alu cvt truncate", s.y.alu_cvt.truncate = 49, NVDLA_RULE_RANGE, F(sdp.y.alu_cvt.truncate),
      49, 0, 48),
    Y("mul cvt truncate", s.y.mul_cvt.truncate = 49, NVDLA_RULE_RANGE, F(sdp.y.mul_cvt.truncate),
      49, 0, 48),
    Y("mul cvt pad", s.y.mul_cvt.pad = 1, NVDLA_RULE_ZERO, F(sdp.y.mul_cvt.pad), 1),
    Y("operand bytes", s.y.operand_bytes = 3, NVDLA_RULE_RANGE, F(sdp.y.operand_bytes), 3, 1, 2),
    Y("operand slot", s.y.operand.slot = 6, NVDLA_RULE_SLOT_INDEX, F(sdp.y.operand.slot), 6, 0, 5,
      0, NVDLA_DMA_SDP_ERDMA, 6),
    Y("operand line stride", s.y.operand.line_stride = 1248, NVDLA_RULE_STRIDE,
      F(sdp.y.operand.line_stride), 1248, 1280, 0, 0, NVDLA_DMA_SDP_ERDMA, 5),
    EQUAL("comparison and mul", s.y.mul = NVDLA_MUL_MUL, NVDLA_RULE_CHOICE, F(sdp.y.mul), 1, 0, 0),
    EQUAL("comparison and lut", s.y.flags |= NVDLA_SDP_LUT, NVDLA_RULE_FLAGS, F(sdp.y.flags), 5, 0,
          1),
    EQUAL("comparison and conversion of operands", s.y.flags |= NVDLA_SDP_CONVERT_ALU,
          NVDLA_RULE_FLAGS, F(sdp.y.flags), 9, 0, 1),
    EQUAL("comparison and conversion", s.out_precision = 1, NVDLA_RULE_PRECISIONS,
          F(sdp.out_precision), 0, 0, 1),
    EQUAL("comparison and offset", s.out_cvt.offset = 1, NVDLA_RULE_ZERO, F(sdp.out_cvt.offset), 1),
    EQUAL("comparison and scale", s.out_cvt.scale = 2, NVDLA_RULE_RANGE, F(sdp.out_cvt.scale), 2, 1,
          1),
    EQUAL("comparison and truncate", s.out_cvt.truncate = 1, NVDLA_RULE_ZERO,
          F(sdp.out_cvt.truncate), 1),
    EQUAL("comparison and output", s.output.slot = kOutput, NVDLA_RULE_ZERO, F(sdp.output.slot),
          kOutput),
    FAULT(base_sdp_pdp, "nv_full", "before a pooling",
          (s.y.flags = NVDLA_SDP_ENABLE, s.y.alu = NVDLA_ALU_EQUAL), NVDLA_RULE_CHOICE,
          F(sdp.y.alu), 4, 0, 3),
    Y("per element of 1x1", (s.width = s.height = 1, s.x2 = {}), NVDLA_RULE_OPERAND_1X1,
      F(sdp.y.mode), 2, 0, 1),
    Y("conversion of fp16 operands", (SDP_IN(FP16), s.x1 = s.x2 = {}), NVDLA_RULE_FLAGS,
      F(sdp.y.flags), 29, 0, 5),
    Y("mul truncate of fp16",
      (SDP_IN(FP16), s.x1 = s.x2 = {}, s.y.flags = NVDLA_SDP_ENABLE | NVDLA_SDP_LUT),
      NVDLA_RULE_RANGE, F(sdp.y.mul_truncate), 5, 0, 0),
    Y("operands of a byte in int16", (SDP_IN(INT16), s.x1 = s.x2 = {}, s.y.operand_bytes = 1),
      NVDLA_RULE_RANGE, F(sdp.y.operand_bytes), 1, 2, 2),
    Y("y value without its part",
      (s.y = {.flags = NVDLA_SDP_ENABLE | NVDLA_SDP_LUT, .mul = NVDLA_MUL_MUL, .alu_value = 1}),
      NVDLA_RULE_ZERO, F(sdp.y.alu_value), 1),
    Y("y factor without its part",
      (s.y = {.flags = NVDLA_SDP_ENABLE | NVDLA_SDP_LUT, .alu = NVDLA_ALU_MAX, .mul_value = 1}),
      NVDLA_RULE_ZERO, F(sdp.y.mul_value), 1),
    /* The layer is the first one, whichever table it uses. */
    Y("output slot behind the second table",
      (luts.push_back(nvdla_lut(luts[0])), l.lut = 2, s.output.slot = 9), NVDLA_RULE_SLOT_INDEX,
      F(sdp.output.slot), 9, 0, 5, 0, NVDLA_DMA_SDP_WDMA, 9),
    Y("small mul scale", s.y.mul_cvt.scale = -32769, NVDLA_RULE_RANGE, F(sdp.y.mul_cvt.scale),
      -32769, -32768, 32767),
    Y("operand surface stride of half an atom", s.y.operand.surface_stride = 10224,
      NVDLA_RULE_MULTIPLE, F(sdp.y.operand.surface_stride), 10224, 0, 0, 32),
};

const Legal kSdpYLegal[] = {
    {"y with a value", base_y, "nv_full",
     CHANGE((s.y = {.flags = NVDLA_SDP_ENABLE | NVDLA_SDP_LUT,
                    .alu = NVDLA_ALU_MAX,
                    .alu_value = INT32_MIN}))},
    {"y with a table alone", base_y, "nv_full",
     CHANGE((s.y = {.flags = NVDLA_SDP_ENABLE | NVDLA_SDP_LUT}))},
    /* The document ends at 62, golden cases do not: sdp/i16_y_trunc_big. */
    {"y truncate", base_y, "nv_full",
     CHANGE((s.y.mul_truncate = 1023, s.y.alu_cvt.truncate = s.y.mul_cvt.truncate = 48))},
};

// A device may have Y without a table; no configuration does.
TEST(Y, WithoutATable) {
  Base base = base_y("nv_full");
  nvdla_hw hw = *base.hw;
  hw.features &= ~NVDLA_HW_LUT;
  base.hw = &hw;
  base.luts[0].unit = NVDLA_LUT_CDP;
  const nvdla_error error = compile(base);
  EXPECT_EQ(error.rule, NVDLA_RULE_FEATURE) << to_string(error);
  EXPECT_EQ(error.field, F(sdp.y.flags));
  EXPECT_EQ(error.value, NVDLA_FEATURE_LUT);
  base.layer.lut = 0;
  base.layer.sdp.y.flags &= ~NVDLA_SDP_LUT;
  EXPECT_EQ(compile(base).rule, NVDLA_RULE_NONE) << to_string(compile(base));
}

INSTANTIATE_TEST_SUITE_P(All, YFaults, testing::ValuesIn(kSdpYFaults), row_name<Fault>);
INSTANTIATE_TEST_SUITE_P(All, YBoundaries, testing::ValuesIn(kSdpYLegal), row_name<Legal>);

}  // namespace
}  // namespace nvdla::test
