// SPDX-License-Identifier: MIT
//
/// @file
/// The memories that a device reaches.
#ifndef NVDLA_TYPES_MEMORY_HPP
#define NVDLA_TYPES_MEMORY_HPP

#include <drm/nvdla_layer.h>

#include <cstdint>

#include "nvdla/types/export.hpp"

namespace nvdla {

/// The memory interface that reaches a buffer (enum nvdla_memory).
enum class Memory : std::uint32_t {
  kDram = NVDLA_MEMORY_DRAM,  ///< main memory
  kSram = NVDLA_MEMORY_SRAM,  ///< DeviceInfo::has_sram
};

}  // namespace nvdla

#endif  // NVDLA_TYPES_MEMORY_HPP
