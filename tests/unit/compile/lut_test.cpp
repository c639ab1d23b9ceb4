// SPDX-License-Identifier: MIT
//
// Rules of look-up tables: one fault per test, and the neighbour that is still legal.
#include <gtest/gtest.h>

#include "unit_faults.hpp"

namespace nvdla::test {
namespace {

class LutFaults : public testing::TestWithParam<Fault> {};
TEST_P(LutFaults, IsNamedExactly) { expect_fault(GetParam()); }
class LutBoundaries : public testing::TestWithParam<Legal> {};
TEST_P(LutBoundaries, IsAccepted) { expect_legal(GetParam()); }

const Fault kLutFaults[] = {
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
    CDP("le end before its start", luts[0].le_end = -65, NVDLA_RULE_LUT_RANGE, LUT_FIELD(le_end),
        -65, -64, 0, OF_LUT),
    CDP("lo end before its start", luts[0].lo_end = -1, NVDLA_RULE_LUT_RANGE, LUT_FIELD(lo_end), -1,
        0, 0, OF_LUT),
    /* -1.5 and 2 after -1 and 4 */
    HALF("negative end before its start", luts[0].le_end = 0xbfc00000, NVDLA_RULE_LUT_RANGE,
         LUT_FIELD(le_end), 0xbfc00000, 0xbf800000, 0, OF_LUT),
    HALF("end before its start", (luts[0].lo_start = 0x40800000, luts[0].lo_end = 0x40000000),
         NVDLA_RULE_LUT_RANGE, LUT_FIELD(lo_end), 0x40000000, 0x40800000, 0, OF_LUT),
    HALF("no number in le", luts[0].le[64] = 0x7e00, NVDLA_RULE_LUT_RANGE, LUT_FIELD(le) + 128,
         0x7e00, 0, 0, OF_LUT),
    HALF("infinity in lo", luts[0].lo[256] = 0xfc00, NVDLA_RULE_LUT_RANGE, LUT_FIELD(lo) + 512,
         0xfc00, 0, 0, OF_LUT),
    Y("sdp exponent -65", (luts[0].flags = 0, luts[0].le_index_offset = -65), NVDLA_RULE_RANGE,
      LUT_FIELD(le_index_offset), -65, -64, 31, OF_LUT),
    Y("sdp le step -7", luts[0].le_index_select = -7, NVDLA_RULE_RANGE, LUT_FIELD(le_index_select),
      -7, -6, 25, OF_LUT),
    Y("sdp le step 26", luts[0].le_index_select = 26, NVDLA_RULE_RANGE, LUT_FIELD(le_index_select),
      26, -6, 25, OF_LUT),
    Y("sdp lo step -9", luts[0].lo_index_select = -9, NVDLA_RULE_RANGE, LUT_FIELD(lo_index_select),
      -9, -8, 23, OF_LUT),
    Y("sdp lo step 24", luts[0].lo_index_select = 24, NVDLA_RULE_RANGE, LUT_FIELD(lo_index_select),
      24, -8, 23, OF_LUT),
    CDP_FULL("int16 exponent 37",
             (n.precision = 1, luts[0].flags = 0, luts[0].le_index_offset = 37), NVDLA_RULE_RANGE,
             LUT_FIELD(le_index_offset), 37, -64, 36, OF_LUT),
    CDP_FULL("int16 le step 32", (n.precision = 1, luts[0].le_index_select = 32), NVDLA_RULE_RANGE,
             LUT_FIELD(le_index_select), 32, -6, 31, OF_LUT),
    CDP_FULL("int16 lo step 30", (n.precision = 1, luts[0].lo_index_select = 30), NVDLA_RULE_RANGE,
             LUT_FIELD(lo_index_select), 30, -8, 29, OF_LUT),
    HALF("fp16 exponent -127", (luts[0].flags = 0, luts[0].le_index_offset = -127),
         NVDLA_RULE_RANGE, LUT_FIELD(le_index_offset), -127, -126, 127, OF_LUT),
    HALF("fp16 exponent 128", (luts[0].flags = 0, luts[0].le_index_offset = 128), NVDLA_RULE_RANGE,
         LUT_FIELD(le_index_offset), 128, -126, 127, OF_LUT),
    HALF("fp16 le step -129", luts[0].le_index_select = -129, NVDLA_RULE_RANGE,
         LUT_FIELD(le_index_select), -129, -128, 121, OF_LUT),
    HALF("fp16 le step 122", luts[0].le_index_select = 122, NVDLA_RULE_RANGE,
         LUT_FIELD(le_index_select), 122, -128, 121, OF_LUT),
    HALF("fp16 lo step -129", luts[0].lo_index_select = -129, NVDLA_RULE_RANGE,
         LUT_FIELD(lo_index_select), -129, -128, 119, OF_LUT),
    HALF("fp16 lo step 120", luts[0].lo_index_select = 120, NVDLA_RULE_RANGE,
         LUT_FIELD(lo_index_select), 120, -128, 119, OF_LUT),
    CDP_FULL("int16 exponent -65",
             (n.precision = 1, luts[0].flags = 0, luts[0].le_index_offset = -65), NVDLA_RULE_RANGE,
             LUT_FIELD(le_index_offset), -65, -64, 36, OF_LUT),
    CDP_FULL("int16 le step -7", (n.precision = 1, luts[0].le_index_select = -7), NVDLA_RULE_RANGE,
             LUT_FIELD(le_index_select), -7, -6, 31, OF_LUT),
    CDP_FULL("int16 lo step -9", (n.precision = 1, luts[0].lo_index_select = -9), NVDLA_RULE_RANGE,
             LUT_FIELD(lo_index_select), -9, -8, 29, OF_LUT),
    /* 1 is where a table of steps of 2^-32 must begin below, and of 2^-30. */
    HALF("lo start too large for its steps",
         (luts[0].lo_index_select = -32, luts[0].lo_start = 0x3f800000), NVDLA_RULE_LUT_RANGE,
         LUT_FIELD(lo_start), 0x3f800000, 0, 0x3f7fffff, OF_LUT),
    HALF("le start too large for its steps",
         (luts[0].le_index_select = -30, luts[0].le_start = 0x3f800000), NVDLA_RULE_LUT_RANGE,
         LUT_FIELD(le_start), 0x3f800000, 0, 0x3f7fffff, OF_LUT),
};

// One step of a number apart.
const Fault kLutNeighbours[] = {
    HALF("le end just before its start",
         (luts[0].le_start = 0x3f800001, luts[0].le_end = 0x3f800000), NVDLA_RULE_LUT_RANGE,
         LUT_FIELD(le_end), 0x3f800000, 0x3f800001, 0, OF_LUT),
    HALF("lo end just before its start",
         (luts[0].lo_start = 0x3f800001, luts[0].lo_end = 0x3f800000), NVDLA_RULE_LUT_RANGE,
         LUT_FIELD(lo_end), 0x3f800000, 0x3f800001, 0, OF_LUT),
};
// The first of each, and the second table.
const Fault kLutFirsts[] = {
    CDP("first pad2", luts[0].pad2[0] = 1, NVDLA_RULE_ZERO, LUT_FIELD(pad2), 1, 0, 0, OF_LUT),
    HALF("first entry of le", luts[0].le[0] = 0x7c00, NVDLA_RULE_LUT_RANGE, LUT_FIELD(le), 0x7c00,
         0, 0, OF_LUT),
    HALF("first entry of lo", luts[0].lo[0] = 0x7c00, NVDLA_RULE_LUT_RANGE, LUT_FIELD(lo), 0x7c00,
         0, 0, OF_LUT),
    HALF("entry of the second table",
         (luts.push_back(nvdla_lut(luts[0])), luts[1].le[0] = 0x7c00, l.lut = 2),
         NVDLA_RULE_LUT_RANGE, LUT_FIELD(le), 0x7c00, 0, 0, OF_LUT, 1),
};
INSTANTIATE_TEST_SUITE_P(Firsts, LutFaults, testing::ValuesIn(kLutFirsts), row_name<Fault>);
INSTANTIATE_TEST_SUITE_P(Neighbours, LutFaults, testing::ValuesIn(kLutNeighbours), row_name<Fault>);

const Legal kLutLegal[] = {
    {"fp16 starts just below the limit of their steps", base_cdp_half, "nv_full",
     CHANGE((luts[0].lo_index_select = -32, luts[0].le_index_select = -30,
             luts[0].lo_start = luts[0].le_start = 0x3f7fffff))},
    {"the greatest fp16 starts with steps for which there is no limit", base_cdp_half, "nv_full",
     CHANGE((luts[0].lo_index_select = 96, luts[0].le_index_select = 98,
             luts[0].lo_start = luts[0].le_start = 0x7f7ffffe,
             luts[0].lo_end = luts[0].le_end = 0x7f7fffff))},
    /* Exponential tables have no step. */
    {"a large start of an exponential table in fp16", base_cdp_half, "nv_full",
     CHANGE((luts[0].flags = 0, luts[0].le_start = 0x7f000000, luts[0].le_end = 0x7f7fffff))},
    /* What the known compiler says of a table that is not used: from 1 to 1. */
    {"a table of fp16 that is not used", base_cdp_half, "nv_full",
     CHANGE((luts[0].lo_index_select = luts[0].le_index_select = -128,
             luts[0].lo_start = luts[0].lo_end = luts[0].le_start = luts[0].le_end = 0x3f800000))},
    /* Golden cases end elsewhere than after all steps: sdp/fz13_int8_int16, sdp/i16_lut_negsel. */
    {"ends that are not where the steps end", base_y, "nv_full",
     CHANGE((luts[0].le_end = 17, luts[0].lo_end = 155))},
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
    {"least steps of sdp", base_y, "nv_full",
     CHANGE((luts[0].le_index_select = -6, luts[0].lo_index_select = -8))},
    {"greatest steps of sdp", base_y, "nv_full",
     CHANGE((luts[0].le_index_select = 25, luts[0].lo_index_select = 23))},
    {"least steps in fp16", base_cdp_half, "nv_full",
     CHANGE((luts[0].le_index_select = luts[0].lo_index_select = -128))},
    {"greatest steps in fp16", base_cdp_half, "nv_full",
     CHANGE((luts[0].le_index_select = 121, luts[0].lo_index_select = 119))},
};

INSTANTIATE_TEST_SUITE_P(All, LutFaults, testing::ValuesIn(kLutFaults), row_name<Fault>);
INSTANTIATE_TEST_SUITE_P(All, LutBoundaries, testing::ValuesIn(kLutLegal), row_name<Legal>);

// What a unit takes in a precision: the ends of both tables, and the slopes beyond them.
struct Numbers {
  const char* name;
  Base (*base)(const char*);
  std::uint32_t precision;
  std::int64_t least, most;  // first and last inputs of tables
  std::int32_t scale_least, scale_most, shift_least, shift_most;
};

const Numbers kNumbers[] = {
    {"sdp", base_y, 0, -(1ll << 31), (1ll << 31) - 1, -32768, 32767, -16, 15},
    {"cdp_int8", base_cdp, 0, -(1ll << 21), (1ll << 21) - 1, -32768, 32767, -16, 15},
    {"cdp_int16", base_cdp, 1, -(1ll << 37), (1ll << 37) - 1, -32768, 32767, -16, 15},
    {"cdp_fp16", base_cdp_half, 2, 0, 0xffffffff, 0, 0xffff, 0, 0},
};

class LutNumbers : public testing::TestWithParam<Numbers> {
 protected:
  const Numbers& numbers_ = GetParam();

