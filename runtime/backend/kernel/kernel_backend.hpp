// SPDX-License-Identifier: MIT
//
// A device of the kernel driver.
#ifndef NVDLA_BACKEND_KERNEL_KERNEL_BACKEND_HPP
#define NVDLA_BACKEND_KERNEL_KERNEL_BACKEND_HPP

#include <memory>
#include <string_view>

#include "backend/backend.hpp"

namespace nvdla::detail {

// Throws kNoDevice.
std::shared_ptr<Backend> make_kernel_backend(std::string_view path);

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_KERNEL_KERNEL_BACKEND_HPP
