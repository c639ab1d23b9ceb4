// SPDX-License-Identifier: MIT
#include "emulator/device/stale_view.hpp"

#include <algorithm>

namespace nvdla::emulator {

std::uint64_t StaleView::in_page(std::uint64_t address, std::uint64_t size) noexcept {
  return std::min(size, kPage - address % kPage);
}

std::byte* StaleView::at(std::uint64_t address) {
  auto& page = pages_[address / kPage];
  if (!page) {
    page = std::make_unique<std::array<std::byte, kPage>>();
    page->fill(kNeverCleaned);
  }
  return page->data() + address % kPage;
}

bool StaleView::uncached(std::uint64_t address) const noexcept {
  return uncached_.count(address / kPage) != 0;
}

void StaleView::set_uncached(std::uint64_t address, std::uint64_t size, bool uncached) {
  if (size == 0) return;
  for (std::uint64_t page = address / kPage; page <= (address + size - 1) / kPage; ++page) {
    if (uncached) {
      uncached_.insert(page);
    } else {
      uncached_.erase(page);
    }
  }
}

}  // namespace nvdla::emulator
