// SPDX-License-Identifier: MIT
//
// The counters of what units wait for: they count where that is enabled, follow the memory that
// the model was given, and change nothing else.
#include <gtest/gtest.h>

#include "common/layers/cdp_case.hpp"
#include "common/layers/model_layer.hpp"
#include "common/layers/pdp_case.hpp"
#include "common/unit_rig.hpp"

namespace nvdla::test {
namespace {

constexpr unsigned kLatency = 99;
// One request at a time: each takes 100 cycles.
constexpr cost::MemoryTiming kSlow = {.latency = kLatency, .outstanding = 1};

model::Options with(const cost::MemoryTiming& memory,
                    model::Quirks quirks = model::Quirks::kCmodel) {
  return {.quirks = quirks, .memory = memory};
}

// A convolution of 9 x 8 x 21 and its nine kernels of 3 x 3, on a device with that memory.
struct Convolution {
  explicit Convolution(const cost::MemoryTiming& memory,
                       model::Quirks quirks = model::Quirks::kCmodel)
      : rig(*nvdla_hw_find("nv_small"), with(memory, quirks)) {
    RefLayer& ref = layer.ref;
    layer.hw = &rig.hw;
    ref.width = 9;
    ref.height = 8;
    ref.channels = 21;
    ref.kernels = 9;
    ref.kernel_width = ref.kernel_height = 3;
    ref.lanes = 16;
    ref.shift = 6;
    ref.input = numbers(std::size_t{9} * 8 * 21);
    ref.weights = numbers(std::size_t{9} * 9 * 21);
    finish_layout(layer, random, false);
    load(layer, rig.memory);
  }

  std::vector<std::int32_t> numbers(std::size_t count) {
    std::vector<std::int32_t> result(count);
    for (auto& one : result) one = static_cast<std::int32_t>(pick(random, -128, 127));
    return result;
  }

  void run(bool count) {
    program(layer, rig.regs, 0, 0);
    rig.regs.set("CDMA.D_PERF_ENABLE", {{"DMA_EN", count ? 1 : 0}});
    enable(layer, rig.regs);
    rig.run();
    ASSERT_EQ(rig.blocked(), "");
  }
  std::uint64_t counter(const char* name) {
    return rig.regs.read(std::string("CDMA.D_PERF_") + name);
  }

