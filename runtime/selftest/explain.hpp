// SPDX-License-Identifier: MIT
//
// Finds one cause that explains many wrong values: a broken line of a bus, the order of bytes,
// nothing there at all.
#ifndef NVDLA_SELFTEST_EXPLAIN_HPP
#define NVDLA_SELFTEST_EXPLAIN_HPP

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "selftest/result.hpp"

namespace nvdla::selftest {

// A value that was read from a register. Right values count as well, since they rule causes out.
struct Word {
  std::uint32_t wanted = 0;
  std::uint32_t saw = 0;
};

// Returns a cause that explains every word, or nothing.
std::optional<std::string> explain(std::span<const Word> words);

// "0x00200000 (bit 21)"
std::string bits_text(std::uint64_t bits);

// Compares memory with the wanted contents. `before` is the byte that filled it before the run,
// `atom` the number of bytes that the device writes at once.
std::optional<Finding> compare(std::span<const std::uint8_t> wanted,
                               std::span<const std::uint8_t> saw, std::uint8_t before,
                               unsigned atom);

}  // namespace nvdla::selftest

#endif  // NVDLA_SELFTEST_EXPLAIN_HPP
