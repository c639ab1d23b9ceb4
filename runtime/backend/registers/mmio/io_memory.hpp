// SPDX-License-Identifier: MIT
//
// /proc/iomem: who has which physical addresses.
#ifndef NVDLA_BACKEND_REGISTERS_MMIO_IO_MEMORY_HPP
#define NVDLA_BACKEND_REGISTERS_MMIO_IO_MEMORY_HPP

#include <string>
#include <string_view>
#include <vector>

#include "backend/registers/mmio/system.hpp"
#include "support/memory_window.hpp"

namespace nvdla::detail {

class IoMemory {
 public:
  // Throws kNoDevice on behalf of the device `name` where it cannot be read, or hides addresses.
  IoMemory(const System& system, std::string_view name);

  // Throws kNoDevice if registers cannot be there: it is memory.
  void check_registers(const MemoryWindow& window, std::string_view name) const;
  // Throws kNoDevice unless nobody has a part of it: it is reserved, or nothing is known of it.
  void check_memory(const MemoryWindow& window, std::string_view name) const;

 private:
  struct Range {
    MemoryWindow window;
    std::string name;
  };

  std::vector<Range> ranges_;
};

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_REGISTERS_MMIO_IO_MEMORY_HPP
