// SPDX-License-Identifier: MIT
#include "backend/registers/block_table.hpp"

#include <iterator>

namespace nvdla::detail {

std::optional<std::uint64_t> BlockTable::take(std::optional<std::uint64_t> address,
                                              std::uint64_t bytes) {
  if (!address) return space_.take(bytes);
  return space_.take_at(*address, bytes) ? address : std::nullopt;
}

void BlockTable::set(std::uint64_t address, std::byte* data, std::uint64_t bytes,
                     std::optional<Memory> memory) {
  const std::lock_guard lock(mutex_);
  blocks_.insert_or_assign(address, Block{data, bytes, memory});
}

void BlockTable::give_back(std::uint64_t address) noexcept {
  {
    const std::lock_guard lock(mutex_);
    blocks_.erase(address);
  }
  space_.give_back(address);
}

BlockTable::Bytes BlockTable::find(Memory memory, std::uint64_t address) const noexcept {
  const std::lock_guard lock(mutex_);
  const auto after = blocks_.upper_bound(address);
  if (after == blocks_.begin()) return {};
  const auto& [begin, block] = *std::prev(after);
  if (address - begin >= block.bytes || block.memory.value_or(memory) != memory) return {};
  return {block.data + (address - begin), block.bytes - (address - begin)};
}

}  // namespace nvdla::detail
