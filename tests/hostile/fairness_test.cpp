// SPDX-License-Identifier: MIT
//
// How long a user waits for others, counted in their layers and jobs, not in seconds.
#include <signal.h>
#include <unistd.h>
#include <xf86drm.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "hostile.hpp"
#include "tools/emulator/fault_capability.h"

namespace nvdla::hostile {
namespace {

using ioctl_test::must;

// Longer than what a context may be ahead of another.
constexpr std::uint32_t kLayerUs = 20000;

class Fairness : public Hostile {
 protected:
  void TearDown() override {
    for (const int status : stop()) EXPECT_EQ(status, 128 + SIGKILL) << "ended by itself";
    Hostile::TearDown();
  }

  // All processes; how they ended.
  std::vector<int> stop() {
    std::vector<int> statuses;
    for (const pid_t child : children_) ::kill(child, SIGKILL);
    for (const pid_t child : children_) statuses.push_back(reap(child));
    children_.clear();
    timelines_.clear();
    return statuses;
  }

  // A process that has `depth` jobs queued at any time, in one context or each in a new one. Its
  // n-th job signals the point n of a timeline.
  void start(std::uint32_t layers, unsigned depth, bool fresh) {
    timelines_.push_back(node_.syncobj());
    int file = -1;
    must(drmSyncobjHandleToFD(node_.fd(), timelines_.back(), &file) == 0 ? 0 : errno,
         "HANDLE_TO_FD");
    Milestone filled;
    children_.push_back(spawn([&]() -> int {
      Client client(layers);
      const int fd = client.node().fd();
      std::uint32_t timeline = 0;
      must(drmSyncobjFDToHandle(fd, file, &timeline) == 0 ? 0 : errno, "FD_TO_HANDLE");
      std::deque<std::pair<std::uint32_t, std::uint32_t>> queued;
      for (std::uint64_t point = 0;;) {
        while (queued.size() < depth) {
          if (fresh) client.renew_context();
          const std::uint32_t done = client.node().syncobj();
          must(client.submit(
                   {{done, DRM_NVDLA_SYNC_SIGNAL, 0}, {timeline, DRM_NVDLA_SYNC_SIGNAL, ++point}},
                   client.context()),
               "SUBMIT");
          queued.emplace_back(done, client.context());
        }
        if (point == depth) filled.reach();
        const auto [done, context] = queued.front();
        if (client.end(done, 600) != 0) return 1;
        drmSyncobjDestroy(fd, done);
        drm_nvdla_context_destroy destroy{context, 0};
        if (fresh) client.node().call(DRM_IOCTL_NVDLA_CONTEXT_DESTROY, &destroy);
        queued.pop_front();
      }
    }));
    ::close(file);
    filled.wait();
  }
  // How many jobs of each process have ended, or were submitted: by what the driver has signalled,
  // so that it is no matter when the processes come to see it.
  std::vector<std::uint64_t> jobs(std::uint32_t flags = 0) {
    std::vector<std::uint64_t> points(timelines_.size());
    must(drmSyncobjQuery2(node_.fd(), timelines_.data(), points.data(),
                          static_cast<std::uint32_t>(points.size()), flags) == 0
             ? 0
             : errno,
         "SYNCOBJ_QUERY");
    return points;
  }
  std::vector<std::uint64_t> submitted() { return jobs(DRM_SYNCOBJ_QUERY_FLAGS_LAST_SUBMITTED); }
  std::uint32_t completions() { return faults().get(NVDLA_FAULT_COMPLETIONS); }
  // A job of one layer ends before more than `layers` have, its own one of them, beside other
  // users. In between `others` of theirs end, so that it has had less than its share. The device
  // stands still while the job is submitted and when so many have ended, so that the pace of this
  // test is not what is counted. Where it stood still for longer than the deadline of a layer, it
  // was reset, and there is nothing to count.
  void expect_short_job_within(std::uint32_t layers, std::uint32_t others,
                               const std::function<void()>& start_others) {
    for (int tries = 0; tries < 5; ++tries) {
      start_others();
      if (counts_short_job(layers, others)) return;
      std::printf("the device was reset: once more\n");
      stop();
      expect_service();
    }
    ADD_FAILURE() << "the device is reset each time";
  }

