// SPDX-License-Identifier: MIT
//
// Nothing depends on how slowly we are scheduled: the clock jumps by an hour at each of its
// readings in turn, while the device stands still, and all ends as it does without.
#include <gtest/gtest.h>

#include <functional>

#include "rig.hpp"

namespace nvdla::test {
namespace {

constexpr std::uint64_t kHour = 3'600'000'000'000;

// The whole of a caller: interrupts, and the timer whenever it is due.
nvdla_job* drive(Rig& rig, unsigned limit = 500) {
  for (unsigned i = 0; i < limit; ++i) {
    if (nvdla_job* job = nvdla_engine_done(&rig.engine)) return job;
    rig.device.tick();
    rig.interrupt();
    if (rig.device.read_clock() >= nvdla_engine_next_deadline(&rig.engine))
      nvdla_engine_poll(&rig.engine);
  }
  return nvdla_engine_done(&rig.engine);
}

// Runs `scenario` with a jump at reading 1, 2, ... until it makes no more readings.
void at_each_reading(const std::function<void(Rig&)>& scenario) {
  for (unsigned n = 1;; ++n) {
    Rig rig;
    rig.device.jump_ns = kHour;
    rig.device.jump_at = n;
    scenario(rig);
    if (rig.device.readings < n) {
      EXPECT_GT(n, 3u) << "the scenario hardly looks at the clock";
      return;
    }
    ASSERT_FALSE(::testing::Test::HasFailure()) << "with a jump at reading " << n;
  }
}

void run_stalled(Rig& rig, Program& program) {
  ASSERT_EQ(rig.submit(program), 0);
  ASSERT_EQ(drive(rig), &program.job());
  EXPECT_EQ(program.job().result, NVDLA_JOB_OK);
  EXPECT_EQ(rig.device.violations, std::vector<std::string>{});
}

TEST(Stalls, WhileTheDeviceIsTakenOver) {
  for (unsigned looks : {1u, 2u, 40u})
    at_each_reading([=](Rig& rig) {
      rig.device.flush_reads = looks;
      EXPECT_EQ(rig.start(), 0) << looks;
      EXPECT_EQ(rig.device.flush_reads, 0u);
    });
}

TEST(Stalls, WhileLayersRun) {
  at_each_reading([](Rig& rig) {
    Program program(rig.hw, {{.ticks = 5},
                             {.waits = {0}, .delay = 9},
                             {.kind = NVDLA_LAYER_PDP, .ticks = 9},
                             {.kind = NVDLA_LAYER_CONV_SDP_PDP, .waits = {2}},
                             {},
                             {.kind = NVDLA_LAYER_CDP},
                             {.kind = NVDLA_LAYER_BDMA, .waits = {5}},
                             {.waits = {6}}});
    ASSERT_EQ(rig.start(), 0);
    run_stalled(rig, program);
    run_stalled(rig, program);
  });
}

TEST(Stalls, WhileAUnitSettles) {
  for (unsigned looks : {1u, 2u, 40u})
    at_each_reading([=](Rig& rig) {
      LayerSpec silent{.silent = kSideUnits, .lingering = kSideUnits, .looks = looks};
      Program program(rig.hw, {silent, silent, {}, {}});
      ASSERT_EQ(rig.start(), 0);
      run_stalled(rig, program);
      EXPECT_EQ(rig.engine.debug.unsettled, 4u);
    });
}

// What ended while nobody looked has ended.
TEST(Stalls, WhileALineIsLost) {
  at_each_reading([](Rig& rig) {
    Program program(rig.hw, {{}, {.waits = {0}}});
    ASSERT_EQ(rig.start(), 0);
    ASSERT_EQ(rig.submit(program), 0);
    for (unsigned i = 0; i < 50; ++i) rig.device.tick();
    rig.expire();
    EXPECT_EQ(rig.engine.debug.lost, 1u);
    ASSERT_EQ(drive(rig), &program.job());
    EXPECT_EQ(program.job().result, NVDLA_JOB_OK);
  });
}

// A hang is found with a stall as without.
TEST(Stalls, DoNotHideAHang) {
  at_each_reading([](Rig& rig) {
    Program program(rig.hw, {{}, {.hangs = true}, {}});
    ASSERT_EQ(rig.start(), 0);
    ASSERT_EQ(rig.submit(program), 0);
    unsigned looks = 0;
    while (!rig.engine.ended_job && looks < 10) {
      for (unsigned i = 0; i < 20; ++i) {
        rig.device.tick();
        rig.interrupt();
      }
      rig.expire();
      ++looks;
    }
    ASSERT_EQ(nvdla_engine_done(&rig.engine), &program.job());
    EXPECT_EQ(program.job().result, NVDLA_JOB_HANG);
    EXPECT_EQ(program.job().layer, 1u);
    EXPECT_LE(looks, 3u);
  });
}

TEST(Stalls, DoNotHideAUnitThatStaysEnabled) {
  Rig rig;
  constexpr std::uint32_t kCdma = unit_bit(NVDLA_UNIT_CDMA);
  Program program(rig.hw, {{.silent = kCdma, .lingering = kCdma, .looks = kNever}, {}, {}});
  // An hour at every look.
  rig.ops.relax = [](void* context) { static_cast<MockDevice*>(context)->now += kHour; };
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  ASSERT_EQ(drive(rig), &program.job());
  EXPECT_EQ(program.job().result, NVDLA_JOB_HANG);
  EXPECT_EQ(program.job().layer, 2u);
}

}  // namespace
}  // namespace nvdla::test
