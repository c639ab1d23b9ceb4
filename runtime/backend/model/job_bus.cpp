// SPDX-License-Identifier: MIT
#include "backend/model/job_bus.hpp"

#include <algorithm>

namespace nvdla::detail {

void JobBus::set(std::span<const Region> regions) {
  regions_.assign(regions.begin(), regions.end());
  std::sort(regions_.begin(), regions_.end(),
            [](const Region& a, const Region& b) { return a.begin < b.begin; });
}

const JobBus::Region* JobBus::find(model::Ram ram, std::uint64_t address,
                                   bool write) const noexcept {
  auto after = std::upper_bound(regions_.begin(), regions_.end(), address,
                                [](std::uint64_t a, const Region& r) { return a < r.begin; });
  while (after != regions_.begin()) {
    const Region& region = *--after;
    if (address < region.end && region.ram == ram && (write ? region.writable : region.readable)) {
      return &region;
    }
  }
  return nullptr;
}

model::Mapping JobBus::map(model::Ram ram, std::uint64_t address, std::uint64_t /*size*/,
                           bool write) noexcept {
  const Region* region = find(ram, address, write);
  if (region == nullptr) return {};
  return {region->data + (address - region->begin), region->end - address};
}

std::uint64_t JobBus::generation(model::Ram ram, std::uint64_t address,
                                 std::uint64_t size) const noexcept {
  const Region* region = find(ram, address, false);
  if (region == nullptr || size > region->end - address) return 0;
  return region->buffer->generation();
}

void JobBus::written(model::Ram ram, std::uint64_t address, std::uint64_t size) noexcept {
  const Region* region = find(ram, address, true);
  if (region != nullptr && size != 0) region->buffer->changed();
}

}  // namespace nvdla::detail
