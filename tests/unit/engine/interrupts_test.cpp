// SPDX-License-Identifier: MIT
//
// Interrupt bits that are late, lost, spurious, doubled or together, and what is masked.
#include <gtest/gtest.h>

#include "rig.hpp"

namespace nvdla::test {
namespace {

using Units = std::vector<std::uint32_t>;

constexpr std::uint32_t kSdp0 = NVDLA_GLB_S_INTR_STATUS_SDP_DONE_STATUS0_MASK;
constexpr std::uint32_t kSdp1 = NVDLA_GLB_S_INTR_STATUS_SDP_DONE_STATUS1_MASK;
constexpr std::uint32_t kCdp0 = NVDLA_GLB_S_INTR_STATUS_CDP_DONE_STATUS0_MASK;
constexpr std::uint32_t kPdp1 = NVDLA_GLB_S_INTR_STATUS_PDP_DONE_STATUS1_MASK;
constexpr std::uint32_t kConv0 = 0x150000;  // both of CDMA, and CACC

// OP_EN has fallen, S_STATUS is idle, CONSUMER has toggled, but the last write has not landed.
// Whoever takes that for the end fails here.
TEST(Interrupts, TheBitIsBehindOpEn) {
  Rig rig;
  Program program(rig.hw, {{.delay = 30}, {.waits = {0}, .delay = 30}, {}, {}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  unsigned idle = 0;
  for (unsigned i = 0; i < 25; ++i) {
    rig.device.tick();
    if (!rig.device.any_enabled(NVDLA_UNIT_SDP) && !rig.device.any_enabled(NVDLA_UNIT_CDMA)) ++idle;
    nvdla_engine_interrupt(&rig.engine, nvdla_engine_read_irq(&rig.engine));
    nvdla_engine_poll(&rig.engine);
    ASSERT_FALSE(rig.device.enabled(NVDLA_UNIT_SDP, 1)) << "enabled early, tick " << i;
    ASSERT_EQ(nvdla_engine_done(&rig.engine), nullptr);
    ASSERT_EQ(rig.engine.head, 0u);
  }
  ASSERT_GT(idle, 15u) << "the mock shows no gap to fall into";
  expect_ok(rig, program);
}

// The hot path asks no unit how it is.
TEST(Interrupts, OnlyTheInterruptStatusIsRead) {
  Rig rig;
  Program program(rig.hw, {{}, {.rdma = true}, {.kind = NVDLA_LAYER_PDP}, {.waits = {1}}});
  ASSERT_EQ(rig.start(), 0);
  rig.device.reads.clear();
  ASSERT_EQ(rig.submit(program), 0);
  expect_ok(rig, program);
  for (std::uint32_t offset : rig.device.reads)
    EXPECT_EQ(offset, kBases[0][NVDLA_UNIT_GLB] + NVDLA_GLB_S_INTR_STATUS);
}

TEST(Interrupts, OnlyLastUnitsAreUnmasked) {
  Rig rig;
  ASSERT_EQ(rig.start(), 0);
  EXPECT_EQ(rig.device.mask(), 0x3f0000u);
  Program program(rig.hw, {{.ticks = 3}});
  ASSERT_EQ(rig.submit(program), 0);
  // CDMA and CACC bits are there and do not drive the line.
  unsigned silent = 0;
  while (!rig.device.line()) {
    rig.device.tick();
    silent += rig.device.status() != 0 && !rig.device.line();
    ASSERT_LT(rig.device.ticks, 100u);
  }
  EXPECT_GT(silent, 0u);
  EXPECT_EQ(rig.device.status(), kConv0 | kSdp0);
  rig.interrupt();
  EXPECT_EQ(rig.device.status(), 0u);
  ASSERT_NE(nvdla_engine_done(&rig.engine), nullptr);
}

// SDP's bit of a layer that goes on to PDP wakes nobody; later it does again.
TEST(Interrupts, AMiddleUnitIsMasked) {
  Rig rig;
  Program program(rig.hw, {{.kind = NVDLA_LAYER_CONV_SDP_PDP, .delay = 20}, {}, {}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  EXPECT_EQ(rig.device.mask(), 0x3f0000u | kSdp0);
  while (!(rig.device.status() & kSdp0)) rig.device.tick();
  EXPECT_FALSE(rig.device.line());
  expect_ok(rig, program);
  EXPECT_EQ(rig.device.mask(), 0x3f0000u);
}

// The line was lost, the status was not: poll finds it at the deadline and goes on.
TEST(Interrupts, ALostLineIsFoundByPoll) {
  Rig rig;
  Program program(rig.hw, {{}, {.waits = {0}}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  for (unsigned i = 0; i < 50; ++i) rig.device.tick();
  ASSERT_TRUE(rig.device.line());
  rig.device.now = nvdla_engine_next_deadline(&rig.engine);
  nvdla_engine_poll(&rig.engine);
  EXPECT_EQ(rig.engine.debug.lost, 1u);
  EXPECT_EQ(nvdla_engine_done(&rig.engine), nullptr);
  EXPECT_TRUE(rig.device.enabled(NVDLA_UNIT_SDP, 1));
  expect_ok(rig, program);
}

// So is one of a layer that is not the oldest.
TEST(Interrupts, ALostLineOfALaterLayerIsFoundByPoll) {
  Rig rig;
  Program program(rig.hw, {{.ticks = 500}, {.kind = NVDLA_LAYER_PDP}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  for (unsigned i = 0; i < 50; ++i) rig.device.tick();
  rig.expire();
  EXPECT_EQ(rig.engine.debug.lost, 1u);
  EXPECT_EQ(rig.engine.ended, 2u);
  expect_ok(rig, program);
}

// The handler took the bits, its thread did not run: the engine asks for them.
TEST(Interrupts, PollSeesWhatTheHandlerHolds) {
  struct Held {
    MockDevice* device;
    nvdla_engine* engine;
    u32 pending;
  };
  Rig rig;
  static Held held;
  held = {&rig.device, &rig.engine, 0};
  rig.ops.take_irq = [](void*) -> u32 {
    const u32 bits = nvdla_engine_read_irq(held.engine) | held.pending;
    held.pending = 0;
    return bits;
  };
  Program program(rig.hw, {{}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  while (!rig.device.line()) rig.device.tick();
  held.pending = nvdla_engine_read_irq(&rig.engine);
  EXPECT_EQ(rig.device.status(), 0u);
  rig.device.now = nvdla_engine_next_deadline(&rig.engine);
  nvdla_engine_poll(&rig.engine);
  nvdla_job* job = nvdla_engine_done(&rig.engine);
  ASSERT_NE(job, nullptr);
  EXPECT_EQ(job->result, NVDLA_JOB_OK);
}

TEST(Interrupts, SpuriousBitsEndNothing) {
  Rig rig;
  Program program(rig.hw, {{.ticks = 10}, {}, {.waits = {1}}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  rig.device.tick();
  // No layer is in CDP or PDP, and SDP's second layer cannot end before the first.
  nvdla_engine_interrupt(&rig.engine, kCdp0 | kPdp1);
  EXPECT_EQ(rig.engine.debug.spurious, 2u);
  nvdla_engine_interrupt(&rig.engine, kSdp1);
  EXPECT_EQ(rig.engine.ended, 0u);
  EXPECT_EQ(rig.engine.head, 0u);
  nvdla_engine_interrupt(&rig.engine, 0);
  expect_ok(rig, program);
  EXPECT_EQ(rig.engine.debug.spurious, 3u);
}

TEST(Interrupts, NothingIsTakenFromBeforeTheJob) {
  Rig rig;
  Program program(rig.hw, {{.ticks = 5}});
  ASSERT_EQ(rig.start(), 0);
  nvdla_engine_interrupt(&rig.engine, kSdp0);
  EXPECT_EQ(rig.engine.debug.spurious, 1u);
  rig.device.raise(kSdp0);
  ASSERT_EQ(rig.submit(program), 0);
  EXPECT_EQ(rig.engine.debug.spurious, 2u);
  EXPECT_FALSE(rig.device.line());
  expect_ok(rig, program);
}

// PDP's bit of a fused layer while SDP is not through with it, nor with the layer before.
TEST(Interrupts, ASpuriousBitBehindAFusedLayer) {
  Rig rig;
  Program program(rig.hw, {{.kind = NVDLA_LAYER_SDP, .ticks = 10},
                           {.kind = NVDLA_LAYER_SDP_PDP, .ticks = 10},
                           {.waits = {1}}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  rig.device.tick();
  nvdla_engine_interrupt(&rig.engine, kPdp1 >> 1);
  EXPECT_EQ(rig.engine.ended, 0u);
  EXPECT_EQ(rig.engine.debug.spurious, 1u);
  expect_ok(rig, program);
}

// A bit that is delivered twice ends one layer, not also the one behind or the next in the group.
TEST(Interrupts, ADoubledBitEndsOneLayer) {
  Rig rig;
  Program program(rig.hw, {{}, {.ticks = 20}, {}, {.waits = {2}}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  while (!rig.device.line()) rig.device.tick();
  const u32 bits = nvdla_engine_read_irq(&rig.engine);
  nvdla_engine_interrupt(&rig.engine, bits);
  ASSERT_EQ(rig.engine.head, 1u);
  ASSERT_TRUE(rig.device.enabled(NVDLA_UNIT_SDP, 0)) << "the third layer is in the group";
  nvdla_engine_interrupt(&rig.engine, bits);
  EXPECT_EQ(rig.engine.head, 1u);
  EXPECT_EQ(rig.engine.ended, 0u);
  expect_ok(rig, program);
  EXPECT_GT(rig.engine.debug.spurious, 0u);
}

TEST(Interrupts, TwoCompletionsInOne) {
  Rig rig;
  Program program(rig.hw, {{}, {}, {.waits = {0, 1}}, {}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  while ((rig.device.status() & (kSdp0 | kSdp1)) != (kSdp0 | kSdp1)) rig.device.tick();
  rig.interrupt();
  EXPECT_EQ(rig.engine.head, 2u);
  expect_ok(rig, program);
}

// CDMA and CACC raise nothing: the layer ends, and their groups are asked before they are written.
TEST(Interrupts, UnseenSideBitsMakeTheNextOneAsk) {
  Rig rig;
  Program program(rig.hw, {{.silent = kSideUnits}, {}, {}, {}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  expect_ok(rig, program);
  EXPECT_EQ(rig.engine.debug.unsettled, 2u);
}

// The handler saw the last bit alone: those that came before it are found when the layer ends, and
// are this layer's, not the next one's in the group.
TEST(Interrupts, SideBitsAreCollectedWhenTheLayerEnds) {
  Rig rig;
  Program program(rig.hw, {{}, {}, {}, {}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  while (!rig.device.line()) rig.device.tick();
  rig.device.write(kBases[0][NVDLA_UNIT_GLB] + NVDLA_GLB_S_INTR_STATUS, kSdp0);
  nvdla_engine_interrupt(&rig.engine, kSdp0);
  EXPECT_EQ(rig.engine.head, 1u);
  EXPECT_EQ(rig.engine.inflight[2].seen, 0u);
  EXPECT_EQ(rig.device.status(), 0u);
  expect_ok(rig, program);
  EXPECT_EQ(rig.engine.debug.unsettled, 0u);
  EXPECT_EQ(rig.engine.debug.spurious, 0u);
}

// What is found on that occasion may end an older layer.
TEST(Interrupts, WhatComesWithSideBitsIsNotLost) {
  Rig rig;
  Program program(rig.hw, {{.kind = NVDLA_LAYER_CDP}, {}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  for (unsigned i = 0; i < 20; ++i) rig.device.tick();
  ASSERT_EQ(rig.device.status(), kConv0 | kSdp0 | kCdp0);
  rig.device.write(kBases[0][NVDLA_UNIT_GLB] + NVDLA_GLB_S_INTR_STATUS, kSdp0);
  nvdla_engine_interrupt(&rig.engine, kSdp0);
  EXPECT_EQ(rig.engine.debug.spurious, 0u);
  ASSERT_EQ(nvdla_engine_done(&rig.engine), &program.job());
  EXPECT_EQ(program.job().result, NVDLA_JOB_OK);
}

// Where all were seen nothing is asked.
TEST(Interrupts, SideBitsThatWereSeenAreNotLookedFor) {
  Rig rig;
  Program program(rig.hw, {{}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  while (!rig.device.line()) rig.device.tick();
  const u32 bits = nvdla_engine_read_irq(&rig.engine);
  ASSERT_EQ(bits, kConv0 | kSdp0);
  rig.device.reads.clear();
  nvdla_engine_interrupt(&rig.engine, bits);
  EXPECT_TRUE(rig.device.reads.empty());
  EXPECT_EQ(rig.engine.unsettled[0], 0u);
  EXPECT_EQ(rig.engine.unsettled[1], 0u);
  expect_ok(rig, program);
}

// CDMA is still enabled: writes to its group would be dropped, so it gets none.
TEST(Interrupts, AnUnsettledUnitThatStaysBusyIsAHang) {
  Rig rig;
  constexpr std::uint32_t kCdma = unit_bit(NVDLA_UNIT_CDMA);
  Program program(rig.hw, {{.silent = kCdma, .lingering = kCdma, .looks = kNever}, {}, {}, {}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  nvdla_job* job = rig.run(2000);
  ASSERT_NE(job, nullptr);
  EXPECT_EQ(job->result, NVDLA_JOB_HANG);
  EXPECT_EQ(job->layer, 2u);
  EXPECT_EQ(rig.device.violations, std::vector<std::string>{});
}

// A bit of CDMA that comes after its layer ended is nobody's.
TEST(Interrupts, AStaleSideBitIsNotTheNextLayers) {
  Rig rig;
  Program program(rig.hw, {{.ticks = 2}, {.waits = {0}, .ticks = 20}, {.waits = {1}}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  while (!rig.device.line()) rig.device.tick();
  rig.interrupt();
  ASSERT_EQ(rig.engine.head, 1u);
  nvdla_engine_interrupt(&rig.engine, kConv0);
  EXPECT_EQ(rig.engine.debug.spurious, 3u);
  EXPECT_EQ(rig.engine.inflight[2].seen, 0u);
  expect_ok(rig, program);
}

// Registers that hold what they should are not written again.
TEST(Interrupts, MaskAndPointersAreWrittenWhenTheyChange) {
  Rig rig;
  Program program(rig.hw, {{}, {.waits = {0}}, {.waits = {1}}});
  ASSERT_EQ(rig.start(), 0);
  rig.device.writes.clear();
  ASSERT_EQ(rig.submit(program), 0);
  expect_ok(rig, program);
  std::size_t masks = 0, pointers = 0;
  for (const auto& write : rig.device.writes) {
    masks += write.offset == kBases[0][NVDLA_UNIT_GLB] + NVDLA_GLB_S_INTR_MASK;
    pointers += write.offset == kBases[0][NVDLA_UNIT_CSC] + NVDLA_REG_S_POINTER;
  }
  EXPECT_EQ(masks, 0u);
  // When the second is programmed and when the third is: each was enabled before the next.
  EXPECT_EQ(pointers, 2u);
}

TEST(ReadIrq, OneLookIsEnoughForBitsThatEndNothing) {
  Rig rig;
  ASSERT_EQ(rig.start(), 0);
  rig.device.raise(kConv0);
  rig.device.reads.clear();
  EXPECT_EQ(nvdla_engine_read_irq(&rig.engine), kConv0);
  EXPECT_EQ(rig.device.reads.size(), 1u);
}

TEST(ReadIrq, NothingIsNotOurs) {
  Rig rig;
  ASSERT_EQ(rig.start(), 0);
  rig.device.writes.clear();
  EXPECT_EQ(nvdla_engine_read_irq(&rig.engine), 0u);
  EXPECT_TRUE(rig.device.writes.empty());
}

TEST(ReadIrq, ClearsWhatItReturnsAndReadsAgain) {
  Rig rig;
  ASSERT_EQ(rig.start(), 0);
  rig.device.raise(kSdp0 | kConv0);
  int more = 2;
  rig.device.on_write = [&](u32 offset, u32) {
    // Another unit ends between read and clear.
    if (offset == kBases[0][NVDLA_UNIT_GLB] + NVDLA_GLB_S_INTR_STATUS && more-- > 0)
      rig.device.raise(kCdp0 << (more ? 0 : 1));
  };
  EXPECT_EQ(nvdla_engine_read_irq(&rig.engine), kSdp0 | kConv0 | kCdp0 | kCdp0 << 1);
  EXPECT_EQ(rig.device.status(), 0u);
}

TEST(ReadIrq, GivesUpAfterSixteenRounds) {
  Rig rig;
  ASSERT_EQ(rig.start(), 0);
  rig.device.raise(kSdp0);
  unsigned clears = 0;
  nvdla_hw_ops ops = rig.ops;
  ops.reg_read = [](void*, u32) -> u32 { return kSdp0; };
  nvdla_engine engine;
  nvdla_engine_init(&engine, &rig.hw, &ops, &rig.device);
  rig.device.on_write = [&](u32, u32) { ++clears; };
  EXPECT_EQ(nvdla_engine_read_irq(&engine), kSdp0);
  EXPECT_EQ(clears, 16u);
}

TEST(ReadIrq, ReservedBitsMeanGone) {
  for (u32 bit = 0; bit < 32; ++bit) {
    Rig rig;
    ASSERT_EQ(rig.start(), 0);
    rig.device.raise(1u << bit);
    const bool reserved = !(NVDLA_IRQ_ALL >> bit & 1);
    EXPECT_EQ(nvdla_engine_read_irq(&rig.engine), reserved ? NVDLA_IRQ_GONE : 1u << bit);
  }
}

}  // namespace
}  // namespace nvdla::test
