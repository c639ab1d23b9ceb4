// SPDX-License-Identifier: MIT
//
// SIZE@ADDRESS, as the kernel's command line writes pieces of memory.
#ifndef NVDLA_BASE_MEMORY_WINDOW_HPP
#define NVDLA_BASE_MEMORY_WINDOW_HPP

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace nvdla::detail {

struct MemoryWindow {
  std::uint64_t address = 0;
  std::uint64_t size = 0;

  // Not beyond 64 bits, as of parse_window().
  std::uint64_t last() const noexcept { return address + (size - 1); }
  bool operator==(const MemoryWindow&) const = default;
};

// A number as strtoull() reads it, with K, M or G behind it if `unit`; what follows stays in
// `text`.
inline std::optional<std::uint64_t> take_number(std::string_view& text, bool unit) {
  const bool hexadecimal = text.starts_with("0x");
  if (hexadecimal) text.remove_prefix(2);
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value, hexadecimal ? 16 : 10);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
  const std::size_t power =
      text.empty() ? std::string_view::npos : std::string_view("KMG").find(text.front());
  if (!unit || power == std::string_view::npos) return value;
  text.remove_prefix(1);
  const std::size_t shift = 10 * (power + 1);
  if (value >> (64 - shift) != 0) return std::nullopt;
  return value << shift;
}

// "64M"; nothing for any other text.
inline std::optional<std::uint64_t> parse_size(std::string_view text) {
  const auto size = take_number(text, true);
  return text.empty() ? size : std::nullopt;
}

// "1M@0x14000000". Nothing for any other text, for no bytes and for what ends beyond 64 bits.
inline std::optional<MemoryWindow> parse_window(std::string_view text) {
  const auto size = take_number(text, true);
  if (!size || !text.starts_with('@')) return std::nullopt;
  text.remove_prefix(1);
  const auto address = take_number(text, false);
  if (!address || !text.empty() || *size == 0 || *size - 1 > ~*address) return std::nullopt;
  return MemoryWindow{*address, *size};
}

}  // namespace nvdla::detail

#endif  // NVDLA_BASE_MEMORY_WINDOW_HPP
