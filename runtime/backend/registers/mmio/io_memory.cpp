// SPDX-License-Identifier: MIT
#include "backend/registers/mmio/io_memory.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "support/check.hpp"

namespace nvdla::detail {
namespace {

constexpr const char* kIoMemoryFile = "/proc/iomem";
constexpr std::string_view kSystemRam = "System RAM";

bool ranges_overlap(const MemoryWindow& one, const MemoryWindow& other) {
  return one.address <= other.last() && other.address <= one.last();
}

std::optional<std::uint64_t> take_address(std::string_view& text) {
  std::uint64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  return value;
}

std::string addresses_of(const MemoryWindow& window) {
  return fmt::format("{:#x}-{:#x}", window.address, window.last());
}

}  // namespace

IoMemory::IoMemory(const System& system, std::string_view name) {
  const auto text = system.text(kIoMemoryFile);
  if (!text) throw_error(ErrorCode::kNoDevice, "{}: {} cannot be read", name, kIoMemoryFile);
  std::string_view rest = *text;
  bool hidden = true;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    const auto first = take_address(line);
    if (!first || !line.starts_with('-')) continue;
    line.remove_prefix(1);
    const auto last = take_address(line);
    if (!last || *last < *first || !line.starts_with(" : ")) continue;
    hidden = hidden && *last == 0;
    // One that ends at the last address of all has more bytes than a number holds; one less does.
    const std::uint64_t size = std::max(*last - *first, *last - *first + 1);
    ranges_.push_back({{*first, size}, std::string(line.substr(3))});
  }
  if (hidden) {
    throw_error(ErrorCode::kNoDevice,
                "{}: {} shows no addresses, so what is in use cannot be told: only root sees them",
                name, kIoMemoryFile);
  }
}

void IoMemory::check_registers(const MemoryWindow& window, std::string_view name) const {
  for (const Range& range : ranges_) {
    if (range.name != kSystemRam || !ranges_overlap(range.window, window)) continue;
    throw_error(ErrorCode::kNoDevice,
                "{}: registers at {} would be in memory, {} at {}: is the address right?", name,
                addresses_of(window), range.name, addresses_of(range.window));
  }
}

void IoMemory::check_memory(const MemoryWindow& window, std::string_view name) const {
  for (const Range& range : ranges_) {
    if (range.name == "Reserved" || range.name == "reserved") continue;
    if (!ranges_overlap(range.window, window)) continue;
    if (range.name == kSystemRam) {
      throw_error(
          ErrorCode::kNoDevice,
          "{}: memory at {} is in use, it is the kernel's {} at {}: keep it free, as "
          "memmap={:#x}${:#x} on the kernel's command line (x86) or a node of reserved-memory "
          "with no-map in the device tree do",
          name, addresses_of(window), range.name, addresses_of(range.window), window.size,
          window.address);
    }
    throw_error(ErrorCode::kNoDevice, "{}: memory at {} is in use, '{}' has {}", name,
                addresses_of(window), range.name, addresses_of(range.window));
  }
}

}  // namespace nvdla::detail
