// SPDX-License-Identifier: MIT
#include "support/cases.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace nvdla::test {

namespace {

std::uint64_t number(const nlohmann::json& value) {
  if (value.is_string()) return std::stoull(value.get<std::string>(), nullptr, 0);
  return value.get<std::uint64_t>();
}

}  // namespace

std::optional<std::filesystem::path> shared_directory() {
  std::filesystem::path path = std::filesystem::path(NVDLA_SOURCE_DIR) / ".." / "shared";
  if (const char* given = std::getenv("NVDLA_SHARED")) path = given;
  if (!std::filesystem::is_directory(path)) return std::nullopt;
  return path;
}

std::vector<std::filesystem::path> find_cases(const std::string& configuration,
                                              const std::string& unit) {
  std::vector<std::filesystem::path> found;
  const auto shared = shared_directory();
  if (!shared) return found;
  const auto directory = *shared / "vectors" / configuration / unit;
  if (!std::filesystem::is_directory(directory)) return found;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (std::filesystem::exists(entry.path() / "case.json")) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

Case load_case(const std::filesystem::path& directory) {
  try {
    std::ifstream file(directory / "case.json");
    file.exceptions(std::ios::failbit | std::ios::badbit);
    const auto json = nlohmann::json::parse(file);
    Case result;
    result.configuration = directory.parent_path().parent_path().filename();
    result.unit = directory.parent_path().filename();
    result.name = result.configuration + "/" + result.unit + "/" + directory.filename().string();
    for (const auto& write : json.at("regs"))
      result.writes.push_back({static_cast<std::uint32_t>(number(write.at(0))),
                               static_cast<std::uint32_t>(number(write.at(1))), write.at(2)});
    for (const char* list : {"mem", "fill"}) {
      for (const auto& region : json.value(list, nlohmann::json::array()))
        result.regions.push_back({number(region.at("addr")), number(region.at("size"))});
    }
    return result;
  } catch (const std::exception& failure) {
    throw std::runtime_error(directory.string() + ": " + failure.what());
  }
}

}  // namespace nvdla::test
