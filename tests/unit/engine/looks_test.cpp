// SPDX-License-Identifier: MIT
//
// Registers that hardware moves on its own, seen to have moved at the first look, after some, after
// many, or never.
#include <gtest/gtest.h>

#include "rig.hpp"

namespace nvdla::test {
namespace {

constexpr unsigned kLooks[] = {0, 1, 2, 3, 7, 64, 65, 1000};

std::size_t count_reads(const Rig& rig, std::uint32_t unit, std::uint32_t reg) {
  const std::uint32_t offset = kBases[rig.hw.regmap][unit] + reg;
  return static_cast<std::size_t>(
      std::count(rig.device.reads.begin(), rig.device.reads.end(), offset));
}

TEST(Looks, AtTheFlushUntilItIsDone) {
  for (unsigned looks : kLooks) {
    Rig rig;
    rig.device.flush_reads = looks;
    EXPECT_EQ(rig.start(), 0) << looks;
    EXPECT_EQ(rig.device.flush_reads, 0u);
    EXPECT_EQ(count_reads(rig, NVDLA_UNIT_CDMA, NVDLA_CDMA_S_CBUF_FLUSH_STATUS), looks + 1);
  }
}

// How long start() waits for a flush that does not end.
std::uint64_t flush_limit(std::uint32_t clock_khz) {
  Rig rig;
  rig.device.flush_reads = kNever;
  rig.ops.relax = [](void* context) { static_cast<MockDevice*>(context)->now += 100'000; };
  nvdla_engine_set_clock(&rig.engine, clock_khz);
  const std::uint64_t begin = rig.device.now;
  EXPECT_EQ(rig.start(), -NVDLA_START_FLUSH);
  return rig.device.now - begin;
}

// 8,300 cycles, eight times over, and at least 100 ms.
TEST(Looks, AtTheFlushForCyclesOfTheDevice) {
  constexpr std::uint64_t kMs = 1'000'000, kKr = 100'000;
  const auto near = [](std::uint64_t ns, std::uint64_t expected) {
    EXPECT_GE(ns, expected);
    EXPECT_LE(ns, expected + expected / 1000 + kKr);
  };
  near(flush_limit(0), 100 * kMs);
  near(flush_limit(1'000'000), 100 * kMs);
  near(flush_limit(1'000), 100 * kMs);
  near(flush_limit(100), 664 * kMs);
  near(flush_limit(10), 6640 * kMs);
  near(flush_limit(1), 66400 * kMs);
}

// However long one takes: at the beginning, and after each 64th of the time.
TEST(Looks, AreManyWhereEachTakesLong) {
  Rig rig;
  rig.device.flush_reads = kNever;
  rig.ops.relax = [](void* context) { static_cast<MockDevice*>(context)->now += 1'000'000'000; };
  EXPECT_EQ(rig.start(), -NVDLA_START_FLUSH);
  EXPECT_EQ(count_reads(rig, NVDLA_UNIT_CDMA, NVDLA_CDMA_S_CBUF_FLUSH_STATUS), 65u);
}

struct Lingering {
  std::uint32_t unit;
  LayerSpec layer;
};

// Each unit that can be left unseen, in a layer that uses it.
const std::vector<Lingering> kLingering = {
    {NVDLA_UNIT_CDMA, {}},
    {NVDLA_UNIT_CACC, {}},
    {NVDLA_UNIT_SDP, {.kind = NVDLA_LAYER_CONV_SDP_PDP}},
    {NVDLA_UNIT_SDP, {.kind = NVDLA_LAYER_SDP_PDP}},
};

// The third layer takes the first one's group, and is not written before OP_EN has fallen: the mock
// notes a write that would be dropped.
TEST(Looks, AtAUnitUntilItsGroupCanBeWritten) {
  for (const Lingering& c : kLingering)
    for (unsigned looks : kLooks) {
      Rig rig;
      LayerSpec spec = c.layer;
      Program program(rig.hw, {[&] {
                                 LayerSpec first = spec;
                                 first.silent = first.lingering = unit_bit(c.unit);
                                 first.looks = looks;
                                 return first;
                               }(),
                               spec, spec, spec});
      ASSERT_EQ(rig.start(), 0);
      rig.device.reads.clear();
      ASSERT_EQ(rig.submit(program), 0);
      nvdla_job* job = rig.run(2000);
      ASSERT_NE(job, nullptr);
      EXPECT_EQ(job->result, NVDLA_JOB_OK) << "unit " << c.unit << ", " << looks << " looks";
      EXPECT_EQ(rig.device.violations, std::vector<std::string>{}) << c.unit;
      EXPECT_EQ(count_reads(rig, c.unit, NVDLA_REG_S_STATUS), looks + 1) << c.unit;
      EXPECT_EQ(rig.engine.debug.unsettled, 1u);
    }
}

TEST(Looks, AtAUnitThatStaysEnabledEndInAHang) {
  for (const Lingering& c : kLingering) {
    Rig rig;
    LayerSpec first = c.layer;
    first.silent = first.lingering = unit_bit(c.unit);
    first.looks = kNever;
    Program program(rig.hw, {first, c.layer, c.layer, c.layer});
    ASSERT_EQ(rig.start(), 0);
    rig.device.reads.clear();
    ASSERT_EQ(rig.submit(program), 0);
    const std::uint64_t begin = rig.device.now;
    nvdla_job* job = rig.run(2000);
    ASSERT_NE(job, nullptr);
    EXPECT_EQ(job->result, NVDLA_JOB_HANG) << c.unit;
    EXPECT_EQ(job->layer, 2u);
    EXPECT_GE(rig.device.now - begin, NVDLA_POLL_NS);
    EXPECT_GE(count_reads(rig, c.unit, NVDLA_REG_S_STATUS), 64u);
    EXPECT_EQ(rig.device.violations, std::vector<std::string>{});
  }
}

// A unit is waited for in the cycles of the job's program.
TEST(Looks, AtAUnitForCyclesOfTheDevice) {
  Rig rig;
  constexpr std::uint32_t kCdma = unit_bit(NVDLA_UNIT_CDMA);
  Program program(rig.hw, {{.silent = kCdma, .lingering = kCdma, .looks = kNever}, {}, {}});
  program.get().clock_khz = 100;
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  const std::uint64_t begin = rig.device.now;
  ASSERT_NE(rig.run(2000), nullptr);
  EXPECT_EQ(program.job().result, NVDLA_JOB_HANG);
  EXPECT_GE(rig.device.now - begin, 664'000'000u);
  EXPECT_LE(rig.device.now - begin, 666'000'000u);
}

// A unit that was seen, or asked once, is not asked again.
TEST(Looks, AtAUnitAreForOneLayer) {
  Rig rig;
  Program program(rig.hw, {{.silent = kSideUnits}, {}, {}, {}, {}, {}});
  ASSERT_EQ(rig.start(), 0);
  rig.device.reads.clear();
  ASSERT_EQ(rig.submit(program), 0);
  ASSERT_NE(rig.run(2000), nullptr);
  EXPECT_EQ(count_reads(rig, NVDLA_UNIT_CDMA, NVDLA_REG_S_STATUS), 1u);
  EXPECT_EQ(count_reads(rig, NVDLA_UNIT_CACC, NVDLA_REG_S_STATUS), 1u);
}

// Nor is one that a start has found idle.
TEST(Looks, AtAUnitEndWithAStart) {
  Rig rig;
  Program program(rig.hw, {{.silent = kSideUnits}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  expect_ok(rig, program);
  ASSERT_NE(rig.engine.unsettled[0], 0u);
  ASSERT_EQ(rig.start(), 0);
  Program next(rig.hw, {{}, {}, {}});
  ASSERT_EQ(rig.submit(next), 0);
  expect_ok(rig, next);
  EXPECT_EQ(rig.engine.debug.unsettled, 0u);
}

// What was seen of a layer says nothing of the one that takes its place in the window.
TEST(Looks, AtAUnitDoNotTrustAnEarlierLayer) {
  Rig rig;
  std::vector<LayerSpec> specs(NVDLA_ENGINE_WINDOW + 4);
  specs[NVDLA_ENGINE_WINDOW] = {.silent = kSideUnits, .lingering = kSideUnits, .looks = 5};
  Program program(rig.hw, specs);
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  expect_ok(rig, program);
  EXPECT_EQ(rig.engine.debug.unsettled, 2u);
}

// Interrupt bits that need as many reads as there are to be taken.
TEST(Looks, AtTheInterruptStatusUntilNoBitEndsALayer) {
  for (unsigned more : {0u, 1u, 2u, 14u}) {
    Rig rig;
    ASSERT_EQ(rig.start(), 0);
    unsigned left = more;
    rig.device.raise(1);
    rig.device.on_write = [&](u32 offset, u32) {
      if (offset != kBases[0][NVDLA_UNIT_GLB] + NVDLA_GLB_S_INTR_STATUS || left == 0) return;
      --left;
      rig.device.raise(4);
    };
    EXPECT_EQ(nvdla_engine_read_irq(&rig.engine), more ? 5u : 1u);
    EXPECT_EQ(rig.device.status(), 0u) << more;
  }
}

}  // namespace
}  // namespace nvdla::test
