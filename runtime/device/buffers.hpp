// SPDX-License-Identifier: MIT
#ifndef NVDLA_DEVICE_BUFFERS_HPP
#define NVDLA_DEVICE_BUFFERS_HPP

#include <memory>

#include "nvdla/buffer.hpp"
#include "nvdla/device.hpp"
#include "nvdla/types/device_info.hpp"
#include "nvdla/types/memory.hpp"
#include "support/host_pages.hpp"

namespace nvdla::detail {

// Makes a buffer of pages that nobody writes to from then on. A device of this process takes them
// as they are, others a copy. Throws what Device::allocate() throws.
Buffer adopt_pages(const Device& device, const std::shared_ptr<HostPages>& pages, Memory memory);

// Throws kNotAvailable for a memory that the device does not have, kInvalidArgument for none.
void check_memory(const DeviceInfo& info, Memory memory);

}  // namespace nvdla::detail

#endif  // NVDLA_DEVICE_BUFFERS_HPP
