// SPDX-License-Identifier: MIT
//
// Devices that are well pass; of those that are not, the right step finds each fault and names it.
#include "selftest/selftest.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "nvdla/types/error.hpp"
#include "planted_faults.hpp"

namespace nvdla::test {
namespace {

using namespace selftest;

std::string text_of(const Report& report) {
  std::string text;
  for (const Report::Entry& entry : report.entries) {
    text += std::string(entry.step.name) + ": " + entry.result.text + "\n";
    for (const Finding& finding : entry.result.findings) {
      text += "  saw " + finding.saw + "\n  expected " + finding.expected + "\n";
      for (const std::string& cause : finding.causes) text += "  cause " + cause + "\n";
    }
  }
  return text;
}

nvdla_hw as_named(std::string_view name, bool gating) {
  nvdla_hw hw = *nvdla_hw_find(std::string(name).c_str());
  if (!gating) hw.features &= ~static_cast<u32>(NVDLA_HW_WEIGHT_GATING);
  return hw;
}

Report test_planted(const PlantedFault& fault) {
  const nvdla_hw named = as_named(fault.named, fault.gating);
  BreakableModel device(*nvdla_hw_find(std::string(fault.device).c_str()), fault.breakage,
                        fault.quirks);
  return selftest::test(device, &named, {});
}

std::vector<std::string> failed_steps(const Report& report) {
  std::vector<std::string> names;
  for (const Report::Entry& entry : report.entries)
    if (entry.result.verdict == Verdict::kFailed) names.emplace_back(entry.step.name);
  return names;
}

bool names_cause(const Report& report, std::string_view step, std::string_view cause) {
  for (const Report::Entry& entry : report.entries) {
    if (entry.step.name != step) continue;
    for (const Finding& finding : entry.result.findings)
      for (const std::string& text : finding.causes)
        if (text.find(cause) != std::string::npos) return true;
  }
  return false;
}

TEST(Selftest, EveryHealthyDevicePasses) {
  for (const auto quirks : {model::Quirks::kRtl, model::Quirks::kGated}) {
    for (u32 i = 0; i < nvdla_hw_count(); ++i) {
      const nvdla_hw& hw = *nvdla_hw_get(i);
      const bool gated = quirks == model::Quirks::kGated;
      if (gated && (hw.features & NVDLA_HW_WEIGHT_GATING) == 0) continue;
      BreakableModel device(hw, {}, quirks);
      const Report report = selftest::test(device, &hw, {});
      EXPECT_TRUE(report.passed()) << hw.name << "\n" << text_of(report);
      EXPECT_EQ(report.configuration, hw.name);
      EXPECT_EQ(report.entries.size(), list_steps().size());
      for (const Report::Entry& entry : report.entries) {
        const bool missing = (entry.step.name == "bdma" && !(hw.features & NVDLA_HW_BDMA)) ||
                             (entry.step.name == "rubik" && !(hw.features & NVDLA_HW_RUBIK));
        EXPECT_EQ(entry.result.verdict, missing ? Verdict::kLeftOut : Verdict::kPassed)
            << hw.name << " " << entry.step.name;
      }
      if ((hw.features & NVDLA_HW_WEIGHT_GATING) != 0) {
        EXPECT_NE(text_of(report).find(gated ? "leave weight_gating=1" : "is not shown"),
                  std::string::npos)
            << text_of(report);
      }
    }
  }
}

TEST(Selftest, EveryPlantedFaultIsFoundAndNamed) {
  for (const PlantedFault& fault : planted_faults()) {
    SCOPED_TRACE(std::string(fault.what));
    const Report report = test_planted(fault);
    const auto failed = failed_steps(report);
    ASSERT_FALSE(failed.empty()) << "not found";
    EXPECT_EQ(failed.front(), fault.step) << text_of(report);
    EXPECT_TRUE(names_cause(report, fault.step, fault.cause)) << text_of(report);
    EXPECT_EQ(failed.size() == 1, fault.alone) << text_of(report);
  }
}

TEST(Selftest, EveryStepFindsAFaultThatNoOtherDoes) {
  for (const StepInfo& step : list_steps()) {
    const auto faults = planted_faults();
    EXPECT_TRUE(std::any_of(faults.begin(), faults.end(), [&](const PlantedFault& fault) {
      return fault.step == step.name && fault.alone;
    })) << step.name;
  }
}

// Behind a driver registers are out of reach, and the report says what that costs.
TEST(Selftest, ADeviceBehindADriverRunsItsLayers) {
  // Times there are this machine's own, and may be anything.
  Options options;
  for (const StepInfo& step : list_steps())
    if (step.name != "timing") options.steps.emplace_back(step.name);
  for (const char* name : {"model:nv_small,threads=1", "model:nv_full,threads=1"}) {
    const Report report = selftest::test(Device::open(name), options);
    EXPECT_TRUE(report.passed()) << text_of(report);
    for (const Report::Entry& entry : report.entries) {
      if (!entry.step.registers) continue;
      EXPECT_EQ(entry.result.verdict, Verdict::kLeftOut);
      EXPECT_NE(entry.result.text.find("mmio:"), std::string::npos) << entry.result.text;
    }
  }
}

// As slow as that nothing is too slow for it.
TEST(Selftest, TheBoundOnTimeIsOfTheClockThatADriverKnows) {
  for (const std::uint32_t khz : {0u, 1u, 2500u}) {
    const Report report = selftest::test(Device::open("model:nv_small,threads=1"),
                                         {.steps = {"timing"}, .clock_khz = khz});
    ASSERT_EQ(report.entries.size(), 1u);
    const std::string text = text_of(report);
    EXPECT_NE(text.find(khz == 0   ? "at 1000 MHz, as nobody named its clock"
                        : khz == 1 ? "at 0.001 MHz"
                                   : "at 2.5 MHz"),
              std::string::npos)
        << text;
    EXPECT_EQ(text.find("nobody") == std::string::npos, khz != 0) << text;
    EXPECT_TRUE(report.passed() || khz != 1) << text;
  }
}

TEST(Selftest, GuessesTheConfigurationThatNobodyNames) {
  for (const char* name : {"nv_full", "nv_medium_512", "nv_small_256_full"}) {
    BreakableModel device(*nvdla_hw_find(name), {});
    const Report report = selftest::test(device, nullptr, {});
    EXPECT_TRUE(report.passed()) << text_of(report);
    EXPECT_EQ(report.configuration, name);
  }
}

// These differ in what only a convolution shows, and none is taken for the other.
TEST(Selftest, AsksForTheNameThatRegistersDoNotTell) {
  const std::pair<const char*, const char*> cases[] = {
      {"nv_small", "can be nv_small_256 or nv_small, and nobody named it"},
      {"nv_small_256", "can be nv_small_256 or nv_small, and nobody named it"},
      {"nv_large", "can be nv_large or nv_medium_1024_full, and nobody named it"}};
  for (const auto& [name, saw] : cases) {
    BreakableModel device(*nvdla_hw_find(name), {});
    const Report report = selftest::test(device, nullptr, {.steps = {"identify", "copy"}});
    EXPECT_FALSE(report.passed());
    EXPECT_NE(text_of(report).find(saw), std::string::npos) << text_of(report);
  }
}

TEST(Selftest, RunsTheStepsThatAreAskedFor) {
  const nvdla_hw& hw = *nvdla_hw_find("nv_small");
  BreakableModel device(hw, {.line_never = true});
  Options options = {.steps = {"conv", "groups"}};
  std::vector<std::string> told;
  options.progress = [&](const Report::Entry& entry) { told.emplace_back(entry.step.name); };
  const Report report = selftest::test(device, &hw, options);
  EXPECT_EQ(told, (std::vector<std::string>{"groups", "conv"}));
  EXPECT_TRUE(report.passed());
}

// A device that a test changes in one respect.
class Changed : public detail::BareDevice {
 public:
  Changed(const nvdla_hw& hw, model::Quirks quirks) : inner_(hw, {}, quirks) {}

