// SPDX-License-Identifier: MIT
//
// Rules and memory of pooling, normalisation, tables, reshaping and copies:
// one fault per test, boundaries, and slots one byte too small.
#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "support/configurations.hpp"
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

class UnitFaults : public testing::TestWithParam<Fault> {};
TEST_P(UnitFaults, IsNamedExactly) { expect_fault(GetParam()); }
class UnitBoundaries : public testing::TestWithParam<Legal> {};
TEST_P(UnitBoundaries, IsAccepted) { expect_legal(GetParam()); }

#define SDP_PDP(...) FAULT(base_sdp_pdp, "nv_full", __VA_ARGS__)

const Fault kPdp[] = {
    PDP("section sdp", l.sdp.width = 1, NVDLA_RULE_ZERO, F(sdp.width), 1),
    PDP("flags", p.flags = 2, NVDLA_RULE_FLAGS, F(pdp.flags), 2, 0, 0),
    PDP("nan to zero in int8", p.flags = 1, NVDLA_RULE_FLAGS, F(pdp.flags), 1, 0, 0),
    PDP("method", p.method = 3, NVDLA_RULE_CHOICE, F(pdp.method), 3, 0, 2),
    PDP("precision 3", p.precision = 3, NVDLA_RULE_CHOICE, F(pdp.precision), 3, 0, 2),
    PDP("no int16", p.precision = 1, NVDLA_RULE_FEATURE, F(pdp.precision), NVDLA_FEATURE_INT16),
    PDP("no fp16", p.precision = 2, NVDLA_RULE_FEATURE, F(pdp.precision), NVDLA_FEATURE_FP16),
    PDP("width 0", p.width = 0, NVDLA_RULE_RANGE, F(pdp.width), 0, 1, 8192),
    PDP("width 8193", p.width = 8193, NVDLA_RULE_RANGE, F(pdp.width), 8193, 1, 8192),
    PDP("height 0", p.height = 0, NVDLA_RULE_RANGE, F(pdp.height), 0, 1, 8192),
    PDP("height 8193", p.height = 8193, NVDLA_RULE_RANGE, F(pdp.height), 8193, 1, 8192),
    PDP("channels 0", p.channels = 0, NVDLA_RULE_RANGE, F(pdp.channels), 0, 1, 8192),
    PDP("channels 8193", p.channels = 8193, NVDLA_RULE_RANGE, F(pdp.channels), 8193, 1, 8192),
    PDP("kernel width 0", p.kernel_width = 0, NVDLA_RULE_RANGE, F(pdp.kernel_width), 0, 1, 8),
    PDP("kernel width 9", p.kernel_width = 9, NVDLA_RULE_RANGE, F(pdp.kernel_width), 9, 1, 8),
    PDP("kernel height 0", p.kernel_height = 0, NVDLA_RULE_RANGE, F(pdp.kernel_height), 0, 1, 8),
    PDP("kernel height 9", p.kernel_height = 9, NVDLA_RULE_RANGE, F(pdp.kernel_height), 9, 1, 8),
    PDP("stride x 0", p.stride_x = 0, NVDLA_RULE_RANGE, F(pdp.stride_x), 0, 1, 16),
    PDP("stride x 17", p.stride_x = 17, NVDLA_RULE_RANGE, F(pdp.stride_x), 17, 1, 16),
    PDP("stride y 0", p.stride_y = 0, NVDLA_RULE_RANGE, F(pdp.stride_y), 0, 1, 16),
    PDP("stride y 17", p.stride_y = 17, NVDLA_RULE_RANGE, F(pdp.stride_y), 17, 1, 16),
    PDP("pad left 8", p.pad_left = 8, NVDLA_RULE_RANGE, F(pdp.pad_left), 8, 0, 7),
    PDP("pad right 8", p.pad_right = 8, NVDLA_RULE_RANGE, F(pdp.pad_right), 8, 0, 7),
    PDP("pad top 8", p.pad_top = 8, NVDLA_RULE_RANGE, F(pdp.pad_top), 8, 0, 7),
    PDP("pad bottom 8", p.pad_bottom = 8, NVDLA_RULE_RANGE, F(pdp.pad_bottom), 8, 0, 7),
    PDP("pad left of a kernel", p.pad_left = 2, NVDLA_RULE_PADDING, F(pdp.pad_left), 2, 0, 1),
    PDP("pad right of a kernel", p.pad_right = 2, NVDLA_RULE_PADDING, F(pdp.pad_right), 2, 0, 1),
    PDP("pad top of a kernel", p.pad_top = 3, NVDLA_RULE_PADDING, F(pdp.pad_top), 3, 0, 2),
    PDP("pad bottom of a kernel", p.pad_bottom = 3, NVDLA_RULE_PADDING, F(pdp.pad_bottom), 3, 0, 2),
    PDP("kernel beyond the input", (p.width = 4, p.kernel_width = 8), NVDLA_RULE_KERNEL_FITS,
        F(pdp.kernel_width), 5, 8),
    PDP("a column left over", p.stride_x = 2, NVDLA_RULE_EXACT_DIVISION, F(pdp.stride_x), 1, 0, 0,
        2),
    /* two lines, one of them padding */
    PDP("a line left over", p.stride_y = 4, NVDLA_RULE_EXACT_DIVISION, F(pdp.stride_y), 2, 0, 1, 4),
    SDP_PDP("a line of sdp left over", p.pad_bottom = 0, NVDLA_RULE_EXACT_DIVISION, F(pdp.stride_y),
            1, 0, 0, 2),
    PDP("pad value of a maximum", (p.method = NVDLA_POOL_MAX), NVDLA_RULE_ZERO, F(pdp.pad_value[0]),
        0xfffffffd),
    PDP("factor of a maximum",
        (p.method = NVDLA_POOL_MAX, std::memset(p.pad_value, 0, sizeof(p.pad_value))),
        NVDLA_RULE_ZERO, F(pdp.recip_width), 0x8000),
    PDP("pad value without padding", (p.pad_left = 0, p.pad_bottom = 0, p.height = 9),
        NVDLA_RULE_ZERO, F(pdp.pad_value[0]), 0xfffffffd),
    PDP("small pad value", p.pad_value[6] = -0x40001, NVDLA_RULE_RANGE, F(pdp.pad_value[6]),
        -0x40001, -0x40000, 0x3ffff),
    PDP("big pad value", p.pad_value[0] = 0x40000, NVDLA_RULE_RANGE, F(pdp.pad_value[0]), 0x40000,
        -0x40000, 0x3ffff),
    PDP("recip width", p.recip_width = 0x20000, NVDLA_RULE_RANGE, F(pdp.recip_width), 0x20000, 0,
        0x1ffff),
    PDP("recip height", p.recip_height = 0x20000, NVDLA_RULE_RANGE, F(pdp.recip_height), 0x20000, 0,
        0x1ffff),
    PDP("bands 0", p.bands = 0, NVDLA_RULE_RANGE, F(pdp.bands), 0, 1, 64),
    PDP("bands 65", p.bands = 65, NVDLA_RULE_RANGE, F(pdp.bands), 65, 1, 64),
    PDP("first band without bands", p.first_out = 1, NVDLA_RULE_ZERO, F(pdp.first_out), 1),
    PDP("inner band without bands", p.mid_out = 1, NVDLA_RULE_ZERO, F(pdp.mid_out), 1),
    /* 2 of 8 lines of the buffer: 16 atoms of 4 */
    PDP("too wide for the buffer", p.width = 65, NVDLA_RULE_OUTPUT_SIZE, F(pdp.bands), 65, 1, 64),
    PDP("input slot", p.input.slot = 2, NVDLA_RULE_SLOT_INDEX, F(pdp.input.slot), 2, 0, 1, 0,
        NVDLA_DMA_PDP_RDMA, 2),
    PDP("input offset", p.input.offset = 4, NVDLA_RULE_MULTIPLE, F(pdp.input), 4, 0, 0, 8,
        NVDLA_DMA_PDP_RDMA, 0),
    PDP("input line stride", p.input.line_stride = 72, NVDLA_RULE_STRIDE, F(pdp.input.line_stride),
        72, 80, 0, 0, NVDLA_DMA_PDP_RDMA, 0),
    PDP("input batch stride", p.input.batch_stride = 8, NVDLA_RULE_ZERO, F(pdp.input.batch_stride),
        8),
    PDP("output slot is read", p.output.slot = 0, NVDLA_RULE_SLOT_ACCESS, F(pdp.output.slot),
        NVDLA_SLOT_WRITE, 0, 0, 0, NVDLA_DMA_PDP_WDMA, 0),
    PDP("output surface stride", p.output.surface_stride = 312, NVDLA_RULE_STRIDE,
        F(pdp.output.surface_stride), 312, 320, 0, 0, NVDLA_DMA_PDP_WDMA, 1),
    PDP("in place", (slots = {slot(1920, 3, 64), slot(64, 1, 64)}, p.output.slot = 0),
        NVDLA_RULE_OVERLAP, F(pdp.output), 0, 0, 1919, 0, NVDLA_DMA_PDP_WDMA, 0),
    SDP_PDP("flying bands", p.bands = 2, NVDLA_RULE_RANGE, F(pdp.bands), 2, 1, 1),
    SDP_PDP("flying precision", p.precision = 1, NVDLA_RULE_ZERO, F(pdp.precision), 1),
    SDP_PDP("flying width", p.width = 10, NVDLA_RULE_ZERO, F(pdp.width), 10),
    SDP_PDP("flying height", p.height = 8, NVDLA_RULE_ZERO, F(pdp.height), 8),
    SDP_PDP("flying channels", p.channels = 20, NVDLA_RULE_ZERO, F(pdp.channels), 20),
    SDP_PDP("flying input", p.input.slot = 1, NVDLA_RULE_ZERO, F(pdp.input.slot), 1),
    SDP_PDP("output of sdp", s.output.slot = kOutput, NVDLA_RULE_ZERO, F(sdp.output.slot), kOutput),
    SDP_PDP("conversion before a pooling", s.out_precision = 1, NVDLA_RULE_PRECISIONS,
            F(sdp.proc_precision), 0, 0, 1),
};

