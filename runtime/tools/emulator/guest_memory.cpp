// SPDX-License-Identifier: MIT
#include "tools/emulator/guest_memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "tools/emulator/log.hpp"

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

model::Mapping GuestMemory::find(model::Ram ram, std::uint64_t address) const noexcept {
  if (!bus_master_ || ram != model::Ram::kPrimary) return {};
  for (const Range& range : ranges_) {
    const std::uint64_t offset = address - range.address;
    if (address >= range.address && offset < range.size)
      return {range.data + offset, range.size - offset};
  }
  return {};
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
