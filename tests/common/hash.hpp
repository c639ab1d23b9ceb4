// SPDX-License-Identifier: MIT
//
// Hashes, and texts of errors, for what is recorded.
#ifndef NVDLA_TESTS_COMMON_HASH_HPP
#define NVDLA_TESTS_COMMON_HASH_HPP

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>

#include "nvdla/types/error.hpp"

namespace nvdla::test {

// FNV-1a of 64 bits.
class Hash {
 public:
  void add(std::span<const std::byte> bytes) {
    for (const std::byte byte : bytes)
      value_ = (value_ ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3;
  }
  void add(const std::string& text) { add(std::as_bytes(std::span(text))); }
  std::string text() const {
    char digits[17];
    std::snprintf(digits, sizeof(digits), "%016llx", static_cast<unsigned long long>(value_));
    return digits;
  }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325;
};

// Returns the text of the error that `call` throws, in one line, or what `call` returns.
template <typename Call>
std::string text_or_error(const Call& call) {
  try {
    return call();
  } catch (const Error& error) {
    std::string text = std::string("refused: ") + error.what();
    for (char& c : text)
      if (c == '\n') c = ' ';
    return text;
  }
}

}  // namespace nvdla::test

#endif  // NVDLA_TESTS_COMMON_HASH_HPP