const Fault kBands[] = {
    BANDS("first band 0", p.first_out = 0, NVDLA_RULE_BANDS, F(pdp.first_out), 0, 1, 128),
    BANDS("first band 129", p.first_out = 129, NVDLA_RULE_BANDS, F(pdp.first_out), 129, 1, 128),
    BANDS("inner band below the first", p.mid_out = 59, NVDLA_RULE_BANDS, F(pdp.mid_out), 59, 60,
          128),
    BANDS("inner band 129", p.mid_out = 129, NVDLA_RULE_BANDS, F(pdp.mid_out), 129, 60, 128),
    BANDS("no columns left", p.mid_out = 120, NVDLA_RULE_BANDS, F(pdp.bands), 0, 1, 120),
    BANDS("inner band of two", p.bands = 2, NVDLA_RULE_ZERO, F(pdp.mid_out), 70),
    /* A stride of 16 and a kernel of 1: 15 columns to skip, the last band has too few. */
    BANDS("first band takes more than its register",
          (p.stride_x = 16, p.kernel_width = 1, p.pad_right = 0, p.width = 16 * 179 + 1),
          NVDLA_RULE_BANDS, F(pdp.mid_out), 1120, 16, 1024),
};

const Legal kLegal[] = {
    {"maximum", base_pdp, "nv_small",
     CHANGE((p.method = NVDLA_POOL_MAX, std::memset(p.pad_value, 0, sizeof(p.pad_value)),
             p.recip_width = p.recip_height = 0))},
    {"pad values at their ends", base_pdp, "nv_small",
     CHANGE((p.pad_value[0] = -0x40000, p.pad_value[6] = 0x3ffff, p.recip_width = 0x1ffff))},
    {"as wide as the buffer", base_pdp, "nv_small",
     CHANGE((p.width = 64, p.input = cube(0, 64, 8, 8), p.output = cube(1, 64, 4, 8),
             slots[0].size = 3 * 64 * 8 * 8, slots[1].size = 3 * 64 * 4 * 8))},
    {"largest kernel", base_pdp, "nv_full",
     CHANGE((p.kernel_width = p.kernel_height = 8, p.pad_left = 7, p.pad_bottom = 0, p.stride_y = 1,
             p.output = cube(1, 10, 1, 32)))},
    {"bands of one width", base_bands, "nv_small", CHANGE((p.first_out = p.mid_out = 60))},
    {"fp16", base_pdp, "nv_full",
     CHANGE((p.precision = NVDLA_PRECISION_FP16, p.flags = NVDLA_PDP_NAN_TO_ZERO,
             std::fill(p.pad_value, p.pad_value + 7, 0x1ffff), slots[0].size *= 2,
             slots[1].size *= 2))},
    {"cdp in place", base_cdp, "nv_small",
     CHANGE((n.output = n.input, slots[0].access |= NVDLA_SLOT_WRITE))},
    {"cdp window 9 of one channel", base_cdp, "nv_small", CHANGE((n.window = 9, n.channels = 1))},
    {"cdp without sum", base_cdp, "nv_small",
     CHANGE((n.flags = NVDLA_CDP_BYPASS_SQUARE_SUM | NVDLA_CDP_BYPASS_MUL, n.window = 0))},
    {"cdp converters at their ends", base_cdp, "nv_small",
     CHANGE((n.in_cvt = {-128, -32768, 31, 0}, n.out_cvt = {-0x1000000, 32767, 63, 0}))},
    {"cdp int16", base_cdp, "nv_full",
     CHANGE((n.precision = NVDLA_PRECISION_INT16, n.in_cvt.offset = -32768,
             n.out_cvt.offset = INT32_MIN, luts[0].le_start = -(1ll << 37),
             luts[0].lo_end = (1ll << 37) - 1, luts[0].lo_index_select = 29, slots[0].size *= 2,
             slots[1].size *= 2))},
    {"numbers at their ends in fp16", base_cdp_half, "nv_full",
     CHANGE((luts[0].le_start = 0xff7fffff, luts[0].le_end = 0x7f7fffff,
             luts[0].lo_end = 0x80000000, luts[0].lo_start = 0, luts[0].le[0] = 0xfbff,
             luts[0].le[64] = 0x7bff, luts[0].lo[0] = 0x8001, luts[0].le_overflow.scale = 0xfbff))},
    {"exponential table", base_cdp, "nv_small",
     CHANGE((luts[0].flags = 0, luts[0].le_index_offset = -64))},
    {"table of one input", base_cdp, "nv_small",
     CHANGE((luts[0].le_start = luts[0].le_end = 5, luts[0].lo_end = 0))},
    {"y with a value", base_y, "nv_full",
     CHANGE((s.y = {.flags = NVDLA_SDP_ENABLE | NVDLA_SDP_LUT,
                    .alu = NVDLA_ALU_MAX,
                    .alu_value = INT32_MIN}))},
    {"y with a table alone", base_y, "nv_full",
     CHANGE((s.y = {.flags = NVDLA_SDP_ENABLE | NVDLA_SDP_LUT}))},
    {"y truncate", base_y, "nv_full",
     CHANGE((s.y.mul_truncate = 1023, s.y.alu_cvt.truncate = s.y.mul_cvt.truncate = 48))},
    {"four lines a step", base_image, "nv_full", CHANGE(c.post_extension = 4)},
    {"pixels left over", base_image, "nv_small",
     CHANGE((c.pad_bottom = 0, c.stride_x = c.stride_y = 2))},
    {"signed pixels", base_image, "nv_small", CHANGE(c.flags = c.flags | NVDLA_CONV_SIGNED_PIXELS)},
    {"contract of one block", base_contract, "nv_full",
     CHANGE((r.stride_x = r.stride_y = 1, r.output = cube(1, 5, 3, 32),
             slots[1].size = slots[0].size))},
    {"longest transfer", base_bdma, "nv_full",
     CHANGE((t[1].line_bytes = 262144, t[1].lines = 1, slots[0].size = slots[1].size = 1 << 20))},
};

