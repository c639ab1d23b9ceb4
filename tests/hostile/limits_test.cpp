// SPDX-License-Identifier: MIT
//
// More jobs than one user may have: refused where the driver says, until one has ended.
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "emulator/device/fault_capability.h"
#include "hostile.hpp"

namespace nvdla::hostile {
namespace {

class JobLimit : public Hostile {
 protected:
  // Status 0 when it was refused at the limit, and then room was made.
  int submit_until_refused() {
    // A job takes half a minute, so that next to none ends on its own, however slow this machine.
    faults().set(NVDLA_FAULT_DELAY_US, 500000);
    Client client(64);
    const auto submit = [&] {
      return client.submit(std::vector<drm_nvdla_sync>(), client.context());
    };
    const auto limit = static_cast<std::uint32_t>(ioctl_test::module_parameter("user_jobs"));
    std::uint32_t count = 0;
    int error = 0;
    while ((error = submit()) == 0) ++count;
    if (error != EDQUOT) return 2;
    if (count + 64 < limit || count > limit + 64) return 3;
    faults().clear();
    while ((error = submit()) == EDQUOT) ::usleep(1000);
    return error == 0 ? 0 : 4;
  }
};

// In a process of its own, whose jobs need not all run when it ends.
TEST_F(JobLimit, IsWhereTheDriverSays) {
  EXPECT_EQ(reap(spawn([this] { return submit_until_refused(); })), 0);
  expect_service();
}

}  // namespace
}  // namespace nvdla::hostile
