// SPDX-License-Identifier: MIT
//
// A loadable from a file or pipe that an argument names.
#ifndef NVDLA_TOOLS_CLI_INPUT_LOAD_HPP
#define NVDLA_TOOLS_CLI_INPUT_LOAD_HPP

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "nvdla/loadable.hpp"
#include "nvdla/types/error.hpp"
#include "tools/files/files.hpp"
#include "tools/files/status.hpp"

namespace nvdla::cli {

// Returns true for a file that the library reads by itself, without a copy; program::read_file()
// tells what is wrong with others.
inline bool is_plain_file(const std::string& path) {
  std::error_code error;
  if (program::is_standard_input(path) || !std::filesystem::is_regular_file(path, error))
    return false;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  return !error && size > 0 && size <= program::kMaxFileBytes && ::access(path.c_str(), R_OK) == 0;
}

// Returns true if the name of a file ends as that of a model does.
inline bool is_model(const std::string& path) { return path.ends_with(".onnx"); }

// Throws program::UsageError naming `path`.
inline Loadable load_loadable(const std::string& path) {
  const auto file = is_plain_file(path) ? std::vector<std::uint8_t>() : program::read_file(path);
  try {
    return file.empty() ? Loadable::load(path) : Loadable::load(std::as_bytes(std::span(file)));
  } catch (const Error& error) {
    if (is_model(path))
      throw program::UsageError(
          path + ": it is a model; expected a loadable, which 'nvdla compile' makes");
    throw program::UsageError(path + ": " + error.what());
  }
}

}  // namespace nvdla::cli

#endif  // NVDLA_TOOLS_CLI_INPUT_LOAD_HPP