const Fault kCdp[] = {
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
};

const Fault kLut[] = {
    CDP("unit", luts[0].unit = 2, NVDLA_RULE_CHOICE, LUT_FIELD(unit), 2, 0, 1, OF_LUT),
    CDP("no sdp table", luts[0].unit = NVDLA_LUT_SDP, NVDLA_RULE_FEATURE, LUT_FIELD(unit),
        NVDLA_FEATURE_LUT, 0, 0, OF_LUT),
    CDP("flags", luts[0].flags |= 16, NVDLA_RULE_FLAGS, LUT_FIELD(flags), 25, 0, 15, OF_LUT),
    CDP("exponent of a linear table", luts[0].le_index_offset = 1, NVDLA_RULE_ZERO,
        LUT_FIELD(le_index_offset), 1, 0, 0, OF_LUT),
    CDP("step of an exponential table", (luts[0].flags = 0, luts[0].le_index_select = -1),
        NVDLA_RULE_ZERO, LUT_FIELD(le_index_select), -1, 0, 0, OF_LUT),
    CDP("pad", luts[0].pad = 1, NVDLA_RULE_ZERO, LUT_FIELD(pad), 1, 0, 0, OF_LUT),
    CDP("pad2", luts[0].pad2[1] = 1, NVDLA_RULE_ZERO, LUT_FIELD(pad2) + 2, 1, 0, 0, OF_LUT),
    CDP("exponent -65", (luts[0].flags = 0, luts[0].le_index_offset = -65), NVDLA_RULE_RANGE,
        LUT_FIELD(le_index_offset), -65, -64, 20, OF_LUT),
    CDP("exponent 21", (luts[0].flags = 0, luts[0].le_index_offset = 21), NVDLA_RULE_RANGE,
        LUT_FIELD(le_index_offset), 21, -64, 20, OF_LUT),
    CDP("le step -7", luts[0].le_index_select = -7, NVDLA_RULE_RANGE, LUT_FIELD(le_index_select),
        -7, -6, 15, OF_LUT),
    CDP("le step 16", luts[0].le_index_select = 16, NVDLA_RULE_RANGE, LUT_FIELD(le_index_select),
        16, -6, 15, OF_LUT),
    CDP("lo step -9", luts[0].lo_index_select = -9, NVDLA_RULE_RANGE, LUT_FIELD(lo_index_select),
        -9, -8, 13, OF_LUT),
    CDP("lo step 14", luts[0].lo_index_select = 14, NVDLA_RULE_RANGE, LUT_FIELD(lo_index_select),
        14, -8, 13, OF_LUT),
    CDP("le start", luts[0].le_start = -(1 << 21) - 1, NVDLA_RULE_RANGE, LUT_FIELD(le_start),
        -(1 << 21) - 1, -(1 << 21), (1 << 21) - 1, OF_LUT),
    CDP("lo end", luts[0].lo_end = 1 << 21, NVDLA_RULE_RANGE, LUT_FIELD(lo_end), 1 << 21,
        -(1 << 21), (1 << 21) - 1, OF_LUT),
    CDP("le end before its start", luts[0].le_end = -65, NVDLA_RULE_LUT_RANGE, LUT_FIELD(le_end),
        -65, -64, 0, OF_LUT),
    CDP("lo end before its start", luts[0].lo_end = -1, NVDLA_RULE_LUT_RANGE, LUT_FIELD(lo_end), -1,
        0, 0, OF_LUT),
    CDP("slope", luts[0].le_underflow.scale = 32768, NVDLA_RULE_RANGE,
        LUT_FIELD(le_underflow.scale), 32768, -32768, 32767, OF_LUT),
    CDP("slope shift -17", luts[0].le_overflow.shift = -17, NVDLA_RULE_RANGE,
        LUT_FIELD(le_overflow.shift), -17, -16, 15, OF_LUT),
    CDP("slope shift 16", luts[0].lo_underflow.shift = 16, NVDLA_RULE_RANGE,
        LUT_FIELD(lo_underflow.shift), 16, -16, 15, OF_LUT),
    CDP_FULL("slope shift in fp16",
             (n.precision = 2, n.in_cvt = n.out_cvt = {}, luts[0].le_start = 0,
              luts[0].lo_end = 0x43800000, luts[0].le_underflow = {}),
             NVDLA_RULE_RANGE, LUT_FIELD(lo_overflow.shift), -3, 0, 0, OF_LUT),
    CDP_FULL("denormal start in fp16",
             (n.precision = 2, n.in_cvt = n.out_cvt = {}, luts[0].le_start = 1),
             NVDLA_RULE_LUT_RANGE, LUT_FIELD(le_start), 1, 0, 0, OF_LUT),
    CDP_FULL("infinite end in fp16",
             (n.precision = 2, n.in_cvt = n.out_cvt = {}, luts[0].le_start = 0,
              luts[0].lo_end = 0x7f800000),
             NVDLA_RULE_LUT_RANGE, LUT_FIELD(lo_end), 0x7f800000, 0, 0, OF_LUT),
    HALF("no number at the start", luts[0].lo_start = 0xffc00000, NVDLA_RULE_LUT_RANGE,
         LUT_FIELD(lo_start), 0xffc00000, 0, 0, OF_LUT),
    HALF("start beyond 32 bits", luts[0].le_start = 1ll << 32, NVDLA_RULE_RANGE,
         LUT_FIELD(le_start), 1ll << 32, 0, 0xffffffff, OF_LUT),
    /* -1.5 and 2 after -1 and 4 */
    HALF("negative end before its start", luts[0].le_end = 0xbfc00000, NVDLA_RULE_LUT_RANGE,
         LUT_FIELD(le_end), 0xbfc00000, 0xbf800000, 0, OF_LUT),
    HALF("end before its start", (luts[0].lo_start = 0x40800000, luts[0].lo_end = 0x40000000),
         NVDLA_RULE_LUT_RANGE, LUT_FIELD(lo_end), 0x40000000, 0x40800000, 0, OF_LUT),
    HALF("no number in le", luts[0].le[64] = 0x7e00, NVDLA_RULE_LUT_RANGE, LUT_FIELD(le) + 128,
         0x7e00, 0, 0, OF_LUT),
    HALF("infinity in lo", luts[0].lo[256] = 0xfc00, NVDLA_RULE_LUT_RANGE, LUT_FIELD(lo) + 512,
         0xfc00, 0, 0, OF_LUT),
    HALF("infinite slope below le", luts[0].le_underflow.scale = 0x7c00, NVDLA_RULE_LUT_RANGE,
         LUT_FIELD(le_underflow.scale), 0x7c00, 0, 0, OF_LUT),
    HALF("infinite slope above le", luts[0].le_overflow.scale = 0xfc00, NVDLA_RULE_LUT_RANGE,
         LUT_FIELD(le_overflow.scale), 0xfc00, 0, 0, OF_LUT),
    HALF("no slope below lo", luts[0].lo_underflow.scale = 0x7c01, NVDLA_RULE_LUT_RANGE,
         LUT_FIELD(lo_underflow.scale), 0x7c01, 0, 0, OF_LUT),
    HALF("no slope above lo", luts[0].lo_overflow.scale = 0xffff, NVDLA_RULE_LUT_RANGE,
         LUT_FIELD(lo_overflow.scale), 0xffff, 0, 0, OF_LUT),
    HALF("slope beyond 16 bits", luts[0].lo_overflow.scale = -1, NVDLA_RULE_RANGE,
         LUT_FIELD(lo_overflow.scale), -1, 0, 0xffff, OF_LUT),
};

