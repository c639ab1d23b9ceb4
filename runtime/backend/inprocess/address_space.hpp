// SPDX-License-Identifier: MIT
//
// Addresses for buffers of a device whose memory is ours to place. Buffers keep a guard of unused
// addresses between them, so that an access that leaves a buffer meets nothing.
#ifndef NVDLA_BACKEND_INPROCESS_ADDRESS_SPACE_HPP
#define NVDLA_BACKEND_INPROCESS_ADDRESS_SPACE_HPP

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

namespace nvdla::detail {

// Thread safe.
class AddressSpace {
 public:
  static constexpr std::uint64_t kAlignment = 4096;
  static constexpr std::uint64_t kGuard = 4096;

  explicit AddressSpace(std::uint32_t address_bits) noexcept;

  // The start of a free range, or nullopt.
  std::optional<std::uint64_t> take(std::uint64_t bytes);
  // Just that range, which starts at a multiple of kAlignment, without a guard; false if the device
  // cannot reach it or somebody has a part of it.
  bool take_at(std::uint64_t address, std::uint64_t bytes);
  void give_back(std::uint64_t address) noexcept;

 private:
  std::uint64_t first_;
  std::uint64_t end_;
  std::uint64_t last_;  // address that the device reaches
  std::mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> used_;  // start -> end, guard included
};

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_INPROCESS_ADDRESS_SPACE_HPP
