// SPDX-License-Identifier: MIT
//
// Checks of buffers that an application binds in place of those of a request.
#ifndef NVDLA_DEVICE_BOUND_BUFFER_HPP
#define NVDLA_DEVICE_BOUND_BUFFER_HPP

#include <cstdint>
#include <string_view>

#include "nvdla/buffer.hpp"

namespace nvdla::detail {

// Refuses a buffer that cannot take the place of `old` for the tensor `name`: one of another
// device, in another memory, or of less than `bytes`.
void check_bound(std::string_view name, const Buffer& buffer, const Buffer& old,
                 std::uint64_t bytes);

}  // namespace nvdla::detail

#endif  // NVDLA_DEVICE_BOUND_BUFFER_HPP
