// SPDX-License-Identifier: MIT
//
// What a kernel device is, without using it.
#ifndef NVDLA_BACKEND_KERNEL_DESCRIBE_HPP
#define NVDLA_BACKEND_KERNEL_DESCRIBE_HPP

#include <cstdint>
#include <string>
#include <string_view>

#include "firmware/nvdla_hw.h"

namespace nvdla::detail {

struct KernelDevice {
  std::string path;
  const nvdla_hw* hw = nullptr;
  std::string driver;           // its version, "1.0.0"
  std::uint32_t clock_khz = 0;  // 0: not known
};

// Throws kNoDevice.
KernelDevice describe_kernel_device(std::string_view path);

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_KERNEL_DESCRIBE_HPP
