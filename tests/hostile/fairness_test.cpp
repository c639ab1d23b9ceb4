// SPDX-License-Identifier: MIT
//
// How long a user waits for others, counted in their layers, not in seconds.
//
// The promise: users share the device, and the contexts of a user share the time of that user. A
// turn is one layer, or shorter layers for 5 ms together; a layer that is enabled ahead belongs to
// the turn. A user who has had no more than its share of the last second starts its next layer
// after at most one turn of each other user that has work, plus 10 ms, whatever contexts, processes
// and jobs anyone has, creates or destroys.
#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xf86drm.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "crowd.hpp"
#include "emulator/device/fault_capability.h"
#include "hostile.hpp"

namespace nvdla::hostile {
namespace {

using ioctl_test::must;

// Layers of other users before one of a user who has had less than its share: of each other user
// the layer that runs and the one that is enabled ahead. In the 10 ms at most one more begins.
constexpr std::uint32_t layers_before(std::uint32_t users) { return 2 * users + 1; }

class Fairness : public Hostile {
 protected:
  // Longer than a turn of shorter layers: each is a turn.
  static constexpr std::uint32_t kLayerUs = 20000;
  // More than a test lasts.
  static constexpr std::uint32_t kManyLayers = 2000;

  void SetUp() override {
    Hostile::SetUp();
    open_nodes_to_all();
  }
  void TearDown() override {
    for (const int status : crowd_.stop()) EXPECT_EQ(status, 128 + SIGKILL) << "ended by itself";
    Hostile::TearDown();
  }

  std::uint32_t completions() { return faults().get(NVDLA_FAULT_COMPLETIONS); }
  // Jobs of one layer of the light user start within the promise, beside so many others. Between
  // two of them each of the others has more than one turn, so that the light user never has more
  // than its share, and there are so many that no credit of its contexts lasts.
  // The device stands still while the job is submitted and when the promise is broken, so that the
  // pace of this test is not what is counted. Where it stood still for longer than the deadline of
  // a layer, it was reset, and there is nothing to count.
  void expect_promise(std::uint32_t users, const std::function<void()>& start_others) {
    faults().set(NVDLA_FAULT_DELAY_US, kLayerUs);
    for (int tries = 0; tries < 5; ++tries) {
      start_others();
      if (counts_short_jobs(users == 1 ? 40 : 15, layers_before(users) + 1, 2 * users)) return;
      std::printf("the device was reset: once more\n");
      crowd_.stop();
      expect_service();
    }
    ADD_FAILURE() << "the device is reset each time";
  }
  // Layers that each of these processes has had within the next `layers` of all. Every context has
  // jobs all the time.
  std::vector<std::vector<std::uint64_t>> layers_of(const std::vector<std::size_t>& processes,
                                                    std::uint32_t layers,
                                                    std::uint32_t layers_of_job) {
    std::vector<std::vector<std::uint64_t>> begin, result;
    for (const std::size_t process : processes) begin.push_back(crowd_.ended(process));
    const std::uint32_t before = completions();
    while (completions() - before < layers) ::usleep(10000);
    for (std::size_t i = 0; i < processes.size(); ++i) {
      const auto end = crowd_.ended(processes[i]);
      const auto queued = crowd_.submitted(processes[i]);
      result.emplace_back();
      for (std::size_t context = 0; context < end.size(); ++context) {
        EXPECT_LT(end[context], queued[context]) << "a context may have had nothing queued";
        result.back().push_back((end[context] - begin[i][context]) * layers_of_job);
      }
    }
    return result;
  }

  Crowd crowd_;

