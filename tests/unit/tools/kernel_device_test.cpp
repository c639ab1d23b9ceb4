// SPDX-License-Identifier: MIT
//
// Kernel devices in the list of `nvdla info`.
#include "tools/cli/input/kernel_device.hpp"

#include <gtest/gtest.h>

namespace nvdla::cli {
namespace {

TEST(KernelDevices, AreLinesOfATable) {
  const detail::KernelDevice device{"/dev/accel/accel0", nvdla_hw_find("nv_medium_1024_full"),
                                    "0.1.0", 1000000};
  const std::string line = kernel_device_line(device);
  EXPECT_EQ(kKernelDeviceHead,
            "kernel device               configuration               driver       clock");
  EXPECT_EQ(line, "/dev/accel/accel0           nv_medium_1024_full          0.1.0    1000 MHz");
  EXPECT_EQ(kernel_device_line({"/dev/dri/renderD128", device.hw, "10.20.30", 0}),
            "/dev/dri/renderD128         nv_medium_1024_full       10.20.30   not known");
}

}  // namespace
}  // namespace nvdla::cli
