// SPDX-License-Identifier: MIT
#ifndef NVDLA_DEVICE_ADOPT_PAGES_HPP
#define NVDLA_DEVICE_ADOPT_PAGES_HPP

#include <memory>

#include "nvdla/buffer.hpp"
#include "nvdla/device.hpp"
#include "nvdla/types/memory.hpp"
#include "support/host_pages.hpp"

namespace nvdla::detail {

// Makes a buffer of pages that nobody writes to from then on. A device of this process takes them
// as they are, others a copy. Throws what Device::allocate() throws.
Buffer adopt_pages(const Device& device, const std::shared_ptr<HostPages>& pages, Memory memory);

}  // namespace nvdla::detail

#endif  // NVDLA_DEVICE_ADOPT_PAGES_HPP
