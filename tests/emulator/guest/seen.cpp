// SPDX-License-Identifier: MIT
#include "seen.hpp"

#include <glob.h>

#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

namespace nvdla::emulator_test {

namespace fs = std::filesystem;

std::string read_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> paths_like(const std::string& pattern) {
  glob_t found{};
  ::glob(pattern.c_str(), 0, nullptr, &found);
  std::vector<std::string> result(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  return result;
}

std::string debugfs(const std::string& name) {
  for (const char* folder : {"accel", "dri"}) {
    const auto found = paths_like(std::string("/sys/kernel/debug/") + folder + "/*/registers");
    if (!found.empty()) return read_text(fs::path(found.front()).parent_path() / name);
  }
  return {};
}

std::map<std::string, std::string> fdinfo(int fd) {
  std::istringstream text(read_text("/proc/self/fdinfo/" + std::to_string(fd)));
  std::map<std::string, std::string> keys;
  for (std::string line; std::getline(text, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos || line.rfind("drm-", 0) != 0) continue;
    const auto value = line.substr(line.find_first_not_of(" \t", colon + 1));
    if (!keys.emplace(line.substr(0, colon), value).second)
      throw std::runtime_error("fdinfo has it twice: " + line);
  }
  return keys;
}

bool has_ready_job(int fd) {
  const std::string file = "file " + fdinfo(fd).at("drm-client-id") + ":";
  std::istringstream text(debugfs("queue"));
  bool ours = false;
  for (std::string line; std::getline(text, line);) {
    if (line.rfind("file ", 0) == 0) ours = line.rfind(file, 0) == 0;
    if (ours && line.rfind("    ready: ", 0) == 0) return true;
  }
  return false;
}

}  // namespace nvdla::emulator_test
