// SPDX-License-Identifier: MIT
//
// Layers in groups: both used ahead, units that drift apart, waits, the order of everything.
#include <gtest/gtest.h>

#include <random>

#include "rig.hpp"

namespace nvdla::test {
namespace {

using Units = std::vector<std::uint32_t>;

void expect_all_ran_once(const Rig& rig, std::size_t layers) {
  EXPECT_EQ(rig.device.violations, std::vector<std::string>{});
  for (std::uint32_t layer = 0; layer < layers; ++layer)
    EXPECT_EQ(rig.device.count_runs(layer), 1u) << "layer " << layer;
  std::map<std::uint32_t, std::int64_t> last;
  std::map<std::uint32_t, std::uint32_t> group;
  for (const auto& run : rig.device.runs) {
    const auto found = last.find(run.unit);
    if (found != last.end()) {
      EXPECT_LT(found->second, run.layer) << "unit " << run.unit;
      EXPECT_NE(group[run.unit], run.group) << "unit " << run.unit << " layer " << run.layer;
    }
    last[run.unit] = run.layer;
    group[run.unit] = run.group;
  }
}

TEST(Groups, OneLayerRuns) {
  Rig rig;
  Program program(rig.hw, {{}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  EXPECT_EQ(program.job().result, NVDLA_JOB_RUNNING);
  EXPECT_EQ(program.job().layer, 0u);
  EXPECT_EQ(rig.device.barriers, 1u);
  nvdla_job* job = rig.run();
  ASSERT_EQ(job, &program.job());
  EXPECT_EQ(job->result, NVDLA_JOB_OK);
  EXPECT_TRUE(program.unchanged());
  expect_all_ran_once(rig, 1);
  EXPECT_EQ(nvdla_engine_done(&rig.engine), nullptr);
  EXPECT_EQ(nvdla_engine_next_deadline(&rig.engine), NVDLA_NO_DEADLINE);
}

TEST(Groups, AnEmptyProgramIsDoneAtOnce) {
  Rig rig;
  Program program(rig.hw, {});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  nvdla_job* job = nvdla_engine_done(&rig.engine);
  ASSERT_EQ(job, &program.job());
  EXPECT_EQ(job->result, NVDLA_JOB_OK);
  EXPECT_EQ(job->layer, 0u);
}

// The order in which units are enabled is that of the pipeline, from its end to its start.
TEST(Groups, EnablesFromTheEndOfThePipeline) {
  struct Case {
    LayerSpec spec;
    Units order;
  };
  const Units conv = {NVDLA_UNIT_CACC, NVDLA_UNIT_CMAC_A, NVDLA_UNIT_CMAC_B, NVDLA_UNIT_CSC,
                      NVDLA_UNIT_CDMA};
  auto with_conv = [&](Units units) {
    units.insert(units.end(), conv.begin(), conv.end());
    return units;
  };
  const std::vector<Case> cases = {
      {{.kind = NVDLA_LAYER_CONV_SDP}, with_conv({NVDLA_UNIT_SDP})},
      {{.kind = NVDLA_LAYER_CONV_SDP, .rdma = true},
       with_conv({NVDLA_UNIT_SDP_RDMA, NVDLA_UNIT_SDP})},
      {{.kind = NVDLA_LAYER_CONV_SDP_PDP, .rdma = true},
       with_conv({NVDLA_UNIT_PDP, NVDLA_UNIT_SDP_RDMA, NVDLA_UNIT_SDP})},
      {{.kind = NVDLA_LAYER_SDP}, {NVDLA_UNIT_SDP_RDMA, NVDLA_UNIT_SDP}},
      {{.kind = NVDLA_LAYER_SDP_PDP}, {NVDLA_UNIT_PDP, NVDLA_UNIT_SDP_RDMA, NVDLA_UNIT_SDP}},
      {{.kind = NVDLA_LAYER_PDP}, {NVDLA_UNIT_PDP_RDMA, NVDLA_UNIT_PDP}},
      {{.kind = NVDLA_LAYER_CDP}, {NVDLA_UNIT_CDP_RDMA, NVDLA_UNIT_CDP}},
      {{.kind = NVDLA_LAYER_RUBIK}, {NVDLA_UNIT_RBK}},
  };
  for (const Case& c : cases) {
    Rig rig;
    Program program(rig.hw, {c.spec});
    ASSERT_EQ(rig.start(), 0);
    ASSERT_EQ(rig.submit(program), 0);
    EXPECT_EQ(rig.device.enables, c.order) << "kind " << c.spec.kind;
    ASSERT_NE(rig.run(), nullptr);
    expect_all_ran_once(rig, 1);
  }
}

// The second layer is enabled behind the first, the third waits for a group.
TEST(Groups, BothAreUsedAhead) {
  Rig rig;
  Program program(rig.hw, {{}, {}, {}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  for (std::uint32_t unit : {NVDLA_UNIT_CDMA, NVDLA_UNIT_CACC, NVDLA_UNIT_SDP}) {
    EXPECT_TRUE(rig.device.enabled(unit, 0));
    EXPECT_TRUE(rig.device.enabled(unit, 1));
  }
  EXPECT_EQ(rig.device.enables.size(), 12u);
  ASSERT_NE(rig.run(), nullptr);
  expect_all_ran_once(rig, 3);
  EXPECT_EQ(rig.device.enables.size(), 18u);
}

// Programmed into the other group while the first runs, enabled only when that has ended.
TEST(Groups, AWaitingLayerIsProgrammedButNotEnabled) {
  Rig rig;
  Program program(rig.hw, {{.ticks = 5}, {.waits = {0}}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  EXPECT_EQ(rig.device.register_of(NVDLA_UNIT_SDP, 1, kOpEnables[NVDLA_UNIT_SDP] + 4), 1u);
  EXPECT_FALSE(rig.device.enabled(NVDLA_UNIT_SDP, 1));
  const std::size_t programmed = rig.device.writes.size();
  ASSERT_NE(rig.run(), nullptr);
  expect_all_ran_once(rig, 2);
  // After the completion only pointers, enables and interrupt bits were left to write.
  for (std::size_t i = programmed; i < rig.device.writes.size(); ++i) {
    const std::uint32_t offset = rig.device.writes[i].offset;
    const std::uint32_t unit_base = offset & ~(NVDLA_UNIT_WINDOW - 1u);
    if (unit_base == kBases[0][NVDLA_UNIT_GLB]) continue;
    for (std::uint32_t unit = 0; unit < NVDLA_UNIT_COUNT; ++unit) {
      if (kBases[0][unit] != unit_base) continue;
      EXPECT_TRUE(offset == unit_base + NVDLA_REG_S_POINTER ||
                  offset == unit_base + kOpEnables[unit])
          << offset;
    }
  }
}

// A layer that could run does not overtake an earlier one in the same unit that waits.
TEST(Groups, UnitsAreEnabledInProgramOrder) {
  Rig rig;
  Program program(rig.hw, {{.kind = NVDLA_LAYER_PDP, .ticks = 20}, {.waits = {0}}, {}, {}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  for (unsigned i = 0; i < 15; ++i) {
    EXPECT_FALSE(rig.device.any_enabled(NVDLA_UNIT_SDP));
    EXPECT_FALSE(rig.device.any_enabled(NVDLA_UNIT_CDMA));
    rig.device.tick();
    rig.interrupt();
  }
  ASSERT_NE(rig.run(), nullptr);
  expect_all_ran_once(rig, 4);
}

// An SDP_RDMA that only every other layer uses has groups of its own.
TEST(Groups, ReadDmaHasItsOwnGroup) {
  Rig rig;
  Program program(rig.hw, {{.rdma = true}, {}, {.rdma = true}, {}, {.rdma = true}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  ASSERT_NE(rig.run(), nullptr);
  expect_all_ran_once(rig, 5);
  std::vector<std::uint32_t> sdp, rdma;
  for (const auto& run : rig.device.runs) {
    if (run.unit == NVDLA_UNIT_SDP) sdp.push_back(run.group);
    if (run.unit == NVDLA_UNIT_SDP_RDMA) rdma.push_back(run.group);
  }
  EXPECT_EQ(sdp, (Units{0, 1, 0, 1, 0}));
  EXPECT_EQ(rdma, (Units{0, 1, 0}));
}

TEST(Groups, StartsWhereConsumerPoints) {
  Rig rig;
  rig.device.set_consumer(NVDLA_UNIT_SDP, 1);
  rig.device.set_consumer(NVDLA_UNIT_CDMA, 1);
  rig.device.set_producer(NVDLA_UNIT_CSC, 1);
  Program program(rig.hw, {{}, {.rdma = true}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  nvdla_job* job = rig.run();
  ASSERT_NE(job, nullptr);
  EXPECT_EQ(job->result, NVDLA_JOB_OK);
  EXPECT_EQ(rig.device.violations, std::vector<std::string>{});
}

// Groups go on where the last job left them.
TEST(Groups, CarryOverFromJobToJob) {
  Rig rig;
  ASSERT_EQ(rig.start(), 0);
  for (int i = 0; i < 3; ++i) {
    Program program(rig.hw, {{.rdma = i == 1}});
    ASSERT_EQ(rig.submit(program), 0);
    nvdla_job* job = rig.run();
    ASSERT_NE(job, nullptr) << i;
    EXPECT_EQ(job->result, NVDLA_JOB_OK);
    EXPECT_EQ(rig.device.violations, std::vector<std::string>{});
  }
}

// What pends cannot be taken back: a long layer is programmed ahead, and enabled when the one
// before has ended; up to 2 ms of the device's time are short.
TEST(Groups, OnlyShortLayersPend) {
  struct Case {
    std::uint64_t cycles;
    std::uint32_t khz;
    bool pends;
  };
  const Case cases[] = {
      {2'000'000, 1'000'000, true},
      {2'000'001, 1'000'000, false},
      {2'000'000, 0, true},
      {2'000'001, 0, false},
      {1'000'000, 500'000, true},
      {1'000'001, 500'000, false},
      {2'000'000, 500'000, false},
      {2, 1, true},
      {3, 1, false},
      {0, 1, true},
      {~0ull, 1'000'000, false},
  };
  for (const Case& c : cases)
    for (std::uint32_t kind = NVDLA_LAYER_CONV_SDP; kind < NVDLA_LAYER_BDMA; ++kind) {
      Rig rig;
      // Whatever the first one takes.
      Program program(rig.hw,
                      {{.kind = kind, .cycles = ~0ull}, {.kind = kind, .cycles = c.cycles}});
      program.get().clock_khz = c.khz;
      ASSERT_EQ(rig.start(), 0);
      ASSERT_EQ(rig.submit(program), 0);
      EXPECT_EQ(rig.engine.taken, 3u);
      EXPECT_EQ(rig.engine.enabled, c.pends ? 3u : 1u) << c.cycles << " at " << c.khz;
      expect_ok(rig, program);
    }
}

// A simulation's clock counts cycles, one a microsecond: what is short follows from them alone.
TEST(Groups, ShortLayersOfASimulationPend) {
  for (const std::uint64_t cycles : {2'001ull, 2'000'000ull, 2'000'001ull, ~0ull}) {
    Rig rig;
    nvdla_engine_count_cycles(&rig.engine);
    nvdla_engine_set_clock(&rig.engine, 1'000);
    Program program(rig.hw, {{.cycles = ~0ull}, {.cycles = cycles}});
    ASSERT_EQ(rig.start(), 0);
    ASSERT_EQ(rig.submit(program), 0);
    EXPECT_EQ(rig.engine.taken, 3u);
    EXPECT_EQ(rig.engine.enabled, cycles <= NVDLA_MAX_PENDING_CYCLES ? 3u : 1u) << cycles;
    expect_ok(rig, program);
  }
}

// Who shares no unit with it runs beside it, however long.
TEST(Groups, LongLayersRunBesideOthers) {
  Rig rig;
  Program program(rig.hw, {{.cycles = 1'000'000'000},
                           {.kind = NVDLA_LAYER_PDP, .cycles = 1'000'000'000},
                           {.kind = NVDLA_LAYER_CDP, .cycles = 1'000'000'000},
                           {.cycles = 1'000'000'000},
                           {.kind = NVDLA_LAYER_PDP, .cycles = 1'000'000'000}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  EXPECT_EQ(rig.engine.enabled, 7u);
  expect_ok(rig, program);
}

// A later layer of other units overtakes those that wait for a group.
TEST(Groups, OtherUnitsWorkMeanwhile) {
  Rig rig;
  Program program(rig.hw, {{.ticks = 50}, {}, {}, {.kind = NVDLA_LAYER_PDP}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  EXPECT_TRUE(rig.device.enabled(NVDLA_UNIT_PDP, 0));
  ASSERT_NE(rig.run(), nullptr);
  EXPECT_EQ(rig.device.ended.front(), 3u);
  expect_all_ran_once(rig, 4);
}

// SDP may finish a second layer while PDP still works on the first.
TEST(Groups, SdpFinishesBeforeAFusedPredecessorInPdp) {
  Rig rig;
  Program program(rig.hw, {{.kind = NVDLA_LAYER_CONV_SDP_PDP, .delay = 40},
                           {.kind = NVDLA_LAYER_SDP},
                           {.waits = {1}},
                           {.waits = {0}}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  nvdla_job* job = rig.run();
  ASSERT_NE(job, nullptr);
  EXPECT_EQ(job->result, NVDLA_JOB_OK);
  EXPECT_EQ(rig.device.ended.front(), 1u);
  EXPECT_EQ(rig.engine.debug.spurious, 0u);
  expect_all_ran_once(rig, 4);
}

// A write response of SDP is late; PDP has meanwhile finished a layer that SDP passed on to it.
TEST(Groups, PdpFinishesBeforeTheResponseOfAPredecessorInSdp) {
  Rig rig;
  Program program(rig.hw, {{.kind = NVDLA_LAYER_SDP, .delay = 40},
                           {.kind = NVDLA_LAYER_SDP_PDP, .delay = 1},
                           {.kind = NVDLA_LAYER_PDP, .delay = 1},
                           {.waits = {1}}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  nvdla_job* job = rig.run(1000);
  ASSERT_NE(job, nullptr);
  EXPECT_EQ(job->result, NVDLA_JOB_OK);
  EXPECT_EQ(rig.device.ended.front(), 1u);
  EXPECT_EQ(rig.engine.debug.spurious, 0u);
  expect_all_ran_once(rig, 4);
}

TEST(Waits, ChainsAndDiamonds) {
  Rig rig;
  Program program(rig.hw, {{.ticks = 3},
                           {.kind = NVDLA_LAYER_PDP, .waits = {0}, .ticks = 7},
                           {.kind = NVDLA_LAYER_CDP, .waits = {0}, .ticks = 2},
                           {.kind = NVDLA_LAYER_SDP, .waits = {1, 2}},
                           {.kind = NVDLA_LAYER_RUBIK, .waits = {3}},
                           {.waits = {0, 1, 2, 3, 4}}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  ASSERT_NE(rig.run(), nullptr);
  EXPECT_EQ(rig.device.ended, (Units{0, 2, 1, 3, 4, 5}));
  expect_all_ran_once(rig, 6);
}

// 40 layers ahead of the window wait for the first.
TEST(Waits, FarBackAreKnownToBeDone) {
  Rig rig;
  std::vector<LayerSpec> specs(40);
  for (std::size_t i = 1; i < specs.size(); ++i) specs[i].waits = {0};
  Program program(rig.hw, specs);
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  ASSERT_NE(rig.run(), nullptr);
  expect_all_ran_once(rig, specs.size());
}

// What is waited for may have ended while an older layer still runs.
TEST(Waits, AreOverAheadOfTheOldest) {
  Rig rig;
  Program program(
      rig.hw, {{.ticks = 50}, {.kind = NVDLA_LAYER_PDP}, {.kind = NVDLA_LAYER_CDP, .waits = {1}}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  expect_ok(rig, program);
  EXPECT_EQ(rig.device.ended, (Units{1, 2, 0}));
}

class Random : public ::testing::TestWithParam<unsigned> {};

// Every layer runs exactly once, in order per unit, in alternating groups, with its own register
// values, after what it waits for; where a clock is gated one convolution at a time. Nothing gets
// stuck, also when units end silently and are enabled for a while longer.
TEST_P(Random, MixedSequencesKeepAllRules) {
  const bool small = GetParam() & 1, gated = GetParam() & 2, silent = GetParam() & 4;
  Rig rig(small ? "nv_small" : "nv_full", gated);
  std::mt19937 random(GetParam());
  auto pick = [&](unsigned n) { return static_cast<std::uint32_t>(random() % n); };
  std::vector<LayerSpec> specs;
  for (std::uint32_t i = 0; i < 200; ++i) {
    LayerSpec spec;
    // BDMA has a test of its own: it carries no tag.
    spec.kind = 1 + pick(small ? 6 : 7);
    spec.rdma = pick(2) && spec.kind <= NVDLA_LAYER_CONV_SDP_PDP;
    spec.ticks = 1 + pick(6);
    spec.delay = pick(5);
    if (silent) {
      spec.silent = spec.lingering = kSideUnits;
      spec.looks = pick(9);
    }
    const std::uint32_t waits = pick(4);
    for (std::uint32_t n = 0; n < waits && i > 0; ++n) {
      const std::uint32_t wait = i - 1 - pick(std::min(i, 24u));
      if (std::find(spec.waits.begin(), spec.waits.end(), wait) == spec.waits.end())
        spec.waits.push_back(wait);
    }
    specs.push_back(spec);
  }
  Program program(rig.hw, specs);
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  // The thread lags behind the device now and then, so bits come in bunches.
  nvdla_job* job = nullptr;
  for (unsigned i = 0; i < 20000 && !job; ++i) {
    rig.device.tick();
    if (pick(3)) rig.interrupt();
    job = nvdla_engine_done(&rig.engine);
  }
  ASSERT_NE(job, nullptr) << "stuck at layer " << rig.engine.head;
  EXPECT_EQ(job->result, NVDLA_JOB_OK);
  EXPECT_EQ(rig.engine.debug.spurious, 0u);
  EXPECT_TRUE(program.unchanged());
  expect_all_ran_once(rig, specs.size());
}

INSTANTIATE_TEST_SUITE_P(Seeds, Random, ::testing::Range(0u, 40u),
                         ::testing::PrintToStringParamName());

}  // namespace
}  // namespace nvdla::test
