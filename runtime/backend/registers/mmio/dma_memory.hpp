// SPDX-License-Identifier: MIT
//
// Memory whose physical addresses this process knows, as long as the object lives.
#ifndef NVDLA_BACKEND_REGISTERS_MMIO_DMA_MEMORY_HPP
#define NVDLA_BACKEND_REGISTERS_MMIO_DMA_MEMORY_HPP

#include <memory>
#include <string_view>
#include <vector>

#include "backend/registers/mmio/dma_pool.hpp"
#include "backend/registers/mmio/system.hpp"
#include "support/memory_window.hpp"

namespace nvdla::detail {

class DmaMemory {
 public:
  virtual ~DmaMemory() = default;
  DmaMemory(const DmaMemory&) = delete;
  DmaMemory& operator=(const DmaMemory&) = delete;

  const std::vector<DmaRange>& ranges() const noexcept { return ranges_; }
  // Mapped so that it can be read and written in whole, aligned words only, and no cache holds it.
  virtual bool words_only() const noexcept { return false; }

 protected:
  DmaMemory() = default;

  std::vector<DmaRange> ranges_ = {};
};

// At most `bytes` in huge pages below 2^`address_bits`, all that are free if it is 0 and there are
// not more than a default. Throws kNoMemory on behalf of the device `name`, saying how to reserve
// some.
std::unique_ptr<DmaMemory> make_huge_pages(const System& system, std::string_view name,
                                           std::uint64_t bytes, unsigned address_bits);

// Memory of that address which the kernel leaves alone, from /dev/mem. Throws kNoDevice, kBusy.
std::unique_ptr<DmaMemory> make_reserved_memory(const System& system, std::string_view name,
                                                const MemoryWindow& window);

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_REGISTERS_MMIO_DMA_MEMORY_HPP
