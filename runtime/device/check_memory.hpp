// SPDX-License-Identifier: MIT
#ifndef NVDLA_DEVICE_CHECK_MEMORY_HPP
#define NVDLA_DEVICE_CHECK_MEMORY_HPP

#include "nvdla/types/device_info.hpp"
#include "nvdla/types/memory.hpp"

namespace nvdla::detail {

// Throws kNotAvailable for a memory that the device does not have, kInvalidArgument for none.
void check_memory(const DeviceInfo& info, Memory memory);

}  // namespace nvdla::detail

#endif  // NVDLA_DEVICE_CHECK_MEMORY_HPP
