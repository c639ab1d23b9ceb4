// SPDX-License-Identifier: MIT
//
// The engine on bare devices: what is identified, confirmed, and what failures come to. The device
// is the model, with words that can be wrong.
#include "backend/registers/bare_runner.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "backend/compiled_program.hpp"
#include "backend/info.hpp"
#include "backend/name/device_name.hpp"
#include "backend/open/open_registers.hpp"
#include "backend/registers/bare_engine.hpp"
#include "backend/registers/copy_layer.hpp"
#include "backend/registers/identify.hpp"
#include "common/runtime/expect_error.hpp"
#include "firmware/registers/nvdla_regs.h"
#include "support/check.hpp"

namespace nvdla::detail {
namespace {

using test::expect_error;

// The model, but what it reads, whether it can be reset and what it says that it is.
struct Wrong {
  std::function<std::uint32_t(std::uint32_t offset, std::uint32_t truth)> read = {};
  bool resets = true;
  bool says = true;
  bool drops_interrupts = false;
  bool line_stuck = false;
  bool counts_cycles = false;
  int* writes = nullptr;
  std::vector<std::uint32_t>* written = nullptr;  // offsets, until the host first waits
  bool* abandoned = nullptr;
};

class WrongMemory final : public BareMemory {
 public:
  WrongMemory(std::unique_ptr<BareMemory> inner, bool* abandoned)
      : BareMemory(inner->data(), inner->size(), inner->address(), inner->memory()),
        inner_(std::move(inner)),
        abandoned_(abandoned) {}
  void abandon() noexcept override {
    if (abandoned_ != nullptr) *abandoned_ = true;
  }

 private:
  std::unique_ptr<BareMemory> inner_;
  bool* abandoned_;
};

class WrongDevice final : public BareDevice {
 public:
  WrongDevice(const std::string& model, Wrong wrong)
      : inner_(open_bare(model)), wrong_(std::move(wrong)) {}

  std::uint32_t read(std::uint32_t offset) override {
    const std::uint32_t truth = inner_->read(offset);
    return wrong_.read ? wrong_.read(offset, truth) : truth;
  }
  void write(std::uint32_t offset, std::uint32_t value) override {
    if (wrong_.writes != nullptr) ++*wrong_.writes;
    if (wrong_.written != nullptr) wrong_.written->push_back(offset);
    inner_->write(offset, value);
  }
  std::unique_ptr<BareMemory> allocate(std::uint64_t bytes, Memory memory) override {
    return std::make_unique<WrongMemory>(inner_->allocate(bytes, memory), wrong_.abandoned);
  }
  std::unique_ptr<BareMemory> allocate_at(std::uint64_t, std::uint64_t,
                                          std::optional<Memory>) override {
    return nullptr;
  }
  bool wait_interrupt(Time until) override {
    wrong_.written = nullptr;
    const bool raised = inner_->wait_interrupt(until);
    if (wrong_.drops_interrupts && raised) {
      // What it waits for has ended; the time goes by all the same.
      inner_->write(NVDLA_NV_SMALL_GLB_BASE + NVDLA_GLB_S_INTR_STATUS, ~0u);
      inner_->relax();  // The write is posted.
      inner_->wait_interrupt(until);
      return false;
    }
    return raised || wrong_.line_stuck;
  }
  void relax() override { inner_->relax(); }
  Time now() override { return inner_->now(); }
  std::uint32_t clock_khz() const noexcept override { return wrong_.counts_cycles ? 1000 : 0; }
  bool counts_cycles() const noexcept override { return wrong_.counts_cycles; }
  bool reset() override { return wrong_.resets && inner_->reset(); }
  std::string take_refusals() override { return inner_->take_refusals(); }
  const nvdla_hw* configuration() const noexcept override {
    return wrong_.says ? inner_->configuration() : nullptr;
  }
  std::string describe() const override { return "wrong"; }

