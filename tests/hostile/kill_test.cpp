// SPDX-License-Identifier: MIT
//
// Processes that are killed at work. Who has nothing to do with them notices nothing.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "emulator/device/fault_capability.h"
#include "hostile.hpp"

namespace nvdla::hostile {
namespace {

class KillStorm : public Hostile {};

// Submits until it is killed: one job and waits for it, or hundreds at once.
int victim(std::uint64_t seed) {
  Random random(seed);
  Client client(1 + random.below(12));
  for (;;) {
    const std::uint32_t jobs = random.one_in(3) ? 1 + random.below(400) : 1 + random.below(3);
    std::uint32_t done = 0;
    for (std::uint32_t i = 0; i < jobs; ++i) done = client.start();
    if (random.one_in(4)) client.renew_context();
    if (random.one_in(2) && client.run() != 0) return 1;
    if (random.one_in(2) && client.end(done) != 0) return 2;
  }
}

TEST_F(KillStorm, HarmsNobody) {
  Random random(seed_);
  Client innocent(2);
  unsigned jobs = 0;
  for (unsigned i = 0; i < rounds(15, 500); ++i) {
    const std::uint64_t seed = random.word();
    const pid_t child = spawn([=] { return victim(seed); });
    // A while of random length, by what the innocent gets done in it.
    for (std::uint32_t left = random.below(12); left != 0; --left, ++jobs) {
      innocent.refill(static_cast<std::uint8_t>(jobs));
      ASSERT_EQ(innocent.run(), 0);
      ASSERT_TRUE(innocent.copied());
    }
    ::usleep(random.below(30000));
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    EXPECT_EQ(reap(child), 128 + SIGKILL);
  }
  EXPECT_EQ(innocent.run(), 0);
  EXPECT_EQ(innocent.state().resets, 0u);
  EXPECT_EQ(innocent.state().state, std::uint32_t{DRM_NVDLA_CONTEXT_GOOD});
  std::printf("%u jobs of the innocent\n", jobs);
}

// What one dead process queued does not hold up the next.
TEST_F(KillStorm, HundredsOfQueuedJobsEndWithTheirProcess) {
  faults().set(NVDLA_FAULT_DELAY_US, 20000);
  Milestone queued;
  const pid_t child = spawn([&] {
    Client client(20);
    for (int i = 0; i < 400; ++i) client.start();
    queued.reach();
    return ::pause();
  });
  queued.wait();
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  EXPECT_EQ(reap(child), 128 + SIGKILL);
  // The layer that runs, the one behind it, and the client's own; 8000 were queued.
  Client client;
  const std::uint32_t before = faults().get(NVDLA_FAULT_COMPLETIONS);
  EXPECT_EQ(client.run(), 0);
  faults().set(NVDLA_FAULT_DELAY_US, 0);
  ::usleep(100000);
  EXPECT_LE(faults().get(NVDLA_FAULT_COMPLETIONS) - before, 8u) << "the dead go on";
}

}  // namespace
}  // namespace nvdla::hostile
