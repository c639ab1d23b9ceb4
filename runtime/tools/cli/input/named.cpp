// SPDX-License-Identifier: MIT
#include "tools/cli/input/named.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "tools/files/status.hpp"

namespace nvdla::cli {

NamedFile parse_named(std::string_view option, const std::string& text,
                      const std::vector<std::string>& inputs) {
  NamedFile file = {std::nullopt, text};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    // Names may have equals signs, too: the longest one counts.
    const std::string before = inputs[i] + "=";
    if (!text.starts_with(before) || (file.input && inputs[*file.input].size() > inputs[i].size()))
      continue;
    file = {i, text.substr(before.size())};
  }
  std::error_code error;
  const std::size_t equals = text.find('=');
  if (!file.input && equals != std::string::npos && !std::filesystem::exists(text, error))
    throw program::UsageError(
        fmt::format("{} {}: no file of that name, and no input is called '{}'; there are: {}",
                    option, text, text.substr(0, equals), quoted_names(inputs)));
  return file;
}

std::string quoted_names(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names)
    list += fmt::format("{}'{}'", list.empty() ? "" : ", ", name);
  return list;
}

}  // namespace nvdla::cli