#define EQUAL(...) FAULT(base_equal, "nv_full", __VA_ARGS__)
const Fault kY[] = {
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
    Y("prelu and alu", s.y.mul = NVDLA_MUL_PRELU, NVDLA_RULE_PRELU_ALU, F(sdp.y.alu), 3),
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
    EQUAL("mul", s.y.mul = NVDLA_MUL_MUL, NVDLA_RULE_CHOICE, F(sdp.y.mul), 1, 0, 0),
    EQUAL("lut", s.y.flags |= NVDLA_SDP_LUT, NVDLA_RULE_FLAGS, F(sdp.y.flags), 5, 0, 1),
    EQUAL("conversion of operands", s.y.flags |= NVDLA_SDP_CONVERT_ALU, NVDLA_RULE_FLAGS,
          F(sdp.y.flags), 9, 0, 1),
    EQUAL("conversion", s.out_precision = 1, NVDLA_RULE_PRECISIONS, F(sdp.out_precision), 0, 0, 1),
    EQUAL("offset", s.out_cvt.offset = 1, NVDLA_RULE_ZERO, F(sdp.out_cvt.offset), 1),
    EQUAL("scale", s.out_cvt.scale = 2, NVDLA_RULE_RANGE, F(sdp.out_cvt.scale), 2, 1, 1),
    EQUAL("truncate", s.out_cvt.truncate = 1, NVDLA_RULE_ZERO, F(sdp.out_cvt.truncate), 1),
    EQUAL("output", s.output.slot = kOutput, NVDLA_RULE_ZERO, F(sdp.output.slot), kOutput),
    FAULT(base_sdp_pdp, "nv_full", "before a pooling",
          (s.y.flags = NVDLA_SDP_ENABLE, s.y.alu = NVDLA_ALU_EQUAL), NVDLA_RULE_CHOICE,
          F(sdp.y.alu), 4, 0, 3),
};

