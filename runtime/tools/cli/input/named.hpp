// SPDX-License-Identifier: MIT
//
// Files for inputs of a network, which options give by name or in order.
#ifndef NVDLA_TOOLS_CLI_INPUT_NAMED_HPP
#define NVDLA_TOOLS_CLI_INPUT_NAMED_HPP

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nvdla::cli {

// FILE, or NAME=FILE with the name of an input.
struct NamedFile {
  std::optional<std::size_t> input;  // which one it names
  std::string path;
};

// Reads the argument of an option. A file whose name has an equals sign is taken as that, unless
// what is before the sign is the name of an input. Throws UsageError for another name.
NamedFile parse_named(std::string_view option, const std::string& text,
                      const std::vector<std::string>& inputs);

// Returns names for messages: "'a', 'b'".
std::string quoted_names(const std::vector<std::string>& names);

}  // namespace nvdla::cli

#endif  // NVDLA_TOOLS_CLI_INPUT_NAMED_HPP
