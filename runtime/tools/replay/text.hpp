// SPDX-License-Identifier: MIT
//
// Functions that the parsers share: lines, words, numbers, checks of their values, and the
// exception that all of them throw. Everything works on a string_view.
#ifndef NVDLA_TOOLS_REPLAY_TEXT_HPP
#define NVDLA_TOOLS_REPLAY_TEXT_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tools/files/status.hpp"

namespace nvdla::replay {

// The position of a parser, for messages.
struct Place {
  std::string_view file;
  unsigned line = 0;
};

// Takes the next line from `rest`, without its end (LF or CR LF); false if there is none.
bool next_line(std::string_view& rest, std::string_view& line) noexcept;

std::string_view trim(std::string_view text) noexcept;

// Takes the next word, separated by spaces or tabs; an empty word at the end.
std::string_view next_word(std::string_view& rest) noexcept;

// Quotes text for messages: at most 40 characters, unprintable ones escaped.
std::string quote(std::string_view text);

// Parses a decimal or 0x hexadecimal number of at most `max`.
std::uint64_t parse_number(const Place& place, std::string_view text, std::string_view what,
                           std::uint64_t max);
std::uint32_t parse_u32(const Place& place, std::string_view text, std::string_view what);

// Checks that [address, address + size) is not empty, no larger than kMaxRange, and ends inside 64
// bits.
void check_range(const Place& place, std::uint64_t address, std::uint64_t size);

// Checks that a name stays inside the folder of the case or trace.
void check_file_name(const Place& place, std::string_view name);

// Checks that a byte offset is a register of the device's window.
void check_register_offset(const Place& place, std::uint64_t offset);

// Parses "0x7f" or "7f"; nullopt if the word is not a byte.
std::optional<std::uint8_t> parse_hex_byte(std::string_view word) noexcept;

// `Error` names what is wrong with a case or trace, and what would be right. what() is "file:line:
// message"; line 0 means the file as a whole.
class Error : public program::UsageError {
 public:
  Error(std::string_view file, unsigned line, std::string_view message);
};

}  // namespace nvdla::replay

#endif  // NVDLA_TOOLS_REPLAY_TEXT_HPP