 private:
  std::unique_ptr<BareDevice> inner_;
  Wrong wrong_;
};

std::unique_ptr<BareDevice> wrong(Wrong how, const std::string& model = "model:nv_small") {
  return std::make_unique<WrongDevice>(model, std::move(how));
}

std::shared_ptr<Backend> open(Wrong how, const nvdla_hw* named = nullptr) {
  return make_bare_backend(wrong(std::move(how)), "bare", named, 0);
}

std::function<std::uint32_t(std::uint32_t, std::uint32_t)> always(std::uint32_t word) {
  return [word](std::uint32_t, std::uint32_t) { return word; };
}

TEST(Identify, TakesWhatTheDeviceSays) {
  EXPECT_EQ(&identify(*wrong({}), nullptr), find_configuration("nv_small"));
  EXPECT_EQ(&identify(*wrong({}, "model:nv_full"), nullptr), find_configuration("nv_full"));
  const nvdla_hw& mended = without_weight_gating(*find_configuration("nv_small"));
  EXPECT_EQ(&identify(*wrong({}), &mended), &mended);
}

TEST(Identify, KnowsTheFirstGenerationByItsRegisters) {
  EXPECT_EQ(&identify(*wrong({.says = false}, "model:nv_full"), nullptr),
            find_configuration("nv_full"));
  expect_error(ErrorCode::kNoDevice,
               "wrong: an NVDLA of the second generation, whose configurations registers do not "
               "tell apart: add ',config=<configuration>' with one of nv_medium_512, nv_small_256, "
               "nv_small",
               [] { identify(*wrong({.says = false}), nullptr); });
  // A second memory interface makes it others.
  expect_error(ErrorCode::kNoDevice, "with one of nv_large, nv_medium_1024_full, nv_small_256_full",
               [] { identify(*wrong({.says = false}, "model:nv_large"), nullptr); });
}

TEST(Identify, RefusesAnotherConfiguration) {
  expect_error(ErrorCode::kNoDevice, "wrong: is nv_small, not nv_large",
               [] { identify(*wrong({}), find_configuration("nv_large")); });
  expect_error(
      ErrorCode::kNoDevice, "wrong: an NVDLA of the first generation, which nv_large is not",
      [] { identify(*wrong({.says = false}, "model:nv_full"), find_configuration("nv_large")); });
  expect_error(ErrorCode::kNoDevice,
               "wrong: an NVDLA of the second generation, which nv_full is not",
               [] { identify(*wrong({.says = false}), find_configuration("nv_full")); });
}

TEST(Identify, SaysWhatAWrongWordMayMean) {
  int writes = 0;
  const auto refused = [&](std::uint32_t word, const char* text) {
    expect_error(ErrorCode::kNoDevice, text,
                 [&] { open({.read = always(word), .writes = &writes}); });
  };
  refused(~0u,
          "wrong: no NVDLA: offsets 0x0 and 0x1000 read as 0xffffffff and 0xffffffff, one should "
          "be 0x00303031; nothing answers: is the address right, and is the device on?");
  refused(0, "is the address right, and does the device have power and its clock?");
  refused(0x31303000, "the bytes of a word are in the wrong order");
  refused(0x12345678, "0x12345678, one should be 0x00303031; is the address right?");
  EXPECT_EQ(writes, 0);
}

TEST(Confirm, FindsAnotherAtom) {
  expect_error(ErrorCode::kNoDevice,
               "wrong: writes atoms of 8 bytes, nv_large has 32: is no nv_large",
               [] { open({.says = false}, find_configuration("nv_large")); });
}

TEST(BareRunner, ResetsWhatRuns) {
  int reads = 0;
  // One unit is busy at the first look.
  const auto busy = [&](std::uint32_t offset, std::uint32_t truth) {
    const bool status = offset == NVDLA_NV_SMALL_CSC_BASE + NVDLA_REG_S_STATUS;
    return status && reads++ == 0 ? 1 : truth;
  };
  EXPECT_NO_THROW(open({.read = busy}));
  reads = 0;
  expect_error(ErrorCode::kBusy, "wrong: a unit is running and cannot be reset from here",
               [&] { open({.read = busy, .resets = false}); });
}

// Jobs of one copy, on a device that was opened well.
class Jobs : public testing::Test {
 protected:
  void start(Wrong how) {
    device_ = wrong(std::move(how));
    hw_ = find_configuration("nv_small");
    runner_ = std::make_unique<BareRunner>(device_, *hw_);
  }
  std::string failure() {
    try {
      confirm(*runner_, device_, *hw_);
    } catch (const Error& error) {
      code_ = static_cast<ErrorCode>(error.code().value());
      return error.what();
    }
    return {};
  }

