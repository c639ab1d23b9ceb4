// SPDX-License-Identifier: MIT
#include "selftest/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace nvdla::selftest {
namespace {

std::uint32_t reversed(std::uint32_t value) {
  return value >> 24 | (value >> 8 & 0xff00) | (value << 8 & 0xff0000) | value << 24;
}

std::uint32_t exchanged(std::uint32_t value, unsigned i, unsigned j) {
  const std::uint32_t differ = (value >> i ^ value >> j) & 1;
  return value ^ (differ << i | differ << j);
}

template <typename Change>
bool explains(std::span<const Word> words, const Change& change) {
  return std::all_of(words.begin(), words.end(),
                     [&](const Word& word) { return word.saw == change(word.wanted); });
}

std::optional<std::string> stuck_lines(std::span<const Word> words) {
  std::uint32_t low = ~0u, high = ~0u;  // never seen otherwise
  for (const Word& word : words) {
    low &= ~word.saw;
    high &= word.saw;
  }
  std::uint32_t ones = 0, zeros = 0;  // wanted somewhere
  for (const Word& word : words) {
    ones |= word.wanted;
    zeros |= ~word.wanted;
  }
  low &= ones;
  high &= zeros;
  if ((low | high) == 0) return std::nullopt;
  if (!explains(words, [&](std::uint32_t value) { return (value & ~low) | high; }))
    return std::nullopt;
  std::string text = "data lines of the register bus are stuck:";
  if (low != 0) text += fmt::format(" {} at 0", bits_text(low));
  if (high != 0) text += fmt::format("{} {} at 1", low != 0 ? "," : "", bits_text(high));
  return text;
}

std::optional<std::string> exchanged_lines(std::span<const Word> words) {
  for (unsigned j = 1; j < 32; ++j)
    for (unsigned i = 0; i < j; ++i)
      if (explains(words, [&](std::uint32_t value) { return exchanged(value, i, j); }))
        return fmt::format("data lines {} and {} of the register bus are swapped", i, j);
  return std::nullopt;
}

// Bytes in groups of `group`, the other way round.
bool is_reversed(std::span<const std::uint8_t> wanted, std::span<const std::uint8_t> saw,
                 std::size_t group) {
  for (std::size_t i = 0; i < saw.size(); ++i) {
    const std::size_t other = i / group * group + (group - 1 - i % group);
    if (other >= wanted.size() || saw[i] != wanted[other]) return false;
  }
  return true;
}

std::vector<std::string> causes_of(std::span<const std::uint8_t> wanted,
                                   std::span<const std::uint8_t> saw, std::uint8_t before) {
  const auto all = [&](std::uint8_t value) {
    return std::all_of(saw.begin(), saw.end(), [&](std::uint8_t b) { return b == value; });
  };
  if (all(before)) return {cause::kCoherence, cause::kMemoryAddress};
  if (all(0xff) || all(0)) return {cause::kMemoryAddress};
  for (const std::size_t group : {2u, 4u, 8u, 16u, 32u})
    if (is_reversed(wanted, saw, group))
      return {fmt::format("endianness: memory reverses the bytes of each {}", group)};
  std::uint8_t cleared = 0, set = 0;
  for (std::size_t i = 0; i < saw.size(); ++i) {
    cleared |= static_cast<std::uint8_t>(wanted[i] & ~saw[i]);
    set |= static_cast<std::uint8_t>(saw[i] & ~wanted[i]);
  }
  // One bit, always the same way.
  if (std::popcount(static_cast<unsigned>(cleared | set)) == 1 && (cleared == 0) != (set == 0)) {
    return {fmt::format("data lines of the memory bus: bit {} of bytes is lost",
                        std::countr_zero(static_cast<unsigned>(cleared | set)))};
  }
  return {};
}

}  // namespace

std::string bits_text(std::uint64_t bits) {
  std::string names;
  for (unsigned i = 0; i < 64; ++i)
    if (bits >> i & 1) names += fmt::format("{}{}", names.empty() ? "" : ", ", i);
  return fmt::format("{:#x} (bit{} {})", bits, std::popcount(bits) == 1 ? "" : "s", names);
}

std::optional<std::string> explain(std::span<const Word> words) {
  const auto is = [&](std::uint32_t value) {
    return std::all_of(words.begin(), words.end(),
                       [&](const Word& word) { return word.saw == value; });
  };
  if (explains(words, [](std::uint32_t value) { return value; })) return std::nullopt;
  if (is(~0u) || is(0)) return cause::kNoAnswer;
  if (explains(words, reversed)) return cause::kEndianness;
  if (auto text = exchanged_lines(words)) return text;
  return stuck_lines(words);
}

std::optional<Finding> compare(std::span<const std::uint8_t> wanted,
                               std::span<const std::uint8_t> saw, std::uint8_t before,
                               unsigned atom) {
  std::size_t first = 0, count = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] == saw[i]) continue;
    if (count++ == 0) first = i;
  }
  if (count == 0) return std::nullopt;
  return Finding{fmt::format("{} of {} bytes differ, the first is {:#04x} at byte {} (atom {}, "
                             "lane {})",
                             count, wanted.size(), saw[first], first, first / atom, first % atom),
                 fmt::format("{:#04x} there", wanted[first]), causes_of(wanted, saw, before)};
}

}  // namespace nvdla::selftest
