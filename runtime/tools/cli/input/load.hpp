// SPDX-License-Identifier: MIT
//
// A loadable from a file or pipe that an argument names.
#ifndef NVDLA_TOOLS_CLI_INPUT_LOAD_HPP
#define NVDLA_TOOLS_CLI_INPUT_LOAD_HPP

#include <string>

#include "nvdla/loadable.hpp"
#include "nvdla/types/error.hpp"
#include "tools/files/files.hpp"
#include "tools/files/status.hpp"

namespace nvdla::cli {

// Throws program::UsageError naming `path`.
inline Loadable load_loadable(const std::string& path) {
  const auto file = program::read_file(path);
  try {
    return Loadable::load(std::as_bytes(std::span(file)));
  } catch (const Error& error) {
    throw program::UsageError(path + ": " + error.what());
  }
}

}  // namespace nvdla::cli

#endif  // NVDLA_TOOLS_CLI_INPUT_LOAD_HPP