#define IMAGE_FULL(...) FAULT(base_image, "nv_full", __VA_ARGS__)
const Fault kImage[] = {
    IMAGE("format", c.pixel_format = 36, NVDLA_RULE_CHOICE, F(conv.pixel_format), 36, 0, 35),
    IMAGE("wide format", c.pixel_format = NVDLA_PIXEL_R16, NVDLA_RULE_FEATURE, F(conv.pixel_format),
          NVDLA_FEATURE_PIXEL_FORMAT),
    IMAGE("packed format", c.pixel_format = NVDLA_PIXEL_A2B10G10R10, NVDLA_RULE_FEATURE,
          F(conv.pixel_format), NVDLA_FEATURE_PIXEL_FORMAT),
    IMAGE_FULL("precision of another format", c.pixel_format = NVDLA_PIXEL_A16B16G16R16,
               NVDLA_RULE_PRECISIONS, F(conv.in_precision), 0, 0, 0),
    IMAGE_FULL(
        "fp16 pixels into int16",
        (c.pixel_format = NVDLA_PIXEL_A16B16G16R16_F, c.in_precision = 2, c.proc_precision = 1),
        NVDLA_RULE_PRECISIONS, F(conv.in_precision), 2, 1, 1),
    IMAGE_FULL("converter of fp16",
               (c.pixel_format = NVDLA_PIXEL_A16B16G16R16_F, c.in_precision = c.proc_precision = 2),
               NVDLA_RULE_FLAGS, F(conv.flags), 0x60, 0, 0x11f),
    IMAGE("pad left of a kernel", c.pad_left = 3, NVDLA_RULE_PADDING, F(conv.pad_left), 3, 0, 2),
    IMAGE("pad right of a kernel", c.pad_right = 3, NVDLA_RULE_PADDING, F(conv.pad_right), 3, 0, 2),
    IMAGE("pad top of a kernel", c.pad_top = 3, NVDLA_RULE_PADDING, F(conv.pad_top), 3, 0, 2),
    IMAGE("pad bottom of a kernel", c.pad_bottom = 3, NVDLA_RULE_PADDING, F(conv.pad_bottom), 3, 0,
          2),
    IMAGE("channels", c.channels = 3, NVDLA_RULE_RANGE, F(conv.channels), 3, 4, 4),
    IMAGE("x offset", c.pixel_x_offset = 2, NVDLA_RULE_RANGE, F(conv.pixel_x_offset), 2, 0, 1),
    IMAGE("batch", c.batch = 2, NVDLA_RULE_RANGE, F(conv.batch), 2, 1, 1),
    IMAGE("dilation x", c.dilation_x = 2, NVDLA_RULE_RANGE, F(conv.dilation_x), 2, 1, 1),
    IMAGE("dilation y", c.dilation_y = 2, NVDLA_RULE_RANGE, F(conv.dilation_y), 2, 1, 1),
    IMAGE("no converter", (c.flags = 0), NVDLA_RULE_CHOICE, F(conv.flags), 0, 32, 32),
    IMAGE("mean without converter", (c.flags = NVDLA_CONV_MEAN), NVDLA_RULE_FLAGS, F(conv.flags),
          64, 0, 0x3f),
    IMAGE("sign without converter", (c.flags = NVDLA_CONV_SIGNED_PIXELS), NVDLA_RULE_FLAGS,
          F(conv.flags), 128, 0, 0x3f),
    IMAGE("mean and offset", c.cvt_offset = 1, NVDLA_RULE_RANGE, F(conv.cvt_offset), 1, 0, 0),
    IMAGE("mean", c.mean[2] = 32768, NVDLA_RULE_RANGE, F(conv.mean[2]), 32768, -32768, 32767),
    IMAGE("mean that is off", c.flags = NVDLA_CONV_CONVERT, NVDLA_RULE_RANGE, F(conv.mean[0]), 100,
          0, 0),
    IMAGE("grain", c.fetch_grain = 2, NVDLA_RULE_GRAIN, F(conv.fetch_grain), 2, 1, 1),
    /* 12 channels of a line of the kernel; 8 lanes here, 64 there */
    IMAGE("post extension", c.post_extension = 2, NVDLA_RULE_RANGE, F(conv.post_extension), 2, 1,
          1),
    IMAGE_FULL("post extension 3", c.post_extension = 3, NVDLA_RULE_CHOICE, F(conv.post_extension),
               3, 1, 4),
    IMAGE_FULL("post extension 8", c.post_extension = 8, NVDLA_RULE_RANGE, F(conv.post_extension),
               8, 1, 4),
    IMAGE("surface stride", c.input.surface_stride = 8, NVDLA_RULE_ZERO,
          F(conv.input.surface_stride), 8),
    IMAGE("line stride", c.input.line_stride = 80, NVDLA_RULE_STRIDE, F(conv.input.line_stride), 80,
          88, 0, 0, NVDLA_DMA_CDMA_DATA, 0),
    IMAGE("second plane", c.input_uv.slot = 1, NVDLA_RULE_ZERO, F(conv.input_uv.slot), 1),
    PLANES("mean of no component", c.mean[3] = 1, NVDLA_RULE_RANGE, F(conv.mean[3]), 1, 0, 0),
    PLANES("line stride of the second plane", c.input_uv.line_stride = 32, NVDLA_RULE_STRIDE,
           F(conv.input_uv.line_stride), 32, 64, 0, 0, NVDLA_DMA_CDMA_DATA_UV, 3),
    PLANES("surface stride of the second plane", c.input_uv.surface_stride = 32, NVDLA_RULE_ZERO,
           F(conv.input_uv.surface_stride), 32),
    PLANES("planes in two memories", slots[3].memory = NVDLA_MEMORY_SRAM, NVDLA_RULE_SAME_MEMORY,
           F(conv.input_uv.slot), 1, 0, 0, 0, NVDLA_DMA_CDMA_DATA_UV, 3),
};

