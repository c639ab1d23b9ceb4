// SPDX-License-Identifier: MIT
//
// Taking a device over, giving a job up, losing the device, and what is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "rig.hpp"

namespace nvdla::test {
namespace {

TEST(Start, BothGenerations) {
  for (std::uint32_t i = 0; i < nvdla_hw_count(); ++i) {
    Rig rig(nvdla_hw_get(i)->name);
    Program program(rig.hw, {{}, {.rdma = true}});
    ASSERT_EQ(rig.start(), 0) << rig.hw.name;
    EXPECT_EQ(rig.engine.next_group, 0u);
    EXPECT_EQ(rig.engine.producer, 0u);
    ASSERT_EQ(rig.submit(program), 0);
    nvdla_job* job = rig.run();
    ASSERT_NE(job, nullptr) << rig.hw.name;
    EXPECT_EQ(job->result, NVDLA_JOB_OK);
    EXPECT_EQ(rig.device.violations, std::vector<std::string>{});
  }
}

TEST(Start, InitTouchesNothing) {
  Rig rig;
  EXPECT_TRUE(rig.device.reads.empty());
  EXPECT_TRUE(rig.device.writes.empty());
}

// Whatever was in its memory.
TEST(Start, InitLeavesNothingToChance) {
  for (const int pattern : {0x00, 0x5a, 0xff}) {
    const nvdla_hw& hw = *nvdla_hw_find("nv_small");
    const nvdla_hw_ops ops{};
    int context = 0;
    nvdla_engine engine;
    std::memset(&engine, pattern, sizeof(engine));
    nvdla_engine_init(&engine, &hw, &ops, &context);
    EXPECT_EQ(engine.hw, &hw);
    EXPECT_EQ(engine.ops, &ops);
    EXPECT_EQ(engine.context, &context);
    EXPECT_TRUE(std::equal(kBases[NVDLA_REGMAP_NV_SMALL],
                           kBases[NVDLA_REGMAP_NV_SMALL] + NVDLA_UNIT_COUNT, engine.bases));
    EXPECT_EQ(engine.job, nullptr);
    EXPECT_EQ(engine.ended_job, nullptr);
    EXPECT_EQ(engine.next_deadline, NVDLA_NO_DEADLINE);
    EXPECT_EQ(engine.event_ns, 0u);
    EXPECT_EQ(engine.clock_khz, 0u);
    EXPECT_EQ(engine.cycle_ns, 0u);
    EXPECT_EQ(engine.bits, 0u);
    EXPECT_FALSE(engine.started);
    for (const u32 mask : {engine.head, engine.taken, engine.enabled, engine.ended, engine.late})
      EXPECT_EQ(mask, 0u);
    EXPECT_EQ(engine.stop, NVDLA_NO_STOP);
    for (const u32 mask : {engine.next_group, engine.busy[0], engine.busy[1], engine.unsettled[0],
                           engine.unsettled[1], engine.producer, engine.intr_mask})
      EXPECT_EQ(mask, 0u);
    for (const nvdla_lut_owner& owner : engine.luts) EXPECT_EQ(owner.serial, 0u);
    for (const u32 count :
         {engine.debug.spurious, engine.debug.lost, engine.debug.unsettled, engine.debug.lut_loads})
      EXPECT_EQ(count, 0u);
  }
}

TEST(Start, ClearsWhatWasPendingBeforeItUnmasks) {
  Rig rig;
  rig.device.raise(NVDLA_IRQ_ALL);
  bool driven = false;
  rig.device.on_write = [&](u32 offset, u32 value) {
    if (offset == kBases[0][NVDLA_UNIT_GLB] + NVDLA_GLB_S_INTR_MASK)
      driven = driven || (rig.device.status() & ~value);
  };
  ASSERT_EQ(rig.start(), 0);
  EXPECT_FALSE(driven);
  EXPECT_EQ(rig.device.status(), 0u);
  EXPECT_EQ(rig.device.mask(), 0x3f0000u);
}

TEST(Start, RefusesAnotherVersion) {
  Rig rig;
  rig.device.version = 0x10001;
  EXPECT_EQ(rig.start(), -NVDLA_START_VERSION);
  EXPECT_TRUE(rig.device.writes.empty());
}

TEST(Start, RefusesABusyUnit) {
  for (std::uint32_t unit = 0; unit < NVDLA_UNIT_COUNT; ++unit)
    for (std::uint32_t group : {0u, 1u}) {
      if (kOpEnables[unit] == NVDLA_NO_REG && unit != NVDLA_UNIT_BDMA) continue;
      Rig rig;
      Program program(rig.hw, {{}});
      rig.device.make_busy(unit, group);
      EXPECT_EQ(rig.start(), -NVDLA_START_BUSY) << unit << ", group " << group;
      EXPECT_TRUE(rig.device.writes.empty());
      EXPECT_EQ(nvdla_engine_submit(&rig.engine, &program.job()), -NVDLA_SUBMIT_STOPPED);
    }
}

// A device that ran and cannot be taken over again runs no more.
TEST(Start, ThatFailsStopsTheEngine) {
  Rig rig;
  Program program(rig.hw, {{}});
  ASSERT_EQ(rig.start(), 0);
  rig.device.version = 0x10001;
  EXPECT_EQ(rig.start(), -NVDLA_START_VERSION);
  EXPECT_EQ(rig.submit(program), -NVDLA_SUBMIT_STOPPED);
}

// What was counted is not forgotten.
TEST(Start, KeepsItsCounts) {
  Rig rig;
  nvdla_engine_interrupt(&rig.engine, 3);
  rig.engine.debug.lost = 5;
  ASSERT_EQ(rig.start(), 0);
  EXPECT_EQ(rig.engine.debug.spurious, 2u);
  EXPECT_EQ(rig.engine.debug.lost, 5u);
}

TEST(Start, AsksOnlyUnitsThatAreBuilt) {
  Rig rig("nv_small");
  rig.device.make_busy(NVDLA_UNIT_RBK, 0);
  ASSERT_EQ(rig.start(), 0);
  for (std::uint32_t offset : rig.device.reads) {
    EXPECT_NE(offset & ~0xfffu, kBases[1][NVDLA_UNIT_BDMA]);
    EXPECT_NE(offset & ~0xfffu, kBases[1][NVDLA_UNIT_RBK]);
  }
}

TEST(Start, AsksEachUnitByItsOwnFeature) {
  struct Case {
    std::uint32_t feature;
    std::uint32_t unit;
  };
  const Case cases[] = {{NVDLA_HW_BDMA, NVDLA_UNIT_BDMA}, {NVDLA_HW_RUBIK, NVDLA_UNIT_RBK}};
  for (const Case& lacking : cases) {
    nvdla_hw hw = hw_of("nv_full", false);
    hw.features &= ~lacking.feature;
    Rig rig(hw);
    ASSERT_EQ(rig.start(), 0);
    for (const Case& c : cases) {
      const bool asked =
          std::any_of(rig.device.reads.begin(), rig.device.reads.end(),
                      [&](u32 offset) { return (offset & ~0xfffu) == kBases[0][c.unit]; });
      EXPECT_EQ(asked, c.unit != lacking.unit) << c.unit << " without " << lacking.unit;
    }
  }
}

TEST(Start, RefusesAFilledQueue) {
  Rig rig;
  rig.device.push_bdma();
  EXPECT_EQ(rig.start(), -NVDLA_START_BUSY);
}

TEST(Start, WaitsForTheFlushButNotForEver) {
  Rig rig;
  rig.device.flush_reads = 50;
  EXPECT_EQ(rig.start(), 0);
  Rig stuck;
  stuck.device.flush_reads = ~0u;
  const std::uint64_t begin = stuck.device.now;
  EXPECT_EQ(stuck.start(), -NVDLA_START_FLUSH);
  EXPECT_GE(stuck.device.now - begin, NVDLA_POLL_NS);
  EXPECT_LT(stuck.device.now - begin, 2 * NVDLA_POLL_NS);
}

// The device disappears before the n-th read, for each n: no call takes it for anything else.
TEST(Gone, AtEachReadOfStart) {
  unsigned reads = 0;
  {
    Rig rig;
    ASSERT_EQ(rig.start(), 0);
    reads = static_cast<unsigned>(rig.device.reads.size());
  }
  for (unsigned n = 0; n < reads; ++n) {
    static unsigned left;
    left = n;
    Rig rig;
    rig.ops.reg_read = [](void* context, u32 offset) {
      auto* device = static_cast<MockDevice*>(context);
      if (left-- == 0) device->gone = true;
      return device->read(offset);
    };
    EXPECT_EQ(rig.start(), -NVDLA_START_GONE) << "read " << n;
  }
}

// Or answers a single one with all ones: no register of it is believed, nor asked from then on.
TEST(Gone, AtAnyOneReadOfStart) {
  std::size_t reads = 0;
  {
    Rig rig;
    ASSERT_EQ(rig.start(), 0);
    reads = rig.device.reads.size();
  }
  for (std::size_t n = 1; n <= reads; ++n) {
    static std::size_t bad;
    bad = n;
    Rig rig;
    rig.ops.reg_read = [](void* context, u32 offset) {
      auto* device = static_cast<MockDevice*>(context);
      const u32 value = device->read(offset);
      return device->reads.size() == bad ? kAllOnes : value;
    };
    EXPECT_EQ(rig.start(), -NVDLA_START_GONE) << "read " << n;
    EXPECT_EQ(rig.device.reads.size(), n);
    EXPECT_FALSE(rig.engine.started);
  }
}

TEST(Gone, AtSubmit) {
  Rig rig;
  Program program(rig.hw, {{}});
  ASSERT_EQ(rig.start(), 0);
  rig.device.gone = true;
  ASSERT_EQ(rig.submit(program), 0);
  nvdla_job* job = nvdla_engine_done(&rig.engine);
  ASSERT_NE(job, nullptr);
  EXPECT_EQ(job->result, NVDLA_JOB_GONE);
  EXPECT_EQ(job->layer, 0u);
  EXPECT_EQ(rig.submit(program), -NVDLA_SUBMIT_STOPPED);
}

TEST(Gone, AtInterrupt) {
  Rig rig;
  Program program(rig.hw, {{}, {}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  rig.device.gone = true;
  const u32 bits = nvdla_engine_read_irq(&rig.engine);
  EXPECT_EQ(bits, NVDLA_IRQ_GONE);
  nvdla_engine_interrupt(&rig.engine, bits);
  ASSERT_NE(nvdla_engine_done(&rig.engine), nullptr);
  EXPECT_EQ(program.job().result, NVDLA_JOB_GONE);
  nvdla_engine_interrupt(&rig.engine, bits);
  EXPECT_EQ(nvdla_engine_done(&rig.engine), nullptr);
  EXPECT_EQ(rig.engine.debug.spurious, 0u) << "ones that are no bits";
}

TEST(Gone, AtPoll) {
  Rig rig;
  Program program(rig.hw, {{.hangs = true}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  rig.device.gone = true;
  rig.expire();
  ASSERT_NE(nvdla_engine_done(&rig.engine), nullptr);
  EXPECT_EQ(program.job().result, NVDLA_JOB_GONE);
  EXPECT_EQ(rig.engine.debug.lost, 0u) << "nothing was found";
}

// Between a bit and the look for those that belong to it.
TEST(Gone, WhileALayerEnds) {
  Rig rig;
  Program program(rig.hw, {{.silent = kSideUnits}, {}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  while (!rig.device.line()) rig.device.tick();
  const u32 bits = nvdla_engine_read_irq(&rig.engine);
  rig.device.gone = true;
  nvdla_engine_interrupt(&rig.engine, bits);
  ASSERT_NE(nvdla_engine_done(&rig.engine), nullptr);
  EXPECT_EQ(program.job().result, NVDLA_JOB_GONE);
}

TEST(Gone, WhileAUnitSettles) {
  Rig rig;
  Program program(rig.hw, {{.silent = kSideUnits}, {}, {}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  while (!rig.device.line()) rig.device.tick();
  rig.ops.reg_read = [](void* context, u32 offset) -> u32 {
    auto* device = static_cast<MockDevice*>(context);
    if (offset != kBases[0][NVDLA_UNIT_GLB] + NVDLA_GLB_S_INTR_STATUS) device->gone = true;
    return device->read(offset);
  };
  rig.interrupt();
  ASSERT_NE(nvdla_engine_done(&rig.engine), nullptr);
  EXPECT_EQ(program.job().result, NVDLA_JOB_GONE);
}

TEST(Submit, OneJobAtATime) {
  Rig rig;
  Program first(rig.hw, {{}}), second(rig.hw, {{}});
  EXPECT_EQ(rig.submit(first), -NVDLA_SUBMIT_STOPPED);
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(first), 0);
  EXPECT_EQ(nvdla_engine_submit(&rig.engine, &second.job()), -NVDLA_SUBMIT_BUSY);
  EXPECT_EQ(rig.start(), -NVDLA_START_BUSY);
  while (rig.engine.job) {
    rig.device.tick();
    rig.interrupt();
  }
  // Ended, but nobody has taken it.
  EXPECT_EQ(nvdla_engine_submit(&rig.engine, &second.job()), -NVDLA_SUBMIT_BUSY);
  EXPECT_EQ(nvdla_engine_done(&rig.engine), &first.job());
  EXPECT_EQ(nvdla_engine_submit(&rig.engine, &second.job()), 0);
}

// The second layer; of its transfers only the number is looked at.
void make_bdma(Program& program, std::uint32_t transfers) {
  nvdla_layer_image& image = program.image(1);
  image.kind = NVDLA_LAYER_BDMA;
  image.units = 1u << NVDLA_UNIT_BDMA;
  image.num_transfers = transfers;
}

// As many waits and transfers as there is room for.
TEST(Submit, TakesTheMostThatTheCompilerMakes) {
  Rig rig;
  std::vector<LayerSpec> specs(NVDLA_MAX_WAITS + 2);
  for (std::uint32_t i = 0; i + 1 < specs.size(); ++i) specs.back().waits.push_back(i);
  Program waits(rig.hw, specs);
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(waits), 0);
  expect_ok(rig, waits);
  Program copies(rig.hw, {{}, {.waits = {0}}});
  std::vector<nvdla_transfer> transfers(NVDLA_MAX_LAYER_TRANSFERS, nvdla_transfer{});
  copies.get().transfers = transfers.data();
  copies.get().num_transfers = NVDLA_MAX_LAYER_TRANSFERS;
  make_bdma(copies, NVDLA_MAX_LAYER_TRANSFERS);
  EXPECT_EQ(rig.submit(copies), 0);
}

TEST(Submit, RefusesWhatTheCompilerDoesNotMake) {
  struct Case {
    const char* what;
    void (*spoil)(Program&);
  };
  const Case cases[] = {
      {"serial", [](Program& p) { p.job().serial = 0; }},
      {"another configuration", [](Program& p) { p.get().hw = nvdla_hw_find("nv_small"); }},
      {"no room for statistics", [](Program& p) { p.get().flags = NVDLA_PROGRAM_STATS; }},
      {"kind 0", [](Program& p) { p.image(1).kind = 0; }},
      {"kind 0 of no units", [](Program& p) { p.image(1).kind = p.image(1).units = 0; }},
      {"kind 9", [](Program& p) { p.image(1).kind = 9; }},
      {"no kind at all", [](Program& p) { p.image(1).kind = ~0u; }},
      {"no CSC", [](Program& p) { p.image(1).units &= ~(1u << NVDLA_UNIT_CSC); }},
      {"a unit too many", [](Program& p) { p.image(1).units |= 1u << NVDLA_UNIT_CDP; }},
      {"waits for itself", [](Program& p) { p.image(1).num_waits = p.image(1).waits[0] = 1; }},
      {"waits for later", [](Program& p) { p.image(0).num_waits = 1, p.image(0).waits[0] = 1; }},
      {"too many waits", [](Program& p) { p.image(1).num_waits = NVDLA_MAX_WAITS + 2; }},
      {"no such LUT", [](Program& p) { p.image(1).lut = 1; }},
      {"writes beyond", [](Program& p) { p.image(1).num_writes += 1; }},
      {"writes far beyond", [](Program& p) { p.image(1).first_write = ~0u; }},
      {"relocations beyond", [](Program& p) { p.image(1).num_relocs += 1; }},
      {"no transfers",
       [](Program& p) {
         p.image(1).kind = NVDLA_LAYER_BDMA;
         p.image(1).units = 1u << NVDLA_UNIT_BDMA;
       }},
      {"a transfer too many",
       [](Program& p) {
         make_bdma(p, NVDLA_MAX_LAYER_TRANSFERS + 1);
         p.get().num_transfers = 100;
       }},
      {"transfers beyond", [](Program& p) { make_bdma(p, 1), p.get().num_transfers = 0; }},
  };
  for (const Case& c : cases) {
    Rig rig;
    Program program(rig.hw, {{}, {}});
    ASSERT_EQ(rig.start(), 0);
    EXPECT_EQ(nvdla_engine_check(&rig.engine, &program.get()), 0);
    c.spoil(program);
    rig.device.writes.clear();
    EXPECT_EQ(rig.submit(program), -NVDLA_SUBMIT_INVALID) << c.what;
    EXPECT_TRUE(rig.device.writes.empty()) << c.what;
    EXPECT_EQ(nvdla_engine_done(&rig.engine), nullptr);
  }
}

// Some names are of one length.
TEST(Submit, RefusesAProgramOfAnyOtherConfiguration) {
  for (std::uint32_t i = 0; i < nvdla_hw_count(); ++i)
    for (std::uint32_t j = 0; j < nvdla_hw_count(); ++j) {
      Rig rig(nvdla_hw_get(i)->name);
      Program program(rig.hw, {});
      nvdla_hw hw = rig.hw;
      hw.name = nvdla_hw_get(j)->name;
      program.get().hw = &hw;
      ASSERT_EQ(rig.start(), 0);
      EXPECT_EQ(rig.submit(program), i == j ? 0 : -NVDLA_SUBMIT_INVALID) << i << ", " << hw.name;
    }
}

// What was compiled for fixed logic does not go around the fault of logic that has it.
TEST(Submit, RefusesAProgramOfOtherFeatures) {
  for (const bool gated : {false, true})
    for (const bool compiled : {false, true}) {
      Rig rig("nv_small", gated);
      const nvdla_hw hw = hw_of("nv_small", compiled);
      Program program(hw, {{}});
      ASSERT_EQ(rig.start(), 0);
      EXPECT_EQ(rig.submit(program), gated == compiled ? 0 : -NVDLA_SUBMIT_INVALID)
          << gated << ", " << compiled;
    }
}

TEST(Submit, RefusesUnitsThatAreNotBuilt) {
  for (std::uint32_t kind : {NVDLA_LAYER_BDMA, NVDLA_LAYER_RUBIK}) {
    Rig rig("nv_small");
    Program program(rig.hw, {{.kind = kind}});
    ASSERT_EQ(rig.start(), 0);
    EXPECT_EQ(rig.submit(program), -NVDLA_SUBMIT_INVALID);
  }
}

// Each feature is a unit's.
TEST(Submit, RefusesTheUnitThatIsNotBuilt) {
  struct Case {
    std::uint32_t kind;
    std::uint32_t feature;
  };
  const Case cases[] = {{NVDLA_LAYER_BDMA, NVDLA_HW_BDMA}, {NVDLA_LAYER_RUBIK, NVDLA_HW_RUBIK}};
  for (const Case& layer : cases)
    for (const Case& lacking : cases) {
      nvdla_hw hw = hw_of("nv_full", false);
      hw.features &= ~lacking.feature;
      Rig rig(hw);
      Program program(rig.hw, {{.kind = layer.kind}});
      ASSERT_EQ(rig.start(), 0);
      const int refused = layer.kind == lacking.kind ? -NVDLA_SUBMIT_INVALID : 0;
      EXPECT_EQ(rig.submit(program), refused) << layer.kind << " without " << lacking.feature;
    }
}

// Of its units none may be missing, but SDP's read DMA behind a convolution, and none be added.
TEST(Submit, RefusesAnyOtherUnit) {
  for (std::uint32_t kind = NVDLA_LAYER_CONV_SDP; kind <= NVDLA_LAYER_BDMA; ++kind)
    for (std::uint32_t unit = 0; unit < 32; ++unit) {
      Rig rig;
      Program program(rig.hw, {{.kind = kind}});
      ASSERT_EQ(rig.start(), 0);
      program.image(0).units ^= unit_bit(unit);
      const bool choice = unit == NVDLA_UNIT_SDP_RDMA && kind <= NVDLA_LAYER_CONV_SDP_PDP;
      EXPECT_EQ(rig.submit(program), choice ? 0 : -NVDLA_SUBMIT_INVALID) << kind << ", " << unit;
    }
}

// Check refuses what submit refuses of the program alone, and submit of a checked job does not.
TEST(Submit, LooksAtAProgramUnlessItWasChecked) {
  Rig rig;
  Program program(rig.hw, {{}, {}});
  ASSERT_EQ(nvdla_engine_check(&rig.engine, &program.get()), 0) << "before the device starts";
  ASSERT_EQ(rig.start(), 0);
  program.image(1).units |= unit_bit(NVDLA_UNIT_CDP);
  EXPECT_EQ(nvdla_engine_check(&rig.engine, &program.get()), -NVDLA_SUBMIT_INVALID);
  EXPECT_EQ(rig.submit(program), -NVDLA_SUBMIT_INVALID);
  program.job().checked = true;
  EXPECT_EQ(rig.submit(program), 0);
}

// An image that reaches into another unit's window is stopped there, not written, checked or not.
TEST(Submit, AnImageStaysInItsUnits) {
  for (std::uint32_t offset : {kBases[0][NVDLA_UNIT_GLB], kBases[0][NVDLA_UNIT_CDP], 0x3f000u}) {
    Rig rig;
    Program program(rig.hw, {{}});
    ASSERT_EQ(rig.start(), 0);
    program.job().checked = offset != 0x3f000u;
    program.writes()[5].offset = offset;
    ASSERT_EQ(rig.submit(program), 0);
    nvdla_job* job = nvdla_engine_done(&rig.engine);
    ASSERT_NE(job, nullptr);
    EXPECT_EQ(job->result, NVDLA_JOB_BROKEN);
    EXPECT_EQ(job->layer, 0u);
    EXPECT_TRUE(rig.device.enables.empty());
    EXPECT_NE(rig.device.writes.back().offset, offset);
  }
}

TEST(Abort, CancelsAndTouchesNothing) {
  Rig rig;
  Program program(rig.hw, {{}, {}, {}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  rig.device.reads.clear();
  rig.device.writes.clear();
  nvdla_engine_abort(&rig.engine);
  EXPECT_TRUE(rig.device.reads.empty());
  EXPECT_TRUE(rig.device.writes.empty());
  nvdla_job* job = nvdla_engine_done(&rig.engine);
  ASSERT_EQ(job, &program.job());
  EXPECT_EQ(job->result, NVDLA_JOB_CANCELED);
  EXPECT_EQ(nvdla_engine_next_deadline(&rig.engine), NVDLA_NO_DEADLINE);
  // Its bits come later and mean nothing.
  for (unsigned i = 0; i < 20; ++i) rig.device.tick();
  rig.interrupt();
  EXPECT_EQ(nvdla_engine_done(&rig.engine), nullptr);
  EXPECT_EQ(rig.submit(program), -NVDLA_SUBMIT_STOPPED);
}

TEST(Abort, KeepsAResult) {
  Rig rig;
  Program program(rig.hw, {{}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  while (rig.engine.job) {
    rig.device.tick();
    rig.interrupt();
  }
  nvdla_engine_abort(&rig.engine);
  nvdla_job* job = nvdla_engine_done(&rig.engine);
  ASSERT_NE(job, nullptr);
  EXPECT_EQ(job->result, NVDLA_JOB_OK);
  nvdla_engine_abort(&rig.engine);
  EXPECT_EQ(nvdla_engine_done(&rig.engine), nullptr);
  EXPECT_EQ(rig.submit(program), -NVDLA_SUBMIT_STOPPED) << "without a job, too";
}

// After a reset the engine starts anew, from where the new pointers are.
TEST(Abort, StartsAgainAfterAReset) {
  Rig rig;
  Program program(rig.hw, {{.hangs = true}, {}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  rig.device.tick();
  nvdla_engine_abort(&rig.engine);
  ASSERT_NE(nvdla_engine_done(&rig.engine), nullptr);
  rig.device.reset();
  ASSERT_EQ(rig.device.mask(), 0u);
  ASSERT_EQ(rig.start(), 0);
  EXPECT_EQ(rig.device.mask(), 0x3f0000u);
  Program again(rig.hw, {{}, {.rdma = true}, {}});
  ASSERT_EQ(rig.submit(again), 0);
  nvdla_job* job = rig.run();
  ASSERT_NE(job, nullptr);
  EXPECT_EQ(job->result, NVDLA_JOB_OK);
  EXPECT_EQ(rig.device.violations, std::vector<std::string>{});
}

// Whatever is raised, and whatever the engine believes of the mask.
TEST(Quiesce, MasksAndClears) {
  for (const bool started : {false, true}) {
    Rig rig;
    if (started) {
      ASSERT_EQ(rig.start(), 0);
    }
    rig.device.raise(NVDLA_IRQ_ALL);
    ASSERT_TRUE(rig.device.line());
    bool driven = false;
    rig.device.on_write = [&](u32 offset, u32 value) {
      // Cleared, but not masked: it could be raised again.
      if (offset == kBases[0][NVDLA_UNIT_GLB] + NVDLA_GLB_S_INTR_STATUS)
        driven = driven || rig.device.mask() != NVDLA_IRQ_ALL || value != NVDLA_IRQ_ALL;
    };
    rig.device.reads.clear();
    rig.device.writes.clear();
    nvdla_engine_quiesce(&rig.engine);
    EXPECT_FALSE(driven);
    EXPECT_FALSE(rig.device.line());
    EXPECT_EQ(rig.device.status(), 0u);
    EXPECT_EQ(rig.device.mask(), NVDLA_IRQ_ALL);
    EXPECT_EQ(rig.device.writes.size(), 2u);
    // Writes are posted: a read is answered when they have arrived.
    EXPECT_EQ(rig.device.reads,
              std::vector<u32>{kBases[0][NVDLA_UNIT_GLB] + NVDLA_GLB_S_INTR_MASK});
  }
}

// What an aborted job left running ends without a sound; then the device can be taken over again.
TEST(Quiesce, SilencesAnAbortedJob) {
  Rig rig;
  Program program(rig.hw, {{}, {}, {.kind = NVDLA_LAYER_PDP}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  nvdla_engine_abort(&rig.engine);
  nvdla_engine_quiesce(&rig.engine);
  ASSERT_EQ(nvdla_engine_done(&rig.engine), &program.job());
  for (unsigned i = 0; i < 50; ++i) {
    rig.device.tick();
    ASSERT_FALSE(rig.device.line());
  }
  EXPECT_EQ(rig.device.ended.size(), 3u);
  EXPECT_EQ(rig.device.violations, std::vector<std::string>{});
  ASSERT_EQ(rig.start(), 0);
  EXPECT_EQ(rig.device.mask(), 0x3f0000u);
  ASSERT_EQ(rig.submit(program), 0);
  expect_ok(rig, program);
}

TEST(Quiesce, StopsTheEngine) {
  Rig rig;
  Program program(rig.hw, {{}});
  ASSERT_EQ(rig.start(), 0);
  nvdla_engine_quiesce(&rig.engine);
  EXPECT_EQ(rig.submit(program), -NVDLA_SUBMIT_STOPPED);
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  expect_ok(rig, program);
}

}  // namespace
}  // namespace nvdla::test
