// SPDX-License-Identifier: MIT
#include "backend/model/address_space.hpp"

namespace nvdla::detail {
namespace {

// Above 4 GiB where addresses have a high word, so that it is not always 0; nothing at 0, which is
// what forgotten registers hold. 1 TiB is more than any host has.
constexpr std::uint64_t kWideStart = std::uint64_t{1} << 32;
constexpr std::uint64_t kWideEnd = std::uint64_t{1} << 40;
constexpr std::uint64_t kNarrowStart = 0x10000;
constexpr std::uint64_t kNarrowEnd = std::uint64_t{1} << 32;

}  // namespace

AddressSpace::AddressSpace(std::uint32_t address_bits) noexcept
    : first_(address_bits > 32 ? kWideStart : kNarrowStart),
      end_(address_bits > 32 ? kWideEnd : kNarrowEnd) {}

std::optional<std::uint64_t> AddressSpace::take(std::uint64_t bytes) {
  if (bytes > end_ - first_) return std::nullopt;
  const std::uint64_t length = (bytes + kAlignment - 1) / kAlignment * kAlignment + kGuard;
  const std::lock_guard lock(mutex_);
  // After the last one while there is room: addresses are then used again as late as possible.
  std::uint64_t start = used_.empty() ? first_ : used_.rbegin()->second;
  if (length > end_ - start) {
    start = first_;
    for (const auto& [begin, end] : used_) {
      if (begin - start >= length) break;
      start = end;
    }
    if (length > end_ - start) return std::nullopt;
  }
  used_.emplace(start, start + length);
  return start;
}

void AddressSpace::give_back(std::uint64_t address) noexcept {
  const std::lock_guard lock(mutex_);
  used_.erase(address);
}

}  // namespace nvdla::detail