 private:
  // False if the device was reset.
  bool counts_short_job(std::uint32_t layers, std::uint32_t others) {
    Client client;
    for (int job = 0; job < 4; ++job) {
      const std::uint32_t idle = completions();
      while (completions() - idle < others) ::usleep(10000);
      faults().block(1);
      wait_until_blocked();
      const std::uint32_t done = client.start();
      wait_until_ready(client);
      ::usleep(100000);  // more than who runs may be ahead
      const std::uint32_t before = completions();
      go_on(layers);
      const int error = client.end(done);
      const std::uint32_t waited = completions() - before;
      go_on();
      // The fence of a layer that hangs comes before the reset is counted.
      for (int i = 0; error != 0 && client.state().resets == 0 && i < 1000; ++i) ::usleep(10000);
      if (client.state().resets != 0 && waited <= layers) return false;
      EXPECT_EQ(error, 0);
      EXPECT_LE(waited, layers) << "only after a reset";
    }
    return true;
  }

  const Node node_;
  std::vector<std::uint32_t> timelines_;
  std::vector<pid_t> children_;
};

// The layer that runs, one behind it, the one that takes its place unless the driver has looked at
// the clock meanwhile, and its own.
constexpr std::uint32_t kShortJob = 4;

// In turn it would end after 6400.
TEST_F(Fairness, AShortJobWaitsForALayer) {
  faults().set(NVDLA_FAULT_DELAY_US, kLayerUs);
  expect_short_job_within(kShortJob, 4, [this] { start(16, 400, false); });
}

// Such layers leave their users far apart in what they had.
TEST_F(Fairness, AShortJobWaitsForALongLayer) {
  faults().set(NVDLA_FAULT_DELAY_US, 150000);
  expect_short_job_within(kShortJob, 15, [this] {
    for (int i = 0; i < 4; ++i) start(16, 20, false);
  });
}

// Only those share who have something to do: all have more queued than is counted, so that nobody
// runs dry where their processes are too slow to submit more.
TEST_F(Fairness, EndlessSubmittersShare) {
  faults().set(NVDLA_FAULT_DELAY_US, kLayerUs / 4);
  constexpr std::size_t kUsers = 4;
  constexpr unsigned kDepth = 300;
  // The first has longer jobs and so more layers.
  constexpr std::array<std::uint32_t, kUsers> kLayers = {8, 4, 4, 4};
  for (const std::uint32_t layers : kLayers) start(layers, kDepth, false);
  std::vector<std::uint64_t> begin, queued;
  const auto is_filled = [&](std::size_t i) { return queued[i] - begin[i] > kDepth / 2; };
  do {
    ::usleep(10000);
    begin = jobs();
    queued = submitted();
  } while (!is_filled(0) || !is_filled(1) || !is_filled(2) || !is_filled(3));
  const std::uint32_t before = completions();
  while (completions() - before < 400) ::usleep(10000);
  const auto end = jobs();
  std::array<std::uint64_t, kUsers> share{};
  for (std::size_t i = 0; i < kUsers; ++i) {
    share[i] = (end[i] - begin[i]) * kLayers[i];
    ASSERT_LT(end[i], queued[i]) << "user " << i << " may have had nothing queued";
  }
  std::printf("layers of four users: %ju (the one with jobs of 8), %ju, %ju, %ju\n",
              std::uintmax_t{share[0]}, std::uintmax_t{share[1]}, std::uintmax_t{share[2]},
              std::uintmax_t{share[3]});
  const auto [least, most] = std::minmax_element(share.begin(), share.end());
  EXPECT_GE(*least * 2, *most);
}

// Being new gives a context no right to keep others waiting for ever. The device stands still
// before it has done too much, so that the pace of this test is not what is counted.
TEST_F(Fairness, NewContextsDoNotStarveAnOldOne) {
  faults().set(NVDLA_FAULT_DELAY_US, kLayerUs / 4);
  Client client(32);
  ASSERT_EQ(client.run(), 0);
  constexpr unsigned kUsers = 4;
  for (unsigned i = 0; i < kUsers; ++i) start(1, 1, true);
  // One context of five at a time: its 32 layers end with 160, but for what new ones are ahead.
  constexpr std::uint32_t kMost = 600;
  faults().block(kMost);
  const std::uint32_t before = completions();
  const auto done = client.start();
  EXPECT_EQ(client.end(done, 60), 0);
  const std::uint32_t waited = completions() - before;
  go_on();
  std::printf("a job of 32 layers beside new contexts: ended after %u layers\n", waited);
  EXPECT_LT(waited, kMost) << "only after a reset";
}

}  // namespace
}  // namespace nvdla::hostile
