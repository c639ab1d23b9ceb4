// SPDX-License-Identifier: MIT
//
// Counters: read from the group that the layer ran in, and only when asked for.
#include <gtest/gtest.h>

#include "rig.hpp"

namespace nvdla::test {
namespace {

constexpr std::uint64_t bit(unsigned counter) { return 1ull << counter; }

constexpr std::uint64_t kAll = bit(NVDLA_COUNTER_COUNT) - 1;

// Where each counter is, written down a second time.
struct Place {
  unsigned counter, unit, reg;
};
constexpr Place kPlaces[] = {
    {NVDLA_COUNTER_CDMA_NAN_DATA, NVDLA_UNIT_CDMA, 0xc4},
    {NVDLA_COUNTER_CDMA_NAN_WEIGHT, NVDLA_UNIT_CDMA, 0xc8},
    {NVDLA_COUNTER_CDMA_INF_DATA, NVDLA_UNIT_CDMA, 0xcc},
    {NVDLA_COUNTER_CDMA_INF_WEIGHT, NVDLA_UNIT_CDMA, 0xd0},
    {NVDLA_COUNTER_CDMA_DATA_STALL, NVDLA_UNIT_CDMA, 0xd8},
    {NVDLA_COUNTER_CDMA_WEIGHT_STALL, NVDLA_UNIT_CDMA, 0xdc},
    {NVDLA_COUNTER_CDMA_DATA_LATENCY, NVDLA_UNIT_CDMA, 0xe0},
    {NVDLA_COUNTER_CDMA_WEIGHT_LATENCY, NVDLA_UNIT_CDMA, 0xe4},
    {NVDLA_COUNTER_CACC_SATURATION, NVDLA_UNIT_CACC, 0x30},
    {NVDLA_COUNTER_SDP_RDMA_NAN, NVDLA_UNIT_SDP_RDMA, 0x78},
    {NVDLA_COUNTER_SDP_RDMA_INF, NVDLA_UNIT_SDP_RDMA, 0x7c},
    {NVDLA_COUNTER_SDP_MRDMA_STALL, NVDLA_UNIT_SDP_RDMA, 0x84},
    {NVDLA_COUNTER_SDP_BRDMA_STALL, NVDLA_UNIT_SDP_RDMA, 0x88},
    {NVDLA_COUNTER_SDP_NRDMA_STALL, NVDLA_UNIT_SDP_RDMA, 0x8c},
    {NVDLA_COUNTER_SDP_ERDMA_STALL, NVDLA_UNIT_SDP_RDMA, 0x90},
    {NVDLA_COUNTER_SDP_UNEQUAL, NVDLA_UNIT_SDP, 0xcc},
    {NVDLA_COUNTER_SDP_NAN_OUT, NVDLA_UNIT_SDP, 0xd8},
    {NVDLA_COUNTER_SDP_WRITE_STALL, NVDLA_UNIT_SDP, 0xe0},
    {NVDLA_COUNTER_SDP_SATURATION, NVDLA_UNIT_SDP, 0xec},
    {NVDLA_COUNTER_SDP_LUT_UNDERFLOW, NVDLA_UNIT_SDP, 0xe4},
    {NVDLA_COUNTER_SDP_LUT_OVERFLOW, NVDLA_UNIT_SDP, 0xe8},
    {NVDLA_COUNTER_SDP_LUT_HYBRID, NVDLA_UNIT_SDP, 0xf0},
    {NVDLA_COUNTER_SDP_LUT_LE_HIT, NVDLA_UNIT_SDP, 0xf4},
    {NVDLA_COUNTER_SDP_LUT_LO_HIT, NVDLA_UNIT_SDP, 0xf8},
    {NVDLA_COUNTER_PDP_RDMA_STALL, NVDLA_UNIT_PDP_RDMA, 0x48},
    {NVDLA_COUNTER_PDP_NAN_IN, NVDLA_UNIT_PDP, 0x8c},
    {NVDLA_COUNTER_PDP_INF_IN, NVDLA_UNIT_PDP, 0x88},
    {NVDLA_COUNTER_PDP_NAN_OUT, NVDLA_UNIT_PDP, 0x90},
    {NVDLA_COUNTER_PDP_WRITE_STALL, NVDLA_UNIT_PDP, 0x98},
    {NVDLA_COUNTER_CDP_RDMA_STALL, NVDLA_UNIT_CDP_RDMA, 0x3c},
    {NVDLA_COUNTER_CDP_NAN_IN, NVDLA_UNIT_CDP, 0x8c},
    {NVDLA_COUNTER_CDP_INF_IN, NVDLA_UNIT_CDP, 0x90},
    {NVDLA_COUNTER_CDP_NAN_OUT, NVDLA_UNIT_CDP, 0x94},
    {NVDLA_COUNTER_CDP_SATURATION, NVDLA_UNIT_CDP, 0x98},
    {NVDLA_COUNTER_CDP_WRITE_STALL, NVDLA_UNIT_CDP, 0xa0},
    {NVDLA_COUNTER_CDP_LUT_UNDERFLOW, NVDLA_UNIT_CDP, 0xa4},
    {NVDLA_COUNTER_CDP_LUT_OVERFLOW, NVDLA_UNIT_CDP, 0xa8},
    {NVDLA_COUNTER_CDP_LUT_HYBRID, NVDLA_UNIT_CDP, 0xac},
    {NVDLA_COUNTER_CDP_LUT_LE_HIT, NVDLA_UNIT_CDP, 0xb0},
    {NVDLA_COUNTER_CDP_LUT_LO_HIT, NVDLA_UNIT_CDP, 0xb4},
    {NVDLA_COUNTER_RUBIK_READ_STALL, NVDLA_UNIT_RBK, 0x5c},
    {NVDLA_COUNTER_RUBIK_WRITE_STALL, NVDLA_UNIT_RBK, 0x60},
};

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
    for (const Place& place : kPlaces) {
      const bool used = program.image(layer).units >> place.unit & 1;
      if (used) expected |= bit(place.counter);
      EXPECT_EQ(stats.counter[place.counter],
                used ? MockDevice::counter(layer, place.unit, place.reg) : 0)
          << "layer " << layer << " counter " << place.counter;
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
  program.stats(1).counter[5] = 99;
  ASSERT_EQ(rig.start(), 0);
  rig.device.reads.clear();
  ASSERT_EQ(rig.submit(program), 0);
  ASSERT_NE(rig.run(), nullptr);
  EXPECT_EQ(program.stats(0).valid, wanted);
  EXPECT_EQ(program.stats(1).valid, 0u);
  EXPECT_EQ(program.stats(1).counter[5], 0u);
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
