// SPDX-License-Identifier: MIT
//
// BDMA: what it copies and touches, its queue and its two groups, and the ways to hang it.
#include <gtest/gtest.h>

#include "common/property.hpp"
#include "common/share.hpp"
#include "common/unit_rig.hpp"

namespace nvdla::test {
namespace {

constexpr std::uint32_t kIdle = 0x100, kBusy0 = 0x200, kBusy1 = 0x400;
constexpr std::uint32_t kDone0 = 1u << 6, kDone1 = 1u << 7;

struct Copy {
  Cube from{0x8000'0000, 64, 1024}, to{0x8200'0000, 64, 1024};
  unsigned atoms = 1, lines = 1, surfaces = 1;
};

void push_copy(const Copy& copy, Registers& regs) {
  regs.write("BDMA.CFG_SRC_ADDR_LOW", static_cast<std::uint32_t>(copy.from.base));
  regs.write("BDMA.CFG_SRC_ADDR_HIGH", static_cast<std::uint32_t>(copy.from.base >> 32));
  regs.write("BDMA.CFG_DST_ADDR_LOW", static_cast<std::uint32_t>(copy.to.base));
  regs.write("BDMA.CFG_DST_ADDR_HIGH", static_cast<std::uint32_t>(copy.to.base >> 32));
  regs.write("BDMA.CFG_LINE", copy.atoms - 1);
  regs.write("BDMA.CFG_CMD", 3);
  regs.write("BDMA.CFG_LINE_REPEAT", copy.lines - 1);
  regs.write("BDMA.CFG_SRC_LINE", static_cast<std::uint32_t>(copy.from.line));
  regs.write("BDMA.CFG_DST_LINE", static_cast<std::uint32_t>(copy.to.line));
  regs.write("BDMA.CFG_SURF_REPEAT", copy.surfaces - 1);
  regs.write("BDMA.CFG_SRC_SURF", static_cast<std::uint32_t>(copy.from.surface));
  regs.write("BDMA.CFG_DST_SURF", static_cast<std::uint32_t>(copy.to.surface));
  regs.write("BDMA.CFG_OP", 1);
}

std::string describe(const Copy& copy) {
  const auto stride = [](std::uint64_t bytes) { return static_cast<std::int64_t>(bytes); };
  return "BDMA" +
         numbers({copy.atoms, copy.lines, copy.surfaces, stride(copy.from.line),
                  stride(copy.from.surface), stride(copy.to.line), stride(copy.to.surface)});
}

class Bdma : public testing::Test {
 protected:
  void push(const Copy& copy) { push_copy(copy, regs); }
  void launch(unsigned group) {
    regs.write(group == 0 ? "BDMA.CFG_LAUNCH0" : "BDMA.CFG_LAUNCH1", 1);
  }
  std::uint32_t status() { return regs.read("BDMA.STATUS"); }
  std::uint32_t interrupts() { return regs.read("GLB.S_INTR_STATUS"); }

