// SPDX-License-Identifier: MIT
#include "files.hpp"

#include "tools/files/files.hpp"
#include "tools/files/status.hpp"

namespace digits {

void fail(const std::filesystem::path& path, const std::string& what) {
  throw nvdla::program::UsageError(path.string() + ": " + what);
}

nlohmann::json read_json(const std::filesystem::path& path) {
  try {
    return nlohmann::json::parse(nvdla::program::read_file(path.string()));
  } catch (const nlohmann::json::exception& error) {
    fail(path, error.what());
  }
}

}  // namespace digits
