// SPDX-License-Identifier: MIT
//
// Devices by their registers, opened by name.
#ifndef NVDLA_BACKEND_OPEN_OPEN_REGISTERS_HPP
#define NVDLA_BACKEND_OPEN_OPEN_REGISTERS_HPP

#include <memory>
#include <string_view>

#include "backend/registers/bare_device.hpp"

namespace nvdla::detail {

// Opens a model, simulator or mapped device by its name as Device::open() takes it, and does not
// confirm yet that it is a device, let alone of which configuration. Throws kNoDevice.
std::unique_ptr<BareDevice> open_bare(std::string_view name);

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_OPEN_OPEN_REGISTERS_HPP
