// SPDX-License-Identifier: MIT
//
// The memory of a machine whose device is not coherent with the caches of its processor: the
// guest's memory is what the processor sees, this is what the device sees. A byte goes from one to
// the other by a cache operation and in no other way, so what a driver forgets to write back or to
// invalidate is never there by luck. What nobody wrote back is neither zero nor what the guest
// wrote.
#ifndef NVDLA_EMULATOR_DEVICE_STALE_VIEW_HPP
#define NVDLA_EMULATOR_DEVICE_STALE_VIEW_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <unordered_set>

namespace nvdla::emulator {

class StaleView {
 public:
  static constexpr std::uint64_t kPage = 4096;
  static constexpr std::byte kNeverCleaned{0xd7};

  // What of `size` bytes at `address` lies in its page.
  static std::uint64_t in_page(std::uint64_t address, std::uint64_t size) noexcept;

  // The device's byte there, and those behind it up to the end of the page.
  std::byte* at(std::uint64_t address);

  // Whether both see the same in the page of the address.
  bool uncached(std::uint64_t address) const noexcept;
  void set_uncached(std::uint64_t address, std::uint64_t size, bool uncached);

 private:
  std::unordered_map<std::uint64_t, std::unique_ptr<std::array<std::byte, kPage>>> pages_;
  std::unordered_set<std::uint64_t> uncached_;
};

}  // namespace nvdla::emulator

#endif  // NVDLA_EMULATOR_DEVICE_STALE_VIEW_HPP
