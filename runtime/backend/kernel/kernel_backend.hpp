// SPDX-License-Identifier: MIT
//
// Devices of the kernel driver: opened, or only described.
#ifndef NVDLA_BACKEND_KERNEL_KERNEL_BACKEND_HPP
#define NVDLA_BACKEND_KERNEL_KERNEL_BACKEND_HPP

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "backend/backend.hpp"
#include "firmware/nvdla_hw.h"

namespace nvdla::detail {

// Opens the device. Throws kNoDevice.
std::shared_ptr<Backend> make_kernel_backend(std::string_view path);

// `KernelDevice` describes a device that nobody has to use.
struct KernelDevice {
  std::string path;
  const nvdla_hw* hw = nullptr;
  std::string driver;           // its version, "1.0.0"
  std::uint32_t clock_khz = 0;  // 0: not known
};

// Describes the device. Throws kNoDevice.
KernelDevice describe_kernel_device(std::string_view path);

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_KERNEL_KERNEL_BACKEND_HPP
