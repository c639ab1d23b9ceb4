// SPDX-License-Identifier: MIT
//
// The one way in which programs print. Arguments that are text may come from a file, a device or a
// command line: what is not printable in them is escaped, so that only formats move the cursor or
// end lines. tests/static/print.py finds whoever prints in another way.
#ifndef NVDLA_TOOLS_COMMON_PRINT_HPP
#define NVDLA_TOOLS_COMMON_PRINT_HPP

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <type_traits>

#include "support/printable.hpp"

namespace nvdla::program {

// Text of several lines that this program composed of printable parts; its new lines and tabs stay.
struct Lines {
  std::string_view text;
};

template <typename T>
inline constexpr bool kIsText =
    std::is_convertible_v<const T&, std::string_view> || std::is_same_v<T, Lines>;

template <typename T>
using Printed = std::conditional_t<kIsText<T>, std::string, const T&>;

template <typename T>
Printed<T> printed(const T& value) {
  if constexpr (std::is_same_v<T, Lines>) {
    return detail::printable(value.text, true);
  } else if constexpr (kIsText<T>) {
    return detail::printable(std::string_view(value));
  } else {
    return value;
  }
}

// Writes `text`. Output that does not arrive is no error here: a message about it might not arrive
// either. At its end a program finds out what became of its standard output (program.cpp).
inline void write_text(std::FILE* stream, const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stream);
}

template <typename... Args>
void print(std::FILE* stream, std::type_identity_t<fmt::format_string<Printed<Args>...>> format,
           const Args&... args) {
  write_text(stream, fmt::format(fmt::runtime(fmt::string_view(format)), printed(args)...));
}

template <typename... Args>
void print(std::type_identity_t<fmt::format_string<Printed<Args>...>> format, const Args&... args) {
  write_text(stdout, fmt::format(fmt::runtime(fmt::string_view(format)), printed(args)...));
}

}  // namespace nvdla::program

#endif  // NVDLA_TOOLS_COMMON_PRINT_HPP
