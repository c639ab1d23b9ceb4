// SPDX-License-Identifier: MIT
//
// The driver with a device that misbehaves. Runs in the guest of an emulator run.
//
// WithReset wants a function that can be reset, WithoutReset one that cannot
// (nvdla-device-server --no-reset): each run names its suites.
#include "misbehaviour.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <nvdla/nvdla.hpp>
#include <optional>

namespace nvdla::emulator_test {
namespace {

class WithReset : public Misbehaviour {
 protected:
  void SetUp() override {
    Misbehaviour::SetUp();
    ASSERT_TRUE(Client().can_reset()) << "this run is for a function that can be reset";
  }

  // One context hangs, as soon as `stopped`; the others notice nothing but the time.
  template <typename Condition>
  void expect_guilt(Condition stopped) {
    Client guilty;
    Client innocent;
    const auto first = start_until(guilty, stopped);
    const auto second = guilty.start();
    const auto other = innocent.start();
    EXPECT_EQ(guilty.end(first), ETIME);
    EXPECT_EQ(guilty.end(second), ECANCELED) << "what waited in the guilty context";
    EXPECT_EQ(innocent.end(other), 0);
    EXPECT_TRUE(innocent.copied());

    EXPECT_EQ(guilty.state().state, std::uint32_t{DRM_NVDLA_CONTEXT_GUILTY});
    EXPECT_EQ(innocent.state().state, std::uint32_t{DRM_NVDLA_CONTEXT_INNOCENT});
    EXPECT_EQ(innocent.state().resets, 1u);
    std::uint32_t unused = 0;
    EXPECT_EQ(guilty.try_start(unused), ECANCELED);
    guilty.renew_context();
    guilty.forget();
    EXPECT_EQ(guilty.run(), 0) << "a new context of the same file";
    EXPECT_TRUE(guilty.copied());
    EXPECT_EQ(guilty.state().state, std::uint32_t{DRM_NVDLA_CONTEXT_GOOD});
  }
};

TEST_F(WithReset, AnObedientDeviceCopies) {
  Client client;
  EXPECT_EQ(client.run(), 0);
  EXPECT_TRUE(client.copied());
  EXPECT_EQ(client.state().resets, 0u);
}

TEST_F(WithReset, ALostInterruptCostsOnlyTime) {
  Client client;
  faults_.set(NVDLA_FAULT_SWALLOW_INTERRUPTS, 1);
  EXPECT_EQ(client.run(), 0);
  EXPECT_EQ(faults_.get(NVDLA_FAULT_SWALLOW_INTERRUPTS), 0u) << "it was not lost";
  EXPECT_TRUE(client.copied());
  EXPECT_EQ(client.state().state, std::uint32_t{DRM_NVDLA_CONTEXT_GOOD});
  EXPECT_EQ(client.run(), 0) << "the next one comes";
}

TEST_F(WithReset, ALostCompletionIsAHang) {
  faults_.set(NVDLA_FAULT_SWALLOW_COMPLETIONS, 1);
  expect_guilt([this] { return faults_.get(NVDLA_FAULT_SWALLOW_COMPLETIONS) == 0; });
}

TEST_F(WithReset, ALayerThatBlocksIsAHang) {
  faults_.block(1);
  expect_guilt([this] { return blocked(); });
  EXPECT_FALSE(blocked());
}

TEST_F(WithReset, HangsCanRepeat) {
  for (int i = 0; i < 2; ++i) {
    Client client;
    faults_.block(1);
    EXPECT_EQ(client.run(), ETIME);
  }
  EXPECT_EQ(Client().run(), 0);
}

TEST_F(WithReset, AHangNamesItsLayer) {
  Client client(5);
  EXPECT_EQ(client.run(), 0);
  for (const std::uint32_t layer : {3u, 0u, 4u}) {
    faults_.block(layer + 1);
    EXPECT_EQ(client.run(), ETIME);
    EXPECT_EQ(client.state().state, std::uint32_t{DRM_NVDLA_CONTEXT_GUILTY});
    EXPECT_EQ(client.state().layer, layer);
    client.renew_context();
    EXPECT_EQ(client.state().layer, 0u);
    EXPECT_EQ(client.run(), 0);
  }
}

// The error of a job on a device of the runtime; none if it ends well.
std::optional<nvdla::Error> outcome(const nvdla::Fence& fence) {
  try {
    fence.wait();
    return std::nullopt;
  } catch (const nvdla::Error& error) {
    return error;
  }
}

TEST_F(WithReset, TheRuntimeTellsWhichLayerHung) {
  const auto device = nvdla::Device::open("auto");
  const CopyProgram copy(device.info().atom);
  const std::vector<nvdla_layer> layers(3, copy.layers[0]);
  const auto program = device.create_program({.layers = layers, .slots = copy.slots});
  const std::vector<nvdla::Binding> bindings = {{device.allocate(kPage), 0},
                                                {device.allocate(kPage), 0}};
  faults_.block(2);
  const auto hangs = device.submit(program, bindings);
  const auto canceled = outcome(device.submit(program, bindings));
  ASSERT_TRUE(canceled);
  EXPECT_EQ(canceled->code(), nvdla::make_error_code(nvdla::ErrorCode::kCanceled));
  // The queue goes on in another context before anybody asks what became of the first job.
  EXPECT_FALSE(outcome(device.submit(program, bindings)));
  const auto hang = outcome(hangs);
  ASSERT_TRUE(hang);
  EXPECT_EQ(hang->code(), nvdla::make_error_code(nvdla::ErrorCode::kHang));
  EXPECT_EQ(hang->layer(), 1);
  EXPECT_NE(std::string(hang->what()).find("layer 1 (sdp) does not end"), std::string::npos)
      << hang->what();
}

TEST_F(WithReset, AResetComesBeforeTheLateWrite) {
  faults_.block(1);
  Client client;
  ASSERT_EQ(client.run(), ETIME);
  client.forget();
  // Of another context, after the reset.
  EXPECT_EQ(Client().run(), 0);
  run_late();
  EXPECT_EQ(faults_.get(NVDLA_FAULT_STATE) & NVDLA_FAULT_STATE_LATE, 0u);
  EXPECT_FALSE(client.copied());
}

TEST_F(WithReset, ASlowDeviceIsWaitedFor) {
  // All layers together take longer than any test takes to look.
  Client client(60);
  faults_.set(NVDLA_FAULT_DELAY_US, 300000);
  const std::uint32_t before = completions();
  const auto done = client.start();
  EXPECT_EQ(client.end(done, 0.05), ETIMEDOUT);
  wait_for_layers(3, before);
  faults_.set(NVDLA_FAULT_DELAY_US, 0);
  EXPECT_EQ(client.end(done), 0);
  EXPECT_TRUE(client.copied());
}

// Who submits faster than the device works is held back when the driver takes no more jobs of this
// user, and not refused. Nobody keeps the fences but the last one. The driver's own limit,
// which JobLimit finds, would take a minute to reach.
TEST_F(WithReset, SubmittingWaitsForRoom) {
  constexpr std::uint32_t limit = 512;
  const LoweredParameter lowered("user_jobs", limit);
  const auto device = nvdla::Device::open("auto");
  const CopyProgram copy(device.info().atom);
  const auto program = device.create_program({.layers = {&copy.layers[0], 1}, .slots = copy.slots});
  const std::vector<nvdla::Binding> bindings = {{device.allocate(kPage), 0},
                                                {device.allocate(kPage), 0}};
  faults_.set(NVDLA_FAULT_DELAY_US, 200000);
  const std::uint32_t before = completions();
  // Two queues: what is in flight in one makes room for the other.
  const nvdla::Queue queues[] = {device.create_queue(), device.create_queue()};
  nvdla::Fence last;
  std::uint32_t submitted = 0, without_room = 0;
  while (without_room < 10) {
    ASSERT_LT(submitted, 3 * limit) << "the device is as fast as this test";
    // At least so many were in flight when the next was submitted.
    if (submitted - (completions() - before) >= limit) ++without_room;
    const bool first = submitted < limit;
    ASSERT_NO_THROW(last = queues[first ? 0 : 1].submit(program, bindings)) << submitted;
    ++submitted;
  }
  faults_.set(NVDLA_FAULT_DELAY_US, 0);
  last.wait();
  EXPECT_GT(submitted, limit);
}

TEST_F(WithReset, AProcessKilledAtWorkHarmsNobody) {
  faults_.set(NVDLA_FAULT_DELAY_US, 400000);
  const std::uint32_t before = completions();
  const pid_t victim = ::fork();
  if (victim == 0) {
    Client client(60);
    client.start();
    ::pause();
    ::_exit(0);
  }
  wait_for_layers(1, before);
  ASSERT_EQ(::kill(victim, SIGKILL), 0);
  int status = 0;
  ASSERT_EQ(::waitpid(victim, &status, 0), victim);
  EXPECT_TRUE(WIFSIGNALED(status));
  Client client;
  EXPECT_EQ(client.run(), 0);
  EXPECT_TRUE(client.copied());
  EXPECT_EQ(client.state().resets, 0u);
}

// As if it were unplugged and plugged in again.
TEST_F(WithReset, AGoneDeviceEndsEverything) {
  {
    Client client;
    const auto done = start_blocked(client);
    faults_.set(NVDLA_FAULT_GONE, 1);
    EXPECT_EQ(client.end(done), ENODEV);
    // What comes while the driver tries to reset it waits, then ends as well.
    for (int error = 0; error == 0;) {
      std::uint32_t next = 0;
      error = client.try_start(next);
      EXPECT_EQ(error == 0 ? client.end(next) : error, ENODEV);
    }
  }
  faults_.set(NVDLA_FAULT_GONE, 0);
  faults_.rebind();
  Client client;
  EXPECT_EQ(client.run(), 0);
  EXPECT_TRUE(client.copied());
}

class WithoutReset : public Misbehaviour {
 protected:
  void SetUp() override {
    Misbehaviour::SetUp();
    ASSERT_FALSE(Client().can_reset()) << "this run is for a function that cannot be reset";
  }
};

// One test, because it costs the device.
TEST_F(WithoutReset, AHangWedgesAndALateWriteHitsNobody) {
  expect_quarantine(ETIME, Target::kDramAndSram);
}

// For shutdown.sh, which powers off meanwhile: a layer that runs and does not end.
TEST(LeftRunning, ALayer) {
  const FaultControl faults;
  Client client;
  faults.block(1);
  client.start();
  while ((faults.get(NVDLA_FAULT_STATE) & NVDLA_FAULT_STATE_BLOCKED) == 0) ::usleep(1000);
  std::ofstream("/tmp/left-running") << "yes\n";
  ::pause();
}

}  // namespace
}  // namespace nvdla::emulator_test