  std::uint32_t read(std::uint32_t offset) override { return inner_.read(offset); }
  void write(std::uint32_t offset, std::uint32_t value) override { inner_.write(offset, value); }
  std::unique_ptr<detail::BareMemory> allocate(std::uint64_t bytes, Memory memory) override {
    return inner_.allocate(bytes, memory);
  }
  std::unique_ptr<detail::BareMemory> allocate_at(std::uint64_t, std::uint64_t,
                                                  std::optional<Memory>) override {
    return nullptr;
  }
  bool wait_interrupt(Time until) override { return inner_.wait_interrupt(until); }
  void relax() override { inner_.relax(); }
  Time now() override { return inner_.now(); }
  bool reset() override { return inner_.reset(); }
  const nvdla_hw* configuration() const noexcept override { return nullptr; }
  std::string describe() const override { return "changed"; }

 private:
  BreakableModel inner_;
};

// Logic whose clock gate loses freed weights only where CDMA is idle: where no other layer is
// enabled behind the one that frees them. A chain in one job does not show it.
class QuietGate final : public Changed {
 public:
  explicit QuietGate(const nvdla_hw& hw) : Changed(hw, model::Quirks::kRtl), hw_(hw) {}

  void write(std::uint32_t offset, std::uint32_t value) override {
    if (offset == at("CDMA.D_OP_ENABLE") && (value & 1) != 0) {
      const std::uint32_t bank = hw_.cbuf_entries * hw_.cbuf_entry_bytes;
      const std::uint32_t room = ((read(at("CDMA.D_BANK")) >> 16 & 31) + 1) * bank;
      const std::uint32_t bytes = read(at("CDMA.D_WEIGHT_BYTES"));
      // No more weights fit, ever.
      if (lost_ + bytes > room) return;
      const bool alone = read(at("CDMA.S_STATUS")) == 0;
      const bool frees = (read(at("CDMA.D_MISC_CFG")) >> 28 & 1) == 0;
      // The last one to be enabled is freed while nothing is fetched.
      if (alone) last_ = 0;
      if (frees) {
        lost_ += bytes - last_;
        last_ = bytes;
      }
    }
    Changed::write(offset, value);
  }
  bool reset() override {
    lost_ = last_ = 0;
    return Changed::reset();
  }