  UnitRig rig{*nvdla_hw_find("nv_full")};
  Registers& regs = rig.regs;
};

TEST_F(Bdma, CopiesRectanglesAndTouchesNothingElse) {
  const unsigned drawn = for_all(share(1000), [](Random& random) {
    UnitRig fresh{*nvdla_hw_find("nv_full")};
    Copy copy;
    copy.atoms = static_cast<unsigned>(pick(random, 1, 5));
    copy.lines = static_cast<unsigned>(pick(random, 1, 4));
    copy.surfaces = static_cast<unsigned>(pick(random, 1, 3));
    const std::uint64_t bytes = copy.atoms * 32;
    // A stride of 0 reads the same line again.
    copy.from.line =
        one_in(random, 4) ? 0 : bytes + 32 * static_cast<std::uint64_t>(pick(random, 0, 3));
    copy.from.surface = one_in(random, 4) ? 0 : 1024;
    copy.to.line = bytes + 32 * static_cast<std::uint64_t>(pick(random, 0, 9));
    copy.to.surface =
        copy.to.line * copy.lines + 32 * static_cast<std::uint64_t>(pick(random, 0, 2));
    fresh.randomise(copy.from.base, 8192, random);
    fresh.memory.fill(model::Ram::kPrimary, copy.to.base, 16384, std::byte{kUntouched});
    std::map<std::uint64_t, std::uint8_t> expected;
    Bytes reads, writes;
    for (unsigned s = 0; s < copy.surfaces; ++s)
      for (unsigned y = 0; y < copy.lines; ++y) {
        const std::uint64_t from = copy.from.base + s * copy.from.surface + y * copy.from.line;
        const std::uint64_t to = copy.to.base + s * copy.to.surface + y * copy.to.line;
        reads.add(from, bytes);
        writes.add(to, bytes);
        for (std::uint64_t i = 0; i < bytes; ++i) expected[to + i] = fresh.byte(from + i);
      }
    push_copy(copy, fresh.regs);
    fresh.regs.write("BDMA.CFG_LAUNCH1", 1);
    fresh.run();
    std::string wrong = fresh.blocked();
    if (wrong.empty()) wrong = fresh.compare(copy.to.base, 16384, expected);
    if (wrong.empty())
      wrong =
          fresh.compare_registers({{"GLB.S_INTR_STATUS", kDone1}, {"BDMA.STATUS", 20u | kIdle}});
    if (wrong.empty()) wrong = fresh.compare_access(reads, writes);
    return with_name(describe(copy), wrong);
  });
  count_layers("BDMA", drawn);
}

// What transfers leave of open memory, and what they announce, against the line by line copy of a
// memory that sees each access: apart, packed or not, overlapping, with lines that are read again.
TEST_F(Bdma, CopiesOpenMemoryAsLineByLine) {
  const unsigned drawn = for_all(share(600), [](Random& random) {
    const auto any = [&](int low, int high) {
      return static_cast<std::uint64_t>(pick(random, low, high));
    };
    Copy copy;
    copy.atoms = static_cast<unsigned>(any(1, 9));
    copy.lines = static_cast<unsigned>(any(1, 9));
    copy.surfaces = static_cast<unsigned>(any(1, 4));
    const std::uint64_t bytes = copy.atoms * 32;
    for (Cube* cube : {&copy.from, &copy.to}) {
      cube->line = one_in(random, 3) ? bytes : 32 * any(0, 12);
      cube->surface = one_in(random, 3) ? cube->line * copy.lines : 32 * any(0, 120);
    }
    copy.to.base = one_in(random, 2) ? 0x8200'0000 : copy.from.base + 32 * any(0, 200);
    const auto seed = random();
    std::vector<std::byte> left[3];
    Bytes announced[3];
    unsigned which = 0;
    for (const auto& [open, threads] : {std::pair(false, 1u), {true, 1u}, {true, 3u}}) {
      UnitRig one{*nvdla_hw_find("nv_full"), {.threads = threads, .worth_sharing = 0}};
      one.recorder.open = open;
      Random same(seed);
      one.randomise(copy.from.base, 1 << 16, same);
      push_copy(copy, one.regs);
      one.regs.write("BDMA.CFG_LAUNCH0", 1);
      one.run();
      if (const std::string blocked = one.blocked(); !blocked.empty())
        return with_name(describe(copy), blocked);
      left[which] = one.memory.read(model::Ram::kPrimary, copy.from.base, 1 << 16);
      const auto to = one.memory.read(model::Ram::kPrimary, 0x8200'0000, 1 << 16);
      left[which].insert(left[which].end(), to.begin(), to.end());
      announced[which++] = one.recorder.announced;
    }
    std::string wrong;
    for (unsigned i = 1; i < 3; ++i) {
      if (left[i] != left[0]) wrong = "it copies other bytes";
      if (announced[i].merged() != announced[0].merged()) wrong = "it announces other bytes";
    }
    return with_name(describe(copy), wrong);
  });
  count_layers("BDMA in open memory", drawn);
}

// Larger than what the owner of the device waits for at once.
TEST_F(Bdma, MovesInSteps) {
  rig.recorder.open = true;
  push({.from = {0x8000'0000, 0, 0}, .to = {0x8200'0000, 0, 0}, .atoms = 1024, .lines = 3000});
  launch(0);
  ASSERT_TRUE(rig.device.step());
  EXPECT_EQ(interrupts(), 0u);
  EXPECT_EQ(status(), 19u | kBusy0);
  rig.run();
  EXPECT_EQ(interrupts(), kDone0);
  EXPECT_EQ(status(), 20u | kIdle);
}

TEST_F(Bdma, CountsFreeSlots) {
  EXPECT_EQ(status(), 20u | kIdle);
  for (unsigned i = 1; i <= 20; ++i) {
    push({});
    EXPECT_EQ(status() & 0xff, 20 - i);
  }
  EXPECT_TRUE(rig.device.idle());
  EXPECT_EQ(regs.read("BDMA.CFG_OP"), 1u);  // reads back what was written
  launch(0);
  EXPECT_EQ(regs.read("BDMA.CFG_LAUNCH0"), 1u);
  EXPECT_EQ(status(), kBusy0);
  EXPECT_EQ(interrupts(), 0u);
  ASSERT_TRUE(rig.device.step());  // one transfer
  EXPECT_EQ(status(), 1u | kBusy0);
  rig.run();
  EXPECT_EQ(status(), 20u | kIdle);
  EXPECT_EQ(interrupts(), kDone0);
}

TEST_F(Bdma, PushTakesTheRegistersAsTheyAre) {
  Random random(1);
  rig.randomise(0x8000'0000, 4096, random);
  push({.from = {0x8000'0000, 0, 0}, .to = {0x8200'0000, 0, 0}});
  push({.from = {0x8000'0400, 0, 0}, .to = {0x8200'0020, 0, 0}});
  launch(0);
  rig.run();
  for (unsigned i = 0; i < 32; ++i) {
    EXPECT_EQ(rig.byte(0x8200'0000 + i), rig.byte(0x8000'0000 + i));
    EXPECT_EQ(rig.byte(0x8200'0020 + i), rig.byte(0x8000'0400 + i));
  }
}

TEST_F(Bdma, SecondGroupWaitsForTheFirst) {
  push({});
  launch(0);
  push({});
  launch(1);
  EXPECT_EQ(status(), 18u | kBusy0 | kBusy1);
  while (interrupts() == 0) ASSERT_TRUE(rig.device.step());
  EXPECT_EQ(interrupts(), kDone0);
  // The busy bit falls with the interrupt, not before.
  EXPECT_EQ(status(), 19u | kBusy1);
  rig.run();
  EXPECT_EQ(interrupts(), kDone0 | kDone1);
  EXPECT_EQ(status(), 20u | kIdle);
}

TEST_F(Bdma, EmptyLaunchHangs) {
  launch(1);
  rig.run();
  EXPECT_EQ(status(), 20u | kBusy1);
  EXPECT_EQ(interrupts(), 0u);
  EXPECT_NE(rig.blocked().find("without a pushed transfer"), std::string::npos);
  ASSERT_EQ(rig.device.blocked().size(), 1u);
  EXPECT_EQ(rig.device.blocked()[0].unit, static_cast<std::uint32_t>(NVDLA_UNIT_BDMA));
  EXPECT_EQ(rig.device.blocked()[0].group, 1u);
  // Only reset helps.
  push({});
  launch(0);
  rig.run();
  EXPECT_EQ(interrupts(), 0u);
  EXPECT_EQ(rig.device.blocked().size(), 2u);
  rig.device.reset();
  EXPECT_EQ(status(), 20u | kIdle);
  EXPECT_TRUE(rig.device.idle());
}

TEST_F(Bdma, LatePushJoinsTheWaitingGroup) {
  push({});
  launch(0);
  push({});
  launch(1);
  push({});  // group 1 waits: it takes this one too
  rig.run();
  EXPECT_EQ(interrupts(), kDone0 | kDone1);
  EXPECT_EQ(status(), 20u | kIdle);
  launch(0);
  rig.run();
  EXPECT_NE(rig.blocked().find("without a pushed transfer"), std::string::npos);
}

TEST_F(Bdma, LostPushHangs) {
  for (unsigned i = 0; i < 21; ++i) push({});
  EXPECT_EQ(status() & 0xff, 0u);
  launch(0);
  rig.run();
  EXPECT_EQ(interrupts(), 0u);
  EXPECT_NE(rig.blocked().find("waits for 1 more"), std::string::npos);
}

TEST_F(Bdma, WritingZeroDoesNothing) {
  regs.write("BDMA.CFG_OP", 0);
  regs.write("BDMA.CFG_LAUNCH0", 0);
  EXPECT_EQ(status(), 20u | kIdle);
}

TEST(BdmaBuilt, OnlyInTheFirstGeneration) {
  UnitRig rig(*nvdla_hw_find("nv_small"));
  rig.regs.write("BDMA.CFG_OP", 1);
  rig.regs.write("BDMA.CFG_LAUNCH0", 1);
  EXPECT_EQ(rig.regs.read("BDMA.STATUS"), 0u);
  EXPECT_TRUE(rig.device.idle());
}

}  // namespace
}  // namespace nvdla::test
