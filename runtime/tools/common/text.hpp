// SPDX-License-Identifier: MIT
//
// Numbers and words for people, in columns of a terminal.
#ifndef NVDLA_TOOLS_COMMON_TEXT_HPP
#define NVDLA_TOOLS_COMMON_TEXT_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nvdla::program {

inline constexpr std::size_t kColumns = 80;

// Three digits and the unit that shows them: "812 ns", "14.7 us", "4.50 ms", "1.23 s".
std::string duration_text(std::uint64_t nanoseconds);
// As it is up to 9999999, then three digits: "118M", "3.86G".
std::string count_text(std::uint64_t count);
// "17 B", "2.51 KiB", "98.3 MiB".
std::string bytes_text(std::uint64_t bytes);
// A name, printable, of at most `width` columns; of what is longer the beginning and the end:
// "resnet..conv1".
std::string elide(std::string_view name, std::size_t width);
// Lines of at most kColumns, broken at blanks, all but the first indented. The first begins at the
// same column.
std::string wrap(std::string_view text, std::size_t indent);
// The one of `names` that `text` may have been meant for; empty if none is near.
std::string_view closest(std::string_view text, const std::vector<std::string>& names);

}  // namespace nvdla::program

#endif  // NVDLA_TOOLS_COMMON_TEXT_HPP