  void refused(const std::function<void(nvdla_lut&)>& change, std::uint32_t rule,
               std::uint32_t field, std::int64_t value, std::int64_t min, std::int64_t max) {
    Base base = numbers_.base("nv_full");
    base.layer.cdp.precision = numbers_.precision;
    for (nvdla_slot& slot : base.slots) slot.size *= 2;
    ASSERT_EQ(compile(base).rule, NVDLA_RULE_NONE) << to_string(compile(base));
    change(base.luts[0]);
    const nvdla_error error = compile(base);
    EXPECT_EQ(error.rule, rule) << to_string(error);
    EXPECT_EQ(error.object, NVDLA_OBJECT_LUT);
    EXPECT_EQ(error.field, field);
    EXPECT_EQ(error.value, value);
    EXPECT_EQ(error.min, min);
    EXPECT_EQ(error.max, max);
  }
};

TEST_P(LutNumbers, EndsOfTables) {
  const struct {
    __s64 nvdla_lut::*member;
    std::uint32_t field;
  } ends[] = {{&nvdla_lut::le_start, LUT_FIELD(le_start)},
              {&nvdla_lut::le_end, LUT_FIELD(le_end)},
              {&nvdla_lut::lo_start, LUT_FIELD(lo_start)},
              {&nvdla_lut::lo_end, LUT_FIELD(lo_end)}};
  for (const auto& end : ends) {
    for (const std::int64_t value : {numbers_.least - 1, numbers_.most + 1})
      refused([&](nvdla_lut& lut) { lut.*end.member = value; }, NVDLA_RULE_RANGE, end.field, value,
              numbers_.least, numbers_.most);
    if (numbers_.precision != NVDLA_PRECISION_FP16) continue;
    // Denormal, infinite, no number.
    for (const std::int64_t value : {0x00000001, 0x007fffff, 0x7f800000, 0x7fc00000})
      for (const std::int64_t sign : {0ll, 0x80000000ll})
        refused([&](nvdla_lut& lut) { lut.*end.member = value | sign; }, NVDLA_RULE_LUT_RANGE,
                end.field, value | sign, 0, 0);
  }
}

TEST_P(LutNumbers, Slopes) {
  const struct {
    nvdla_lut_slope nvdla_lut::*member;
    std::uint32_t field;
  } slopes[] = {{&nvdla_lut::le_underflow, LUT_FIELD(le_underflow)},
                {&nvdla_lut::le_overflow, LUT_FIELD(le_overflow)},
                {&nvdla_lut::lo_underflow, LUT_FIELD(lo_underflow)},
                {&nvdla_lut::lo_overflow, LUT_FIELD(lo_overflow)}};
  const auto shift = static_cast<std::uint32_t>(offsetof(nvdla_lut_slope, shift));
  for (const auto& slope : slopes) {
    for (const std::int32_t value : {numbers_.scale_least - 1, numbers_.scale_most + 1})
      refused([&](nvdla_lut& lut) { (lut.*slope.member).scale = value; }, NVDLA_RULE_RANGE,
              slope.field, value, numbers_.scale_least, numbers_.scale_most);
    for (const std::int32_t value : {numbers_.shift_least - 1, numbers_.shift_most + 1})
      refused([&](nvdla_lut& lut) { (lut.*slope.member).shift = value; }, NVDLA_RULE_RANGE,
              slope.field + shift, value, numbers_.shift_least, numbers_.shift_most);
    if (numbers_.precision != NVDLA_PRECISION_FP16) continue;
    for (const std::int32_t value : {0x7c00, 0xfc00, 0x7e00, 0xffff})
      refused([&](nvdla_lut& lut) { (lut.*slope.member).scale = value; }, NVDLA_RULE_LUT_RANGE,
              slope.field, value, 0, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(All, LutNumbers, testing::ValuesIn(kNumbers),
                         [](const auto& numbers) { return std::string(numbers.param.name); });

}  // namespace
}  // namespace nvdla::test
