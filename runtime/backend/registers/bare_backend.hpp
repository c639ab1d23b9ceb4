// SPDX-License-Identifier: MIT
//
// A bare device with the engine on it.
#ifndef NVDLA_BACKEND_REGISTERS_BARE_BACKEND_HPP
#define NVDLA_BACKEND_REGISTERS_BARE_BACKEND_HPP

#include <memory>
#include <string_view>

#include "backend/backend.hpp"
#include "backend/registers/bare_device.hpp"
#include "backend/registers/bare_runner.hpp"
#include "backend/registers/identify.hpp"

namespace nvdla::detail {

// Has the device copy one element: what it writes must be one memory atom of `hw`. With a wrong
// configuration no proof about memory would hold. Throws kNoDevice, and what the job fails with.
void confirm(BareRunner& runner, const std::shared_ptr<BareDevice>& device, const nvdla_hw& hw);

// `backend` is DeviceInfo::backend and lives as long as the program, `sram_bytes` that of the info.
std::shared_ptr<Backend> make_bare_backend(std::unique_ptr<BareDevice> device,
                                           std::string_view backend, const nvdla_hw* named,
                                           std::uint64_t sram_bytes);

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_REGISTERS_BARE_BACKEND_HPP
