// SPDX-License-Identifier: MIT
//
// --json: one JSON document instead of text, on one line unless asked otherwise.
#ifndef NVDLA_PROGRAM_JSON_OUTPUT_HPP
#define NVDLA_PROGRAM_JSON_OUTPUT_HPP

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>

namespace nvdla::program {

// `style` stays empty where no JSON is wanted.
inline void add_json_option(CLI::App& app, std::string& style) {
  app.add_flag("--json{compact}", style,
               "Print one JSON document on one line; --json=pretty: with indentation")
      ->check(CLI::IsMember({"compact", "pretty"}));
}

template <typename Json>
void print_json(const Json& document, const std::string& style) {
  // Names, paths and messages may hold bytes that are no UTF-8.
  fmt::print("{}\n",
             document.dump(style == "pretty" ? 2 : -1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace nvdla::program

#endif  // NVDLA_PROGRAM_JSON_OUTPUT_HPP