 private:
  std::uint32_t at(const char* name) const {
    return *model::register_address(static_cast<model::RegisterMap>(hw_.regmap),
                                    *model::find_register(name));
  }

  const nvdla_hw& hw_;
  std::uint32_t lost_ = 0, last_ = 0;
};

TEST(Selftest, AGateThatLosesWeightsBetweenJobsAloneIsNotTakenForMended) {
  for (const char* name : {"nv_small", "nv_medium_512", "nv_large"}) {
    const nvdla_hw& hw = *nvdla_hw_find(name);
    QuietGate device(hw);
    const Report report = selftest::test(device, &hw, {.steps = {"gating"}});
    EXPECT_TRUE(report.passed()) << text_of(report);
    EXPECT_NE(text_of(report).find("leave weight_gating=1"), std::string::npos) << text_of(report);
    // The name may say that it is mended, and the step finds otherwise.
    const nvdla_hw mended = as_named(name, false);
    QuietGate other(hw);
    const Report wrong = selftest::test(other, &mended, {.steps = {"gating"}});
    EXPECT_TRUE(names_cause(wrong, "gating", "clock gating")) << text_of(wrong);
  }
}

// Gone in the middle, whatever is read next.
class Vanishing final : public Changed {
 public:
  Vanishing(const nvdla_hw& hw, unsigned reads) : Changed(hw, model::Quirks::kRtl), left_(reads) {}

  std::uint32_t read(std::uint32_t offset) override {
    if (left_ == 0) throw Error(ErrorCode::kGone, "the socket was closed");
    --left_;
    return Changed::read(offset);
  }

 private:
  unsigned left_;
};

TEST(Selftest, ADeviceThatVanishesEndsTheTestWithItsReason) {
  const nvdla_hw& hw = *nvdla_hw_find("nv_small");
  for (const unsigned reads : {0u, 1u, 30u, 900u, 2500u, 3800u}) {
    Vanishing device(hw, reads);
    const Report report = selftest::test(device, &hw, {});
    EXPECT_FALSE(report.passed()) << reads;
    EXPECT_EQ(report.entries.size(), list_steps().size()) << reads;
    EXPECT_NE(text_of(report).find("the socket was closed"), std::string::npos)
        << reads << text_of(report);
    EXPECT_EQ(failed_steps(report).size(), 1u) << reads << text_of(report);
  }
}

// Nothing but power off takes back what was done to it.
class WithoutReset final : public Changed {
 public:
  using Changed::Changed;

