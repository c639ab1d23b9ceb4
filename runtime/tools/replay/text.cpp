// SPDX-License-Identifier: MIT
#include "tools/replay/text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>

#include "tools/replay/script.hpp"

namespace nvdla::replay {

namespace {

constexpr std::string_view kBlank = " \t\r\f\v";

int hex_digit(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool has_hex_prefix(std::string_view text) noexcept {
  return text.size() >= 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
}

}  // namespace

bool next_line(std::string_view& rest, std::string_view& line) noexcept {
  if (rest.empty()) return false;
  const std::size_t end = rest.find('\n');
  line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return true;
}

std::string_view trim(std::string_view text) noexcept {
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::string_view next_word(std::string_view& rest) noexcept {
  const std::size_t first = rest.find_first_not_of(kBlank);
  if (first == std::string_view::npos) {
    rest = {};
    return {};
  }
  rest.remove_prefix(first);
  const std::size_t end = std::min(rest.find_first_of(kBlank), rest.size());
  const std::string_view word = rest.substr(0, end);
  rest.remove_prefix(end);
  return word;
}

std::string quote(std::string_view text) {
  std::string out = "'";
  for (char c : text.substr(0, 40)) {
    if (c >= 0x20 && c < 0x7f)
      out += c;
    else
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return out + (text.size() > 40 ? "...'" : "'");
}

std::uint64_t parse_number(const Place& place, std::string_view text, std::string_view what,
                           std::uint64_t max) {
  const bool hex = has_hex_prefix(text);
  const std::string_view digits = hex ? text.substr(2) : text;
  std::uint64_t value = 0;
  const auto [end, code] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, hex ? 16 : 10);
  const bool complete = !digits.empty() && end == digits.data() + digits.size();
  if (complete && code == std::errc::result_out_of_range)
    throw Error(place.file, place.line,
                fmt::format("{} {} is too large; expected at most {:#x}", what, quote(text), max));
  if (!complete || code != std::errc{})
    throw Error(place.file, place.line,
                fmt::format("{} {} is not a number; expected a decimal or 0x hexadecimal number",
                            what, quote(text)));
  if (value > max)
    throw Error(place.file, place.line,
                fmt::format("{} {} is too large; expected at most {:#x}", what, quote(text), max));
  return value;
}

std::uint32_t parse_u32(const Place& place, std::string_view text, std::string_view what) {
  return static_cast<std::uint32_t>(parse_number(place, text, what, 0xffffffffu));
}

void check_range(const Place& place, std::uint64_t address, std::uint64_t size) {
  if (size == 0 || size > kMaxRange)
    throw Error(
        place.file, place.line,
        fmt::format("size {:#x} of the memory range at {:#x} is out of range; expected 1 to "
                    "{:#x}",
                    size, address, kMaxRange));
  if (address > ~std::uint64_t{0} - (size - 1))
    throw Error(place.file, place.line,
                fmt::format("memory range at {:#x} with {:#x} bytes passes the end of the address "
                            "space; expected a range inside 64 bits",
                            address, size));
}

void check_file_name(const Place& place, std::string_view name) {
  const std::filesystem::path path{std::string(name)};
  bool inside = !name.empty() && name.size() < 4096 && name.find('\0') == std::string_view::npos &&
                path.is_relative() && path.has_filename();
  for (const auto& part : path) inside = inside && part != "..";
  if (!inside)
    throw Error(place.file, place.line,
                fmt::format("file name {} leads out of the folder; expected the name of a file in "
                            "the folder",
                            quote(name)));
}

void check_register_offset(const Place& place, std::uint64_t offset) {
  if (offset >= NVDLA_REG_SPACE || offset % 4)
    throw Error(place.file, place.line,
                fmt::format("{:#x} is not a register offset; expected a multiple of 4 below {:#x}",
                            offset, NVDLA_REG_SPACE));
}

std::optional<std::uint8_t> parse_hex_byte(std::string_view word) noexcept {
  const bool prefix = has_hex_prefix(word);
  if (prefix) word.remove_prefix(2);
  // Without the prefix a single digit is more likely the name in "C = 32".
  if (word.size() != 2 && !(prefix && word.size() == 1)) return std::nullopt;
  int value = 0;
  for (char c : word) {
    const int digit = hex_digit(c);
    if (digit < 0) return std::nullopt;
    value = value * 16 + digit;
  }
  return static_cast<std::uint8_t>(value);
}

namespace {

std::string locate(std::string_view file, unsigned line, std::string_view message) {
  return line ? fmt::format("{}:{}: {}", file, line, message)
              : fmt::format("{}: {}", file, message);
}

}  // namespace

Error::Error(std::string_view file, unsigned line, std::string_view message)
    : UsageError(locate(file, line, message)) {}

}  // namespace nvdla::replay