  UnitRig rig;
  Random random{7};
  TestLayer layer;
};

// Single beats of eight bytes, each of which is so long on its way.
TEST(StallCounters, LatencyIsThatOfAllReads) {
  for (const unsigned latency : {1U, 7U, 250U}) {
    Convolution conv({.latency = latency});
    conv.run(true);
    EXPECT_EQ(conv.counter("DAT_READ_LATENCY"), 9U * 8 * 3 * latency);
    EXPECT_EQ(conv.counter("WT_READ_LATENCY"), conv.layer.weight_bytes / 8 * latency);
  }
}

// The logic of the second generation counts no latency of weights, the reference model does.
TEST(StallCounters, LatencyOfWeightsIsNotCountedByTheLogic) {
  Convolution conv({.latency = 7}, model::Quirks::kRtl);
  conv.run(true);
  EXPECT_EQ(conv.counter("WT_READ_LATENCY"), 0U);
  EXPECT_EQ(conv.counter("DAT_READ_LATENCY"), 9U * 8 * 3 * 7);
}

// Input and kernels take turns: each waits for the other, and for the one request in 100 cycles.
TEST(StallCounters, RequestsWaitForTheInterface) {
  Convolution fast({});
  fast.run(true);
  EXPECT_GT(fast.counter("WT_READ_STALL"), 0U);
  EXPECT_LE(fast.counter("WT_READ_STALL"), 9U * 8 * 3);
  Convolution slow(kSlow);
  slow.run(true);
  const std::uint64_t requests = slow.layer.weight_bytes / 8;
  EXPECT_NEAR(static_cast<double>(slow.counter("WT_READ_STALL")),
              static_cast<double>((2 * 100 - 1) * requests), 100);
}

TEST(StallCounters, CountOnlyWhereThatIsEnabled) {
  Convolution conv(kSlow);
  conv.run(false);
  for (const char* name :
       {"DAT_READ_LATENCY", "WT_READ_LATENCY", "DAT_READ_STALL", "WT_READ_STALL"})
    EXPECT_EQ(conv.counter(name), 0U) << name;
}

TEST(StallCounters, ChangeNoResult) {
  Convolution conv(kSlow);
  conv.run(true);
  for (const auto& [address, byte] : expected_bytes(conv.layer, reference(conv.layer.ref)))
    ASSERT_EQ(conv.rig.byte(address), byte) << "at output + " << address - conv.layer.output.base;
}

// nv_small passes an element a cycle: its memory is never what SDP waits for, unless it is slow.
TEST(StallCounters, OfSdpReads) {
  for (const bool slow : {false, true}) {
    Random random{11};
    UnitRig rig(*nvdla_hw_find("nv_small"), with(slow ? kSlow : cost::MemoryTiming{}));
    TestLayer layer;
    do {
      layer = random_layer(rig.hw, random, false);
    } while (layer.ref.width * layer.ref.height < 10);
    load(layer, rig.memory);
    program(layer, rig.regs, 0, 0);
    rig.regs.set("SDP_RDMA.D_PERF_ENABLE", {{"PERF_DMA_EN", 1}});
    enable(layer, rig.regs);
    rig.run();
    ASSERT_EQ(rig.blocked(), "");
    const std::uint64_t atoms = std::uint64_t{layer.ref.width} * layer.ref.height *
                                ((layer.ref.lanes + rig.hw.atom - 1) / rig.hw.atom);
    const std::uint64_t stall = rig.regs.read("SDP_RDMA.D_PERF_MRDMA_READ_STALL");
    if (slow) {
      EXPECT_GE(stall, atoms * (100 - 8));
    } else {
      EXPECT_EQ(stall, 0U);
    }
    EXPECT_EQ(rig.regs.read("SDP_RDMA.D_PERF_ERDMA_READ_STALL"), 0U);
  }
}

TEST(StallCounters, OfPdpReads) {
  for (const bool slow : {false, true}) {
    Random random{3};
    UnitRig rig(*nvdla_hw_find("nv_small"), with(slow ? kSlow : cost::MemoryTiming{}));
    PdpCase layer;
    layer.hw = &rig.hw;
    layer.width = layer.height = layer.out_width = layer.out_height = 6;
    layer.channels = 20;
    place_pdp(layer, random, false);
    fill_pdp(layer, rig, random);
    program_pdp(layer, rig.regs);
    rig.regs.set("PDP_RDMA.D_PERF_ENABLE", {{"DMA_EN", 1}});
    enable_pdp(rig.regs);
    rig.run();
    ASSERT_EQ(rig.blocked(), "");
    const std::uint64_t atoms = 6 * 6 * 3;
    EXPECT_NEAR(rig.regs.read("PDP_RDMA.D_PERF_READ_STALL"),
                slow ? static_cast<double>(atoms * (100 - 8)) : 0., 10);
    EXPECT_EQ(rig.regs.read("PDP.D_PERF_WRITE_STALL"), 0U);
  }
}

TEST(StallCounters, OfCdpReads) {
  for (const bool slow : {false, true}) {
    Random random{5};
    UnitRig rig(*nvdla_hw_find("nv_small"), with(slow ? kSlow : cost::MemoryTiming{}));
    CdpCase layer = random_cdp(rig.hw, random, 0);
    fill_cdp(layer, rig, random);
    program_cdp(layer, rig.regs);
    rig.regs.set("CDP_RDMA.D_PERF_ENABLE", {{"DMA_EN", 1}});
    enable_cdp(rig.regs);
    rig.run();
    ASSERT_EQ(rig.blocked(), "");
    const std::uint64_t atoms = std::uint64_t{layer.width} * layer.height * layer.surfaces();
    EXPECT_NEAR(rig.regs.read("CDP_RDMA.D_PERF_READ_STALL"),
                slow ? static_cast<double>(atoms * (100 - 8)) : 0., 10);
  }
}

// A launch's transfers together, in beats of 64 bytes; each group has its own counter.
TEST(StallCounters, OfBdmaReads) {
  UnitRig rig(*nvdla_hw_find("nv_full"), with(kSlow));
  Registers& regs = rig.regs;
  const auto copy = [&](unsigned atoms) {
    regs.write("BDMA.CFG_SRC_ADDR_LOW", 0x8000'0000);
    regs.write("BDMA.CFG_DST_ADDR_LOW", 0x8200'0000);
    regs.write("BDMA.CFG_LINE", atoms - 1);
    regs.write("BDMA.CFG_CMD", 3);
    regs.write("BDMA.CFG_OP", 1);
  };
  regs.set("BDMA.CFG_STATUS", {{"STALL_COUNT_EN", 1}});
  copy(64);
  copy(10);
  regs.write("BDMA.CFG_LAUNCH0", 1);
  rig.run();
  EXPECT_NEAR(regs.read("BDMA.STATUS_GRP0_READ_STALL"), (32 + 5) * 99., 10);
  EXPECT_EQ(regs.read("BDMA.STATUS_GRP1_READ_STALL"), 0U);
  copy(20);
  regs.write("BDMA.CFG_LAUNCH1", 1);
  rig.run();
  EXPECT_NEAR(regs.read("BDMA.STATUS_GRP1_READ_STALL"), 10 * 99., 10);
  EXPECT_NEAR(regs.read("BDMA.STATUS_GRP0_READ_STALL"), (32 + 5) * 99., 10);
  regs.set("BDMA.CFG_STATUS", {{"STALL_COUNT_EN", 0}});
  copy(20);
  regs.write("BDMA.CFG_LAUNCH0", 1);
  rig.run();
  EXPECT_EQ(regs.read("BDMA.STATUS_GRP0_READ_STALL"), 0U);
}

}  // namespace
}  // namespace nvdla::test
