// SPDX-License-Identifier: MIT
//
// A kernel device as a line of a table.
#ifndef NVDLA_TOOLS_CLI_INPUT_KERNEL_DEVICE_HPP
#define NVDLA_TOOLS_CLI_INPUT_KERNEL_DEVICE_HPP

#include <fmt/format.h>

#include <string>

#include "backend/kernel/kernel_backend.hpp"

namespace nvdla::cli {

inline const std::string kKernelDeviceHead =
    fmt::format("{:<28}{:<22}{:>12}{:>12}", "kernel device", "configuration", "driver", "clock");

inline std::string kernel_device_line(const detail::KernelDevice& device) {
  const std::string clock =
      device.clock_khz == 0 ? "not known" : fmt::format("{:g} MHz", device.clock_khz / 1000.0);
  return fmt::format("{:<28}{:<22}{:>12}{:>12}", device.path, device.hw->name, device.driver,
                     clock);
}

}  // namespace nvdla::cli

#endif  // NVDLA_TOOLS_CLI_INPUT_KERNEL_DEVICE_HPP
