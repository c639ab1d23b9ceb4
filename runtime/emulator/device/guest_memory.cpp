// SPDX-License-Identifier: MIT
#include "emulator/device/guest_memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "emulator/device/log.hpp"

namespace nvdla::emulator {

void GuestMemory::clear() noexcept {
  for (const Range& range : ranges_) ::munmap(range.mapping, range.mapped);
  ranges_.clear();
}

void GuestMemory::replace(std::vector<MemoryRange> ranges) {
  clear();
  try {
    const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    for (const MemoryRange& range : ranges) {
      struct stat status {};
      if (::fstat(range.file.get(), &status) != 0)
        throw ProtocolError(fmt::format("memory {:#x}: {}", range.address, std::strerror(errno)));
      // Pages past the end of a file would be SIGBUS when touched.
      const auto file_size = static_cast<std::uint64_t>(status.st_size);
      if (S_ISREG(status.st_mode) &&
          (range.offset > file_size || range.size > file_size - range.offset))
        throw ProtocolError(fmt::format("memory {:#x}: {:#x} bytes at {:#x} of a file of {:#x}",
                                        range.address, range.size, range.offset, file_size));
      const std::uint64_t surplus = range.offset % page;
      const std::size_t length = range.size + surplus;
      void* mapping = ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, range.file.get(),
                             static_cast<off_t>(range.offset - surplus));
      if (mapping == MAP_FAILED)
        throw ProtocolError(fmt::format("memory {:#x}: cannot map {:#x} bytes: {}", range.address,
                                        range.size, std::strerror(errno)));
      ranges_.push_back(
          {range.address, range.size, static_cast<std::byte*>(mapping) + surplus, mapping, length});
    }
  } catch (...) {
    clear();
    throw;
  }
}

model::Mapping GuestMemory::find_in_guest(std::uint64_t address) const noexcept {
  for (const Range& range : ranges_) {
    const std::uint64_t offset = address - range.address;
    if (address >= range.address && offset < range.size)
      return {range.data + offset, range.size - offset};
  }
  return {};
}

model::Mapping GuestMemory::find(model::Ram ram, std::uint64_t address) noexcept {
  const bool in_sram = sram_ && address >= sram_->address && address - sram_->address < sram_->size;
  if (!bus_master_ || in_sram != (ram == model::Ram::kSecondary)) return {};
  // Up to where the other interface's memory begins.
  std::uint64_t reach = ~std::uint64_t{0};
  if (in_sram) {
    reach = sram_->size - (address - sram_->address);
  } else if (sram_ && address < sram_->address) {
    reach = sram_->address - address;
  }
  model::Mapping mapping = find_in_guest(address);
  mapping.size = std::min(mapping.size, reach);
  if (view_ && mapping.size != 0) {
    mapping.size = StaleView::in_page(address, mapping.size);
    if (!view_->uncached(address)) mapping.data = view_->at(address);
  }
  return mapping;
}

void GuestMemory::use_stale_view(const std::vector<MemoryWindow>& uncached) {
  view_.emplace();
  for (const MemoryWindow& window : uncached)
    view_->set_uncached(window.address, window.size, true);
}

void GuestMemory::sync(std::uint32_t operation, std::uint64_t address, std::uint64_t size) {
  if (!view_) return;
  if (operation == NVDLA_FAULT_SYNC_UNCACHED || operation == NVDLA_FAULT_SYNC_CACHED) {
    view_->set_uncached(address, size, operation == NVDLA_FAULT_SYNC_UNCACHED);
    return;
  }
  while (size != 0) {
    const model::Mapping guest = find_in_guest(address);
    const std::uint64_t count = StaleView::in_page(address, std::min(guest.size, size));
    if (count == 0) return;
    if (view_->uncached(address)) {
      // Never in a cache.
    } else if (operation == NVDLA_FAULT_SYNC_CLEAN) {
      std::memcpy(view_->at(address), guest.data, count);
    } else if (operation == NVDLA_FAULT_SYNC_INVALIDATE) {
      std::memcpy(guest.data, view_->at(address), count);
    }
    address += count;
    size -= count;
  }
}

model::Mapping GuestMemory::map(model::Ram ram, std::uint64_t address, std::uint64_t size,
                                bool write) noexcept {
  model::Mapping mapping = find(ram, address);
  const bool refused = mapping.size == 0;
  if (refused && counters_.dma_refused++ == 0)
    log("first refused access: {} {:#x}, {} bytes{}", write ? "write" : "read", address, size,
        bus_master_ ? "" : ": bus mastering is off");
  if (!refused) mapping.size = std::min(mapping.size, size);
  if (log_ != nullptr)
    log_->record(client_, write, ram, address, refused ? size : mapping.size, refused);
  return mapping;
}

void GuestMemory::written(model::Ram ram, std::uint64_t address, std::uint64_t size) noexcept {
  while (pattern_ && size != 0) {
    const model::Mapping mapping = find(ram, address);
    const std::uint64_t count = std::min(mapping.size, size);
    if (count == 0) return;
    std::memset(mapping.data, std::to_integer<int>(*pattern_), count);
    log("wrote late: {} bytes at {:#x}", count, address);
    address += count;
    size -= count;
  }
}

void GuestMemory::end_of_step() noexcept {
  if (log_ != nullptr) log_->end_of_step();
}

}  // namespace nvdla::emulator
