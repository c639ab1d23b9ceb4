// SPDX-License-Identifier: MIT
//
// Rules of normalisation: one fault per test, and the neighbour that is still legal.
#include <gtest/gtest.h>

#include "unit_faults.hpp"

namespace nvdla::test {
namespace {

class CdpFaults : public testing::TestWithParam<Fault> {};
TEST_P(CdpFaults, IsNamedExactly) { expect_fault(GetParam()); }
class CdpBoundaries : public testing::TestWithParam<Legal> {};
TEST_P(CdpBoundaries, IsAccepted) { expect_legal(GetParam()); }

const Fault kCdpFaults[] = {
    CDP("section pdp", l.pdp.bands = 1, NVDLA_RULE_ZERO, F(pdp.bands), 1),
    CDP("flags", n.flags = 8, NVDLA_RULE_FLAGS, F(cdp.flags), 8, 0, 3),
    CDP("nan to zero in int8", n.flags = NVDLA_CDP_NAN_TO_ZERO, NVDLA_RULE_FLAGS, F(cdp.flags), 4,
        0, 3),
    CDP("precision 3", n.precision = 3, NVDLA_RULE_CHOICE, F(cdp.precision), 3, 0, 2),
    CDP("no int16", n.precision = 1, NVDLA_RULE_FEATURE, F(cdp.precision), NVDLA_FEATURE_INT16),
    CDP("width 0", n.width = 0, NVDLA_RULE_RANGE, F(cdp.width), 0, 1, 8192),
    CDP("width 8193", n.width = 8193, NVDLA_RULE_RANGE, F(cdp.width), 8193, 1, 8192),
    CDP("height 0", n.height = 0, NVDLA_RULE_RANGE, F(cdp.height), 0, 1, 8192),
    CDP("height 8193", n.height = 8193, NVDLA_RULE_RANGE, F(cdp.height), 8193, 1, 8192),
    CDP("channels 0", n.channels = 0, NVDLA_RULE_RANGE, F(cdp.channels), 0, 1, 8192),
    CDP("channels 8193", n.channels = 8193, NVDLA_RULE_RANGE, F(cdp.channels), 8193, 1, 8192),
    CDP("window 1", n.window = 1, NVDLA_RULE_CHOICE, F(cdp.window), 1, 3, 9),
    CDP("window 4", n.window = 4, NVDLA_RULE_CHOICE, F(cdp.window), 4, 3, 9),
    CDP("window 11", n.window = 11, NVDLA_RULE_CHOICE, F(cdp.window), 11, 3, 9),
    CDP("window without sum", n.flags = NVDLA_CDP_BYPASS_SQUARE_SUM, NVDLA_RULE_ZERO, F(cdp.window),
        5),
    CDP("in offset", n.in_cvt.offset = 128, NVDLA_RULE_RANGE, F(cdp.in_cvt.offset), 128, -128, 127),
    CDP_FULL("in offset of int16", (n.precision = 1, n.in_cvt.offset = 32768), NVDLA_RULE_RANGE,
             F(cdp.in_cvt.offset), 32768, -32768, 32767),
    CDP("in scale", n.in_cvt.scale = 32768, NVDLA_RULE_RANGE, F(cdp.in_cvt.scale), 32768, -32768,
        32767),
    CDP("in truncate", n.in_cvt.truncate = 32, NVDLA_RULE_RANGE, F(cdp.in_cvt.truncate), 32, 0, 31),
    CDP("in pad", n.in_cvt.pad = 1, NVDLA_RULE_ZERO, F(cdp.in_cvt.pad), 1),
    CDP("out offset", n.out_cvt.offset = 0x1000000, NVDLA_RULE_RANGE, F(cdp.out_cvt.offset),
        0x1000000, -0x1000000, 0xffffff),
    CDP("out scale", n.out_cvt.scale = -32769, NVDLA_RULE_RANGE, F(cdp.out_cvt.scale), -32769,
        -32768, 32767),
    CDP("out truncate", n.out_cvt.truncate = 64, NVDLA_RULE_RANGE, F(cdp.out_cvt.truncate), 64, 0,
        63),
    CDP("out pad", n.out_cvt.pad = 1, NVDLA_RULE_ZERO, F(cdp.out_cvt.pad), 1),
    CDP_FULL("fp16 converter", n.precision = 2, NVDLA_RULE_ZERO, F(cdp.in_cvt.offset), 0xfffffffd),
    CDP("no table", l.lut = 0, NVDLA_RULE_LUT_NAMED, F(lut), 0, 1, 1),
    CDP("table of nobody", l.lut = 2, NVDLA_RULE_RANGE, F(lut), 2, 0, 1),
    CDP_FULL("table of sdp", luts[0].unit = NVDLA_LUT_SDP, NVDLA_RULE_CHOICE, F(lut), 1, 0, 0),
    CDP("input slot", n.input.slot = 2, NVDLA_RULE_SLOT_INDEX, F(cdp.input.slot), 2, 0, 1, 0,
        NVDLA_DMA_CDP_RDMA, 2),
    CDP("output line stride", n.output.line_stride = 72, NVDLA_RULE_STRIDE,
        F(cdp.output.line_stride), 72, 80, 0, 0, NVDLA_DMA_CDP_WDMA, 1),
    CDP("shifted in place",
        (slots = {slot(4000, 3, 64), slot(64, 1, 64)}, n.output.slot = 0, n.output.offset = 8),
        NVDLA_RULE_OVERLAP, F(cdp.output), 8, 0, 1919, 0, NVDLA_DMA_CDP_WDMA, 0),
    CDP("small in offset", n.in_cvt.offset = -129, NVDLA_RULE_RANGE, F(cdp.in_cvt.offset), -129,
        -128, 127),
    CDP_FULL("small in offset of int16", (n.precision = 1, n.in_cvt.offset = -32769),
             NVDLA_RULE_RANGE, F(cdp.in_cvt.offset), -32769, -32768, 32767),
    CDP("small in scale", n.in_cvt.scale = -32769, NVDLA_RULE_RANGE, F(cdp.in_cvt.scale), -32769,
        -32768, 32767),
    CDP("small out offset", n.out_cvt.offset = -0x1000001, NVDLA_RULE_RANGE, F(cdp.out_cvt.offset),
        -0x1000001, -0x1000000, 0xffffff),
    CDP("big out scale", n.out_cvt.scale = 32768, NVDLA_RULE_RANGE, F(cdp.out_cvt.scale), 32768,
        -32768, 32767),
    HALF("out converter of fp16", n.out_cvt.scale = 1, NVDLA_RULE_ZERO, F(cdp.out_cvt.scale), 1),
    CDP("no fp16", n.precision = 2, NVDLA_RULE_FEATURE, F(cdp.precision), NVDLA_FEATURE_FP16),
    CDP("input offset", n.input.offset = 4, NVDLA_RULE_MULTIPLE, F(cdp.input), 4, 0, 0, 8,
        NVDLA_DMA_CDP_RDMA, 0),
    CDP("input line stride", n.input.line_stride = 72, NVDLA_RULE_STRIDE, F(cdp.input.line_stride),
        72, 80, 0, 0, NVDLA_DMA_CDP_RDMA, 0),
    CDP("input surface stride", n.input.surface_stride = 632, NVDLA_RULE_STRIDE,
        F(cdp.input.surface_stride), 632, 640, 0, 0, NVDLA_DMA_CDP_RDMA, 0),
    CDP("input batch stride", n.input.batch_stride = 8, NVDLA_RULE_ZERO, F(cdp.input.batch_stride),
        8),
    CDP("output line stride of half an atom", n.output.line_stride = 84, NVDLA_RULE_MULTIPLE,
        F(cdp.output.line_stride), 84, 0, 0, 8),
    CDP("output surface stride", n.output.surface_stride = 632, NVDLA_RULE_STRIDE,
        F(cdp.output.surface_stride), 632, 640, 0, 0, NVDLA_DMA_CDP_WDMA, 1),
    CDP("output is read only", n.output.slot = 0, NVDLA_RULE_SLOT_ACCESS, F(cdp.output.slot),
        NVDLA_SLOT_WRITE, 0, 0, 0, NVDLA_DMA_CDP_WDMA, 0),
};

const Legal kCdpLegal[] = {
    {"cdp in place", base_cdp, "nv_small",
     CHANGE((n.output = n.input, slots[0].access |= NVDLA_SLOT_WRITE))},
    {"cdp window 9 of one channel", base_cdp, "nv_small", CHANGE((n.window = 9, n.channels = 1))},
    {"cdp without sum", base_cdp, "nv_small",
     CHANGE((n.flags = NVDLA_CDP_BYPASS_SQUARE_SUM | NVDLA_CDP_BYPASS_MUL, n.window = 0))},
    {"cdp converters at their ends", base_cdp, "nv_small",
     CHANGE((n.in_cvt = {-128, -32768, 31, 0}, n.out_cvt = {-0x1000000, 32767, 63, 0}))},
};

// Each atom is read before its result is written, if it is the same atom.
TEST(Cdp, WorksInPlaceWithTheSameStridesOnly) {
  Base base = base_cdp("nv_small");
  base.slots = {slot(1 << 16, NVDLA_SLOT_READ | NVDLA_SLOT_WRITE, 64)};
  nvdla_cdp& cdp = base.layer.cdp;
  cdp.output = cdp.input;
  EXPECT_EQ(compile(base).rule, NVDLA_RULE_NONE);
  cdp.output.surface_stride += 8;
  EXPECT_EQ(compile(base).rule, NVDLA_RULE_OVERLAP);
  // A single surface, so that only lines differ.
  cdp.channels = 8;
  cdp.output = cdp.input;
  cdp.output.line_stride += 8;
  EXPECT_EQ(compile(base).rule, NVDLA_RULE_OVERLAP);
}

INSTANTIATE_TEST_SUITE_P(All, CdpFaults, testing::ValuesIn(kCdpFaults), row_name<Fault>);
INSTANTIATE_TEST_SUITE_P(All, CdpBoundaries, testing::ValuesIn(kCdpLegal), row_name<Legal>);

}  // namespace
}  // namespace nvdla::test
