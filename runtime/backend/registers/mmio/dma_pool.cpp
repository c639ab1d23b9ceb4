// SPDX-License-Identifier: MIT
#include "backend/registers/mmio/dma_pool.hpp"

#include <algorithm>
#include <iterator>

namespace nvdla::detail {
namespace {

constexpr std::uint64_t kPoolPage = 4096;

// 0 for what a number does not hold.
std::uint64_t whole_pages(std::uint64_t bytes) {
  return (bytes + kPoolPage - 1) / kPoolPage * kPoolPage;
}

bool follows(const DmaRange& one, const DmaRange& next) {
  return one.address + one.bytes == next.address && one.data + one.bytes == next.data;
}

}  // namespace

DmaPool::DmaPool(const std::vector<DmaRange>& ranges) {
  for (const DmaRange& range : ranges) give_back(range);
}

DmaRange DmaPool::cut(Free::iterator from, std::uint64_t address, std::uint64_t bytes) {
  const DmaRange whole = from->second;
  free_.erase(from);
  const std::uint64_t before = address - whole.address;
  const std::uint64_t behind = whole.bytes - before - bytes;
  if (before != 0) free_.emplace(whole.address, DmaRange{whole.data, whole.address, before});
  if (behind != 0) {
    free_.emplace(address + bytes, DmaRange{whole.data + before + bytes, address + bytes, behind});
  }
  return {whole.data + before, address, bytes};
}

// Takes from the smallest free range that suffices, so that large ones stay whole.
std::optional<DmaRange> DmaPool::take(std::uint64_t bytes) {
  const std::uint64_t needed = whole_pages(bytes);
  if (needed == 0) return std::nullopt;
  const std::lock_guard lock(mutex_);
  auto best = free_.end();
  for (auto it = free_.begin(); it != free_.end(); ++it) {
    if (it->second.bytes < needed) continue;
    if (best == free_.end() || it->second.bytes < best->second.bytes) best = it;
  }
  if (best == free_.end()) return std::nullopt;
  return cut(best, best->first, needed);
}

std::optional<DmaRange> DmaPool::take_at(std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t needed = whole_pages(bytes);
  if (needed == 0 || address % kPoolPage != 0) return std::nullopt;
  const std::lock_guard lock(mutex_);
  auto it = free_.upper_bound(address);
  if (it == free_.begin()) return std::nullopt;
  --it;
  const std::uint64_t before = address - it->first;
  if (before >= it->second.bytes || needed > it->second.bytes - before) return std::nullopt;
  return cut(it, address, needed);
}

void DmaPool::give_back(const DmaRange& range) noexcept {
  const std::lock_guard lock(mutex_);
  DmaRange whole = range;
  const auto next = free_.lower_bound(range.address);
  if (next != free_.begin() && follows(std::prev(next)->second, whole)) {
    const auto before = std::prev(next);
    whole = {before->second.data, before->second.address, before->second.bytes + whole.bytes};
    free_.erase(before);
  }
  if (next != free_.end() && follows(whole, next->second)) {
    whole.bytes += next->second.bytes;
    free_.erase(next);
  }
  free_.emplace(whole.address, whole);
}

std::uint64_t DmaPool::largest() const noexcept {
  const std::lock_guard lock(mutex_);
  std::uint64_t bytes = 0;
  for (const auto& [address, range] : free_) bytes = std::max(bytes, range.bytes);
  return bytes;
}

}  // namespace nvdla::detail
