// SPDX-License-Identifier: MIT
//
// Counters: read from the group that the layer ran in, and only when asked for.
#include <gtest/gtest.h>

#include "rig.hpp"
#include "support/counter_places.hpp"

namespace nvdla::test {
namespace {

constexpr std::uint64_t bit(unsigned counter) { return 1ull << counter; }

constexpr std::uint64_t kAll = bit(NVDLA_COUNTER_COUNT) - 1;

// Each layer gets its own counters, all of its units and no others, whatever the groups.
TEST(Stats, ComeFromTheRightGroup) {
  Rig rig;
  std::vector<LayerSpec> specs;
  const std::uint32_t kinds[] = {NVDLA_LAYER_CONV_SDP, NVDLA_LAYER_CONV_SDP_PDP, NVDLA_LAYER_SDP,
                                 NVDLA_LAYER_SDP_PDP,  NVDLA_LAYER_PDP,          NVDLA_LAYER_CDP,
                                 NVDLA_LAYER_RUBIK};
  for (std::uint32_t i = 0; i < 42; ++i)
    specs.push_back({.kind = kinds[i % 7],
                     .rdma = i % 7 < 2 && i % 3 == 0,
                     .counters = ~0ull,
                     .ticks = 1 + i % 4,
                     .delay = i % 3});
  Program program(rig.hw, specs, NVDLA_PROGRAM_STATS);
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  ASSERT_NE(rig.run(), nullptr);
  ASSERT_EQ(program.job().result, NVDLA_JOB_OK);
  EXPECT_EQ(rig.device.violations, std::vector<std::string>{});
  for (std::uint32_t layer = 0; layer < specs.size(); ++layer) {
    const nvdla_layer_stats& stats = program.stats(layer);
    std::uint64_t expected = 0;
    for (const auto& [counter, place] : counter_places()) {
      const bool used = program.image(layer).units >> place.unit & 1;
      if (used) expected |= bit(counter);
      EXPECT_EQ(stats.counter[counter],
                used ? MockDevice::counter(layer, place.unit, place.reg) : 0)
          << "layer " << layer << " counter " << counter;
    }
    EXPECT_EQ(stats.valid, expected) << layer;
    EXPECT_LE(stats.start_ns, stats.end_ns) << layer;
  }
}

TEST(Stats, OnlyWhatTheImageNames) {
  Rig rig;
  const std::uint64_t wanted =
      bit(NVDLA_COUNTER_CDMA_DATA_STALL) | bit(NVDLA_COUNTER_SDP_WRITE_STALL);
  Program program(rig.hw, {{.counters = wanted}, {.counters = 0}}, NVDLA_PROGRAM_STATS);
  ASSERT_EQ(rig.start(), 0);
  rig.device.reads.clear();
  ASSERT_EQ(rig.submit(program), 0);
  ASSERT_NE(rig.run(), nullptr);
  EXPECT_EQ(program.stats(0).valid, wanted);
  EXPECT_EQ(program.stats(1).valid, 0u);
  for (const auto count : program.stats(1).counter) EXPECT_EQ(count, 0u);
  unsigned reads = 0;
  for (std::uint32_t offset : rig.device.reads)
    reads += offset != kBases[0][NVDLA_UNIT_GLB] + NVDLA_GLB_S_INTR_STATUS;
  EXPECT_EQ(reads, 2u);
}

TEST(Stats, NothingIsReadWithoutTheFlag) {
  Rig rig;
  Program program(rig.hw, {{.counters = kAll}, {.rdma = true, .counters = kAll}});
  ASSERT_EQ(rig.start(), 0);
  rig.device.reads.clear();
  ASSERT_EQ(rig.submit(program), 0);
  ASSERT_NE(rig.run(), nullptr);
  for (std::uint32_t offset : rig.device.reads)
    EXPECT_EQ(offset, kBases[0][NVDLA_UNIT_GLB] + NVDLA_GLB_S_INTR_STATUS);
}

}  // namespace
}  // namespace nvdla::test
