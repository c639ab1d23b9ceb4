// SPDX-License-Identifier: MIT
#include "tools/replay/player.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "fake_target.hpp"
#include "model/core/register_info.hpp"
#include "tools/replay/parsers.hpp"

namespace nvdla::replay {
namespace {

constexpr auto kMap = NVDLA_REGMAP_NV_SMALL;

Script script_of(Kind kind, std::vector<Action> actions) {
  Script script;
  script.kind = kind;
  script.map = kMap;
  unsigned line = 0;
  for (Action& action : actions) script.commands.push_back({++line, std::move(action)});
  return script;
}

BlobFile blob(std::initializer_list<unsigned> bytes, std::uint64_t offset = 0) {
  Segment segment{offset, {}};
  for (unsigned byte : bytes) segment.bytes.push_back(static_cast<std::byte>(byte));
  BlobFile file;
  file.name = "out.bin";
  file.data = std::make_shared<const Blob>(Blob{segment});
  return file;
}

CheckRegister check(std::uint32_t offset, std::uint32_t value, std::uint64_t retries = 0) {
  CheckRegister action;
  action.offset = offset;
  action.value = value;
  action.retries = retries;
  return action;
}

Outcome play_cfg(std::string_view text, Target& target) {
  return play(parse_cfg(text, "t.cfg", kMap), target);
}

// D_OP_ENABLE and D_CVT_SHIFT of SDP.
constexpr std::uint32_t kEnable = 0x9038;
constexpr std::uint32_t kShift = 0x90c8;

// A device that seems idle may be late with its interrupt.
TEST(Player, ACaseWaitsForTheInterruptThatIsDue) {
  FakeTarget target;
  target.late_interrupt = 1;
  const auto actions = {Action(Finish{1}), Action(check(FakeTarget::kStatus, 1))};
  EXPECT_EQ(play(script_of(Kind::kCase, actions), target).verdict, Verdict::kPass);
  FakeTarget other;
  EXPECT_EQ(play(script_of(Kind::kCase, actions), other).failures.size(), 1u);
}

TEST(Player, NothingRunsBeforeAllOfACaseIsWritten) {
  FakeTarget target;
  std::size_t writes_at_step = 0;
  target.steps.push_back([&] { writes_at_step = target.writes.size(); });
  const Outcome outcome =
      play(script_of(Kind::kCase,
                     {FillMemory{Ram::kPrimary, 0, 4, 0xa5},
                      LoadMemory{Ram::kPrimary, 2, 2, blob({1, 2})}, WriteRegister{kEnable, 1},
                      WriteRegister{kShift, 3}, Finish{}, check(kShift, 3),
                      CompareMemory{Ram::kPrimary, 0, 4, blob({0xa5, 0xa5, 1, 2})}}),
           target);
  EXPECT_EQ(outcome.verdict, Verdict::kPass) << outcome.reason;
  EXPECT_EQ(writes_at_step, 2u);
  EXPECT_EQ(outcome.writes, 2u);
  EXPECT_EQ(outcome.register_checks, 1u);
  EXPECT_EQ(outcome.bytes_compared, 4u);
  EXPECT_EQ(outcome.steps, 1u);
}

std::uint32_t address_of(nvdla_regmap map, std::string_view name) {
  return *model::register_address(map, *model::find_register(name));
}

// The golden cases of nv_small expect numbers in registers that nobody drives there.
TEST(Player, ARealDeviceIsComparedInWhatItsGenerationCountsExactly) {
  const auto failures = [](nvdla_regmap map, const char* name, const nvdla_hw* real,
                           std::vector<Action> before = {}) {
    FakeTarget target;
    before.push_back(check(address_of(map, name), 5));
    Script script = script_of(Kind::kCase, std::move(before));
    script.map = map;
    const Outcome outcome = play(script, target, {.real = real});
    EXPECT_EQ(outcome.register_checks + outcome.registers_left_out, 1u);
    EXPECT_EQ(outcome.registers_left_out == 0, !outcome.failures.empty());
    return outcome.failures.size();
  };
  const nvdla_hw* const small = nvdla_hw_find("nv_small");
  const nvdla_hw* const full = nvdla_hw_find("nv_full");
  for (const char* name : {"SDP.D_STATUS", "SDP.D_PERF_LUT_HYBRID", "CDMA.D_PERF_WT_READ_LATENCY",
                           "CDP.D_OUT_SATURATION", "CDMA.D_PERF_DAT_READ_STALL"}) {
    EXPECT_EQ(failures(NVDLA_REGMAP_NV_SMALL, name, small), 0u) << name;
    EXPECT_EQ(failures(NVDLA_REGMAP_NV_SMALL, name, nullptr), 1u) << name;
  }
  for (const char* name : {"SDP.D_PERF_OUT_SATURATION", "CACC.D_OUT_SATURATION",
                           "GLB.S_INTR_STATUS", "SDP.D_CVT_SHIFT"})
    EXPECT_EQ(failures(NVDLA_REGMAP_NV_SMALL, name, small), 1u) << name;
  EXPECT_EQ(failures(NVDLA_REGMAP_NV_FULL, "CDP.D_PERF_LUT_HYBRID", full), 0u);
  // The verdict of a comparison is there when there was one.
  const std::uint32_t ew = address_of(NVDLA_REGMAP_NV_FULL, "SDP.D_DP_EW_CFG");
  constexpr std::uint32_t kEqual = NVDLA_SDP_D_DP_EW_CFG_EW_ALU_ALGO_EQL
                                   << NVDLA_SDP_D_DP_EW_CFG_EW_ALU_ALGO_SHIFT;
  EXPECT_EQ(failures(NVDLA_REGMAP_NV_FULL, "SDP.D_STATUS", full), 0u);
  EXPECT_EQ(failures(NVDLA_REGMAP_NV_FULL, "SDP.D_STATUS", full, {WriteRegister{ew, kEqual}}), 1u);
  EXPECT_EQ(failures(NVDLA_REGMAP_NV_FULL, "SDP.D_STATUS", full, {WriteRegister{ew, kEqual | 1}}),
            0u);
}

TEST(Player, MemoryAloneIsComparedWhereAsked) {
  FakeTarget target;
  const std::vector<Action> actions = {FillMemory{Ram::kPrimary, 0, 4, 0xa5}, check(kShift, 3),
                                       CompareMemory{Ram::kPrimary, 0, 2, blob({0xa5, 0xa5})}};
  EXPECT_EQ(play(script_of(Kind::kCase, actions), target).verdict, Verdict::kFail);
  const Outcome outcome = play(script_of(Kind::kCase, actions), target, {.memory_only = true});
  EXPECT_EQ(outcome.verdict, Verdict::kPass) << outcome.reason;
  EXPECT_EQ(outcome.registers_left_out, 1u);
  EXPECT_EQ(outcome.bytes_compared, 2u);
  // Nothing compared is no pass.
  const Outcome none =
      play(script_of(Kind::kCase, {check(kShift, 3)}), target, {.memory_only = true});
  EXPECT_EQ(none.verdict, Verdict::kSkip);
  EXPECT_EQ(none.reason, "it compares no memory");
  // A poll is a condition for what follows.
  EXPECT_EQ(
      play(script_of(Kind::kCase, {check(kShift, 3, kUntilStuck)}), target, {.memory_only = true})
          .verdict,
      Verdict::kFail);
}

TEST(Player, LoadTakesOnlyTheSizeAskedFor) {
  FakeTarget target;
  play(script_of(Kind::kTxn, {LoadMemory{Ram::kPrimary, 0, 2, blob({1, 2, 3})}}), target);
  EXPECT_EQ(target.memory.size(), 2u);
}

TEST(Player, AllDifferencesOfACaseAreFound) {
  FakeTarget target;
  target.registers[0x9000] = 0x20001;
  const Outcome outcome =
      play(script_of(Kind::kCase, {check(0x9000, 0x10001),
                                   CompareMemory{Ram::kPrimary, 0x80, 3, blob({0, 7, 8})},
                                   CompareMemory{Ram::kPrimary, 0x90, 1, blob({1})}}),
           target);
  EXPECT_EQ(outcome.verdict, Verdict::kFail);
  ASSERT_EQ(outcome.failures.size(), 3u);
  EXPECT_EQ(outcome.failures[0],
            "expected 0x10001, got SDP.S_STATUS = 0x00020001 at 0x09000, STATUS_1 0x2 not 0x1");
  EXPECT_EQ(outcome.failures[1],
            "memory 0x81: expected 0x07, got 0x00 (first of 2 wrong bytes of 3 in out.bin)");
  EXPECT_EQ(outcome.reason, outcome.failures[0]);
}

TEST(Player, GoldenBytesPastTheSizeDoNotCount) {
  FakeTarget target;
  const Outcome outcome =
      play(script_of(Kind::kTxn, {CompareMemory{Ram::kPrimary, 0, 2, blob({0, 0, 1})}}), target);
  EXPECT_EQ(outcome.verdict, Verdict::kPass);
  EXPECT_EQ(outcome.bytes_compared, 2u);
}

TEST(Player, LargeMemoryIsComparedInPieces) {
  FakeTarget target;
  Segment segment{0, std::vector<std::byte>(200'000)};
  target.memory[131'073] = std::byte{1};
  BlobFile file;
  file.name = "out.bin";
  file.data = std::make_shared<const Blob>(Blob{segment});
  const Outcome outcome =
      play(script_of(Kind::kCase, {CompareMemory{Ram::kPrimary, 0, 200'000, file}}), target);
  EXPECT_EQ(outcome.reason,
            "memory 0x20001: expected 0x00, got 0x01 (first of 1 wrong bytes of 200000 in "
            "out.bin)");
}

TEST(Player, Crc) {
  FakeTarget target;
  const std::string text = "123456789";
  for (std::size_t i = 0; i < text.size(); ++i) target.memory[i] = static_cast<std::byte>(text[i]);
  EXPECT_EQ(
      play(script_of(Kind::kCfg, {CheckCrc{Ram::kPrimary, 0, 9, 0xcbf43926}}), target).verdict,
      Verdict::kPass);
  EXPECT_EQ(play(script_of(Kind::kCfg, {CheckCrc{Ram::kPrimary, 0, 9, 0xcbf43927}}), target).reason,
            "line 1: CRC of memory 0x0 with 0x9 bytes: expected 0xcbf43927, got 0xcbf43926");
}

TEST(Player, BlockedIsAFailure) {
  FakeTarget target;
  target.is_idle = false;
  target.reasons = {"CSC group 0: too few banks"};
  const Outcome outcome = play(script_of(Kind::kCase, {Finish{}}), target);
  EXPECT_EQ(outcome.verdict, Verdict::kFail);
  EXPECT_EQ(outcome.reason, "the device does not finish (blocked: CSC group 0: too few banks)");
}

TEST(Player, NotIdleIsAFailure) {
  FakeTarget target;
  target.is_idle = false;
  EXPECT_EQ(play(script_of(Kind::kCase, {Finish{}}), target).reason,
            "the device does not finish (an enabled unit waits for something)");
}

TEST(Player, NotImplementedIsSkippedNeverPassed) {
  FakeTarget target;
  target.reasons = {"CDP group 0: LRN is not implemented yet"};
  const Outcome outcome = play(script_of(Kind::kCase, {check(kShift, 0)}), target);
  EXPECT_EQ(outcome.verdict, Verdict::kSkip);
  EXPECT_EQ(outcome.reason, "CDP group 0: LRN is not implemented yet");
}

TEST(Player, ExceptionsOfTheTargetAreFailures) {
  struct Throwing : FakeTarget {
    std::uint32_t read(std::uint32_t) override { throw std::runtime_error(text); }
    const char* text = "bad news";
  } target;
  EXPECT_EQ(play(script_of(Kind::kCase, {check(0, 0)}), target).reason,
            "the device stopped: bad news");
  target.text = "nv_large is not implemented yet";
  EXPECT_EQ(play(script_of(Kind::kCase, {check(0, 0)}), target).verdict, Verdict::kSkip);
}

TEST(Player, EndlessProgressIsATimeOut) {
  FakeTarget target;
  target.endless = true;
  PlayerOptions options;
  options.max_steps = 1000;
  EXPECT_EQ(play(script_of(Kind::kCase, {Finish{}}), target, options).reason,
            "time-out: the device is not done after 1000 steps");
}

TEST(Player, RefusalsAreTold) {
  FakeTarget target;
  target.refused = "memory refused 3 accesses";
  EXPECT_EQ(play(script_of(Kind::kCase, {check(0, 0)}), target).warnings,
            std::vector<std::string>{"memory refused 3 accesses"});
}

TEST(Player, ReadsAreRetriedAsOftenAsAskedAndTimePasses) {
  for (std::uint64_t retries : {2u, 3u}) {
    FakeTarget target;
    for (int i = 0; i < 3; ++i) target.steps.push_back([&] { ++target.registers[kShift]; });
    const Outcome outcome = play(script_of(Kind::kTxn, {check(kShift, 3, retries)}), target);
    EXPECT_EQ(outcome.verdict, retries == 3 ? Verdict::kPass : Verdict::kFail);
    EXPECT_EQ(outcome.steps, retries);
  }
}

TEST(Player, TxnStopsAtAWrongRead) {
  FakeTarget target;
  const std::vector<Action> actions = {check(kShift, 1), check(kShift, 2)};
  Script script = script_of(Kind::kTxn, actions);
  EXPECT_EQ(play(script, target).failures.size(), 1u);
  script.continue_on_fail = true;
  EXPECT_EQ(play(script, target).failures.size(), 2u);
}

TEST(Player, MaskedRead) {
  FakeTarget target;
  target.registers[kShift] = 0xf5;
  CheckRegister action = check(kShift, 5);
  action.mask = 0xf;
  EXPECT_EQ(play(script_of(Kind::kTxn, {action}), target).verdict, Verdict::kPass);
  action.value = 4;
  EXPECT_EQ(play(script_of(Kind::kTxn, {action}), target).reason,
            "line 1: expected 0x4 under mask 0x0000000f, got SDP.D_CVT_SHIFT = 0x000000f5 at "
            "0x090c8");
}

TEST(Player, PollsUntilTrue) {
  const struct {
    const char* text;
    std::uint32_t value;  // the first that is good, counting up from 3
  } kPolls[] = {
      {"poll_reg_equal(NVDLA_SDP.D_CVT_SHIFT_0, 5);", 5},
      {"poll_reg_not_equal(NVDLA_SDP.D_CVT_SHIFT_0, 3);", 4},
      {"poll_reg_greater(NVDLA_SDP.D_CVT_SHIFT_0, 5);", 6},
      {"poll_reg_not_greater(NVDLA_SDP.D_CVT_SHIFT_0, 3);", 3},
      {"poll_reg_less(NVDLA_SDP.D_CVT_SHIFT_0, 4);", 3},
      {"poll_reg_not_less(NVDLA_SDP.D_CVT_SHIFT_0, 5);", 5},
      {"poll_field_equal(NVDLA_SDP.D_CVT_SHIFT_0.CVT_SHIFT, 7);", 7},
  };
  for (const auto& [text, value] : kPolls) {
    FakeTarget target;
    target.registers[kShift] = 3;
    std::uint32_t seen = 0;
    for (int i = 0; i < 8; ++i) target.steps.push_back([&] { ++target.registers[kShift]; });
    Script script = parse_cfg(text, "t.cfg", kMap);
    script.commands.resize(1);
    EXPECT_EQ(play(script, target).verdict, Verdict::kPass) << text;
    seen = target.registers[kShift];
    EXPECT_EQ(seen, value) << text;
  }
}

TEST(Player, PollThatNeverHolds) {
  FakeTarget target;
  target.registers[kShift] = 3;
  EXPECT_EQ(play_cfg("poll_reg_less(NVDLA_SDP.D_CVT_SHIFT_0, 3);", target).reason,
            "line 1: expected less than 0x3, got SDP.D_CVT_SHIFT = 0x00000003 at 0x090c8 (the "
            "device is idle)");
}

TEST(Player, InterruptIsAwaitedWhenACheckNeedsIt) {
  FakeTarget target;
  target.steps.push_back([&] {
    // The second layer was programmed before the first was waited for.
    EXPECT_EQ(target.registers[0x9004], 1u);
    target.memory[0] = std::byte{'1'};
    target.registers[FakeTarget::kStatus] |= 1 | 1 << 16;
  });
  const Outcome outcome = play_cfg(
      "intr_notify(SDP_0, x);\n"
      "reg_write(NVDLA_SDP.S_POINTER_0, 1);\n"
      "check_crc(x, 1, 0, 1, 0x83dcefb7);\n",
      target);
  EXPECT_EQ(outcome.verdict, Verdict::kPass) << outcome.reason;
  // Only the bit that was waited for is cleared.
  EXPECT_EQ(target.registers[FakeTarget::kStatus], 1u << 16);
}

TEST(Player, InterruptThatDoesNotCome) {
  FakeTarget target;
  target.reasons = {"SDP group 0: no operand"};
  EXPECT_EQ(play_cfg("intr_notify(PDP_1, x);\ncheck_nothing(x);\n", target).reason,
            "line 2: the interrupt PDP_1 does not come (blocked: SDP group 0: no operand)");
}

TEST(Player, InterruptIsRequiredEvenIfNothingChecksIt) {
  FakeTarget target;
  EXPECT_EQ(play_cfg("intr_notify(PDP_1, x);\n", target).verdict, Verdict::kFail);
}

TEST(Player, WritesToABusyGroupWaitForItsLayer) {
  FakeTarget target;
  target.steps.push_back([&] {
    target.registers[kEnable] = 0;
    target.registers[FakeTarget::kStatus] |= 1;
  });
  const Outcome outcome = play_cfg(
      "reg_write(NVDLA_SDP.D_OP_ENABLE_0, 1);\n"
      "intr_notify(SDP_0, x);\n"
      "reg_write(NVDLA_SDP.D_CVT_SHIFT_0, 5);\n"
      "check_nothing(x);\n",
      target);
  EXPECT_EQ(outcome.verdict, Verdict::kPass) << outcome.reason;
  // Enable, clear, and only then the write that would have been dropped.
  ASSERT_EQ(target.writes.size(), 3u);
  EXPECT_EQ(target.writes[1], std::pair(FakeTarget::kStatus, 1u));
  EXPECT_EQ(target.writes[2], std::pair(kShift, 5u));
}

TEST(Player, SameInterruptTwice) {
  FakeTarget target;
  target.raise_in_a_step(1);
  target.raise_in_a_step(1);
  EXPECT_EQ(play_cfg("intr_notify(SDP_0, x);\nintr_notify(SDP_0, y);\n"
                     "check_nothing(x);\ncheck_nothing(y);\n",
                     target)
                .verdict,
            Verdict::kPass);
  FakeTarget once;
  once.raise_in_a_step(1);
  EXPECT_EQ(play_cfg("intr_notify(SDP_0, x);\nintr_notify(SDP_0, y);\n"
                     "check_nothing(x);\ncheck_nothing(y);\n",
                     once)
                .verdict,
            Verdict::kFail);
}

TEST(Player, SeveralInterruptsOfOneSync) {
  FakeTarget target;
  target.raise_in_a_step(1);
  EXPECT_EQ(play_cfg("intr_notify(SDP_0, x);\nintr_notify(CACC_0, x);\ncheck_nothing(x);\n", target)
                .reason,
            "line 3: the interrupt CACC_0 does not come (the device is idle)");
}

TEST(Player, LayersRunBeforeMemoryChanges) {
  FakeTarget target;
  target.memory[0] = std::byte{'1'};
  target.steps.push_back([&] {
    target.memory[16] = target.memory[0];
    target.registers[FakeTarget::kStatus] |= 1;
  });
  EXPECT_EQ(play_cfg("intr_notify(SDP_0, x);\nmem_init(1, 0, 1, ALL_ZERO);\n"
                     "check_crc(x, 1, 16, 1, 0x83dcefb7);\n",
                     target)
                .verdict,
            Verdict::kPass);
}

TEST(Player, WaitReturnsAtOnceWhenIdle) {
  FakeTarget target;
  EXPECT_EQ(play(script_of(Kind::kTxn, {WaitInterrupt{}}), target).verdict, Verdict::kPass);
}

TEST(Player, WaitThatNothingEnds) {
  FakeTarget target;
  target.is_idle = false;
  EXPECT_EQ(play(script_of(Kind::kTxn, {WaitInterrupt{}}), target).reason,
            "line 1: no interrupt comes (an enabled unit waits for something)");
}

TEST(Player, EachWaitTakesANewInterrupt) {
  FakeTarget target;
  target.raise_in_a_step(1u << 16);
  target.raise_in_a_step(1);
  target.steps.push_back([&] { FAIL() << "the second wait goes on too long"; });
  play(script_of(Kind::kTxn, {WaitInterrupt{}, WaitInterrupt{}}), target);
  EXPECT_EQ(target.steps.size(), 1u);
}

TEST(Player, WaitAfterClearTakesTheSameBitAgain) {
  FakeTarget target;
  target.raise_in_a_step(1);
  target.raise_in_a_step(1);
  target.steps.push_back([&] { FAIL() << "the second wait goes on too long"; });
  play(script_of(Kind::kTxn,
                 {WaitInterrupt{}, WriteRegister{FakeTarget::kStatus, 1}, WaitInterrupt{}}),
       target);
  EXPECT_EQ(target.steps.size(), 1u);
}

TEST(Player, MaskedInterruptsEndNoWait) {
  FakeTarget target;
  target.registers[FakeTarget::kMask] = 1u << 16;
  target.raise_in_a_step(1u << 16);
  target.raise_in_a_step(1);
  const Outcome outcome = play(script_of(Kind::kTxn, {WaitInterrupt{}}), target);
  EXPECT_EQ(outcome.steps, 2u);
}

}  // namespace
}  // namespace nvdla::replay