  std::shared_ptr<BareDevice> device_;
  const nvdla_hw* hw_ = nullptr;
  std::unique_ptr<BareRunner> runner_;
  ErrorCode code_ = ErrorCode::kInvalidArgument;
};

TEST_F(Jobs, RunOneAfterAnother) {
  start({});
  EXPECT_EQ(failure(), "");
  EXPECT_EQ(failure(), "");
}

TEST_F(Jobs, HangOnTheDevicesClockAndGoOnAfterReset) {
  bool abandoned = false;
  start({.drops_interrupts = true, .abandoned = &abandoned});
  EXPECT_EQ(failure(),
            "wrong: a copy of one element fails: layer 0 (sdp) does not end: no unit is busy, its "
            "interrupt did not come");
  EXPECT_EQ(code_, ErrorCode::kHang);
  EXPECT_FALSE(abandoned);
  // Not the verdict of a device that is broken: it was reset.
  EXPECT_NE(failure().find("does not end"), std::string::npos);
}

TEST_F(Jobs, NothingRunsWithoutAReset) {
  bool abandoned = false;
  start({.resets = false, .drops_interrupts = true, .abandoned = &abandoned});
  EXPECT_NE(failure().find("does not end"), std::string::npos);
  EXPECT_TRUE(abandoned);
  EXPECT_EQ(
      failure(),
      "wrong: a copy of one element fails: wrong: the device cannot be reset after a failure");
  EXPECT_EQ(code_, ErrorCode::kGone);
}

TEST_F(Jobs, ALineThatIsStuckDoesNotHoldTime) {
  start({.line_stuck = true});
  EXPECT_EQ(failure(), "");
}

TEST_F(Jobs, EndWithADeviceThatIsGone) {
  bool gone = false;
  start({.read = [&](std::uint32_t, std::uint32_t truth) { return gone ? ~0u : truth; }});
  gone = true;
  EXPECT_NE(failure().find("the device does not answer any more"), std::string::npos);
  EXPECT_EQ(code_, ErrorCode::kGone);
}

TEST_F(Jobs, EndWithWhatTheDeviceThrows) {
  bool gone = false;
  start({.read = [&](std::uint32_t, std::uint32_t truth) {
    if (gone) throw_error(ErrorCode::kGone, "the cable is out");
    return truth;
  }});
  gone = true;
  EXPECT_EQ(failure(), "wrong: a copy of one element fails: the cable is out");
  EXPECT_EQ(failure(), "wrong: a copy of one element fails: the cable is out");
}

// Over a simulator a cycle counts as a microsecond: layers of some thousand cycles pend all the
// same, so that two are enabled before the host waits for the first.
TEST(BareEngine, EnablesLayersOfASimulationAhead) {
  std::vector<std::uint32_t> written;
  const auto device = wrong({.counts_cycles = true, .written = &written});
  const nvdla_hw& hw = *find_configuration("nv_small");
  constexpr std::uint32_t kSide = 64;
  const nvdla_layer layers[] = {copy_layer(hw, kSide, kSide, 8), copy_layer(hw, kSide, kSide, 8)};
  constexpr std::uint32_t kBytes = kSide * kSide * 8;
  const nvdla_slot slots[] = {{kBytes, hw.atom, NVDLA_MEMORY_DRAM, NVDLA_SLOT_READ, 0},
                              {kBytes, hw.atom, NVDLA_MEMORY_DRAM, NVDLA_SLOT_WRITE, 0}};
  const CompiledProgram compiled(new_device_id(), hw, {.layers = layers, .slots = slots}, nullptr,
                                 device->clock_khz());
  ASSERT_GT(compiled.cycles(1), 2'000U);
  const auto source = device->allocate(kBytes, Memory::kDram);
  const auto target = device->allocate(kBytes, Memory::kDram);
  const std::uint64_t bases[] = {source->address(), target->address()};
  nvdla_job job{};
  job.program = &compiled.program();
  job.bases = bases;
  job.serial = compiled.serial();
  BareEngine engine(*device, hw);
  ASSERT_EQ(engine.start(), 0);
  ASSERT_TRUE(engine.run(job, {}));
  EXPECT_EQ(job.result, NVDLA_JOB_OK);
  const std::uint32_t enable = NVDLA_NV_SMALL_SDP_BASE + NVDLA_SDP_D_OP_ENABLE;
  EXPECT_EQ(std::count(written.begin(), written.end(), enable), 2);
}

}  // namespace
}  // namespace nvdla::detail
