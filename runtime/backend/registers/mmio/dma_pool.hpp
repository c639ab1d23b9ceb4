// SPDX-License-Identifier: MIT
//
// `DmaPool` hands out ranges of memory whose physical addresses are known, for buffers.
#ifndef NVDLA_BACKEND_REGISTERS_MMIO_DMA_POOL_HPP
#define NVDLA_BACKEND_REGISTERS_MMIO_DMA_POOL_HPP

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace nvdla::detail {

// A range of memory, contiguous for the host and for the device.
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

  // Take a range of whole pages: anywhere, or at `address`; nullopt if there is none.
  std::optional<DmaRange> take(std::uint64_t bytes);
  std::optional<DmaRange> take_at(std::uint64_t address, std::uint64_t bytes);
  void give_back(const DmaRange& range) noexcept;

  // Returns the bytes of the largest free range.
  std::uint64_t largest() const noexcept;

 private:
  using Free = std::map<std::uint64_t, DmaRange>;  // by address

  DmaRange cut(Free::iterator from, std::uint64_t address, std::uint64_t bytes);

  mutable std::mutex mutex_;
  Free free_;
};

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_REGISTERS_MMIO_DMA_POOL_HPP
