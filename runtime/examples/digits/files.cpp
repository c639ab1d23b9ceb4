// SPDX-License-Identifier: MIT
#include "files.hpp"

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace digits {

void fail(const std::filesystem::path& path, const std::string& what) {
  throw std::runtime_error(path.string() + ": " + what);
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    fail(path, "cannot be opened");
  }
  std::ostringstream content;
  if (!(content << stream.rdbuf())) {
    fail(path, "cannot be read, or is empty");
  }
  return std::move(content).str();
}

nlohmann::json read_json(const std::filesystem::path& path) {
  try {
    return nlohmann::json::parse(read_file(path));
  } catch (const nlohmann::json::exception& error) {
    fail(path, error.what());
  }
}

}  // namespace digits
