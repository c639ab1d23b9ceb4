// SPDX-License-Identifier: MIT
//
// Counters: read from the group that the layer ran in, and only when asked for.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "common/counter_places.hpp"
#include "rig.hpp"

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

// A caller may know more of the struct than the engine does: its bytes behind are left alone.
TEST(Stats, OfLayersAreAStrideApart) {
  constexpr std::size_t kStride = sizeof(nvdla_layer_stats) + 24;
  Rig rig;
  Program program(rig.hw, {{.kind = NVDLA_LAYER_CDP}, {.kind = NVDLA_LAYER_BDMA, .waits = {0}}},
                  NVDLA_PROGRAM_STATS);
  std::vector<std::uint64_t> bytes(2 * kStride / sizeof(std::uint64_t), ~0ull);
  program.job().stats = reinterpret_cast<nvdla_layer_stats*>(bytes.data());
  program.job().stats_stride = kStride;
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  ASSERT_NE(rig.run(), nullptr);
  nvdla_layer_stats stats[2];
  for (std::size_t i = 0; i < 2; ++i) {
    const std::uint64_t* const at = bytes.data() + i * kStride / sizeof(std::uint64_t);
    std::memcpy(&stats[i], at, sizeof(stats[i]));
    EXPECT_LT(stats[i].start_ns, stats[i].end_ns) << i;
    for (std::size_t word = sizeof(stats[i]) / sizeof(std::uint64_t);
         word < kStride / sizeof(std::uint64_t); ++word)
      EXPECT_EQ(at[word], ~0ull) << i << " " << word;
  }
  EXPECT_EQ(stats[1].start_ns, stats[0].end_ns);
}

TEST(Stats, AStrideThatCannotBeIsRefused) {
  for (const std::size_t stride :
       {std::size_t{0}, sizeof(nvdla_layer_stats) - 8, sizeof(nvdla_layer_stats) + 4}) {
    Rig rig;
    Program program(rig.hw, {{.kind = NVDLA_LAYER_CDP}}, NVDLA_PROGRAM_STATS);
    program.job().stats_stride = static_cast<std::uint32_t>(stride);
    ASSERT_EQ(rig.start(), 0);
    EXPECT_EQ(rig.submit(program), -NVDLA_SUBMIT_INVALID) << stride;
  }
}

}  // namespace
}  // namespace nvdla::test
