// SPDX-License-Identifier: MIT
//
// Pieces of memory at physical addresses that are known, for buffers.
#ifndef NVDLA_BACKEND_REGISTERS_MMIO_DMA_POOL_HPP
#define NVDLA_BACKEND_REGISTERS_MMIO_DMA_POOL_HPP

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace nvdla::detail {

// Without a gap on both sides.
struct DmaRange {
  std::byte* data = nullptr;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
};

// Thread safe.
class DmaPool {
 public:
  // Addresses and sizes are multiples of 4 KiB.
  explicit DmaPool(const std::vector<DmaRange>& ranges);

  // A piece of whole pages: anywhere, or there; nullopt if there is none.
  std::optional<DmaRange> take(std::uint64_t bytes);
  std::optional<DmaRange> take_at(std::uint64_t address, std::uint64_t bytes);
  void give_back(const DmaRange& range) noexcept;

  // Of the largest piece that is free.
  std::uint64_t largest() const noexcept;

 private:
  using Free = std::map<std::uint64_t, DmaRange>;  // by address

  DmaRange cut(Free::iterator from, std::uint64_t address, std::uint64_t bytes);

  mutable std::mutex mutex_;
  Free free_;
};

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_REGISTERS_MMIO_DMA_POOL_HPP
