// SPDX-License-Identifier: MIT
//
// Who asks is told of each layer before it is enabled and when it has ended.
#include <gtest/gtest.h>

#include <vector>

#include "rig.hpp"

namespace nvdla::test {
namespace {

struct Started {
  const nvdla_job* job;
  u32 layer;
  std::size_t enabled;  // writes that enable a unit, or launch BDMA, up to then
};
std::vector<Started> started;
std::size_t enables;

void count_enables(Rig& rig) {
  started.clear();
  enables = 0;
  rig.device.on_write = [&](u32 offset, u32 value) {
    const u32 unit = offset & ~0xfffu;
    for (u32 i = 0; i < NVDLA_UNIT_COUNT; ++i) {
      const bool op = kOpEnables[i] != NVDLA_NO_REG && offset == kBases[0][i] + kOpEnables[i];
      const bool launch =
          i == NVDLA_UNIT_BDMA && unit == kBases[0][i] &&
          (offset - unit == NVDLA_BDMA_CFG_LAUNCH0 || offset - unit == NVDLA_BDMA_CFG_LAUNCH1);
      if ((op || launch) && value == 1) ++enables;
    }
  };
  rig.ops.layer_start = [](void*, const nvdla_job* job, u32 layer) {
    started.push_back({job, layer, enables});
  };
}

TEST(LayerStart, IsToldBeforeTheLayerIsEnabled) {
  Rig rig;
  count_enables(rig);
  Program program(rig.hw, {{.kind = NVDLA_LAYER_CDP},
                           {.kind = NVDLA_LAYER_BDMA, .waits = {0}},
                           {.kind = NVDLA_LAYER_CDP, .waits = {1}}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  nvdla_job* job = rig.run();
  ASSERT_NE(job, nullptr);
  ASSERT_EQ(started.size(), 3u);
  // CDP and CDP_RDMA, then BDMA.
  const std::size_t enabled[] = {0, 2, 3};
  for (u32 i = 0; i < 3; ++i) {
    EXPECT_EQ(started[i].job, job);
    EXPECT_EQ(started[i].layer, i);
    EXPECT_EQ(started[i].enabled, enabled[i]) << i;
  }
  EXPECT_EQ(enables, 5u);
}

TEST(LayerStart, IsNotToldOfALayerThatNeverStarts) {
  Rig rig;
  count_enables(rig);
  Program program(
      rig.hw, {{.kind = NVDLA_LAYER_CDP, .hangs = true}, {.kind = NVDLA_LAYER_BDMA, .waits = {0}}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  EXPECT_EQ(rig.run(1000), nullptr);
  ASSERT_EQ(started.size(), 1u);
  EXPECT_EQ(started[0].layer, 0u);
}

struct Ended {
  const nvdla_job* job;
  u32 layer;
  u64 start_ns;
  u64 end_ns;
};
std::vector<Ended> ended;

void collect_ends(Rig& rig) {
  ended.clear();
  rig.ops.layer_end = [](void*, const nvdla_job* job, u32 layer, u64 start_ns, u64 end_ns) {
    ended.push_back({job, layer, start_ns, end_ns});
  };
}

TEST(LayerEnd, IsToldWithTheTimesOfTheStatistics) {
  Rig rig;
  collect_ends(rig);
  Program program(rig.hw, {{.kind = NVDLA_LAYER_CDP}, {.kind = NVDLA_LAYER_BDMA, .waits = {0}}},
                  NVDLA_PROGRAM_STATS);
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  nvdla_job* job = rig.run();
  ASSERT_NE(job, nullptr);
  ASSERT_EQ(ended.size(), 2u);
  for (u32 i = 0; i < 2; ++i) {
    EXPECT_EQ(ended[i].job, job);
    EXPECT_EQ(ended[i].layer, i);
    EXPECT_EQ(ended[i].start_ns, job->stats[i].start_ns) << i;
    EXPECT_EQ(ended[i].end_ns, job->stats[i].end_ns) << i;
    EXPECT_LT(ended[i].start_ns, ended[i].end_ns) << i;
  }
}

TEST(LayerEnd, IsNotToldOfALayerThatHangs) {
  Rig rig;
  collect_ends(rig);
  Program program(rig.hw, {{.kind = NVDLA_LAYER_BDMA}, {.kind = NVDLA_LAYER_CDP, .hangs = true}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  EXPECT_EQ(rig.run(1000), nullptr);
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(ended[0].layer, 0u);
}

}  // namespace
}  // namespace nvdla::test
