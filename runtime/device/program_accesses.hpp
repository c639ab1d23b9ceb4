// SPDX-License-Identifier: MIT
//
// Lists the bytes that a program's layers may access, as the firmware's compiler computes them.
#ifndef NVDLA_DEVICE_PROGRAM_ACCESSES_HPP
#define NVDLA_DEVICE_PROGRAM_ACCESSES_HPP

#include <cstdint>
#include <vector>

#include "nvdla/program.hpp"
#include "nvdla/types/device_info.hpp"

namespace nvdla::detail {

struct ProgramAccess {
  std::uint32_t layer = 0;
  std::uint32_t slot = 0;
  std::uint64_t begin = 0, end = 0;  // bytes, in the slot
};

// Returns the accesses of each DMA client of each layer, in the order of layers, without those to
// control data. Throws kInvalidProgram as Device::create_program() does, except for the rules on
// how long layers may take.
std::vector<ProgramAccess> program_accesses(const DeviceInfo& info, const ProgramDesc& desc);

}  // namespace nvdla::detail

#endif  // NVDLA_DEVICE_PROGRAM_ACCESSES_HPP
