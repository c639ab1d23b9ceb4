// SPDX-License-Identifier: MIT
//
// BDMA has a queue instead of groups: one launch at a time, pushed when it is launched.
#include <gtest/gtest.h>

#include "rig.hpp"

namespace nvdla::test {
namespace {

constexpr LayerSpec bdma(std::initializer_list<std::uint32_t> waits = {}) {
  return {.kind = NVDLA_LAYER_BDMA, .waits = waits};
}

TEST(Bdma, OneLaunchAtATimeInAlternatingGroups) {
  Rig rig;
  Program program(rig.hw, {bdma(), bdma(), bdma(), {.waits = {1}}, bdma({3})});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  ASSERT_EQ(rig.device.launches.size(), 1u) << "the second waits, unpushed";
  nvdla_job* job = rig.run(500);
  ASSERT_NE(job, nullptr);
  EXPECT_EQ(job->result, NVDLA_JOB_OK);
  EXPECT_EQ(rig.device.violations, std::vector<std::string>{});
  ASSERT_EQ(rig.device.launches.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(rig.device.launches[i].group, i & 1);
    EXPECT_EQ(rig.device.launches[i].commands.size(), 2u);
  }
}

TEST(Bdma, CommandsSayWhatTransfersSay) {
  Rig rig;
  Program program(rig.hw, {bdma()});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  ASSERT_EQ(rig.device.launches.size(), 1u);
  const std::uint64_t source = program.bases()[0] + 0x40;
  const std::uint64_t destination = program.bases()[2] + 0x80;
  for (std::uint32_t i = 0; i < 2; ++i) {
    const std::map<std::uint32_t, std::uint32_t> expected = {
        {NVDLA_BDMA_CFG_SRC_ADDR_LOW, static_cast<std::uint32_t>(source)},
        {NVDLA_BDMA_CFG_SRC_ADDR_HIGH, static_cast<std::uint32_t>(source >> 32)},
        {NVDLA_BDMA_CFG_DST_ADDR_LOW, static_cast<std::uint32_t>(destination)},
        {NVDLA_BDMA_CFG_DST_ADDR_HIGH, static_cast<std::uint32_t>(destination >> 32)},
        {NVDLA_BDMA_CFG_LINE, 1},
        {NVDLA_BDMA_CFG_CMD, 1},
        {NVDLA_BDMA_CFG_LINE_REPEAT, i * 100},
        {NVDLA_BDMA_CFG_SRC_LINE, 128},
        {NVDLA_BDMA_CFG_DST_LINE, 256},
        {NVDLA_BDMA_CFG_SURF_REPEAT, 1},
        {NVDLA_BDMA_CFG_SRC_SURF, 4096},
        {NVDLA_BDMA_CFG_DST_SURF, 8192},
        {NVDLA_BDMA_CFG_STATUS, 0},
    };
    EXPECT_EQ(rig.device.launches[0].commands[i], expected);
  }
}

// Each end of a transfer is in a memory of its own.
TEST(Bdma, CommandsNameBothMemories) {
  for (const std::uint32_t source : {NVDLA_MEMORY_SRAM, NVDLA_MEMORY_DRAM})
    for (const std::uint32_t destination : {NVDLA_MEMORY_SRAM, NVDLA_MEMORY_DRAM}) {
      Rig rig;
      Program program(rig.hw, {bdma()});
      program.slot(0).memory = source;
      program.slot(2).memory = destination;
      ASSERT_EQ(rig.start(), 0);
      ASSERT_EQ(rig.submit(program), 0);
      const std::uint32_t expected =
          (source == NVDLA_MEMORY_DRAM ? 1 : 0) | (destination == NVDLA_MEMORY_DRAM ? 2 : 0);
      for (const auto& command : rig.device.launches.at(0).commands)
        EXPECT_EQ(command.at(NVDLA_BDMA_CFG_CMD), expected);
    }
}

TEST(Bdma, CommandsCountFromZero) {
  for (const std::uint32_t atoms : {1u, 2u, 31u, 32u, 1000u, 8192u}) {
    Rig rig;
    Program program(rig.hw, {bdma()});
    program.transfer(0).line_bytes = 32 * atoms;
    ASSERT_EQ(rig.start(), 0);
    ASSERT_EQ(rig.submit(program), 0);
    EXPECT_EQ(rig.device.launches.at(0).commands[0].at(NVDLA_BDMA_CFG_LINE), atoms - 1);
  }
}

// Nothing is written ahead, whatever the image holds.
TEST(Bdma, HasNoRegisterImage) {
  Rig rig;
  Program program(rig.hw, {bdma(), {}});
  constexpr std::uint32_t kMark = 0x0badcafe;
  const std::uint32_t offset = kBases[0][NVDLA_UNIT_BDMA] + NVDLA_BDMA_CFG_LINE;
  program.writes()[program.image(1).num_writes - 1] = {offset, kMark};
  program.image(1).num_writes -= 1;
  program.image(0).first_write = program.image(1).num_writes;
  program.image(0).num_writes = 1;
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  for (const auto& write : rig.device.writes) EXPECT_NE(write.value, kMark);
  EXPECT_EQ(rig.device.launches.size(), 1u);
}

TEST(Bdma, HasCountersOfEachGroup) {
  Rig rig;
  LayerSpec spec = bdma();
  spec.counters = 1ull << NVDLA_COUNTER_BDMA_READ_STALL | 1ull << NVDLA_COUNTER_BDMA_WRITE_STALL;
  Program program(rig.hw, {spec, spec}, NVDLA_PROGRAM_STATS);
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  ASSERT_NE(rig.run(500), nullptr);
  EXPECT_EQ(program.stats(0).valid, spec.counters);
  EXPECT_EQ(program.stats(0).counter[NVDLA_COUNTER_BDMA_READ_STALL], 0xbd000044u);
  EXPECT_EQ(program.stats(0).counter[NVDLA_COUNTER_BDMA_WRITE_STALL], 0xbd000048u);
  EXPECT_EQ(program.stats(1).counter[NVDLA_COUNTER_BDMA_READ_STALL], 0xbd00004cu);
  EXPECT_EQ(program.stats(1).counter[NVDLA_COUNTER_BDMA_WRITE_STALL], 0xbd000050u);
  EXPECT_EQ(rig.device.launches[0].commands[0].at(NVDLA_BDMA_CFG_STATUS), 1u);
}

}  // namespace
}  // namespace nvdla::test
