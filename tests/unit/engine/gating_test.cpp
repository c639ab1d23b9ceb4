// SPDX-License-Identifier: MIT
//
// Logic whose gated clock loses weight releases: CDMA before CSC, one convolution at a time. The
// mock looks at each OP_ENABLE (MockDevice::check_gating).
#include <gtest/gtest.h>

#include <algorithm>

#include "rig.hpp"

namespace nvdla::test {
namespace {

using Units = std::vector<std::uint32_t>;

std::uint32_t tag_of(Rig& rig, std::uint32_t unit, std::uint32_t group) {
  return rig.device.register_of(unit, group, kOpEnables[unit] + 4);
}

TEST(Gating, CdmaIsEnabledBeforeCsc) {
  struct Case {
    LayerSpec spec;
    Units before;  // the convolution's units
  };
  const Case cases[] = {
      {{.kind = NVDLA_LAYER_CONV_SDP}, {NVDLA_UNIT_SDP}},
      {{.kind = NVDLA_LAYER_CONV_SDP, .rdma = true}, {NVDLA_UNIT_SDP_RDMA, NVDLA_UNIT_SDP}},
      {{.kind = NVDLA_LAYER_CONV_SDP_PDP}, {NVDLA_UNIT_PDP, NVDLA_UNIT_SDP}},
      {{.kind = NVDLA_LAYER_CONV_SDP_PDP, .rdma = true},
       {NVDLA_UNIT_PDP, NVDLA_UNIT_SDP_RDMA, NVDLA_UNIT_SDP}},
  };
  for (const char* name : {"nv_full", "nv_small", "nv_large"})
    for (const Case& c : cases) {
      Rig rig(name, true);
      Program program(rig.hw, {c.spec});
      Units order = c.before;
      for (std::uint32_t unit :
           {NVDLA_UNIT_CACC, NVDLA_UNIT_CMAC_A, NVDLA_UNIT_CMAC_B, NVDLA_UNIT_CDMA, NVDLA_UNIT_CSC})
        order.push_back(unit);
      ASSERT_EQ(rig.start(), 0);
      ASSERT_EQ(rig.submit(program), 0);
      EXPECT_EQ(rig.device.enables, order) << name << " kind " << c.spec.kind;
      expect_ok(rig, program);
    }
}

// Programmed into the other group at once, enabled when the bit of the first was consumed.
TEST(Gating, AConvolutionIsEnabledAfterTheEndOfTheOneBefore) {
  Rig rig("nv_small", true);
  Program program(rig.hw, {{.ticks = 5, .delay = 30}, {}, {}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  EXPECT_EQ(tag_of(rig, NVDLA_UNIT_CSC, 1), 1u);
  EXPECT_EQ(tag_of(rig, NVDLA_UNIT_SDP, 1), 1u);
  for (unsigned i = 0; rig.engine.head == 0; ++i) {
    ASSERT_LT(i, 100u);
    for (std::uint32_t unit : {NVDLA_UNIT_CACC, NVDLA_UNIT_CDMA, NVDLA_UNIT_CSC, NVDLA_UNIT_SDP})
      ASSERT_FALSE(rig.device.enabled(unit, 1)) << unit << ", tick " << i;
    rig.device.tick();
    if (i < 20) nvdla_engine_interrupt(&rig.engine, nvdla_engine_read_irq(&rig.engine));
    if (i >= 20) rig.interrupt();
  }
  EXPECT_TRUE(rig.device.enabled(NVDLA_UNIT_CSC, 1));
  EXPECT_EQ(tag_of(rig, NVDLA_UNIT_CSC, 0), 2u) << "the third is programmed ahead";
  EXPECT_FALSE(rig.device.enabled(NVDLA_UNIT_CSC, 0));
  expect_ok(rig, program);
}

// With fixed logic both are enabled at once, as ever.
TEST(Gating, IsAPropertyOfTheConfiguration) {
  Rig rig("nv_small", false);
  Program program(rig.hw, {{}, {}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  EXPECT_TRUE(rig.device.enabled(NVDLA_UNIT_CSC, 0));
  EXPECT_TRUE(rig.device.enabled(NVDLA_UNIT_CSC, 1));
  EXPECT_EQ(rig.device.enables[4], static_cast<std::uint32_t>(NVDLA_UNIT_CSC));
  EXPECT_EQ(rig.device.enables[5], static_cast<std::uint32_t>(NVDLA_UNIT_CDMA));
  expect_ok(rig, program);
}

// A fused layer ends in PDP: SDP's bit and CACC's are not the end of the convolution.
TEST(Gating, AFusedLayerEndsInPdp) {
  Rig rig("nv_small", true);
  Program program(rig.hw, {{.kind = NVDLA_LAYER_CONV_SDP_PDP, .delay = 30}, {}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  for (unsigned i = 0; i < 20; ++i) {
    rig.device.tick();
    nvdla_engine_interrupt(&rig.engine, nvdla_engine_read_irq(&rig.engine));
    ASSERT_FALSE(rig.device.enabled(NVDLA_UNIT_CSC, 1)) << i;
  }
  expect_ok(rig, program);
}

// Whoever needs no convolution goes on while one is held back.
TEST(Gating, OtherUnitsAreNotHeldBack) {
  Rig rig("nv_small", true);
  Program program(rig.hw, {{.ticks = 50},
                           {},
                           {.kind = NVDLA_LAYER_PDP},
                           {.kind = NVDLA_LAYER_CDP},
                           {.kind = NVDLA_LAYER_PDP},
                           {.kind = NVDLA_LAYER_CDP}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  for (std::uint32_t unit :
       {NVDLA_UNIT_PDP, NVDLA_UNIT_PDP_RDMA, NVDLA_UNIT_CDP, NVDLA_UNIT_CDP_RDMA})
    for (std::uint32_t group : {0u, 1u}) EXPECT_TRUE(rig.device.enabled(unit, group)) << unit;
  expect_ok(rig, program);
  const auto& ended = rig.device.ended;
  EXPECT_LT(std::find(ended.begin(), ended.end(), 5u), std::find(ended.begin(), ended.end(), 0u));
}

// SDP alone pends behind a convolution, and a convolution behind SDP alone.
TEST(Gating, SdpAlonePendsAsEver) {
  Rig rig("nv_small", true);
  Program first(rig.hw, {{.ticks = 50}, {.kind = NVDLA_LAYER_SDP}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(first), 0);
  EXPECT_TRUE(rig.device.enabled(NVDLA_UNIT_SDP, 1));
  expect_ok(rig, first);
  Program second(rig.hw, {{.kind = NVDLA_LAYER_SDP, .ticks = 50}, {}});
  ASSERT_EQ(rig.submit(second), 0);
  EXPECT_TRUE(rig.device.any_enabled(NVDLA_UNIT_CSC));
  EXPECT_TRUE(rig.device.enabled(NVDLA_UNIT_SDP, 0) && rig.device.enabled(NVDLA_UNIT_SDP, 1));
  expect_ok(rig, second);
}

// The first convolution of a job, too, comes after the last of the job before, whoever's that is,
// and with the order of its own.
TEST(Gating, HoldsAcrossJobs) {
  Rig rig("nv_small", true);
  ASSERT_EQ(rig.start(), 0);
  for (std::uint64_t serial : {7u, 8u, 7u}) {
    Program program(rig.hw, {{}, {.kind = NVDLA_LAYER_PDP}, {.delay = 9}});
    program.job().serial = serial;
    rig.device.enables.clear();
    ASSERT_FALSE(rig.device.any_enabled(NVDLA_UNIT_CDMA));
    ASSERT_EQ(rig.submit(program), 0);
    const auto& enables = rig.device.enables;
    EXPECT_LT(std::find(enables.begin(), enables.end(), NVDLA_UNIT_CDMA),
              std::find(enables.begin(), enables.end(), NVDLA_UNIT_CSC));
    EXPECT_EQ(std::count(enables.begin(), enables.end(), NVDLA_UNIT_CSC), 1);
    Program early(rig.hw, {{}});
    EXPECT_EQ(nvdla_engine_submit(&rig.engine, &early.job()), -NVDLA_SUBMIT_BUSY);
    expect_ok(rig, program);
  }
}

// What ended without a sign of CDMA is settled first, and the rules hold.
TEST(Gating, HoldsWithoutSideBits) {
  Rig rig("nv_small", true);
  Program program(rig.hw, {{.silent = kSideUnits}, {.silent = kSideUnits}, {}, {}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  expect_ok(rig, program);
}

}  // namespace
}  // namespace nvdla::test
