// SPDX-License-Identifier: MIT
//
// Formats numbers and words for readers, in columns of a terminal.
#ifndef NVDLA_TOOLS_COMMON_TEXT_HPP
#define NVDLA_TOOLS_COMMON_TEXT_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nvdla::program {

inline constexpr std::size_t kColumns = 80;

// Formats a duration with three digits and a fitting unit: "812 ns", "14.7 us", "4.50 ms", "1.23
// s".
std::string duration_text(std::uint64_t nanoseconds);
// Formats a count: all digits up to 9999999, then three digits: "118M", "3.86G".
std::string count_text(std::uint64_t count);
// "17 B", "2.51 KiB", "98.3 MiB".
std::string bytes_text(std::uint64_t bytes);
// Returns a printable name of at most `width` columns; a longer name keeps its beginning and its
// end: "resnet..conv1".
std::string elide(std::string_view name, std::size_t width);
// Wraps text at blanks into lines of at most kColumns, of which all but the first are indented. The
// first line begins at the same column.
std::string wrap(std::string_view text, std::size_t indent);
// Returns the name that `text` was probably meant to be; empty if none is near.
std::string_view closest(std::string_view text, const std::vector<std::string>& names);

}  // namespace nvdla::program

#endif  // NVDLA_TOOLS_COMMON_TEXT_HPP
