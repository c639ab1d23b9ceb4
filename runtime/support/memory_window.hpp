// SPDX-License-Identifier: MIT
//
// SIZE@ADDRESS, as the kernel's command line writes pieces of memory.
#ifndef NVDLA_SUPPORT_MEMORY_WINDOW_HPP
#define NVDLA_SUPPORT_MEMORY_WINDOW_HPP

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "support/quantity.hpp"

namespace nvdla::detail {

struct MemoryWindow {
  std::uint64_t address = 0;
  std::uint64_t size = 0;

  // Not beyond 64 bits, as of parse_window().
  std::uint64_t last() const noexcept { return address + (size - 1); }
  bool operator==(const MemoryWindow&) const = default;
};

// Reads a decimal or hexadecimal number from the beginning of `text` and removes it.
inline std::optional<std::uint64_t> take_integer(std::string_view& text) {
  const bool hexadecimal = text.starts_with("0x");
  if (hexadecimal) text.remove_prefix(2);
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value, hexadecimal ? 16 : 10);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
  return value;
}

// "1M@0x14000000". Nothing for any other text, for no bytes and for what ends beyond 64 bits.
inline std::optional<MemoryWindow> parse_window(std::string_view text) {
  const auto size = take_size(text);
  if (!size || !text.starts_with('@')) return std::nullopt;
  text.remove_prefix(1);
  const auto address = take_integer(text);
  if (!address || !text.empty() || *size == 0 || *size - 1 > ~*address) return std::nullopt;
  return MemoryWindow{*address, *size};
}

}  // namespace nvdla::detail

#endif  // NVDLA_SUPPORT_MEMORY_WINDOW_HPP