 private:
  // False if the device was reset.
  bool counts_short_jobs(int jobs, std::uint32_t layers, std::uint32_t others) {
    std::unique_ptr<Client> client;
    {
      const AsUser light(kLight);
      client = std::make_unique<Client>();
    }
    std::uint32_t worst = 0;
    ShareKeeper share(*client);
    for (int job = 0; job < jobs; ++job) {
      const std::uint32_t idle = completions();
      while (completions() - idle < others) ::usleep(10000);
      faults().block(1);
      wait_until_blocked();
      const std::uint32_t done = client->start();
      wait_until_ready(*client);
      const std::uint32_t before = completions();
      go_on(layers);
      const int error = client->end(done);
      const std::uint32_t waited = completions() - before;
      go_on();
      // The fence of a layer that hangs may come before the reset is counted.
      for (int i = 0; error != 0 && client->state().resets == 0 && i < 1000; ++i) ::usleep(10000);
      if (client->state().resets != 0 && waited <= layers) return false;
      EXPECT_EQ(error, 0);
      EXPECT_LE(waited, layers) << "only after a reset: job " << job;
      worst = std::max(worst, waited);
      if (HasFailure()) return true;
      share.keep();
    }
    std::printf("%d jobs: the latest was layer number %u of at most %u\n", jobs, worst, layers);
    return true;
  }
};

TEST_F(Fairness, AShortJobWaitsForATurnOfAContext) {
  expect_promise(1, [this] { crowd_.start({kHeavy, false, {}}, {1, 4, kManyLayers, false}); });
}

TEST_F(Fairness, AShortJobWaitsForATurnBesideHundredsOfContexts) {
  expect_promise(1, [this] { crowd_.start({kHeavy, false, {}}, {300, 1, 64, false}); });
}

// Thousands, for the long form: as many as boots allow one user.
TEST_F(Fairness, AShortJobWaitsForATurnBesideThousandsOfContexts) {
  const unsigned contexts = rounds(1000, 4000);
  ASSERT_GE(ioctl_test::module_parameter("user_contexts"), contexts)
      << "the boot has to pass nvdla.user_contexts and nvdla.user_jobs";
  expect_promise(1, [=, this] { crowd_.start({kHeavy, false, {}}, {contexts, 1, 64, false}); });
}

// Processes of one user are that user.
TEST_F(Fairness, AShortJobWaitsForATurnBesideManyProcesses) {
  expect_promise(1, [this] {
    for (int i = 0; i < 30; ++i) crowd_.start({kHeavy, false, {}}, {4, 1, kManyLayers / 4, false});
  });
}

TEST_F(Fairness, AShortJobWaitsForATurnOfEachOfEightUsers) {
  expect_promise(8, [this] {
    for (unsigned i = 0; i < 8; ++i)
      crowd_.start({kHeavy + i, false, {}}, {20, 1, kManyLayers / 4, false});
  });
}

// A context that is new gets no credit.
TEST_F(Fairness, AShortJobWaitsForATurnBesideNewContexts) {
  expect_promise(1, [this] { crowd_.start_stream({kHeavy, false, {}}, 16, 1); });
}

TEST_F(Fairness, AShortJobWaitsForATurnBesideNewContextsOfEightUsers) {
  expect_promise(8, [this] {
    for (unsigned i = 0; i < 8; ++i) crowd_.start_stream({kHeavy + i, false, {}}, 4, 1);
  });
}

// Sub-uids are the user who owns their namespace. They are a sample of the 65,536, opened one after
// the other.
TEST_F(Fairness, AShortJobWaitsForATurnBesideSubUids) {
  const unsigned contexts = rounds(100, 2048);
  expect_promise(1, [=, this] { crowd_.start({kHeavy, true, {}}, sub_uid_load(contexts)); });
}

// Each of them is somebody else's, however many contexts and processes it has, and has more queued
// than is counted, so that nobody runs dry where their processes are too slow to submit more.
TEST_F(Fairness, UsersShareWhateverContextsTheyHave) {
  faults().set(NVDLA_FAULT_DELAY_US, kLayerUs / 4);
  std::vector<std::size_t> processes;
  processes.push_back(crowd_.start_counted({kHeavy, false, {}}, {1, 600, 2, false}));
  processes.push_back(crowd_.start_counted({kHeavy + 1, false, {}}, {10, 60, 2, false}));
  for (int i = 0; i < 3; ++i)
    processes.push_back(crowd_.start_counted({kHeavy + 2, false, {}}, {1, 200, 2, false}));
  const auto layers = layers_of(processes, 600, 2);
  const auto sum = [&layers](std::size_t process) {
    return std::accumulate(layers[process].begin(), layers[process].end(), std::uint64_t{0});
  };
  const std::vector<std::uint64_t> share = {sum(0), sum(1), sum(2) + sum(3) + sum(4)};
  std::printf("layers of a context: %ju, of ten: %ju, of three processes: %ju\n",
              std::uintmax_t{share[0]}, std::uintmax_t{share[1]}, std::uintmax_t{share[2]});
  const auto [least, most] = std::minmax_element(share.begin(), share.end());
  EXPECT_GE(*least * 2, *most) << "users do not share";
  // The contexts of one user share its time, which is not quite layers: a machine that stands still
  // in one of them makes it longer.
  const auto few = *std::min_element(layers[1].begin(), layers[1].end());
  EXPECT_GE(few * layers[1].size() * 4, share[1]) << "the contexts of a user do not share";
}

// Containers that root owns are told apart by their control groups.
TEST_F(Fairness, ContainersOfRootShare) {
  const std::string root = "/tmp/cgroup";
  ::mkdir(root.c_str(), 0755);
  ASSERT_TRUE(::mount("none", root.c_str(), "cgroup2", 0, nullptr) == 0 || errno == EBUSY);
  const std::string groups[] = {root + "/one", root + "/other"};
  for (const std::string& group : groups) ::mkdir(group.c_str(), 0755);
  faults().set(NVDLA_FAULT_DELAY_US, kLayerUs / 4);
  std::vector<std::size_t> processes;
  processes.push_back(crowd_.start_counted({0, true, groups[0]}, {1, 600, 2, false}));
  processes.push_back(crowd_.start_counted({0, true, groups[1]}, {10, 60, 2, false}));
  const auto layers = layers_of(processes, 400, 2);
  const std::uint64_t one = layers[0][0];
  const std::uint64_t other = std::accumulate(layers[1].begin(), layers[1].end(), std::uint64_t{0});
  std::printf("layers of a container with a context: %ju, with ten: %ju\n", std::uintmax_t{one},
              std::uintmax_t{other});
  EXPECT_GE(std::min(one, other) * 2, std::max(one, other));
}

// Being new gives a context of the same user no right to keep others waiting for ever, either. The
// device stands still before it has done too much, so that the pace of this test is not what is
// counted.
TEST_F(Fairness, NewContextsDoNotStarveAnOldOne) {
  faults().set(NVDLA_FAULT_DELAY_US, kLayerUs / 4);
  std::unique_ptr<Client> client;
  {
    const AsUser same(kHeavy);
    client = std::make_unique<Client>(32);
  }
  ASSERT_EQ(client->run(), 0);
  for (unsigned i = 0; i < 4; ++i) crowd_.start_stream({kHeavy, false, {}}, 1, 1);
  // One context of five at a time: its 32 layers end with 160, but for what new ones are ahead.
  constexpr std::uint32_t kMost = 600;
  faults().block(kMost);
  const std::uint32_t before = completions();
  const auto done = client->start();
  EXPECT_EQ(client->end(done, 60), 0);
  const std::uint32_t waited = completions() - before;
  go_on();
  std::printf("a job of 32 layers beside new contexts: ended after %u layers\n", waited);
  EXPECT_LT(waited, kMost) << "only after a reset";
}

}  // namespace
}  // namespace nvdla::hostile
