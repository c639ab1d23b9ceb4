// SPDX-License-Identifier: MIT
//
// Text from files, devices and peers, made fit for terminals, messages and pictures. Everything
// here is inline: programs have it without a symbol of the library.
#ifndef NVDLA_SUPPORT_PRINTABLE_HPP
#define NVDLA_SUPPORT_PRINTABLE_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace nvdla::detail {

struct Character {
  std::size_t bytes = 0;  // 0: the text does not begin with a character of UTF-8
  char32_t code = 0;
};

// The character that `text`, which is not empty, begins with. Overlong sequences, surrogates and
// numbers beyond U+10FFFF are none.
inline Character first_character(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return {1, first};
  const std::size_t bytes = first < 0xc2   ? 0
                            : first < 0xe0 ? 2
                            : first < 0xf0 ? 3
                            : first < 0xf5 ? 4
                                           : 0;
  if (bytes == 0 || bytes > text.size()) return {};
  char32_t code = first & (0x7fU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3fU);
  }
  const bool overlong = (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000);
  if (overlong || (code >= 0xd800 && code < 0xe000) || code > 0x10ffff) return {};
  return {bytes, code};
}

// Characters that move the cursor, begin a command, end a line, or turn the direction of what
// follows: C0, DEL, C1, the separators of lines and paragraphs, and marks of direction.
inline bool is_control(char32_t code) noexcept {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x2028 || code == 0x2029 ||
         code == 0x200e || code == 0x200f || (code >= 0x202a && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069);
}

// Returns the text with "\\x1b" and the like in place of bytes that are no printable characters;
// new lines and tabs stay where `keep_lines`.
inline std::string printable(std::string_view text, bool keep_lines = false) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Character c = first_character(text);
    const std::size_t bytes = c.bytes == 0 ? 1 : c.bytes;
    if ((c.bytes != 0 && !is_control(c.code)) ||
        (keep_lines && (text[0] == '\n' || text[0] == '\t'))) {
      out += text.substr(0, bytes);
    } else {
      for (const char byte : text.substr(0, bytes)) {
        const auto value = static_cast<unsigned char>(byte);
        out += "\\x";
        out += kDigits[value >> 4];
        out += kDigits[value & 15];
      }
    }
    text.remove_prefix(bytes);
  }
  return out;
}

}  // namespace nvdla::detail

#endif  // NVDLA_SUPPORT_PRINTABLE_HPP
