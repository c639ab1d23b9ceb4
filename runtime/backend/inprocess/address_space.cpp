// SPDX-License-Identifier: MIT
#include "backend/inprocess/address_space.hpp"

#include <algorithm>
#include <iterator>

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
      end_(address_bits > 32 ? kWideEnd : kNarrowEnd),
      last_(address_bits > 32 ? UINT64_MAX : kNarrowEnd - 1) {}

std::optional<std::uint64_t> AddressSpace::take(std::uint64_t bytes) {
  if (bytes > end_ - first_) return std::nullopt;
  const std::uint64_t length = (bytes + kAlignment - 1) / kAlignment * kAlignment + kGuard;
  const std::lock_guard lock(mutex_);
  const auto fits = [&](std::uint64_t start) { return start <= end_ && length <= end_ - start; };
  // After the last one while there is room: addresses are then used again as late as possible.
  std::uint64_t start = used_.empty() ? first_ : std::max(first_, used_.rbegin()->second);
  if (!fits(start)) {
    start = first_;
    for (const auto& [begin, end] : used_) {
      if (begin >= start && begin - start >= length) break;
      start = std::max(start, end);
    }
    if (!fits(start)) return std::nullopt;
  }
  used_.emplace(start, start + length);
  return start;
}

bool AddressSpace::take_at(std::uint64_t address, std::uint64_t bytes) {
  if (address % kAlignment != 0 || bytes == 0 || address > last_ || bytes - 1 > last_ - address) {
    return false;
  }
  const std::uint64_t last = (address + (bytes - 1)) | (kAlignment - 1);
  const std::lock_guard lock(mutex_);
  const auto after = used_.lower_bound(address);
  if (after != used_.end() && after->first <= last) return false;
  if (after != used_.begin() && std::prev(after)->second > address) return false;
  used_.emplace(address, last == UINT64_MAX ? last : last + 1);
  return true;
}

void AddressSpace::give_back(std::uint64_t address) noexcept {
  const std::lock_guard lock(mutex_);
  used_.erase(address);
}

}  // namespace nvdla::detail
