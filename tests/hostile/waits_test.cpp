// SPDX-License-Identifier: MIT
//
// A job that waits is seen to wait: before what it waits for it has not run, after it it has.
#include <unistd.h>
#include <xf86drm.h>

#include <cerrno>
#include <climits>

#include "emulator/device/fault_capability.h"
#include "hostile.hpp"

namespace nvdla::hostile {
namespace {

class SyncWaits : public Hostile {
 protected:
  // A job of so many layers takes most of a minute, long beside what is done meanwhile, however
  // slow this machine.
  static constexpr std::uint32_t kLayers = 100;
  void slow_down() { faults().set(NVDLA_FAULT_DELAY_US, 500000); }
  void hurry() { faults().set(NVDLA_FAULT_DELAY_US, 0); }

  // A sync object of `from` as one of `to`.
  static std::uint32_t share(const Client& from, std::uint32_t syncobj, const Client& to) {
    int file = -1;
    std::uint32_t handle = 0;
    ioctl_test::must(drmSyncobjHandleToFD(from.node().fd(), syncobj, &file) == 0 ? 0 : errno,
                     "HANDLE_TO_FD");
    ioctl_test::must(drmSyncobjFDToHandle(to.node().fd(), file, &handle) == 0 ? 0 : errno,
                     "FD_TO_HANDLE");
    ::close(file);
    return handle;
  }

  // `second` starts when `first`, which takes a while, has signalled the point. A job that does
  // not wait overtakes it meanwhile, so it is not the order of submissions that does it.
  void expect_waits(std::uint64_t point) {
    slow_down();
    Client first(kLayers), second, third;
    auto gate = first.node().syncobj();
    const auto done = second.node().syncobj();
    ASSERT_EQ(first.submit({{gate, DRM_NVDLA_SYNC_SIGNAL, point}}, first.context()), 0);
    const auto wait = share(first, gate, second);
    ASSERT_EQ(second.submit({{wait, DRM_NVDLA_SYNC_WAIT, point}, {done, DRM_NVDLA_SYNC_SIGNAL, 0}},
                            second.context()),
              0);
    const int waiting = second.sync_file(done);
    EXPECT_EQ(third.run(), 0);
    EXPECT_EQ(ioctl_test::fence_error(waiting), EBUSY);
    EXPECT_FALSE(second.copied()) << "it has run";
    std::uint64_t at = point;
    const int unsignalled =
        -drmSyncobjTimelineWait(first.node().fd(), &gate, &at, 1, 0, 0, nullptr);
    EXPECT_EQ(unsignalled, ETIME) << "the test is too slow for the first job";
    hurry();
    EXPECT_EQ(second.end(done), 0);
    EXPECT_TRUE(second.copied());
    EXPECT_EQ(drmSyncobjTimelineWait(first.node().fd(), &gate, &at, 1, 0, 0, nullptr), 0)
        << "it ended before what it waits for";
    ::close(waiting);
  }
};

TEST_F(SyncWaits, ForAFence) { expect_waits(0); }

TEST_F(SyncWaits, ForAPointOfATimeline) { expect_waits(7); }

TEST_F(SyncWaits, APointThatNobodySignalsIsRefused) {
  Client client;
  const auto gate = client.node().syncobj();
  EXPECT_EQ(client.submit({{gate, DRM_NVDLA_SYNC_WAIT, 0}}, client.context()), EINVAL);
  EXPECT_EQ(client.submit({{gate, DRM_NVDLA_SYNC_WAIT, 3}}, client.context()), EINVAL);
}

// One that waits for the other's end, in a circle as far as that can be: it cannot.
TEST_F(SyncWaits, ACircleEnds) {
  Client client(2);
  const auto one = client.node().syncobj();
  const auto other = client.node().syncobj();
  const auto context = client.node().context();
  ASSERT_EQ(client.submit({{one, DRM_NVDLA_SYNC_SIGNAL, 0}}, client.context()), 0);
  for (int i = 0; i < 50; ++i) {
    ASSERT_EQ(
        client.submit({{one, DRM_NVDLA_SYNC_WAIT, 0}, {other, DRM_NVDLA_SYNC_SIGNAL, 0}}, context),
        0);
    ASSERT_EQ(client.submit({{other, DRM_NVDLA_SYNC_WAIT, 0}, {one, DRM_NVDLA_SYNC_SIGNAL, 0}},
                            client.context()),
              0);
  }
  EXPECT_EQ(client.end(one), 0);
  EXPECT_EQ(client.end(other), 0);
}

// A time in the past looks, however far in the past it is.
TEST_F(SyncWaits, ABufferThatIsBusyIsNotWaitedForInThePast) {
  slow_down();
  Client client(kLayers);
  const auto done = client.start();
  for (const std::int64_t timeout : {std::int64_t{INT64_MIN}, std::int64_t{-1}, std::int64_t{0}}) {
    drm_nvdla_bo_wait wait{client.target_handle(), 0, timeout};
    EXPECT_EQ(client.node().call(DRM_IOCTL_NVDLA_BO_WAIT, &wait), ETIMEDOUT) << timeout;
  }
  hurry();
  EXPECT_EQ(client.end(done), 0);
}

}  // namespace
}  // namespace nvdla::hostile
