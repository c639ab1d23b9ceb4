// SPDX-License-Identifier: MIT
//
// How long a user waits for others, counted in their layers and jobs, not in seconds.
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <new>

#include "hostile.hpp"
#include "tools/emulator/fault_capability.h"

namespace nvdla::hostile {
namespace {

// Longer than what a context may be ahead of another.
constexpr std::uint32_t kLayerUs = 20000;

class Fairness : public Hostile {
 protected:
  void SetUp() override {
    Hostile::SetUp();
    void* memory = ::mmap(nullptr, sizeof(Counters), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    counters_ = new (memory) Counters;
  }
  void TearDown() override {
    for (const pid_t child : children_) {
      ::kill(child, SIGKILL);
      EXPECT_EQ(reap(child), 128 + SIGKILL) << "ended by itself";
    }
    Hostile::TearDown();
  }

  struct Counters {
    std::atomic<unsigned> ready{0};
    std::atomic<unsigned> jobs[8]{};
  };

  // A process that has `depth` jobs queued at any time, in one context or each in a new one.
  void start(unsigned index, std::uint32_t layers, unsigned depth, bool fresh) {
    children_.push_back(spawn([=, this]() -> int {
      Client client(layers);
      std::deque<std::pair<std::uint32_t, std::uint32_t>> queued;
      for (;;) {
        while (queued.size() < depth) {
          if (fresh) client.renew_context();
          queued.emplace_back(client.start(), client.context());
        }
        ++counters_->ready;
        if (client.end(queued.front().first, 600) != 0) return 1;
        ++counters_->jobs[index];
        drm_nvdla_context_destroy destroy{queued.front().second, 0};
        if (fresh) client.node().call(DRM_IOCTL_NVDLA_CONTEXT_DESTROY, &destroy);
        queued.pop_front();
      }
    }));
    while (counters_->ready == 0) ::usleep(1000);
    counters_->ready = 0;
  }
  std::uint32_t completions() { return faults().get(NVDLA_FAULT_COMPLETIONS); }
  // A job of one layer ends before more than `layers` have, its own one of them. In between
  // `others` end, so that it has had less than its share. The device stands still while the job is
  // submitted and when so many have ended, so that the pace of this test is not what is counted.
  void expect_short_job_within(std::uint32_t layers, std::uint32_t others) {
    Client client;
    for (int i = 0; i < 4; ++i) {
      const std::uint32_t idle = completions();
      while (completions() - idle < others) ::usleep(10000);
      faults().block(1);
      wait_until_blocked();
      const std::uint32_t done = client.start();
      ::usleep(100000);  // for the scheduler's thread
      const std::uint32_t before = completions();
      go_on(layers);
      EXPECT_EQ(client.end(done), 0);
      EXPECT_LE(completions() - before, layers) << "only after a reset";
      go_on();
    }
  }

  Counters* counters_ = nullptr;

 private:
  std::vector<pid_t> children_;
};

// The layer that runs, one behind it, and its own.
constexpr std::uint32_t kShortJob = 3;

// In turn it would end after 6400.
TEST_F(Fairness, AShortJobWaitsForALayer) {
  faults().set(NVDLA_FAULT_DELAY_US, kLayerUs);
  start(0, 16, 400, false);
  expect_short_job_within(kShortJob, 4);
}

// Such layers leave their users far apart in what they had.
TEST_F(Fairness, AShortJobWaitsForALongLayer) {
  faults().set(NVDLA_FAULT_DELAY_US, 150000);
  for (unsigned i = 0; i < 4; ++i) start(i, 16, 20, false);
  expect_short_job_within(kShortJob, 15);
}

// Only those share who have something to do: all have more queued than is counted, so that nobody
// runs dry where their processes are too slow to submit more.
TEST_F(Fairness, EndlessSubmittersShare) {
  faults().set(NVDLA_FAULT_DELAY_US, kLayerUs / 4);
  constexpr unsigned kUsers = 4, kDepth = 300;
  // The first has longer jobs and so more layers.
  const auto each = [](unsigned i) { return i == 0 ? 8U : 4U; };
  for (unsigned i = 0; i < kUsers; ++i) start(i, each(i), kDepth, false);
  const auto layers = [&](unsigned i) { return counters_->jobs[i] * each(i); };
  unsigned begin[kUsers], share[kUsers];
  for (unsigned i = 0; i < kUsers; ++i) begin[i] = layers(i);
  const std::uint32_t before = completions();
  while (completions() - before < 400) ::usleep(10000);
  for (unsigned i = 0; i < kUsers; ++i) share[i] = layers(i) - begin[i];
  std::printf("layers of four users: %u (the one with jobs of 8), %u, %u, %u\n", share[0], share[1],
              share[2], share[3]);
  for (unsigned i = 0; i < kUsers; ++i) {
    ASSERT_LT(share[i], (kDepth - 1) * each(i)) << "user " << i << " may have had nothing queued";
  }
  const auto [least, most] = std::minmax_element(share, share + kUsers);
  EXPECT_GE(*least * 2, *most);
}

// Being new gives a context no right to keep others waiting for ever.
TEST_F(Fairness, NewContextsDoNotStarveAnOldOne) {
  faults().set(NVDLA_FAULT_DELAY_US, kLayerUs / 4);
  Client client(32);
  ASSERT_EQ(client.run(), 0);
  constexpr unsigned kUsers = 4;
  for (unsigned i = 0; i < kUsers; ++i) start(i, 1, 1, true);
  const std::uint32_t before = completions();
  const auto done = client.start();
  // One context of five at a time: its 32 layers end with 160, but for what new ones are ahead.
  std::uint32_t waited = 0;
  while (client.end(done, 0) == ETIMEDOUT && waited < 600) {
    ::usleep(5000);
    waited = completions() - before;
  }
  std::printf("a job of 32 layers beside new contexts: ended after %u layers\n", waited);
  EXPECT_LT(waited, 600u) << "starved";
}

}  // namespace
}  // namespace nvdla::hostile
