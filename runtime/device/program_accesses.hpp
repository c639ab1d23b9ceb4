// SPDX-License-Identifier: MIT
//
// Which bytes the layers of a program may touch, by the compiler.
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
  std::uint64_t begin = 0, end = 0;  // in the slot
};

// Of each DMA client of each layer, in the order of layers; control data are not among them. Throws
// kInvalidProgram as Device::create_program() does, but for how long layers may take.
std::vector<ProgramAccess> program_accesses(const DeviceInfo& info, const ProgramDesc& desc);

}  // namespace nvdla::detail

#endif  // NVDLA_DEVICE_PROGRAM_ACCESSES_HPP
