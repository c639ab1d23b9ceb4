// SPDX-License-Identifier: MIT
#include "backend/name/mmio_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace nvdla::detail {
namespace {

constexpr std::uint64_t kNamePage = 4096;
constexpr std::string_view kUioFile = "/dev/uio";

// Hexadecimal digits of `text` up to `end`, which goes with them; nullopt unless there are `digits`
// and `end` follows.
std::optional<unsigned> take_hex(std::string_view& text, std::size_t digits, char end) {
  unsigned value = 0;
  if (text.size() <= digits || text[digits] != end) return std::nullopt;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + digits, value, 16);
  if (error != std::errc() || stop != text.data() + digits) return std::nullopt;
  text.remove_prefix(digits + 1);
  return value;
}

// "0000:00:04.0", or without the domain, which then is 0; empty for anything else.
std::string pci_function(std::string_view text) {
  const bool whole = std::count(text.begin(), text.end(), ':') == 2;
  const auto domain = whole ? take_hex(text, 4, ':') : 0;
  const auto bus = take_hex(text, 2, ':');
  const auto device = take_hex(text, 2, '.');
  if (!domain || !bus || !device || *device > 31) return {};
  if (text.size() != 1 || text[0] < '0' || text[0] > '7') return {};
  return fmt::format("{:04x}:{:02x}:{:02x}.{}", *domain, *bus, *device, text);
}

bool is_decimal(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// In whole pages.
std::optional<MemoryWindow> parse_pages(std::string_view value) {
  const auto window = parse_window(value);
  if (!window || window->address % kNamePage != 0 || window->size % kNamePage != 0)
    return std::nullopt;
  return window;
}

bool parse_mmio_memory(std::string_view value, MmioName& name) {
  name.memory.reset();
  name.pool = 0;
  if (value.find('@') != value.npos) return (name.memory = parse_pages(value)).has_value();
  name.pool = parse_size(value).value_or(0);
  return name.pool != 0 && name.pool % kNamePage == 0;
}

// DeviceInfo has it in kHz.
bool parse_mmio_clock(std::string_view value, MmioName& name) {
  const auto rate = parse_rate(value, "kHz");
  if (!rate || *rate / 1000 > UINT32_MAX) return false;
  name.clock_khz = static_cast<std::uint32_t>(*rate / 1000);
  return name.clock_khz != 0;
}

}  // namespace

std::optional<MmioName> parse_mmio_place(std::string_view place) {
  MmioName name;
  if (place.starts_with(kUioFile) && is_decimal(place.substr(kUioFile.size()))) {
    name.form = MmioName::Form::kUio;
    name.place = place;
    return name;
  }
  name.place = pci_function(place);
  if (!name.place.empty()) return name;
  std::string_view rest = place;
  const auto address = take_integer(rest);
  if (!address || !rest.empty() || *address % kNamePage != 0) return std::nullopt;
  name.form = MmioName::Form::kPhysical;
  name.place = place;
  name.address = *address;
  return name;
}

bool parse_mmio_option(std::string_view key, std::string_view value, MmioName& name) {
  if (key == "memory") return parse_mmio_memory(value, name);
  if (key == "sram") return (name.sram = parse_pages(value)).has_value();
  if (key == "clock") return parse_mmio_clock(value, name);
  name.poll = value == "poll";
  return key == "interrupt" && (name.poll || value == "on");
}

}  // namespace nvdla::detail
