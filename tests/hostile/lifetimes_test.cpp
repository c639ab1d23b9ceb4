// SPDX-License-Identifier: MIT
//
// What outlives what it came from: fences their context, file, device and module; files and jobs
// their device.
#include <fcntl.h>
#include <linux/sync_file.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <xf86drm.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "emulator/device/fault_capability.h"
#include "hostile.hpp"

namespace nvdla::hostile {
namespace {

using ioctl_test::fence_error;
using ioctl_test::must;

// The driver's and the timeline's name.
std::pair<std::string, std::string> names(int file) {
  sync_fence_info fence{};
  sync_file_info info{};
  info.num_fences = 1;
  info.sync_fence_info = reinterpret_cast<std::uintptr_t>(&fence);
  must(::ioctl(file, SYNC_IOC_FILE_INFO, &info) == 0 ? 0 : errno, "SYNC_IOC_FILE_INFO");
  return {fence.driver_name, fence.obj_name};
}

class Lifetimes : public Hostile {
 protected:
  void expect_end_of(std::vector<int>& files) {
    std::vector<int> errors;
    EXPECT_EQ(collect(files, errors), 0) << "a fence that does not signal";
    for (const int error : errors) EXPECT_TRUE(error == 0 || error == ENODEV) << error;
  }

  // Takes the device from a user with jobs under way, from a process that submits on and from one
  // that submits what waits for others' jobs; gives it back.
  void pull(Random& random, const std::function<void()>& take, const std::function<void()>& give) {
    faults().set(NVDLA_FAULT_DELAY_US, random.below(20000));
    auto client = std::make_unique<Client>(1 + random.below(8));
    Milestone open;
    const pid_t busy = spawn([&] {
      Client other(4);
      open.reach();
      try {
        while (other.run() == 0) {
        }
      } catch (const std::runtime_error&) {
        // It went between two calls.
      }
      // Nothing of this file works any more, and nothing of it does harm.
      drm_nvdla_context_query query{other.context(), 0, 0, 0};
      return other.node().call(DRM_IOCTL_NVDLA_CONTEXT_QUERY, &query) == ENODEV ? 0 : 1;
    });
    open.wait();
    std::vector<int> files;
    const std::uint32_t jobs = random.below(30);
    std::uint32_t last = client->start();
    for (std::uint32_t i = 0; i < jobs; ++i) {
      const auto done = client->node().syncobj();
      const auto context = random.one_in(4) ? client->node().context() : client->context();
      ASSERT_EQ(client->submit({{last, DRM_NVDLA_SYNC_WAIT, 0}, {done, DRM_NVDLA_SYNC_SIGNAL, 0}},
                               context),
                0);
      files.push_back(client->sync_file(done));
      last = done;
    }
    ::usleep(random.below(50000));
    take();
    expect_end_of(files);
    std::uint32_t unused = 0;
    EXPECT_THROW(client->try_start(unused), std::runtime_error) << "no call of the file works";
    if (random.one_in(2)) client.reset();
    give();
    EXPECT_EQ(reap(busy), 0);
    find_device();
    expect_service();
  }
};

// Newer kernels have a signalled fence let go of its driver, and name none.
bool names_its_maker(int fence) {
  const std::string name = names(fence).first;
  return name == "nvdla" || name == "detached-driver";
}

TEST_F(Lifetimes, AFenceOutlivesItsMakers) {
  int signalled = -1, syncobj = -1;
  {
    Client client;
    const auto done = client.start();
    ASSERT_EQ(client.end(done), 0);
    signalled = client.sync_file(done);
    ASSERT_EQ(drmSyncobjHandleToFD(client.node().fd(), done, &syncobj), 0);
    drm_nvdla_context_destroy destroy{client.context(), 0};
    ASSERT_EQ(client.node().call(DRM_IOCTL_NVDLA_CONTEXT_DESTROY, &destroy), 0);
    EXPECT_TRUE(names_its_maker(signalled)) << names(signalled).first;
  }
  faults().unbind();
  EXPECT_TRUE(names_its_maker(signalled)) << names(signalled).first;
  EXPECT_EQ(fence_error(signalled), 0);
  faults().bind();
  // In another file of another device, as far as the kernel knows.
  Client client;
  std::uint32_t handle = 0;
  ASSERT_EQ(drmSyncobjFDToHandle(client.node().fd(), syncobj, &handle), 0);
  ASSERT_EQ(client.submit({{handle, DRM_NVDLA_SYNC_WAIT, 0}}, client.context()), 0);
  EXPECT_EQ(client.run(), 0);
  EXPECT_EQ(client.end(handle), 0);
  ::close(signalled);
  ::close(syncobj);
}

TEST_F(Lifetimes, UnbindUnderWay) {
  Random random(seed_);
  for (unsigned i = 0; i < rounds(6, 50); ++i)
    pull(
        random, [&] { faults().unbind(); }, [&] { faults().bind(); });
}

TEST_F(Lifetimes, RemovalFromTheBusUnderWay) {
  Random random(seed_);
  for (unsigned i = 0; i < rounds(2, 20); ++i)
    pull(
        random, [&] { faults().remove(); }, [] { emulator_test::FaultControl::rescan(); });
}

// Either a fence pins the module or it does without it.
TEST_F(Lifetimes, AFenceAndTheModule) {
  const auto unload = [] {
    return ::syscall(SYS_delete_module, "nvdla", O_NONBLOCK) == 0 ? 0 : errno;
  };
  int file = -1;
  {
    Client client;
    const auto done = client.start();
    ASSERT_EQ(client.end(done), 0);
    file = client.sync_file(done);
    EXPECT_EQ(unload(), EAGAIN) << "the node is open";
  }
  // What a file leaves behind is put away in the background.
  int error = EAGAIN;
  for (int i = 0; i < 30 && error == EAGAIN; ++i) {
    ::usleep(100000);
    error = unload();
  }
  ASSERT_TRUE(error == 0 || error == EAGAIN) << error;
  std::printf("a signalled fence %s the module\n", error == 0 ? "does without" : "pins");
  EXPECT_EQ(fence_error(file), 0);
  if (error == EAGAIN) {
    EXPECT_EQ(names(file), std::make_pair(std::string("nvdla"), std::string("engine")));
  }
  ::close(file);
  for (int i = 0; i < 600 && error == EAGAIN; ++i) {
    ::usleep(100000);
    error = unload();
  }
  ASSERT_EQ(error, 0) << "nothing uses it any more";
  load_driver();
}

}  // namespace
}  // namespace nvdla::hostile
