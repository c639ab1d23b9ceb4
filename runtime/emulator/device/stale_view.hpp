// SPDX-License-Identifier: MIT
//
// `StaleView` models memory of a machine whose device is not coherent with the processor's caches.
// The guest's memory is what the processor sees, this view is what the device sees. Only a cache
// operation copies a byte from one to the other, so a missing write-back or invalidation always
// shows. Bytes that were never written back are neither zero nor what the guest wrote.
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

  // Returns how many of `size` bytes at `address` lie in its page.
  static std::uint64_t in_page(std::uint64_t address, std::uint64_t size) noexcept;

  // Returns the device's byte at an address, and those behind it up to the end of the page.
  std::byte* at(std::uint64_t address);

  // Returns true if device and processor see the same memory in the page of the address.
  bool uncached(std::uint64_t address) const noexcept;
  void set_uncached(std::uint64_t address, std::uint64_t size, bool uncached);

 private:
  std::unordered_map<std::uint64_t, std::unique_ptr<std::array<std::byte, kPage>>> pages_;
  std::unordered_set<std::uint64_t> uncached_;
};

}  // namespace nvdla::emulator

#endif  // NVDLA_EMULATOR_DEVICE_STALE_VIEW_HPP
