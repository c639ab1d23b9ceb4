// SPDX-License-Identifier: MIT
//
// The fences of a context signal in the order of its jobs, whatever ends them, and a signalled
// fence means that the device has done with the buffers of the job.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>
#include <xf86drm.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "emulator/device/fault_capability.h"
#include "emulator/guest/seen.hpp"
#include "hostile.hpp"

namespace nvdla::hostile {
namespace {

using ioctl_test::fence_error;
using ioctl_test::kPage;
using ioctl_test::must;

bool is_signalled(int file) {
  pollfd look{file, POLLIN, 0};
  return ::poll(&look, 1, 0) == 1;
}

// `files` are the fences of one context in the order of its jobs. A later one is looked at before
// the one ahead of it, so that nothing can happen in between.
bool in_order(const std::vector<int>& files) {
  for (std::size_t i = files.size(); i-- > 1;) {
    if (is_signalled(files[i]) && !is_signalled(files[i - 1])) return false;
  }
  return true;
}

class Timeline : public Hostile {
 protected:
  enum class Buffer { kRead, kWritten };

  // A process is killed while the device runs its first of several jobs on a buffer that the test
  // shares. False if a reset was quicker than the test, so that nothing was seen.
  bool looks_at_a_killed_process(Buffer use) {
    constexpr std::size_t kJobs = 4;
    Sharer ours(-1, -1, 1);
    const std::uint32_t handle = ours.from();
    int shared = -1;
    must(drmPrimeHandleToFD(ours.node().fd(), handle, DRM_CLOEXEC | DRM_RDWR, &shared) == 0 ? 0
                                                                                            : errno,
         "PRIME_HANDLE_TO_FD");
    std::vector<std::uint32_t> ends;
    std::vector<int> ends_files;
    for (std::size_t i = 0; i < kJobs; ++i) {
      ends.push_back(ours.node().syncobj());
      ends_files.push_back(export_syncobj(ours.node(), ends.back()));
    }
    faults().block(1);
    Milestone queued;
    const pid_t child = spawn([&] {
      const bool read = use == Buffer::kRead;
      Sharer theirs(read ? shared : -1, read ? -1 : shared, 2);
      for (const int file : ends_files) {
        must(theirs.submit({{import_syncobj(theirs.node(), file), DRM_NVDLA_SYNC_SIGNAL, 0}}),
             "SUBMIT");
        if (read) theirs.renew_to();
      }
      queued.reach();
      return ::pause();
    });
    queued.wait();
    std::vector<int> files;
    for (const std::uint32_t end : ends) files.push_back(ours.sync_file(end));
    wait_until_blocked();
    if (use == Buffer::kRead) wait_until_all_ready(kJobs - 1);
    ::kill(child, SIGKILL);
    EXPECT_EQ(reap(child), 128 + SIGKILL);

    const bool ordered = in_order(files);
    const int busy = ours.look(handle);
    const bool blocked = is_blocked();
    if (blocked) {
      EXPECT_TRUE(ordered) << "a later fence signals before that of the job that runs";
      EXPECT_EQ(busy, ETIMEDOUT) << "BO_WAIT takes a buffer for idle that the device uses";
    }
    // The layer goes on and ends well: nothing runs after it.
    go_on();
    bool stays = true;
    while (!is_signalled(files.back())) {
      stays &= in_order(files);
      ::usleep(1000);
    }
    if (blocked) {
      EXPECT_TRUE(stays);
      EXPECT_TRUE(in_order(files));
      for (std::size_t i = 1; i < kJobs; ++i) EXPECT_EQ(fence_error(files[i]), ECANCELED) << i;
    }
    for (const int file : files) ::close(file);
    for (const int file : ends_files) ::close(file);
    ::close(shared);
    return blocked;
  }
  void expect_busy_after_a_kill(Buffer use) {
    for (int tries = 0; tries < 5; ++tries) {
      if (looks_at_a_killed_process(use)) return;
      std::printf("the device was reset: once more\n");
    }
    ADD_FAILURE() << "the device is reset each time";
  }