const Fault kRubik[] = {
    CONTRACT("mode 3", r.mode = 3, NVDLA_RULE_CHOICE, F(rubik.mode), 3, 0, 2),
    CONTRACT("precision 3", r.precision = 3, NVDLA_RULE_CHOICE, F(rubik.precision), 3, 0, 2),
    CONTRACT("width 0", r.width = 0, NVDLA_RULE_RANGE, F(rubik.width), 0, 1, 8192),
    CONTRACT("width 8193", r.width = 8193, NVDLA_RULE_RANGE, F(rubik.width), 8193, 1, 8192),
    CONTRACT("height 0", r.height = 0, NVDLA_RULE_RANGE, F(rubik.height), 0, 1, 8192),
    CONTRACT("channels 0", r.channels = 0, NVDLA_RULE_RANGE, F(rubik.channels), 0, 1, 8192),
    CONTRACT("channels 8193", r.channels = 8193, NVDLA_RULE_RANGE, F(rubik.channels), 8193, 1,
             8192),
    CONTRACT("pad", r.pad = 1, NVDLA_RULE_ZERO, F(rubik.pad), 1),
    CONTRACT("stride x 0", r.stride_x = 0, NVDLA_RULE_RANGE, F(rubik.stride_x), 0, 1, 32),
    CONTRACT("stride x 33", r.stride_x = 33, NVDLA_RULE_RANGE, F(rubik.stride_x), 33, 1, 32),
    CONTRACT("stride y 33", r.stride_y = 33, NVDLA_RULE_RANGE, F(rubik.stride_y), 33, 1, 32),
    CONTRACT("channels of no block", r.channels = 383, NVDLA_RULE_MULTIPLE, F(rubik.channels), 383,
             0, 0, 192),
    CONTRACT("channels of half an atom", r.channels = 96, NVDLA_RULE_MULTIPLE, F(rubik.channels),
             96, 0, 0, 192),
    CONTRACT("wide output", r.width = 2731, NVDLA_RULE_OUTPUT_SIZE, F(rubik.width), 8193, 1, 8192),
    CONTRACT("high output", r.height = 4097, NVDLA_RULE_OUTPUT_SIZE, F(rubik.height), 8194, 1,
             8192),
    CONTRACT("stride that does not fit when multiplied", r.input.surface_stride = 0x80000000,
             NVDLA_RULE_RANGE, F(rubik.input.surface_stride), 0x80000000, 0, 0x7fffffff),
    CONTRACT("lines that do not fit when multiplied", r.output.line_stride = 0x80000000,
             NVDLA_RULE_RANGE, F(rubik.output.line_stride), 0x80000000, 0, 0x7fffffff),
    CONTRACT("output line stride", r.output.line_stride = 448, NVDLA_RULE_STRIDE,
             F(rubik.output.line_stride), 448, 480, 0, 0, NVDLA_DMA_RUBIK_WRITE, 1),
    SPLIT("stride x", r.stride_x = 1, NVDLA_RULE_ZERO, F(rubik.stride_x), 1),
    SPLIT("stride y", r.stride_y = 1, NVDLA_RULE_ZERO, F(rubik.stride_y), 1),
    SPLIT("plane line stride of half a beat", r.output.line_stride = 96, NVDLA_RULE_MULTIPLE,
          F(rubik.output.line_stride), 96, 0, 0, 64),
    SPLIT("plane stride of half a beat", r.output.surface_stride = 224, NVDLA_RULE_MULTIPLE,
          F(rubik.output.surface_stride), 224, 0, 0, 64),
    SPLIT("plane stride", r.output.surface_stride = 128, NVDLA_RULE_STRIDE,
          F(rubik.output.surface_stride), 128, 192, 0, 0, NVDLA_DMA_RUBIK_WRITE, 1),
    SPLIT("plane offset", (r.output.offset = 32, slots[1].size += 32), NVDLA_RULE_MULTIPLE,
          F(rubik.output), 32, 0, 0, 64),
    SPLIT("alignment of the planes", slots[1].alignment = 32, NVDLA_RULE_SLOT_ALIGNMENT,
          F(rubik.output.slot), 32, 64, 0, 0, NVDLA_DMA_RUBIK_WRITE, 1),
    MERGE("alignment of the planes", slots[0].alignment = 32, NVDLA_RULE_SLOT_ALIGNMENT,
          F(rubik.input.slot), 32, 64, 0, 0, NVDLA_DMA_RUBIK_READ, 0),
    MERGE("no plane stride", r.input.surface_stride = 0, NVDLA_RULE_STRIDE,
          F(rubik.input.surface_stride), 0, 192, 0, 0, NVDLA_DMA_RUBIK_READ, 0),
    MERGE("in place", (slots[0] = slot(1 << 16, 3, 64), r.output.slot = 0), NVDLA_RULE_OVERLAP,
          F(rubik.output), 0, 0, 3839, 0, NVDLA_DMA_RUBIK_WRITE, 0),
};

