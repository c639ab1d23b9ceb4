// SPDX-License-Identifier: MIT
//
/// \file
/// How fast the memory behind a device is.
#ifndef NVDLA_TYPES_MEMORY_SPEED_HPP
#define NVDLA_TYPES_MEMORY_SPEED_HPP

#include <cstdint>

#include "nvdla/types/export.hpp"

namespace nvdla {

/// `MemorySpeed` describes the memory behind a device, in cycles of the device's clock. Predicted
/// cycles and choices of the compiler depend on it, results do not. Without anything said, memory
/// answers in the next cycle and passes what the interface takes.
struct MemorySpeed {
  std::uint32_t latency = 1;       ///< cycles from a request to its first data; of writes, too
  std::uint32_t outstanding = 0;   ///< requests on their way at once; 0: no limit of the memory's
  double bandwidth = 0;            ///< bytes a cycle, reads and writes together; 0: no limit
  std::uint32_t sram_latency = 0;  ///< of secondary memory; 0: as `latency`
  double sram_bandwidth = 0;       ///< of secondary memory; 0: no limit
};

}  // namespace nvdla

#endif  // NVDLA_TYPES_MEMORY_SPEED_HPP
