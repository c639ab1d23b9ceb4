// SPDX-License-Identifier: MIT
//
// When a layer hangs, which one is blamed, and what happens to the engine.
#include <gtest/gtest.h>

#include <functional>

#include "rig.hpp"

namespace nvdla::test {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

// What a layer gets that is looked at whenever the engine asks for it, as seen from outside.
std::uint64_t budget(std::uint64_t cycles, std::uint32_t khz) {
  Rig rig;
  Program program(rig.hw, {{.cycles = cycles}});
  program.get().clock_khz = khz;
  EXPECT_EQ(rig.start(), 0);
  EXPECT_EQ(rig.submit(program), 0);
  const std::uint64_t begin = rig.device.now;
  rig.expire();
  EXPECT_EQ(nvdla_engine_done(&rig.engine), nullptr) << "half of its time";
  rig.expire();
  EXPECT_NE(nvdla_engine_done(&rig.engine), nullptr);
  return rig.device.now - begin;
}

TEST(Deadlines, AreEightTimesTheEstimate) {
  EXPECT_EQ(budget(1'000'000'000, 1'000'000), 8 * kSecond);
  EXPECT_EQ(budget(1'000'000'000, 0), 8 * kSecond);
  EXPECT_EQ(budget(1'000'000'000, 500'000), 16 * kSecond);
  EXPECT_EQ(budget(50'000'000, 100'000), 4 * kSecond);
  EXPECT_EQ(budget(1'000, 1), 8 * kSecond);
  EXPECT_EQ(budget(5'000'000'000, 1'000'000), 40 * kSecond);
}

// The same with a device whose clock is `first` when the job starts, and `then` soon afterwards.
std::uint64_t budget_at(std::uint64_t cycles, std::uint32_t first, std::uint32_t then) {
  Rig rig;
  Program program(rig.hw, {{.cycles = cycles}});
  program.get().clock_khz = 1'000'000;
  EXPECT_EQ(rig.start(), 0);
  nvdla_engine_set_clock(&rig.engine, first);
  EXPECT_EQ(rig.submit(program), 0);
  const std::uint64_t begin = rig.device.now;
  nvdla_engine_set_clock(&rig.engine, then);
  rig.expire();
  EXPECT_EQ(nvdla_engine_done(&rig.engine), nullptr) << "half of its time";
  rig.expire();
  EXPECT_NE(nvdla_engine_done(&rig.engine), nullptr);
  return rig.device.now - begin;
}

TEST(Deadlines, FollowTheClockOfTheDevice) {
  constexpr std::uint32_t kGhz = 1'000'000;
  EXPECT_EQ(budget_at(1'000'000'000, kGhz, kGhz), 8 * kSecond);
  EXPECT_EQ(budget_at(1'000'000'000, kGhz / 2, kGhz / 2), 16 * kSecond);
  EXPECT_EQ(budget_at(1'000'000'000, 0, 0), 8 * kSecond) << "the program's";
  EXPECT_EQ(budget_at(1'000'000'000, kGhz, kGhz / 4), 32 * kSecond);
}

// A layer that runs keeps the time that it was promised.
TEST(Deadlines, AreNotShortenedByAFasterClock) {
  constexpr std::uint32_t kGhz = 1'000'000;
  EXPECT_EQ(budget_at(1'000'000'000, kGhz / 2, 2 * kGhz), 16 * kSecond);
  EXPECT_EQ(budget_at(1'000'000'000, kGhz / 2, 0), 16 * kSecond);
}

TEST(Deadlines, AreNeverShortOfTheExactOne) {
  for (std::uint32_t khz : {1u, 7u, 999u, 333'333u, 799'999u, 1'100'000u, 2'000'003u, 4'000'000u}) {
    const std::uint64_t cycles = 5'000ull * khz;  // 5 s, the longest that is compiled
    const std::uint64_t ns = budget(cycles, khz);
    EXPECT_GE(ns, 40 * kSecond) << khz;
    EXPECT_LE(ns, 40 * kSecond + 40 * kSecond / 500) << khz;
  }
}

TEST(Deadlines, AreAtLeastTwoSeconds) {
  EXPECT_EQ(budget(0, 1'000'000), 2 * kSecond);
  EXPECT_EQ(budget(250'000'000, 1'000'000), 2 * kSecond);
  EXPECT_EQ(budget(250'100'000, 1'000'000), 2'000'800'000ull);
}

TEST(Deadlines, DoNotWrap) {
  for (std::uint64_t cycles : {~0ull, 1ull << 40, 1ull << 63, 0xffffffffffull, 0xffffffffull})
    for (std::uint32_t khz : {1u, 1'000'000u}) {
      EXPECT_LE(budget(cycles, khz), 1ull << 60) << cycles;
      EXPECT_GE(budget(cycles, khz), 30 * kSecond) << cycles;
    }
}

// The longest there is is 2^60 ns; what is shorter is exact.
TEST(Deadlines, EndAtTheLongest) {
  constexpr std::uint64_t kMost = 1ull << 60;
  constexpr std::uint32_t kGhz = 1'000'000;
  EXPECT_EQ(budget(1'000'000'000'000, kGhz), 8000 * kSecond);
  EXPECT_EQ(budget(kMost / 16, kGhz), kMost / 2);
  EXPECT_EQ(budget(kMost / 8 - 1, kGhz), kMost - 8);
  EXPECT_EQ(budget(kMost / 8 + 1, kGhz), kMost);
  EXPECT_EQ(budget(kMost / 16 * 3, kGhz), kMost);
  // A little more than 2^64 ns.
  EXPECT_EQ(budget(18'446'744'073'710, 1), kMost);
}

class Hang : public ::testing::TestWithParam<std::uint32_t> {};

// The first, the second, one in the middle, the last.
TEST_P(Hang, BlamesTheLayer) {
  const std::uint32_t victim = GetParam();
  std::vector<LayerSpec> specs(9);
  specs[victim].hangs = true;
  Rig rig;
  Program program(rig.hw, specs);
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  ASSERT_EQ(rig.run(200), nullptr);
  ASSERT_NE(nvdla_engine_next_deadline(&rig.engine), NVDLA_NO_DEADLINE);
  rig.expire(~0ull);
  ASSERT_EQ(rig.engine.late, 0u) << "one ns early";
  rig.expire();
  ASSERT_EQ(rig.engine.late, 1u << (victim - rig.engine.head)) << "of those behind it none";
  ASSERT_EQ(nvdla_engine_next_deadline(&rig.engine), rig.device.now + kSecond);
  rig.expire(~0ull);
  ASSERT_EQ(nvdla_engine_done(&rig.engine), nullptr) << "one ns early";
  rig.expire();
  nvdla_job* job = nvdla_engine_done(&rig.engine);
  ASSERT_EQ(job, &program.job());
  EXPECT_EQ(job->result, NVDLA_JOB_HANG);
  EXPECT_EQ(job->layer, victim);
  EXPECT_EQ(rig.device.count_runs(victim), 1u);
  EXPECT_EQ(nvdla_engine_next_deadline(&rig.engine), NVDLA_NO_DEADLINE);

  // The device cannot be taken over while it is busy, nor used.
  EXPECT_EQ(rig.submit(program), -NVDLA_SUBMIT_STOPPED);
  EXPECT_EQ(rig.start(), -NVDLA_START_BUSY);
  EXPECT_EQ(rig.submit(program), -NVDLA_SUBMIT_STOPPED);
  nvdla_engine_interrupt(&rig.engine, 3);
  EXPECT_EQ(nvdla_engine_done(&rig.engine), nullptr);
}

INSTANTIATE_TEST_SUITE_P(Layers, Hang, ::testing::Values(0u, 1u, 4u, 8u),
                         ::testing::PrintToStringParamName());

TEST(Deadlines, AHangElsewhereIsNotTheOldestLayers) {
  Rig rig;
  Program program(rig.hw, {{.cycles = 5'000'000'000, .ticks = 100000},
                           {.kind = NVDLA_LAYER_PDP, .hangs = true}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  rig.device.tick();
  rig.expire();
  rig.expire();
  nvdla_job* job = nvdla_engine_done(&rig.engine);
  ASSERT_NE(job, nullptr);
  EXPECT_EQ(job->result, NVDLA_JOB_HANG);
  EXPECT_EQ(job->layer, 1u);
}

// The mark of a layer that was late goes with it, not to the one that follows it in the window.
TEST(Deadlines, BeingLateIsNotHandedOn) {
  Rig rig;
  Program program(rig.hw, {{.ticks = 5}, {.waits = {0}, .ticks = 5}, {.waits = {1}}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  for (std::uint32_t layer = 0; layer < 3; ++layer) {
    ASSERT_EQ(rig.engine.head, layer);
    rig.expire();
    ASSERT_EQ(rig.engine.late, 1u);
    ASSERT_EQ(rig.engine.debug.lost, 0u) << "nothing was found";
    ASSERT_EQ(nvdla_engine_done(&rig.engine), nullptr) << layer;
    for (unsigned i = 0; i < 100 && rig.engine.head == layer && rig.engine.job; ++i) {
      rig.device.tick();
      rig.interrupt();
    }
  }
  ASSERT_NE(nvdla_engine_done(&rig.engine), nullptr);
  EXPECT_EQ(program.job().result, NVDLA_JOB_OK);
  // Nor to the next job.
  ASSERT_EQ(rig.submit(program), 0);
  rig.expire();
  EXPECT_EQ(nvdla_engine_done(&rig.engine), nullptr);
}

// Nor is it forgotten when the layer before ends.
TEST(Deadlines, BeingLateStaysWithTheLayer) {
  Rig rig;
  Program program(rig.hw, {{.ticks = 20}, {.kind = NVDLA_LAYER_PDP, .hangs = true}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  rig.expire();
  ASSERT_EQ(rig.engine.late, 3u);
  ASSERT_EQ(rig.run(100), nullptr);
  EXPECT_EQ(rig.engine.head, 1u);
  EXPECT_EQ(rig.engine.late, 1u);
  rig.expire();
  ASSERT_EQ(nvdla_engine_done(&rig.engine), nullptr) << "the other has ended since";
  rig.expire();
  ASSERT_NE(nvdla_engine_done(&rig.engine), nullptr);
  EXPECT_EQ(program.job().result, NVDLA_JOB_HANG);
  EXPECT_EQ(program.job().layer, 1u);
}

// How often a job is looked at before a layer of it is called hung; `between` two looks, numbered
// from 1, something may happen.
unsigned looks_until_hung(Rig& rig, Program& program,
                          const std::function<void(unsigned)>& between) {
  for (unsigned looks = 1; looks < 1000; ++looks) {
    rig.expire();
    if (nvdla_engine_done(&rig.engine) == &program.job()) {
      EXPECT_EQ(program.job().result, NVDLA_JOB_HANG);
      return looks;
    }
    between(looks);
  }
  return 1000;
}

// Units of a layer that are done are seen to be idle: when one more is, the layer gets more time.
TEST(Progress, OfUnitsGivesMoreTime) {
  for (const std::uint32_t kind :
       {NVDLA_LAYER_CONV_SDP, NVDLA_LAYER_CONV_SDP_PDP, NVDLA_LAYER_SDP_PDP}) {
    Rig rig;
    Program program(rig.hw, {{.kind = kind, .ticks = 10, .hangs = true}});
    ASSERT_EQ(rig.start(), 0);
    ASSERT_EQ(rig.submit(program), 0);
    rig.device.tick();
    const auto stages = static_cast<unsigned>(rig.device.layers[0].stages.size());
    // Each stage but the last ends between two looks.
    const unsigned looks = looks_until_hung(rig, program, [&](unsigned) {
      for (unsigned i = 0; i < 11; ++i) rig.device.tick();
    });
    EXPECT_EQ(looks, 2 + stages - 1) << kind;
    EXPECT_EQ(program.job().layer, 0u);
  }
}

// One that goes on gets to its end.
TEST(Progress, LetsASlowLayerEnd) {
  Rig rig;
  Program program(rig.hw, {{.kind = NVDLA_LAYER_CONV_SDP_PDP, .ticks = 10}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  rig.device.tick();
  for (unsigned look = 0; look < 3; ++look) {
    rig.expire();
    ASSERT_EQ(rig.engine.job, &program.job()) << look;
    for (unsigned i = 0; i < 10; ++i) rig.device.tick();
  }
  expect_ok(rig, program);
}

// BDMA tells how many commands wait. What it takes back gives no time.
TEST(Progress, OfTransfersGivesMoreTime) {
  for (const bool lies : {false, true}) {
    Rig rig;
    rig.device.bdma_ticks = 1000;
    Program program(rig.hw, {{.kind = NVDLA_LAYER_BDMA}});
    ASSERT_EQ(rig.start(), 0);
    ASSERT_EQ(rig.submit(program), 0);
    static std::uint32_t free_places;
    free_places = 15;
    rig.ops.reg_read = [](void* context, u32 offset) -> u32 {
      const u32 value = static_cast<MockDevice*>(context)->read(offset);
      return offset == kBases[0][NVDLA_UNIT_BDMA] + NVDLA_BDMA_STATUS ? free_places : value;
    };
    const unsigned looks = looks_until_hung(rig, program, [&](unsigned n) {
      if (lies) {
        free_places = 255 - n;
      } else if (n <= 4) {
        ++free_places;
      }
    });
    // From 15 on there are five places more.
    EXPECT_EQ(looks, lies ? 3u : 6u);
  }
}

// Units that are idle now and busy then: what was counted before counts no more.
TEST(Progress, OfADeviceThatLiesHasAnEnd) {
  for (const unsigned step : {1u, 2u, 3u, 7u}) {
    Rig rig;
    Program program(rig.hw, {{.kind = NVDLA_LAYER_CONV_SDP_PDP, .rdma = true, .hangs = true}});
    ASSERT_EQ(rig.start(), 0);
    ASSERT_EQ(rig.submit(program), 0);
    static unsigned idle;
    idle = 0;
    rig.ops.reg_read = [](void* context, u32 offset) -> u32 {
      const u32 value = static_cast<MockDevice*>(context)->read(offset);
      if ((offset & 0xfff) != NVDLA_REG_S_STATUS) return value;
      return (offset >> 12) % 16 < idle ? 0 : 1;
    };
    const unsigned looks =
        looks_until_hung(rig, program, [&](unsigned n) { idle = n * step % 17; });
    EXPECT_LE(looks, 2u + 8u) << step;
  }
}

TEST(Progress, OfADeviceThatIsGoneIsNone) {
  for (const std::uint32_t kind : {NVDLA_LAYER_CONV_SDP, NVDLA_LAYER_BDMA}) {
    Rig rig;
    rig.device.bdma_ticks = 1000;
    Program program(rig.hw, {{.kind = kind, .hangs = true}});
    ASSERT_EQ(rig.start(), 0);
    ASSERT_EQ(rig.submit(program), 0);
    rig.ops.reg_read = [](void* context, u32 offset) -> u32 {
      const u32 value = static_cast<MockDevice*>(context)->read(offset);
      return (offset & ~0xfffu) == kBases[0][NVDLA_UNIT_GLB] ? value : kAllOnes;
    };
    rig.expire();
    ASSERT_EQ(nvdla_engine_done(&rig.engine), &program.job());
    EXPECT_EQ(program.job().result, NVDLA_JOB_GONE);
    EXPECT_EQ(program.job().layer, 0u);
  }
}

// Layers that end beside it give it time, but no more of them do than are looked at.
TEST(Progress, OfOtherLayersGivesMoreTime) {
  Rig rig;
  std::vector<LayerSpec> specs(40, LayerSpec{.kind = NVDLA_LAYER_CDP, .ticks = 4});
  specs[0] = {.kind = NVDLA_LAYER_PDP, .hangs = true};
  Program program(rig.hw, specs);
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  const unsigned looks = looks_until_hung(rig, program, [&](unsigned) {
    const auto ended = rig.engine.ended;
    for (unsigned i = 0; i < 30 && rig.engine.ended == ended; ++i) {
      rig.device.tick();
      rig.interrupt();
    }
  });
  EXPECT_EQ(program.job().layer, 0u);
  EXPECT_EQ(looks, 2 + NVDLA_ENGINE_WINDOW - 1);
}

// Each of two layers that run gets its own second look.
TEST(Deadlines, EachLayerHasItsOwnSecondLook) {
  Rig rig;
  Program program(
      rig.hw, {{.cycles = 1'000'000'000, .hangs = true}, {.kind = NVDLA_LAYER_PDP, .hangs = true}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  const std::uint64_t begin = rig.device.now;
  EXPECT_EQ(nvdla_engine_next_deadline(&rig.engine), begin + kSecond);
  rig.device.now = begin + 4 * kSecond;
  nvdla_engine_poll(&rig.engine);
  ASSERT_EQ(nvdla_engine_done(&rig.engine), nullptr) << "first looks at both";
  EXPECT_EQ(nvdla_engine_next_deadline(&rig.engine), begin + 5 * kSecond);
  rig.expire();
  ASSERT_NE(nvdla_engine_done(&rig.engine), nullptr);
  EXPECT_EQ(program.job().layer, 1u);
}

// A layer that pends behind another has no clock yet.
TEST(Deadlines, StartWhenTheLayerCanRun) {
  Rig rig;
  Program program(rig.hw, {{}, {}});
  ASSERT_EQ(rig.start(), 0);
  const std::uint64_t begin = rig.device.now;
  ASSERT_EQ(rig.submit(program), 0);
  EXPECT_EQ(nvdla_engine_next_deadline(&rig.engine), begin + kSecond);
  while (!rig.device.line()) rig.device.tick();
  rig.device.now = begin + kSecond - 1;
  rig.interrupt();
  EXPECT_EQ(nvdla_engine_next_deadline(&rig.engine), rig.device.now + kSecond);
  nvdla_engine_poll(&rig.engine);
  ASSERT_NE(rig.run(), nullptr);
  EXPECT_EQ(program.job().result, NVDLA_JOB_OK);
}

TEST(Deadlines, TheEarliestIsTheNext) {
  Rig rig;
  Program program(rig.hw, {{.cycles = 4'000'000'000},
                           {.kind = NVDLA_LAYER_PDP, .cycles = 1'000'000'000},
                           {.kind = NVDLA_LAYER_CDP, .cycles = 2'000'000'000}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  EXPECT_EQ(nvdla_engine_next_deadline(&rig.engine), rig.device.now + 4 * kSecond);
}

// Polling early, often and without a job does nothing and reads nothing.
TEST(Deadlines, PollBeforeTheDeadlineReadsNothing) {
  Rig rig;
  Program program(rig.hw, {{}});
  nvdla_engine_poll(&rig.engine);
  ASSERT_EQ(rig.start(), 0);
  nvdla_engine_poll(&rig.engine);
  ASSERT_EQ(rig.submit(program), 0);
  rig.device.reads.clear();
  nvdla_engine_poll(&rig.engine);
  EXPECT_TRUE(rig.device.reads.empty());
}

// What has ended ahead of the oldest layer has no deadline any more, and is not blamed.
TEST(Deadlines, EndWithTheLayer) {
  Rig rig;
  Program program(rig.hw, {{.cycles = 1'000'000'000, .hangs = true}, {.kind = NVDLA_LAYER_PDP}});
  ASSERT_EQ(rig.start(), 0);
  const std::uint64_t begin = rig.device.now;
  ASSERT_EQ(rig.submit(program), 0);
  EXPECT_EQ(nvdla_engine_next_deadline(&rig.engine), begin + kSecond);
  while (rig.engine.ended == 0) {
    rig.device.tick();
    rig.interrupt();
    ASSERT_LT(rig.device.ticks, 100u);
  }
  EXPECT_EQ(nvdla_engine_next_deadline(&rig.engine), begin + 4 * kSecond);
  rig.expire();
  EXPECT_EQ(rig.engine.late, 1u);
  EXPECT_EQ(rig.engine.debug.lost, 0u);
  rig.expire();
  ASSERT_NE(nvdla_engine_done(&rig.engine), nullptr);
  EXPECT_EQ(program.job().layer, 0u);
  // What was late in a job that failed is not late in the next.
  rig.device.reset();
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  rig.expire();
  EXPECT_EQ(rig.engine.late, 2u);
  EXPECT_EQ(nvdla_engine_done(&rig.engine), nullptr);
}

// A bit that was cleared by someone else is a hang, not a guess.
TEST(Deadlines, AStolenBitIsAHang) {
  Rig rig;
  Program program(rig.hw, {{}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  while (!rig.device.line()) rig.device.tick();
  rig.device.lose(NVDLA_IRQ_ALL);
  rig.expire();
  rig.expire();
  ASSERT_NE(nvdla_engine_done(&rig.engine), nullptr);
  EXPECT_EQ(program.job().result, NVDLA_JOB_HANG);
}

}  // namespace
}  // namespace nvdla::test