  bool reset() override { return false; }
};

TEST(Selftest, ADeviceThatCannotBeResetPassesAgainAndAgain) {
  for (const auto quirks : {model::Quirks::kRtl, model::Quirks::kGated}) {
    for (u32 i = 0; i < nvdla_hw_count(); ++i) {
      const nvdla_hw& hw = *nvdla_hw_get(i);
      WithoutReset device(hw, quirks);
      const bool may_lose = (hw.features & NVDLA_HW_WEIGHT_GATING) != 0;
      for (int time = 1; time <= 4; ++time) {
        SCOPED_TRACE(fmt::format("{}, time {}", hw.name, time));
        const Report report = selftest::test(device, &hw, {});
        EXPECT_TRUE(report.passed()) << text_of(report);
        std::vector<std::string_view> want = {"reset", "reset-values"};
        if ((hw.features & NVDLA_HW_BDMA) == 0) want.emplace_back("bdma");
        if ((hw.features & NVDLA_HW_RUBIK) == 0) want.emplace_back("rubik");
        if (may_lose) want.emplace_back("left-over");
        std::vector<std::string_view> left_out;
        for (const Report::Entry& entry : report.entries)
          if (entry.result.verdict == Verdict::kLeftOut) left_out.push_back(entry.step.name);
        EXPECT_EQ(left_out, want) << text_of(report);
      }
    }
  }
}

// Without the fault of the clock gate nothing adds up, and nothing has to be left out for it.
TEST(Selftest, MendedLogicThatCannotBeResetRunsAllChains) {
  const nvdla_hw hw = as_named("nv_small", false);
  WithoutReset device(hw, model::Quirks::kRtl);
  for (int time = 1; time <= 4; ++time) {
    const Report report = selftest::test(device, &hw, {.steps = {"left-over", "gating"}});
    EXPECT_TRUE(report.passed()) << text_of(report);
    for (const Report::Entry& entry : report.entries)
      EXPECT_EQ(entry.result.verdict, Verdict::kPassed) << text_of(report);
  }
}

// What is at a wrong address may be anybody's.
TEST(Selftest, WritesNothingToWhatIsNoNvdla) {
  const nvdla_hw& hw = *nvdla_hw_find("nv_small");
  for (const Breakage& breakage :
       {Breakage{.answers = ~0u}, Breakage{.answers = 0}, Breakage{.answers = 0x12345678},
        Breakage{.swapped_bytes = true}, Breakage{.shifted_by = 0x1000}}) {
    for (const nvdla_hw* named : {&hw, static_cast<const nvdla_hw*>(nullptr)}) {
      BreakableModel device(hw, breakage);
      EXPECT_FALSE(selftest::test(device, named, {}).passed());
      EXPECT_EQ(device.touched(), 0u);
    }
  }
  BreakableModel device(hw, {});
  EXPECT_TRUE(selftest::test(device, &hw, {}).passed());
  EXPECT_GT(device.touched(), 0u);
}

TEST(Selftest, WritesNothingToAnotherGenerationThanNamed) {
  const std::pair<const char*, const char*> pairs[] = {{"nv_small", "nv_full"},
                                                       {"nv_full", "nv_small"}};
  for (const auto& [is, named] : pairs) {
    BreakableModel device(*nvdla_hw_find(is), {});
    const Report report = selftest::test(device, nvdla_hw_find(named), {});
    EXPECT_TRUE(names_cause(report, "identify", "wrong configuration")) << text_of(report);
    EXPECT_EQ(device.touched(), 0u) << is;
  }
}

// The tables of the documentation are those of the code.
TEST(Selftest, TheDocumentationKnowsStepsAndFaults) {
  std::string wanted;
  for (const StepInfo& step : list_steps())
    wanted +=
        fmt::format("| `{}` | {} |{} |\n", step.name, step.checks, step.registers ? " yes" : "");
  for (const PlantedFault& fault : planted_faults())
    wanted += fmt::format("| {} | `{}` | {} |\n", fault.what, fault.step, fault.cause);
  std::ifstream page(NVDLA_SOURCE_DIR "/docs/bring-up.md");
  std::string rows;
  unsigned heads = 0;
  bool in_table = false;
  for (std::string line; std::getline(page, line);) {
    const bool head =
        line == "| step | checks that | registers |" || line == "| fault | step | named as |";
    heads += head ? 1 : 0;
    in_table = head || (in_table && line.starts_with("|"));
    if (in_table && !head && line != "|---|---|---|") rows += line + "\n";
  }
  EXPECT_EQ(heads, 2u);
  EXPECT_EQ(rows, wanted);
}

}  // namespace
}  // namespace nvdla::test
