// SPDX-License-Identifier: MIT
//
// Look-up tables: who owns them, when they are loaded, what is written.
#include <gtest/gtest.h>

#include "rig.hpp"

namespace nvdla::test {
namespace {

nvdla_lut make_lut(std::uint32_t unit, std::uint16_t seed) {
  nvdla_lut lut{};
  lut.unit = unit;
  lut.flags = NVDLA_LUT_LE_LINEAR | NVDLA_LUT_OVERFLOW_LO;
  lut.le_index_offset = -3;
  lut.le_index_select = -128;
  lut.lo_index_select = 7;
  lut.le_start = -5;
  lut.le_end = 0x12'3456'789a;
  lut.lo_start = -0x10'0000'0000;
  lut.lo_end = 0x7fff'ffff;
  lut.le_underflow = {-2, -16};
  lut.le_overflow = {0x1234, 15};
  lut.lo_underflow = {0x7fff, 0};
  lut.lo_overflow = {-32768, -1};
  for (unsigned i = 0; i < NVDLA_LUT_LE_ENTRIES; ++i)
    lut.le[i] = static_cast<std::uint16_t>(seed + i);
  for (unsigned i = 0; i < NVDLA_LUT_LO_ENTRIES; ++i)
    lut.lo[i] = static_cast<std::uint16_t>(seed + 1000 + i);
  return lut;
}

std::vector<nvdla_lut> make_luts() {
  return {make_lut(NVDLA_LUT_SDP, 100), make_lut(NVDLA_LUT_SDP, 5000),
          make_lut(NVDLA_LUT_CDP, 30000)};
}

constexpr LayerSpec sdp(std::uint32_t lut) {
  return {.kind = NVDLA_LAYER_SDP, .waits = {}, .lut = lut};
}

void run(Rig& rig, Program& program) {
  ASSERT_EQ(rig.submit(program), 0);
  nvdla_job* job = rig.run(3000);
  ASSERT_NE(job, nullptr);
  EXPECT_EQ(job->result, NVDLA_JOB_OK);
  EXPECT_EQ(rig.device.violations, std::vector<std::string>{});
}

std::map<std::uint32_t, std::uint32_t> settings(const Rig& rig, std::uint32_t unit) {
  std::map<std::uint32_t, std::uint32_t> registers;
  for (const auto& write : rig.device.writes) {
    const std::uint32_t reg = write.offset - kBases[0][unit];
    if (reg >= 0x10 && reg < kOpEnables[unit]) registers[reg] = write.value;
  }
  return registers;
}

TEST(Lut, WritesWholeTablesAndAllSettingsOfSdp) {
  Rig rig;
  Program program(rig.hw, {sdp(1)});
  program.set_luts(make_luts());
  ASSERT_EQ(rig.start(), 0);
  run(rig, program);
  for (unsigned i = 0; i < NVDLA_LUT_LE_ENTRIES; ++i) EXPECT_EQ(rig.device.lut[0][i], 100 + i);
  for (unsigned i = 0; i < NVDLA_LUT_LO_ENTRIES; ++i) EXPECT_EQ(rig.device.lut[1][i], 1100 + i);
  EXPECT_EQ(rig.device.lut[0][NVDLA_LUT_LE_ENTRIES], 0);
  const std::map<std::uint32_t, std::uint32_t> expected = {
      {NVDLA_SDP_S_LUT_CFG, 0x21},
      {NVDLA_SDP_S_LUT_INFO, 0x0780fd},
      {NVDLA_SDP_S_LUT_LE_START, 0xfffffffb},
      {NVDLA_SDP_S_LUT_LE_END, 0x3456789a},
      {NVDLA_SDP_S_LUT_LO_START, 0},
      {NVDLA_SDP_S_LUT_LO_END, 0x7fffffff},
      {NVDLA_SDP_S_LUT_LE_SLOPE_SCALE, 0x1234fffe},
      {NVDLA_SDP_S_LUT_LE_SLOPE_SHIFT, 15 << 5 | 16},
      {NVDLA_SDP_S_LUT_LO_SLOPE_SCALE, 0x80007fff},
      {NVDLA_SDP_S_LUT_LO_SLOPE_SHIFT, 31 << 5},
  };
  EXPECT_EQ(settings(rig, NVDLA_UNIT_SDP), expected);
  EXPECT_TRUE(settings(rig, NVDLA_UNIT_CDP).empty());
}

TEST(Lut, EachFlagHasItsBit) {
  const std::pair<std::uint32_t, std::uint32_t> bits[] = {{0, 0},
                                                          {NVDLA_LUT_LE_LINEAR, 0x01},
                                                          {NVDLA_LUT_UNDERFLOW_LO, 0x10},
                                                          {NVDLA_LUT_OVERFLOW_LO, 0x20},
                                                          {NVDLA_LUT_HYBRID_LO, 0x40}};
  for (const auto& [one, one_bit] : bits)
    for (const auto& [other, other_bit] : bits) {
      Rig rig;
      Program program(rig.hw, {sdp(1)});
      auto luts = make_luts();
      luts[0].flags = one | other;
      program.set_luts(luts);
      ASSERT_EQ(rig.start(), 0);
      run(rig, program);
      EXPECT_EQ(settings(rig, NVDLA_UNIT_SDP)[NVDLA_SDP_S_LUT_CFG], one_bit | other_bit);
    }
}

// All bits of a field, and nothing of its neighbours.
TEST(Lut, SettingsHaveTheirWidth) {
  for (const int value : {-1, 1, 0}) {
    Rig rig;
    Program program(rig.hw, {sdp(1)});
    auto luts = make_luts();
    nvdla_lut& lut = luts[0];
    lut.le_index_offset = lut.lo_index_select = static_cast<std::int8_t>(value);
    lut.le_index_select = static_cast<std::int8_t>(~value);
    lut.le_underflow =
        lut.lo_overflow = {static_cast<std::int16_t>(value), static_cast<std::int8_t>(value)};
    lut.le_overflow =
        lut.lo_underflow = {static_cast<std::int16_t>(~value), static_cast<std::int8_t>(~value)};
    program.set_luts(luts);
    ASSERT_EQ(rig.start(), 0);
    run(rig, program);
    const auto wide = static_cast<std::uint32_t>(value);
    auto written = settings(rig, NVDLA_UNIT_SDP);
    EXPECT_EQ(written[NVDLA_SDP_S_LUT_INFO],
              (wide & 0xff) | (~wide & 0xff) << 8 | (wide & 0xff) << 16);
    EXPECT_EQ(written[NVDLA_SDP_S_LUT_LE_SLOPE_SCALE], (wide & 0xffff) | ~wide << 16);
    EXPECT_EQ(written[NVDLA_SDP_S_LUT_LE_SLOPE_SHIFT], (wide & 31) | (~wide & 31) << 5);
    EXPECT_EQ(written[NVDLA_SDP_S_LUT_LO_SLOPE_SCALE], (~wide & 0xffff) | wide << 16);
    EXPECT_EQ(written[NVDLA_SDP_S_LUT_LO_SLOPE_SHIFT], (~wide & 31) | (wide & 31) << 5);
  }
}

TEST(Lut, WritesAllSettingsOfCdp) {
  Rig rig;
  Program program(rig.hw, {{.kind = NVDLA_LAYER_CDP, .lut = 3}});
  program.set_luts(make_luts());
  ASSERT_EQ(rig.start(), 0);
  run(rig, program);
  EXPECT_EQ(rig.device.lut[2][64], 30064);
  EXPECT_EQ(rig.device.lut[3][256], 31256);
  const std::map<std::uint32_t, std::uint32_t> expected = {
      {NVDLA_CDP_S_LUT_CFG, 0x21},
      {NVDLA_CDP_S_LUT_INFO, 0x0780fd},
      {NVDLA_CDP_S_LUT_LE_START_LOW, 0xfffffffb},
      {NVDLA_CDP_S_LUT_LE_START_HIGH, 0x3f},
      {NVDLA_CDP_S_LUT_LE_END_LOW, 0x3456789a},
      {NVDLA_CDP_S_LUT_LE_END_HIGH, 0x12},
      {NVDLA_CDP_S_LUT_LO_START_LOW, 0},
      {NVDLA_CDP_S_LUT_LO_START_HIGH, 0x30},
      {NVDLA_CDP_S_LUT_LO_END_LOW, 0x7fffffff},
      {NVDLA_CDP_S_LUT_LO_END_HIGH, 0},
      {NVDLA_CDP_S_LUT_LE_SLOPE_SCALE, 0x1234fffe},
      {NVDLA_CDP_S_LUT_LE_SLOPE_SHIFT, 15 << 5 | 16},
      {NVDLA_CDP_S_LUT_LO_SLOPE_SCALE, 0x80007fff},
      {NVDLA_CDP_S_LUT_LO_SLOPE_SHIFT, 31 << 5},
  };
  EXPECT_EQ(settings(rig, NVDLA_UNIT_CDP), expected);
}

TEST(Lut, IsLoadedOnceForLayersThatShareIt) {
  Rig rig;
  Program program(rig.hw, {sdp(1), sdp(0), sdp(1), {.lut = 1}, sdp(1)});
  program.set_luts(make_luts());
  ASSERT_EQ(rig.start(), 0);
  run(rig, program);
  EXPECT_EQ(rig.device.lut_loads, 1u);
}

// The other contents wait until both groups have ended; no bit may be outstanding (the mock looks).
TEST(Lut, OthersWaitForBothGroups) {
  Rig rig;
  Program program(rig.hw, {sdp(1), sdp(1), sdp(2), sdp(0), sdp(1), {.lut = 2}});
  program.set_luts(make_luts());
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  EXPECT_EQ(rig.device.lut_loads, 1u);
  EXPECT_EQ(rig.device.lut[0][0], 100);
  nvdla_job* job = rig.run(3000);
  ASSERT_NE(job, nullptr);
  EXPECT_EQ(rig.device.lut_loads, 4u);
  EXPECT_EQ(rig.engine.debug.lut_loads, 4u);
  EXPECT_EQ(rig.device.violations, std::vector<std::string>{});
  EXPECT_EQ(rig.device.ended, (std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5}));
}

// The units' tables are two things.
TEST(Lut, UnitsDoNotDisturbEachOther) {
  Rig rig;
  Program program(
      rig.hw,
      {sdp(1), {.kind = NVDLA_LAYER_CDP, .lut = 3}, sdp(1), {.kind = NVDLA_LAYER_CDP, .lut = 3}});
  program.set_luts(make_luts());
  ASSERT_EQ(rig.start(), 0);
  run(rig, program);
  EXPECT_EQ(rig.device.lut_loads, 2u);
}

TEST(Lut, IsKnownByTheSerialOfItsProgram) {
  Rig rig;
  Program program(rig.hw, {sdp(2)}), other(rig.hw, {sdp(2)});
  program.set_luts(make_luts());
  other.set_luts({make_lut(NVDLA_LUT_SDP, 1), make_lut(NVDLA_LUT_SDP, 2)});
  other.job().serial = 8;
  ASSERT_EQ(rig.start(), 0);
  run(rig, program);
  run(rig, program);
  EXPECT_EQ(rig.device.lut_loads, 1u) << "the second run of a program finds it";
  run(rig, other);
  EXPECT_EQ(rig.device.lut_loads, 2u);
  EXPECT_EQ(rig.device.lut[0][0], 2);
  run(rig, program);
  EXPECT_EQ(rig.device.lut_loads, 3u);
}

TEST(Lut, IsUnknownAfterAnAbortAndAStart) {
  Rig rig;
  Program program(rig.hw, {sdp(1)});
  program.set_luts(make_luts());
  ASSERT_EQ(rig.start(), 0);
  run(rig, program);
  nvdla_engine_abort(&rig.engine);
  ASSERT_EQ(rig.start(), 0);
  run(rig, program);
  EXPECT_EQ(rig.device.lut_loads, 2u);
  ASSERT_EQ(rig.start(), 0);
  run(rig, program);
  EXPECT_EQ(rig.device.lut_loads, 3u);
}

TEST(Lut, OfAUnitThatTheLayerDoesNotUseIsRefused) {
  Rig rig;
  Program program(rig.hw, {{.kind = NVDLA_LAYER_CDP, .lut = 1}});
  program.set_luts(make_luts());
  ASSERT_EQ(rig.start(), 0);
  EXPECT_EQ(rig.submit(program), -NVDLA_SUBMIT_INVALID);
}

}  // namespace
}  // namespace nvdla::test
