// SPDX-License-Identifier: MIT
//
// Rules of pooling: one fault per test, and the neighbour that is still legal; what the unit
// is told of bands and padding.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "common/configurations.hpp"
#include "unit_faults.hpp"

namespace nvdla::test {
namespace {

class PdpFaults : public testing::TestWithParam<Fault> {};
TEST_P(PdpFaults, IsNamedExactly) { expect_fault(GetParam()); }
class PdpBoundaries : public testing::TestWithParam<Legal> {};
TEST_P(PdpBoundaries, IsAccepted) { expect_legal(GetParam()); }

const Fault kWhole[] = {
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
    PDP("stride width 0", p.stride_width = 0, NVDLA_RULE_RANGE, F(pdp.stride_width), 0, 1, 16),
    PDP("stride width 17", p.stride_width = 17, NVDLA_RULE_RANGE, F(pdp.stride_width), 17, 1, 16),
    PDP("stride height 0", p.stride_height = 0, NVDLA_RULE_RANGE, F(pdp.stride_height), 0, 1, 16),
    PDP("stride height 17", p.stride_height = 17, NVDLA_RULE_RANGE, F(pdp.stride_height), 17, 1,
        16),
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
    PDP("a column left over", p.stride_width = 2, NVDLA_RULE_EXACT_DIVISION, F(pdp.stride_width), 1,
        0, 0, 2),
    /* two lines, one of them padding */
    PDP("a line left over", p.stride_height = 4, NVDLA_RULE_EXACT_DIVISION, F(pdp.stride_height), 2,
        0, 1, 4),
    SDP_PDP("a line of sdp left over", p.pad_bottom = 0, NVDLA_RULE_EXACT_DIVISION,
            F(pdp.stride_height), 1, 0, 0, 2),
    PDP("pad value of a maximum", (p.method = NVDLA_POOL_MAX), NVDLA_RULE_ZERO, F(pdp.pad_value[0]),
        0xfffffffd),
    PDP("factor of a maximum",
        (p.method = NVDLA_POOL_MAX, std::memset(p.pad_value, 0, sizeof(p.pad_value))),
        NVDLA_RULE_ZERO, F(pdp.recip_width), 0x8000),
    PDP("pad value without padding", (p.pad_left = 0, p.pad_bottom = 0, p.height = 9),
        NVDLA_RULE_ZERO, F(pdp.pad_value[0]), 0xfffffffd),
    PDP("small pad value", p.pad_value[6] = -897, NVDLA_RULE_RANGE, F(pdp.pad_value[6]), -897, -896,
        889),
    PDP("big pad value", p.pad_value[0] = 128, NVDLA_RULE_RANGE, F(pdp.pad_value[0]), 128, -128,
        127),
    PDP("big pad value of two", p.pad_value[1] = 255, NVDLA_RULE_RANGE, F(pdp.pad_value[1]), 255,
        -256, 254),
    SDP_PDP("pad value on the fly", p.pad_value[2] = -385, NVDLA_RULE_RANGE, F(pdp.pad_value[2]),
            -385, -384, 381),
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
    SDP_PDP("flying nan to zero",
            (SDP_IN(FP16), s.x1 = {}, s.x2 = {}, s.out_cvt = {}, s.input = cube(kInput, 10, 8, 32),
             slots[kInput].size = slots[kOutput].size = 8192, p.flags = NVDLA_PDP_NAN_TO_ZERO),
            NVDLA_RULE_FLAGS, F(pdp.flags), NVDLA_PDP_NAN_TO_ZERO, 0, 0),
    SDP_PDP("flying bands", p.bands = 2, NVDLA_RULE_RANGE, F(pdp.bands), 2, 1, 1),
    SDP_PDP("flying precision", p.precision = 1, NVDLA_RULE_ZERO, F(pdp.precision), 1),
    SDP_PDP("flying width", p.width = 10, NVDLA_RULE_ZERO, F(pdp.width), 10),
    SDP_PDP("flying height", p.height = 8, NVDLA_RULE_ZERO, F(pdp.height), 8),
    SDP_PDP("flying channels", p.channels = 20, NVDLA_RULE_ZERO, F(pdp.channels), 20),
    SDP_PDP("flying input", p.input.slot = 1, NVDLA_RULE_ZERO, F(pdp.input.slot), 1),
    SDP_PDP("output of sdp", s.output.slot = kOutput, NVDLA_RULE_ZERO, F(sdp.output.slot), kOutput),
    SDP_PDP("conversion before a pooling", s.out_precision = 1, NVDLA_RULE_PRECISIONS,
            F(sdp.proc_precision), 0, 0, 1),
    /* 16 atoms of 8, 2 and 1 lines; rules of units have 4. */
    PDP("too wide for a line of the output", (p.width = 129, p.stride_height = 3),
        NVDLA_RULE_OUTPUT_SIZE, F(pdp.bands), 129, 1, 128),
    PDP("too wide for three lines of the output", (p.width = 33, p.stride_height = 1),
        NVDLA_RULE_OUTPUT_SIZE, F(pdp.bands), 33, 1, 32),
    PDP("too wide for five lines of the output",
        (p.width = 17, p.kernel_height = 5, p.stride_height = 1), NVDLA_RULE_OUTPUT_SIZE,
        F(pdp.bands), 17, 1, 16),
    FAULT(base_sdp_pdp, "nv_full", "too wide on the fly",
          (s.width = 65, s.x2 = {}, s.input = cube(kInput, 65, 8, 32),
           slots[kInput].size = 65 * 8 * 32),
          NVDLA_RULE_OUTPUT_SIZE, F(pdp.bands), 65, 1, 64),
    PDP("kernel beyond the lines", (p.height = 2, p.kernel_height = 8), NVDLA_RULE_KERNEL_FITS,
        F(pdp.kernel_height), 3, 8),
    PDP_FULL("small pad value of int16",
             (p.precision = NVDLA_PRECISION_INT16, p.pad_value[6] = -0x40001), NVDLA_RULE_RANGE,
             F(pdp.pad_value[6]), -0x40001, -0x40000, 0x3ffff),
    PDP_FULL("big pad value of int16",
             (p.precision = NVDLA_PRECISION_INT16, p.pad_value[0] = 0x40000), NVDLA_RULE_RANGE,
             F(pdp.pad_value[0]), 0x40000, -0x40000, 0x3ffff),
    PDP_FULL("negative pad value of fp16", p.precision = NVDLA_PRECISION_FP16, NVDLA_RULE_RANGE,
             F(pdp.pad_value[0]), -3, 0, 0x1ffff),
    PDP_FULL("pad value of fp16 beyond 17 bits",
             (p.precision = NVDLA_PRECISION_FP16, std::fill(p.pad_value, p.pad_value + 7, 0x20000)),
             NVDLA_RULE_RANGE, F(pdp.pad_value[0]), 0x20000, 0, 0x1ffff),
    PDP("input line stride of half an atom", p.input.line_stride = 84, NVDLA_RULE_MULTIPLE,
        F(pdp.input.line_stride), 84, 0, 0, 8),
    PDP("input surface stride", p.input.surface_stride = 632, NVDLA_RULE_STRIDE,
        F(pdp.input.surface_stride), 632, 640, 0, 0, NVDLA_DMA_PDP_RDMA, 0),
    PDP("output offset", p.output.offset = 4, NVDLA_RULE_MULTIPLE, F(pdp.output), 4, 0, 0, 8,
        NVDLA_DMA_PDP_WDMA, 1),
    PDP("output line stride", p.output.line_stride = 72, NVDLA_RULE_STRIDE,
        F(pdp.output.line_stride), 72, 80, 0, 0, NVDLA_DMA_PDP_WDMA, 1),
    PDP("output surface stride of half an atom", p.output.surface_stride = 324, NVDLA_RULE_MULTIPLE,
        F(pdp.output.surface_stride), 324, 0, 0, 8),
    PDP("output batch stride", p.output.batch_stride = 8, NVDLA_RULE_ZERO,
        F(pdp.output.batch_stride), 8),
};

const Fault kBands[] = {
    BANDS("first band 0", p.first_out = 0, NVDLA_RULE_BANDS, F(pdp.first_out), 0, 1, 128),
    BANDS("first band 129", p.first_out = 129, NVDLA_RULE_BANDS, F(pdp.first_out), 129, 1, 128),
    BANDS("inner band below the first", p.mid_out = 59, NVDLA_RULE_BANDS, F(pdp.mid_out), 59, 60,
          128),
    BANDS("inner band 129", p.mid_out = 129, NVDLA_RULE_BANDS, F(pdp.mid_out), 129, 60, 128),
    BANDS("no columns left", p.mid_out = 120, NVDLA_RULE_BANDS, F(pdp.bands), 0, 1, 120),
    BANDS("last band wider than an inner one",
          (p.width = 402, p.input = cube(0, 402, 4, 8), p.output = cube(1, 201, 4, 8)),
          NVDLA_RULE_BANDS, F(pdp.bands), 71, 1, 70),
    BANDS("inner band of two", p.bands = 2, NVDLA_RULE_ZERO, F(pdp.mid_out), 70),
    BANDS("inner band takes more than its register",
          (p.stride_width = 16, p.kernel_width = 1, p.pad_right = 0, p.width = 16 * 179 + 1),
          NVDLA_RULE_BANDS, F(pdp.mid_out), 1120, 16, 1024),
    /* The second band would begin left of the cube. */
    BANDS("first band below the overlap",
          (p.bands = 2, p.mid_out = 0, p.kernel_width = 8, p.stride_width = 1, p.pad_left = 7,
           p.pad_right = 0, p.width = 20, p.first_out = 1),
          NVDLA_RULE_BANDS, F(pdp.first_out), 1, 7, 1024),
    BANDS("inner band below the overlap",
          (p.kernel_width = 8, p.stride_width = 1, p.pad_right = 0, p.width = 17, p.first_out = 2,
           p.mid_out = 4),
          NVDLA_RULE_BANDS, F(pdp.mid_out), 4, 7, 1024),
    BANDS("last band of padding",
          (p.bands = 2, p.mid_out = 0, p.kernel_width = 8, p.stride_width = 1, p.pad_right = 7,
           p.width = 20, p.first_out = 15),
          NVDLA_RULE_BANDS, F(pdp.bands), -2, 1, 1024),
    BANDS("last band of nothing but padding",
          (p.bands = 2, p.mid_out = 0, p.kernel_width = 8, p.stride_width = 1, p.pad_right = 7,
           p.width = 20, p.first_out = 13),
          NVDLA_RULE_BANDS, F(pdp.bands), 0, 1, 1024),
    BANDS("first band takes more than its register",
          (p.bands = 2, p.mid_out = 0, p.stride_width = 16, p.pad_right = 0, p.width = 2067,
           p.first_out = 65),
          NVDLA_RULE_BANDS, F(pdp.first_out), 1027, 1, 1024),
    BANDS("last band takes more than its register",
          (p.bands = 2, p.mid_out = 0, p.stride_width = 16, p.pad_right = 0, p.width = 2051,
           p.first_out = 64),
          NVDLA_RULE_BANDS, F(pdp.bands), 1040, 14, 1024),
};

const Legal kPdpLegal[] = {
    {"maximum", base_pdp, "nv_small",
     CHANGE((p.method = NVDLA_POOL_MAX, std::memset(p.pad_value, 0, sizeof(p.pad_value)),
             p.recip_width = p.recip_height = 0))},
    {"smallest pad values", base_pdp, "nv_small", CHANGE({
       for (int i = 0; i < 7; i++) p.pad_value[i] = (i + 1) * -128;
       p.recip_width = 0x1ffff;
     })},
    {"greatest pad values", base_pdp, "nv_small", CHANGE({
       for (int i = 0; i < 7; i++) p.pad_value[i] = (i + 1) * 127;
     })},
    {"pad values of int16 at their ends", base_pdp, "nv_full",
     CHANGE((p.precision = NVDLA_PRECISION_INT16, p.pad_value[0] = -0x40000,
             p.pad_value[6] = 0x3ffff, slots[0].size *= 2, slots[1].size *= 2))},
    {"as wide as the buffer", base_pdp, "nv_small",
     CHANGE((p.width = 64, p.input = cube(0, 64, 8, 8), p.output = cube(1, 64, 4, 8),
             slots[0].size = 3 * 64 * 8 * 8, slots[1].size = 3 * 64 * 4 * 8))},
    {"largest kernel", base_pdp, "nv_full",
     CHANGE((p.kernel_width = p.kernel_height = 8, p.pad_left = 7, p.pad_bottom = 0,
             p.stride_height = 1, p.output = cube(1, 10, 1, 32)))},
    {"padding below only", base_pdp, "nv_small", CHANGE(p.pad_left = 0)},
    {"bands of one width", base_bands, "nv_small", CHANGE((p.first_out = p.mid_out = 60))},
    {"fp16", base_pdp, "nv_full",
     CHANGE((p.precision = NVDLA_PRECISION_FP16, p.flags = NVDLA_PDP_NAN_TO_ZERO,
             std::fill(p.pad_value, p.pad_value + 7, 0x1ffff), slots[0].size *= 2,
             slots[1].size *= 2))},
    {"as wide as a line of the output allows", base_pdp, "nv_small",
     CHANGE((p.width = 128, p.stride_height = 3, p.input = cube(0, 128, 8, 8),
             p.output = cube(1, 128, 3, 8), slots[0].size = 3 * 128 * 8 * 8,
             slots[1].size = 3 * 128 * 3 * 8))},
    {"as wide as three lines of the output allow", base_pdp, "nv_small",
     CHANGE((p.width = 32, p.stride_height = 1, p.input = cube(0, 32, 8, 8),
             p.output = cube(1, 32, 7, 8), slots[0].size = 3 * 32 * 8 * 8,
             slots[1].size = 3 * 32 * 7 * 8))},
    {"as wide as five lines of the output allow", base_pdp, "nv_small",
     CHANGE((p.width = 16, p.kernel_height = 5, p.stride_height = 1, p.input = cube(0, 16, 8, 8),
             p.output = cube(1, 16, 5, 8), slots[0].size = 3 * 16 * 8 * 8,
             slots[1].size = 3 * 16 * 5 * 8))},
    {"64 bands", base_bands, "nv_small",
     CHANGE((p.bands = 64, p.first_out = p.mid_out = 2, p.width = 256, p.input = cube(0, 256, 4, 8),
             p.output = cube(1, 128, 4, 8)))},
    {"first band of the overlap", base_bands, "nv_small",
     CHANGE((p.bands = 2, p.mid_out = 0, p.kernel_width = 8, p.stride_width = 1, p.pad_left = 7,
             p.pad_right = 0, p.width = 20, p.first_out = 7))},
    /* Stride and kernel leave columns out between bands. */
    {"bands with a gap", base_bands, "nv_small",
     CHANGE((p.bands = 2, p.mid_out = 0, p.stride_width = 16, p.pad_right = 0, p.width = 1587,
             p.first_out = 60, p.input = cube(0, 1587, 4, 8), p.output = cube(1, 100, 4, 8),
             slots[0].size = 1587 * 4 * 8))},
    /* 114 strides of 9, less 2 of padding */
    {"last band of as many columns as its register holds", base_bands, "nv_small",
     CHANGE((p.bands = 2, p.mid_out = 0, p.kernel_width = 8, p.stride_width = 9, p.pad_right = 2,
             p.width = 1923, p.first_out = 100, p.input = cube(0, 1923, 4, 8),
             p.output = cube(1, 214, 4, 8), slots[0].size = 1923 * 4 * 8,
             slots[1].size = 214 * 4 * 8))},
    {"last band of one column", base_bands, "nv_small",
     CHANGE((p.bands = 2, p.mid_out = 0, p.kernel_width = 8, p.stride_width = 1, p.pad_right = 7,
             p.width = 20, p.first_out = 12))},
};

INSTANTIATE_TEST_SUITE_P(Whole, PdpFaults, testing::ValuesIn(kWhole), row_name<Fault>);
INSTANTIATE_TEST_SUITE_P(Bands, PdpFaults, testing::ValuesIn(kBands), row_name<Fault>);
INSTANTIATE_TEST_SUITE_P(All, PdpBoundaries, testing::ValuesIn(kPdpLegal), row_name<Legal>);

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
