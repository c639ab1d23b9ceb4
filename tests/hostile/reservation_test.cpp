// SPDX-License-Identifier: MIT
//
// Another driver waits for a fence while it holds the reservation of a buffer, as the rules of
// dma-fence allow. Nothing between the end of a layer and the signal of a fence may want that
// reservation. nvdla_waits.ko is that driver; it gives up in the end, so that the machine comes
// back where it deadlocked.
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <xf86drm.h>

#include <cerrno>
#include <memory>
#include <vector>

#include "../emulator/machine/nvdla_waits.h"
#include "emulator/device/fault_capability.h"
#include "hostile.hpp"

namespace nvdla::hostile {
namespace {

using ioctl_test::fence_error;
using ioctl_test::must;

// The task gives up after this, which is much longer than what the device does meanwhile, however
// slow the machine, so that only a deadlock lasts as long.
constexpr std::uint32_t kGivesUpSeconds = 60;

class Reservation : public Hostile {
 protected:
  void SetUp() override {
    Hostile::SetUp();
    waits_ = ::open("/dev/nvdla_waits", O_RDWR | O_CLOEXEC);
    ASSERT_GE(waits_, 0) << "nvdla_waits.ko is not loaded";
  }
  void TearDown() override {
    faults().clear();
    if (waits_ >= 0) ::close(waits_);  // waits for its task
    Hostile::TearDown();
  }

  // Buffers of the other driver that share one reservation.
  waits_create create(std::uint32_t count) {
    waits_create create{count, {-1, -1}};
    must(::ioctl(waits_, WAITS_CREATE, &create) == 0 ? 0 : errno, "WAITS_CREATE");
    return create;
  }
  // Has a task hold the reservation of the buffer while it waits for the fence.
  void hold(int buffer, int fence) {
    waits_hold args{buffer, fence, kGivesUpSeconds};
    must(::ioctl(waits_, WAITS_HOLD, &args) == 0 ? 0 : errno, "WAITS_HOLD");
  }
  std::uint32_t state() {
    std::uint32_t state = 0;
    must(::ioctl(waits_, WAITS_STATE, &state) == 0 ? 0 : errno, "WAITS_STATE");
    return state;
  }
  // Waits for the end of the task.
  std::uint32_t result() {
    std::uint32_t state = 0;
    must(::ioctl(waits_, WAITS_RESULT, &state) == 0 ? 0 : errno, "WAITS_RESULT");
    return state;
  }

  // One user leaves with a job under way on a buffer of the other driver, whose reservation a task
  // holds while it waits for the last of two jobs of another user, which depends on the first. The
  // device is slow, so that all that comes about before the first user's job ends. Returns the
  // fence of the last job.
  int leave_while_a_task_waits(std::uint32_t last_layers) {
    faults().set(NVDLA_FAULT_DELAY_US, 300000);
    const waits_create buffer = create(1);
    auto leaver = std::make_unique<Sharer>(buffer.fds[0], -1, 8);
    const int left = leaver->sync_file(leaver->start());

    first_ = std::make_unique<Client>(6);
    last_ = std::make_unique<Client>(last_layers);
    const std::uint32_t between = first_->start();
    const int file = export_syncobj(first_->node(), between);
    const std::uint32_t gate = import_syncobj(last_->node(), file);
    ::close(file);
    done_ = last_->node().syncobj();
    must(last_->submit({{gate, DRM_NVDLA_SYNC_WAIT, 0}, {done_, DRM_NVDLA_SYNC_SIGNAL, 0}},
                       last_->context()),
         "SUBMIT");
    const int fence = last_->sync_file(done_);
    hold(buffer.fds[0], fence);
    ::close(buffer.fds[0]);
    leaver.reset();

    // Its job is cut at a layer; then its buffers are released.
    std::vector<int> files = {left}, errors;
    EXPECT_EQ(collect(files, errors), 0) << "the job of who left does not end";
    EXPECT_EQ(fence_error(fence), EBUSY) << "the machine is too slow for this test";
    return fence;
  }

  int waits_ = -1;
  std::unique_ptr<Client> first_, last_;
  std::uint32_t done_ = 0;
};

TEST_F(Reservation, ATaskThatWaitsUnderItStopsNobody) {
  const int fence = leave_while_a_task_waits(2);
  Client bystander;
  EXPECT_EQ(bystander.run(2 * kGivesUpSeconds), 0);
  EXPECT_EQ(result(), std::uint32_t{WAITS_SIGNALLED})
      << "the fence did not signal before the reservation was free";
  EXPECT_EQ(last_->end(done_), 0);
  EXPECT_EQ(fence_error(fence), 0);
  ::close(fence);
}

// These tests need a device that can be reset.
using ReservationWithReset = Reservation;

// The time-out of a layer needs nothing that a user can hold.
TEST_F(ReservationWithReset, AHangIsFoundWhileATaskWaitsUnderIt) {
  Client witness;
  const int fence = leave_while_a_task_waits(64);
  // The layers of the first job go by before; one of the last hangs.
  faults().block(12);
  EXPECT_EQ(result(), std::uint32_t{WAITS_SIGNALLED})
      << "the time-out of a layer waits for a reservation";
  EXPECT_EQ(last_->end(done_, 2 * kGivesUpSeconds), ETIME);
  // The fence may come before the reset is counted.
  for (int i = 0; witness.state().resets == 0 && i < 1000; ++i) ::usleep(10000);
  ::close(fence);
}

// Whoever needs no buffer of that driver does not wait for it.
TEST_F(Reservation, BuffersAreMadeWhileATaskWaitsUnderIt) {
  const int fence = leave_while_a_task_waits(200);
  const pid_t child = spawn([] {
    const Node node;
    for (int i = 0; i < 10; ++i) {
      const std::uint32_t handle = node.buffer(ioctl_test::kPage);
      drm_gem_close close{handle, 0};
      must(node.call(DRM_IOCTL_GEM_CLOSE, &close), "GEM_CLOSE");
    }
    return 0;
  });
  const int status = reap_within(child, kGivesUpSeconds / 2.0);
  const int busy = fence_error(fence);
  faults().set(NVDLA_FAULT_DELAY_US, 0);
  EXPECT_EQ(status, 0) << "buffers wait for the reservation of another";
  EXPECT_EQ(busy, EBUSY) << "the machine is too slow for this test";
  EXPECT_EQ(result(), std::uint32_t{WAITS_SIGNALLED});
  EXPECT_EQ(last_->end(done_), 0);
  ::close(fence);
}

// A job that names two buffers of one reservation locks it once.
TEST_F(Reservation, TwoBuffersMayShareOne) {
  const waits_create buffers = create(2);
  Sharer sharer(buffers.fds[0], buffers.fds[1], 1);
  for (const int fd : buffers.fds) ::close(fd);
  const std::uint32_t done = sharer.node().syncobj();
  ASSERT_EQ(sharer.submit({{done, DRM_NVDLA_SYNC_SIGNAL, 0}}), 0);
  EXPECT_EQ(sharer.node().wait(done, ioctl_test::kAfterDeadline), 0);
  // The fence of the job is in it.
  faults().set(NVDLA_FAULT_DELAY_US, 500000);
  const std::uint32_t later = sharer.start();
  EXPECT_EQ(sharer.look(sharer.from()), ETIMEDOUT);
  EXPECT_EQ(sharer.look(sharer.to()), ETIMEDOUT);
  faults().clear();
  EXPECT_EQ(sharer.node().wait(later, ioctl_test::kAfterDeadline), 0);
  EXPECT_EQ(sharer.look(sharer.from()), 0);
}

}  // namespace
}  // namespace nvdla::hostile