const Fault kBdma[] = {
    BDMA("no transfers", l.bdma.num_transfers = 0, NVDLA_RULE_RANGE, F(bdma.num_transfers), 0, 1,
         20),
    BDMA("21 transfers", l.bdma.num_transfers = 21, NVDLA_RULE_RANGE, F(bdma.num_transfers), 21, 1,
         20),
    BDMA("transfers of nobody", l.bdma.first_transfer = 1, NVDLA_RULE_RANGE, F(bdma.first_transfer),
         1, 0, 0),
    BDMA("line of 0", t[1].line_bytes = 0, NVDLA_RULE_RANGE, TRANSFER_FIELD(line_bytes), 0, 32,
         262144, 0, 0, 0, OF_TRANSFER(1)),
    BDMA("line too long", t[0].line_bytes = 262176, NVDLA_RULE_RANGE, TRANSFER_FIELD(line_bytes),
         262176, 32, 262144, 0, 0, 0, OF_TRANSFER(0)),
    BDMA("line of 33", t[0].line_bytes = 33, NVDLA_RULE_MULTIPLE, TRANSFER_FIELD(line_bytes), 33, 0,
         0, 32, 0, 0, OF_TRANSFER(0)),
    BDMA("no lines", t[0].lines = 0, NVDLA_RULE_RANGE, TRANSFER_FIELD(lines), 0, 1, 8192, 0, 0, 0,
         OF_TRANSFER(0)),
    BDMA("8193 lines", t[0].lines = 8193, NVDLA_RULE_RANGE, TRANSFER_FIELD(lines), 8193, 1, 8192, 0,
         0, 0, OF_TRANSFER(0)),
    BDMA("no surfaces", t[0].surfaces = 0, NVDLA_RULE_RANGE, TRANSFER_FIELD(surfaces), 0, 1, 8192,
         0, 0, 0, OF_TRANSFER(0)),
    BDMA("8193 surfaces", t[0].surfaces = 8193, NVDLA_RULE_RANGE, TRANSFER_FIELD(surfaces), 8193, 1,
         8192, 0, 0, 0, OF_TRANSFER(0)),
    BDMA("pad", t[0].pad = 1, NVDLA_RULE_ZERO, TRANSFER_FIELD(pad), 1, 0, 0, 0, 0, 0,
         OF_TRANSFER(0)),
    BDMA("source line stride", t[0].source.line_stride = 200, NVDLA_RULE_MULTIPLE,
         TRANSFER_FIELD(source.line_stride), 200, 0, 0, 32, 0, 0, OF_TRANSFER(0)),
    BDMA("source surface stride", t[0].source.surface_stride = 8, NVDLA_RULE_MULTIPLE,
         TRANSFER_FIELD(source.surface_stride), 8, 0, 0, 32, 0, 0, OF_TRANSFER(0)),
    BDMA("source batch stride", t[0].source.batch_stride = 32, NVDLA_RULE_ZERO,
         TRANSFER_FIELD(source.batch_stride), 32, 0, 0, 0, 0, 0, OF_TRANSFER(0)),
    BDMA("destination line stride", t[1].destination.line_stride = 16, NVDLA_RULE_MULTIPLE,
         TRANSFER_FIELD(destination.line_stride), 16, 0, 0, 32, 0, 0, OF_TRANSFER(1)),
    BDMA("source slot", t[1].source.slot = 2, NVDLA_RULE_SLOT_INDEX, TRANSFER_FIELD(source.slot), 2,
         0, 1, 0, NVDLA_DMA_BDMA_READ, 2, OF_TRANSFER(1)),
    BDMA("source offset", t[0].source.offset = 16, NVDLA_RULE_MULTIPLE, TRANSFER_FIELD(source), 16,
         0, 0, 32, NVDLA_DMA_BDMA_READ, 0, OF_TRANSFER(0)),
    BDMA("destination is read only", t[0].destination.slot = 0, NVDLA_RULE_SLOT_ACCESS,
         TRANSFER_FIELD(destination.slot), NVDLA_SLOT_WRITE, 0, 0, 0, NVDLA_DMA_BDMA_WRITE, 0,
         OF_TRANSFER(0)),
    BDMA(
        "two memories",
        (slots.push_back(slots[1]), slots[2].memory = NVDLA_MEMORY_SRAM, t[1].destination.slot = 2),
        NVDLA_RULE_TRANSFER_MEMORY, TRANSFER_FIELD(destination.slot), NVDLA_MEMORY_SRAM, 0, 0, 0,
        NVDLA_DMA_BDMA_WRITE, 2, OF_TRANSFER(1)),
    BDMA("chain", (slots[1].access = 3, t[1].source.slot = 1), NVDLA_RULE_OVERLAP,
         F(bdma.first_transfer), 0, 0, 31, 0, NVDLA_DMA_BDMA_WRITE, 1),
};

