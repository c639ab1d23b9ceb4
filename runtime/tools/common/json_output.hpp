// SPDX-License-Identifier: MIT
//
// --json: one JSON document instead of text, on one line unless asked otherwise.
#ifndef NVDLA_TOOLS_COMMON_JSON_OUTPUT_HPP
#define NVDLA_TOOLS_COMMON_JSON_OUTPUT_HPP

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "tools/common/print.hpp"

namespace nvdla::program {

// `style` stays empty where no JSON is wanted.
inline void add_json_option(CLI::App& app, std::string& style) {
  app.add_flag("--json{compact}", style,
               "Print one JSON document on one line; --json=pretty: with indentation")
      ->check(CLI::IsMember({"compact", "pretty"}));
}

// Returns the document with DEL and C1 in its strings, the only place where they can be, as
// "\u009b": JSON allows them, terminals take them for commands.
inline std::string without_controls(std::string_view document) {
  std::string out;
  out.reserve(document.size());
  while (!document.empty()) {
    const detail::Character c = detail::first_character(document);
    const std::size_t bytes = std::max<std::size_t>(c.bytes, 1);
    if (c.code >= 0x20 && detail::is_control(c.code)) {
      out += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(c.code));
    } else {
      out += document.substr(0, bytes);
    }
    document.remove_prefix(bytes);
  }
  return out;
}

template <typename Json>
void print_json(const Json& document, const std::string& style) {
  // Names, paths and messages may hold bytes that are no UTF-8.
  print("{}\n", Lines{without_controls(document.dump(style == "pretty" ? 2 : -1, ' ', false,
                                                     Json::error_handler_t::replace))});
}

}  // namespace nvdla::program

#endif  // NVDLA_TOOLS_COMMON_JSON_OUTPUT_HPP