  // Jobs that read wait for nothing but the device. A worker readies them; it takes its time, but
  // not as long as the deadline of a layer.
  static void wait_until_all_ready(std::size_t jobs) {
    const auto until = Clock::now() + std::chrono::seconds(1);
    std::size_t ready = 0;
    do {
      const std::string queue = emulator_test::debugfs("queue");
      ready = 0;
      for (std::size_t at = 0; (at = queue.find("ready: ", at)) != std::string::npos; ++at) ++ready;
    } while (ready < jobs && Clock::now() < until);
  }
  // The fence of a layer that hangs may come before the reset is counted.
  static void wait_for_reset(Client& witness) {
    for (int i = 0; witness.state().resets == 0 && i < 1000; ++i) ::usleep(10000);
    EXPECT_EQ(witness.state().resets, 1u);
  }
  bool is_blocked() { return (faults().get(NVDLA_FAULT_STATE) & NVDLA_FAULT_STATE_BLOCKED) != 0; }
};

TEST_F(Timeline, ABufferIsBusyWhileTheDeviceReadsItForTheDead) {
  expect_busy_after_a_kill(Buffer::kRead);
}

TEST_F(Timeline, ABufferIsBusyWhileTheDeviceWritesItForTheDead) {
  expect_busy_after_a_kill(Buffer::kWritten);
}

// These tests need a device that can be reset.
using TimelineWithReset = Timeline;

// A job that hangs ends before those behind it, which are cancelled for its sake.
TEST_F(TimelineWithReset, AHangEndsBeforeWhatItCancels) {
  Client witness;
  faults().block(2);
  Sharer client(-1, -1, 2);
  std::vector<int> files;
  for (int i = 0; i < 20; ++i) {
    files.push_back(client.sync_file(client.start()));
    client.renew_to();
  }
  while (!is_signalled(files.back())) {
    ASSERT_TRUE(in_order(files));
    ::usleep(100);
  }
  EXPECT_TRUE(in_order(files));
  EXPECT_EQ(fence_error(files[0]), ETIME);
  for (std::size_t i = 1; i < files.size(); ++i) EXPECT_EQ(fence_error(files[i]), ECANCELED) << i;
  for (const int file : files) ::close(file);
  wait_for_reset(witness);
}

// A hung device may still write: it is reset, or cut off from the bus, before anybody hears that
// its buffers are free.
TEST_F(TimelineWithReset, AHangSignalsAfterTheDeviceHasStopped) {
  for (int i = 0; i < 5; ++i) {
    Client witness;
    faults().block(1);
    Sharer client(-1, -1, 1);
    const int file = client.sync_file(client.start());
    while (!is_signalled(file)) {
    }
    const bool reaches_memory = !faults().on_pci() || faults().bus_master();
    EXPECT_FALSE(reaches_memory && is_blocked()) << "the layer can go on and write";
    EXPECT_EQ(fence_error(file), ETIME);
    ::close(file);
    wait_for_reset(witness);
  }
}

// Random ends of users with several contexts, some jobs of which wait for those of others, with the
// order of all fences watched all the time.
class TimelineStorm : public Timeline {
 protected:
  static constexpr std::size_t kContexts = 4;

  // Queues random jobs; adds the fences of each context to `files`.
  static void fill(Random& random, Sharer& client, std::vector<std::vector<int>>& files) {
    std::vector<std::uint32_t> contexts, last(kContexts, 0);
    for (std::size_t i = 0; i < kContexts; ++i) contexts.push_back(client.node().context());
    const std::uint32_t jobs = 10 + random.below(40);
    for (std::uint32_t i = 0; i < jobs; ++i) {
      const std::uint32_t context = random.below(kContexts);
      const std::uint32_t other = random.below(kContexts);
      const std::uint32_t done = client.node().syncobj();
      std::vector<drm_nvdla_sync> syncs = {{done, DRM_NVDLA_SYNC_SIGNAL, 0}};
      if (last[other] != 0 && random.one_in(3))
        syncs.push_back({last[other], DRM_NVDLA_SYNC_WAIT, 0});
      must(client.submit(syncs, contexts[context]), "SUBMIT");
      if (random.one_in(2)) client.renew_to();
      last[context] = done;
      files[context].push_back(client.sync_file(done));
    }
  }
  static bool all_in_order(const std::vector<std::vector<int>>& files) {
    for (const auto& context : files) {
      if (!in_order(context)) return false;
    }
    return true;
  }
  static bool all_signalled(const std::vector<std::vector<int>>& files) {
    for (const auto& context : files) {
      for (const int file : context) {
        if (!is_signalled(file)) return false;
      }
    }
    return true;
  }
};

TEST_F(TimelineStorm, StaysInOrder) {
  Random random(seed_);
  const bool can_reset = Client().can_reset();
  for (unsigned round = 0; round < rounds(20, 200); ++round) {
    faults().set(NVDLA_FAULT_DELAY_US, random.below(10000));
    auto client = std::make_unique<Sharer>(-1, -1, 1 + random.below(4));
    std::vector<std::vector<int>> files(kContexts);
    // One of five hangs, where the device can be reset.
    if (random.one_in(5) && can_reset) faults().block(1 + random.below(8));
    fill(random, *client, files);
    std::atomic<bool> ordered{true};
    std::thread watcher([&] {
      while (ordered && !all_signalled(files)) ordered = all_in_order(files);
    });
    ::usleep(random.below(50000));
    const bool unbinds = random.one_in(4);
    if (unbinds) faults().unbind();
    client.reset();
    watcher.join();
    if (unbinds) {
      // Fewer layers may have come than the one that is to hang: the copy of the probe is not
      // meant.
      faults().block(0);
      faults().bind();
    }
    const bool stays = ordered && all_in_order(files);
    for (const auto& context : files) {
      for (const int file : context) ::close(file);
    }
    find_device();
    ASSERT_TRUE(stays) << "fences of a context, round " << round;
  }
}

}  // namespace
}  // namespace nvdla::hostile
