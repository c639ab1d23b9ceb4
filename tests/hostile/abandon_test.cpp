// SPDX-License-Identifier: MIT
//
// Jobs that nobody can stop any more: their context is destroyed, their process has left. The
// device is for others after a turn, and the module can be removed.
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "emulator/device/fault_capability.h"
#include "hostile.hpp"

namespace nvdla::hostile {
namespace {

using ioctl_test::must;

class Abandoned : public Hostile {
 protected:
  // A layer, and how many of them a job has: more than half a minute, much longer than any test
  // waits for its end.
  static constexpr std::uint32_t kLayerUs = 20000;
  static constexpr std::uint32_t kLayers = 2000;

  std::uint32_t completions() { return faults().get(NVDLA_FAULT_COMPLETIONS); }

  // A process that leaves jobs in contexts that it has destroyed.
  void leave_jobs() {
    faults().set(NVDLA_FAULT_DELAY_US, kLayerUs);
    const pid_t child = spawn([] {
      Client client(kLayers);
      for (int i = 0; i < 2; ++i) {
        client.start();
        client.start();
        drm_nvdla_context_destroy destroy{client.context(), 0};
        must(client.node().call(DRM_IOCTL_NVDLA_CONTEXT_DESTROY, &destroy), "CONTEXT_DESTROY");
        client.renew_context();
      }
      return 0;
    });
    EXPECT_EQ(reap(child), 0);
  }
};

// The layer that runs and the one that is enabled behind it: no other begins.
TEST_F(Abandoned, JobsOfADestroyedContextEndWithTheirProcess) {
  leave_jobs();
  const std::uint32_t left = completions();
  Client client;
  EXPECT_EQ(client.run(), 0);
  // Its own layer, and those two.
  EXPECT_LE(completions() - left, 4u) << "the dead go on";
  ::usleep(500000);
  const std::uint32_t later = completions();
  ::usleep(500000);
  EXPECT_EQ(completions(), later) << "the dead go on";
}

TEST_F(Abandoned, TheModuleGoesWithoutWaitingForThem) {
  leave_jobs();
  const std::uint32_t left = completions();
  int error = EAGAIN;
  // The loop ends when a tenth of one of their jobs has run, if any of them runs.
  for (int i = 0; i < 300 && error == EAGAIN && completions() - left < kLayers / 10; ++i) {
    ::usleep(100000);
    error = ::syscall(SYS_delete_module, "nvdla", O_NONBLOCK) == 0 ? 0 : errno;
  }
  EXPECT_EQ(error, 0) << "after " << completions() - left << " layers of the dead";
  if (error != 0) {
    faults().set(NVDLA_FAULT_DELAY_US, 0);
    for (int i = 0; i < 3000 && error == EAGAIN; ++i) {
      ::usleep(100000);
      error = ::syscall(SYS_delete_module, "nvdla", O_NONBLOCK) == 0 ? 0 : errno;
    }
    ASSERT_EQ(error, 0);
  }
  load_driver();
}

// A destroyed context stays charged to its user until its last job has ended.
TEST_F(Abandoned, ADestroyedContextCountsUntilItsLastJobEnds) {
  // A job takes most of a second, so that few of them end while the others are submitted.
  faults().set(NVDLA_FAULT_DELAY_US, 100000);
  const std::uint64_t usual = ioctl_test::module_parameter("user_contexts");
  ioctl_test::set_module_parameter("user_contexts", 256);
  const pid_t child = spawn([] {
    Client client(8);
    const auto limit = static_cast<std::uint32_t>(ioctl_test::module_parameter("user_contexts"));
    constexpr std::uint32_t kFew = 64;
    // Jobs are limited, too: one each is within that limit.
    if (ioctl_test::module_parameter("user_jobs") <= limit + kFew) return 3;
    for (std::uint32_t count = 1; count <= limit + kFew; ++count) {
      client.start();
      drm_nvdla_context_destroy destroy{client.context(), 0};
      must(client.node().call(DRM_IOCTL_NVDLA_CONTEXT_DESTROY, &destroy), "CONTEXT_DESTROY");
      drm_nvdla_context_create create{};
      const int error = client.node().call(DRM_IOCTL_NVDLA_CONTEXT_CREATE, &create);
      if (error == EDQUOT) return count + kFew < limit ? 2 : 0;
      if (error != 0) return 4;
      // Nothing but a job is left of the context that this one replaces.
      client.use_context(create.context);
    }
    return 1;
  });
  const int status = reap(child);
  ioctl_test::set_module_parameter("user_contexts", usual);
  EXPECT_NE(status, 1) << "more contexts than the limit have jobs";
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace nvdla::hostile
