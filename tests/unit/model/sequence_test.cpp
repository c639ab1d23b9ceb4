// SPDX-License-Identifier: MIT
//
// Layers one after the other: ping-pong groups, SDP_RDMA's own group numbers, when interrupts come,
// counters of each group, refusals of the bus.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/layers/model_layer.hpp"

namespace nvdla::test {
namespace {

using model::Bus;
using model::Device;
using model::Mapping;
using model::Memory;
using model::Options;
using model::Ram;

constexpr std::uint32_t kConvDone = 1u << 16 | 1u << 18 | 1u << 20;

TestLayer sample(const char* hw, unsigned seed, bool convolution) {
  Random random(seed);
  return random_layer(*nvdla_hw_find(hw), random, convolution);
}

// A layer with or without operands in memory.
TestLayer sample_rdma(const char* hw, unsigned seed, bool rdma) {
  for (;; ++seed) {
    TestLayer layer = sample(hw, seed, true);
    if (layer.uses_rdma() == rdma) return layer;
  }
}

void expect_output(const TestLayer& layer, const Memory& memory) {
  const RefResult result = reference(layer.ref);
  for (const auto& [address, byte] : expected_bytes(layer, result)) {
    std::byte got;
    memory.read(Ram::kPrimary, address, {&got, 1});
    ASSERT_EQ(std::to_integer<int>(got), byte) << "at output + " << address - layer.output.base;
  }
}

void move(TestLayer& layer, std::uint64_t by) {
  layer.input.base += by;
  layer.output.base += by;
  layer.weights += by;
  layer.operands[0] += by;
  layer.operands[1] += by;
}

class Sequences : public testing::TestWithParam<const char*> {};

TEST_P(Sequences, BothGroupsAheadRunInOrder) {
  TestLayer first = sample_rdma(GetParam(), 100, true);
  TestLayer second = sample_rdma(GetParam(), 200, false);
  TestLayer third = sample_rdma(GetParam(), 300, true);
  move(second, 0x1000'0000);
  move(third, 0x2000'0000);
  Memory memory;
  for (const TestLayer* layer : {&first, &second, &third}) load(*layer, memory);
  Device device(*first.hw, memory);
  Registers regs(device);
  program(first, regs, 0, 0);
  enable(first, regs);
  program(second, regs, 1, 1);
  enable(second, regs);
  // The third uses group 0 of SDP again but group 1 of SDP_RDMA, which the second did not use.
  EXPECT_EQ(regs.read("SDP.S_STATUS"), 0x20001u);
  EXPECT_EQ(regs.read("CDMA.S_STATUS"), 0x20001u);
  EXPECT_EQ(regs.read("SDP_RDMA.S_STATUS"), 0x1u);
  while (device.step()) {
  }
  EXPECT_TRUE(device.idle());
  EXPECT_EQ(regs.read("GLB.S_INTR_STATUS"), 3u | kConvDone | kConvDone << 1);
  for (const std::string unit : {"CDMA", "CSC", "CMAC_A", "CMAC_B", "CACC", "SDP"})
    EXPECT_EQ(regs.field(unit + ".S_POINTER", "CONSUMER"), 0u) << unit;
  EXPECT_EQ(regs.field("SDP_RDMA.S_POINTER", "CONSUMER"), 1u);
  expect_output(first, memory);
  expect_output(second, memory);
  program(third, regs, 0, 1);
  enable(third, regs);
  while (device.step()) {
  }
  EXPECT_TRUE(device.idle());
  EXPECT_EQ(regs.field("SDP.S_POINTER", "CONSUMER"), 1u);
  EXPECT_EQ(regs.field("SDP_RDMA.S_POINTER", "CONSUMER"), 0u);
  expect_output(third, memory);
}

TEST_P(Sequences, TheInterruptComesAfterOpEnFalls) {
  for (const unsigned delay : {0u, 1u, 4u}) {
    const TestLayer layer = sample(GetParam(), 7, true);
    Memory memory;
    load(layer, memory);
    Options options;
    options.completion_delay = delay;
    Device device(*layer.hw, memory, options);
    Registers regs(device);
    while (device.step()) {
    }
    program(layer, regs, 0, 0);
    enable(layer, regs);
    EXPECT_EQ(regs.read("SDP.S_STATUS"), 1u) << "nothing runs in a register write";
    EXPECT_TRUE(device.step());
    EXPECT_EQ(regs.read("SDP.S_STATUS"), 0u);
    EXPECT_EQ(regs.field("SDP.S_POINTER", "CONSUMER"), 1u);
    for (unsigned i = 0; i < delay; ++i) {
      EXPECT_EQ(regs.read("GLB.S_INTR_STATUS"), 0u) << "delay " << delay << ", step " << i;
      EXPECT_FALSE(device.interrupt());
      EXPECT_FALSE(device.idle());
      EXPECT_TRUE(device.step());
    }
    EXPECT_EQ(regs.read("GLB.S_INTR_STATUS"), 1u | kConvDone);
    EXPECT_TRUE(device.interrupt());
    EXPECT_TRUE(device.idle());
    EXPECT_FALSE(device.step());
  }
}

TEST_P(Sequences, AGroupThatIsNotNextWaits) {
  const TestLayer layer = sample(GetParam(), 11, false);
  Memory memory;
  load(layer, memory);
  Device device(*layer.hw, memory);
  Registers regs(device);
  program(layer, regs, 1, 1);
  enable(layer, regs);
  while (device.step()) {
  }
  EXPECT_EQ(regs.read("SDP.S_STATUS"), 0x20000u);
  ASSERT_FALSE(device.blocked().empty());
  EXPECT_NE(device.blocked()[0].reason.find("waits for group 0"), std::string::npos);
  program(layer, regs, 0, 0);
  enable(layer, regs);
  while (device.step()) {
  }
  EXPECT_TRUE(device.idle());
  EXPECT_EQ(regs.read("GLB.S_INTR_STATUS"), 3u);
}

TEST_P(Sequences, AnSdpRdmaWithNothingToReadEndsAlone) {
  Memory memory;
  Device device(*nvdla_hw_find(GetParam()), memory);
  Registers regs(device);
  regs.set("SDP_RDMA.D_FEATURE_MODE_CFG", {{"FLYING_MODE", 1}});
  for (const std::string n : {"BRDMA", "NRDMA", "ERDMA"})
    regs.set("SDP_RDMA.D_" + n + "_CFG", {{n + "_DISABLE", 1}});
  regs.write("SDP_RDMA.D_OP_ENABLE", 1);
  while (device.step()) {
  }
  EXPECT_TRUE(device.idle());
  EXPECT_EQ(regs.field("SDP_RDMA.S_POINTER", "CONSUMER"), 1u);
  EXPECT_EQ(regs.read("GLB.S_INTR_STATUS"), 0u);
}

TEST_P(Sequences, CountersBelongToTheirGroupAndClearAtEnable) {
  // Everything saturates: the converter multiplies by 32767.
  TestLayer layer = sample(GetParam(), 11, false);
  for (RefX& x : layer.ref.x) x = RefX{};
  layer.ref.offset = 0x7fffffff;
  layer.ref.scale = 32767;
  layer.ref.shift = 0;
  Memory memory;
  load(layer, memory);
  Device device(*layer.hw, memory);
  Registers regs(device);
  program(layer, regs, 0, 0);
  enable(layer, regs);
  while (device.step()) {
  }
  const RefResult result = reference(layer.ref);
  ASSERT_GT(result.sdp_saturated, 0u);
  EXPECT_EQ(regs.read("SDP.D_PERF_OUT_SATURATION"), result.sdp_saturated);
  regs.write("SDP.D_PERF_OUT_SATURATION", 0);
  EXPECT_EQ(regs.read("SDP.D_PERF_OUT_SATURATION"), result.sdp_saturated) << "read only";
  program(layer, regs, 1, 1);
  EXPECT_EQ(regs.read("SDP.D_PERF_OUT_SATURATION"), 0u) << "group 1 has counted nothing";
  regs.set("SDP.D_PERF_ENABLE", {});
  enable(layer, regs);
  while (device.step()) {
  }
  EXPECT_EQ(regs.read("SDP.D_PERF_OUT_SATURATION"), 0u) << "not enabled, not counted";
  regs.write("SDP.S_POINTER", 0);
  EXPECT_EQ(regs.read("SDP.D_PERF_OUT_SATURATION"), result.sdp_saturated);
  regs.write("SDP.D_OP_ENABLE", 1);
  EXPECT_EQ(regs.read("SDP.D_PERF_OUT_SATURATION"), 0u) << "cleared when the group is enabled";
}

// A memory of which some ranges do not answer.
class Holes final : public Bus {
 public:
  explicit Holes(Memory& memory) : memory_(memory) {}
  std::uint64_t refuse_reads = ~0ull, refuse_writes = ~0ull;  // base of 4096 bytes

  Mapping map(Ram ram, std::uint64_t address, std::uint64_t size, bool write) noexcept override {
    const std::uint64_t hole = write ? refuse_writes : refuse_reads;
    if (address - hole < 4096) return {};
    Mapping mapping = memory_.map(ram, address, size, write);
    if (address < hole) mapping.size = std::min(mapping.size, hole - address);
    return mapping;
  }
  std::uint64_t generation(Ram, std::uint64_t, std::uint64_t) const noexcept override { return 0; }
  void written(Ram ram, std::uint64_t address, std::uint64_t size) noexcept override {
    memory_.written(ram, address, size);
  }

 private:
  Memory& memory_;
};

TEST_P(Sequences, RefusedReadsGiveOnesAndRefusedWritesAreDropped) {
  TestLayer layer;
  layer.hw = nvdla_hw_find(GetParam());
  layer.ref.convolution = false;
  layer.ref.first_generation = layer.hw->regmap == NVDLA_REGMAP_NV_FULL;
  layer.ref.width = 40;
  layer.ref.height = 50;
  layer.ref.channels = layer.ref.kernels = layer.ref.lanes = layer.hw->atom;
  layer.ref.input.assign(std::size_t{40} * 50 * layer.ref.lanes, 5);
  Random random(0);
  finish_layout(layer, random, false);
  Memory memory;
  load(layer, memory);
  Holes bus(memory);
  bus.refuse_reads = layer.input.base + 4096;
  bus.refuse_writes = layer.output.base + 8192;
  Device device(*layer.hw, bus);
  Registers regs(device);
  program(layer, regs, 0, 0);
  enable(layer, regs);
  while (device.step()) {
  }
  EXPECT_TRUE(device.idle()) << "the layer completes as on silicon";
  const std::uint64_t size = std::uint64_t{40} * 50 * layer.hw->atom;
  const auto got = memory.read(Ram::kPrimary, layer.output.base, size);
  for (std::uint64_t i = 0; i < size; ++i) {
    const int want = i / 4096 == 1 ? 0xff : i / 4096 == 2 ? 0 : 5;
    ASSERT_EQ(std::to_integer<int>(got[i]), want) << "byte " << i;
  }
  const model::Refusals refusals = device.refusals();
  EXPECT_GE(refusals.count, 2u);
  EXPECT_EQ(refusals.first_address, layer.input.base + 4096);
  EXPECT_EQ(refusals.first_dma, static_cast<std::uint32_t>(NVDLA_DMA_SDP_RDMA));
  EXPECT_FALSE(refusals.first_write);
  device.clear_refusals();
  EXPECT_EQ(device.refusals().count, 0u);
}

INSTANTIATE_TEST_SUITE_P(Configurations, Sequences, testing::Values("nv_full", "nv_small"),
                         [](const auto& which) { return std::string(which.param); });

}  // namespace
}  // namespace nvdla::test