// The unit is not told of padding that no window reaches: what it is told is exact.
TEST(Pooling, PaddingThatIsNotReachedIsNotProgrammed) {
  const auto expect_same = [](const Base& padded, const Base& exact) {
    Program a(*padded.hw, padded.slots, 1);
    Program b(*exact.hw, exact.slots, 1);
    ASSERT_TRUE(a.add(padded.layer)) << to_string(a.error());
    ASSERT_TRUE(b.add(exact.layer)) << to_string(b.error());
    ASSERT_EQ(a.writes(0).size(), b.writes(0).size());
    EXPECT_EQ(std::memcmp(a.writes(0).data(), b.writes(0).data(), a.writes(0).size_bytes()), 0);
  };
  for (const char* name : kConfigurations) {
    SCOPED_TRACE(name);
    Base exact = base_pdp(name);
    exact.layer.pdp.pad_bottom = 0;
    exact.layer.pdp.height = 7;
    exact.layer.pdp.output = cube(1, 10, 3, exact.hw->atom);
    Base padded = exact;
    padded.layer.pdp.pad_bottom = 1;
    expect_same(padded, exact);
    exact = base_bands(name);
    padded = exact;
    padded.layer.pdp.pad_right = 2;
    expect_same(padded, exact);
  }
}

INSTANTIATE_TEST_SUITE_P(Pdp, UnitFaults, testing::ValuesIn(kPdp));
INSTANTIATE_TEST_SUITE_P(Bands, UnitFaults, testing::ValuesIn(kBands));
INSTANTIATE_TEST_SUITE_P(Cdp, UnitFaults, testing::ValuesIn(kCdp));
INSTANTIATE_TEST_SUITE_P(Lut, UnitFaults, testing::ValuesIn(kLut));
INSTANTIATE_TEST_SUITE_P(Y, UnitFaults, testing::ValuesIn(kY));
INSTANTIATE_TEST_SUITE_P(Image, UnitFaults, testing::ValuesIn(kImage));
INSTANTIATE_TEST_SUITE_P(Rubik, UnitFaults, testing::ValuesIn(kRubik));
INSTANTIATE_TEST_SUITE_P(Bdma, UnitFaults, testing::ValuesIn(kBdma));
INSTANTIATE_TEST_SUITE_P(All, UnitBoundaries, testing::ValuesIn(kLegal));

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
  base.transfers[0].lines = 8192;
  base.transfers[0].source.surface_stride = 0xffffffe0;
  base.transfers[0].source.line_stride = 0xffffffe0;
  EXPECT_EQ(compile(base).rule, NVDLA_RULE_EXTENT);
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

// The registers of a layer with bands, worked out by hand.
TEST(Units, BandsAreWorkedOut) {
  const Base base = base_bands("nv_full");
  Program program(*base.hw, base.slots, 1);
  ASSERT_TRUE(program.add(base.layer)) << to_string(program.error());
  const std::uint64_t bases[2] = {};
  const auto values = program.registers(0, bases);
  const auto value = [&](const char* name) {
    return values.at(*model::register_address(NVDLA_REGMAP_NV_FULL, *model::find_register(name)));
  };
  EXPECT_EQ(value("PDP.D_PARTIAL_WIDTH_OUT"), 59u | 49u << 10 | 69u << 20);
  // 59 strides of 2 and a kernel of 3; the last band ends in a padded column.
  EXPECT_EQ(value("PDP.D_PARTIAL_WIDTH_IN"), 120u | 98u << 10 | 139u << 20);
  EXPECT_EQ(value("PDP_RDMA.D_PARTIAL_WIDTH_IN"), 120u | 98u << 10 | 139u << 20);
  EXPECT_EQ(value("PDP_RDMA.D_OPERATION_MODE_CFG"), 2u);
}

}  // namespace
}  // namespace nvdla::test
