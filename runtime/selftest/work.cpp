// SPDX-License-Identifier: MIT
#include "selftest/work.hpp"

#include <algorithm>

namespace nvdla::selftest {
namespace {

// Slots end at a whole atom; reads may take the rest of a beat of 64 bytes.
std::size_t rounded(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

std::vector<nvdla_slot> slots_of(const Work& work) {
  std::vector<nvdla_slot> slots;
  for (const Region& region : work.regions) {
    nvdla_slot slot = {};
    slot.size = rounded(region.bytes.size());
    slot.alignment = kAlignment;
    slot.memory = NVDLA_MEMORY_DRAM;
    slot.access = region.written ? NVDLA_SLOT_READ | NVDLA_SLOT_WRITE : NVDLA_SLOT_READ;
    slots.push_back(slot);
  }
  return slots;
}

std::size_t bytes_around(const Region& region) { return rounded(region.bytes.size()) + 2 * kGuard; }

void lay_out(const Region& region, std::span<std::uint8_t> around) {
  std::fill(around.begin(), around.end(), kGuardByte);
  std::copy(region.bytes.begin(), region.bytes.end(), around.begin() + kGuard);
}

std::optional<Stray> Load::stray() {
  std::optional<Stray> found;
  for (std::size_t region = 0; region < regions(); ++region) {
    const auto all = around(region);
    for (std::size_t i = 0; i < all.size(); ++i) {
      // Bytes by which the region was rounded up count as its guard.
      const bool inside = i >= kGuard && i < kGuard + bytes(region).size();
      if (inside || all[i] == kGuardByte) continue;
      if (!found) {
        found = Stray{region, static_cast<std::int64_t>(i) - static_cast<std::int64_t>(kGuard),
                      all[i], 0};
      }
      ++found->count;
    }
  }
  return found;
}

}  // namespace nvdla::selftest
