// SPDX-License-Identifier: MIT
#include "common/cases.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <regex>
#include <stdexcept>

#include "common/shared.hpp"
#include "firmware/nvdla_hw.h"
#include "model/core/register_info.hpp"

namespace nvdla::test {

namespace {

std::uint64_t number(const nlohmann::json& value) {
  if (value.is_string()) return std::stoull(value.get<std::string>(), nullptr, 0);
  return value.get<std::uint64_t>();
}

std::vector<std::uint8_t> contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot open " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::filesystem::path> sorted_directories(const std::filesystem::path& parent) {
  std::vector<std::filesystem::path> found;
  if (!std::filesystem::is_directory(parent)) return found;
  for (const auto& entry : std::filesystem::directory_iterator(parent)) {
    if (entry.is_directory()) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

std::vector<std::filesystem::path> find_cases(const std::string& configuration,
                                              const std::string& unit) {
  auto found = sorted_directories(shared_folder() / "vectors" / configuration / unit);
  std::erase_if(found,
                [](const auto& path) { return !std::filesystem::exists(path / "case.json"); });
  return found;
}

std::vector<std::filesystem::path> find_traces(const std::string& configuration,
                                               const std::string& prefix) {
  auto found = sorted_directories(shared_folder() / "traces" / configuration);
  std::erase_if(found, [&](const auto& path) {
    const std::string name = path.filename();
    return name.rfind(prefix, 0) != 0 || !std::filesystem::exists(path / (name + ".cfg"));
  });
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
      for (const auto& region : json.value(list, nlohmann::json::array())) {
        result.regions.push_back({number(region.at("addr")), number(region.at("size")), {}});
        if (region.contains("file"))
          result.regions.back().bytes = contents(directory / region.at("file"));
      }
    }
    return result;
  } catch (const std::exception& failure) {
    throw std::runtime_error(directory.string() + ": " + failure.what());
  }
}

Case load_trace(const std::filesystem::path& directory) {
  // reg_write(NVDLA_CDMA.D_BANK_0, 0x1);  mem_init(pri_mem, 0x80, 0x40, X);
  static const std::regex reg_write(R"(^\s*reg_write\(NVDLA_(\w+\.\w+)_0\s*,\s*(\w+)\s*\)\s*;.*)");
  static const std::regex mem_init(R"(^\s*mem_init\(\s*\w+\s*,\s*(\w+)\s*,\s*(\w+)\s*,.*)");
  Case result;
  result.configuration = directory.parent_path().filename();
  result.unit = "trace";
  result.name = result.configuration + "/" + directory.filename().string();
  const nvdla_hw* hw = nvdla_hw_find(result.configuration.c_str());
  if (hw == nullptr)
    throw std::runtime_error(directory.string() + ": not in the folder of a configuration");
  const auto map = static_cast<model::RegisterMap>(hw->regmap);

  std::ifstream file(directory / (directory.filename().string() + ".cfg"));
  std::string line;
  for (unsigned number = 1; std::getline(file, line); number++) {
    std::smatch match;
    if (std::regex_match(line, match, reg_write)) {
      const auto* info = model::find_register(match[1].str());
      if (info == nullptr)
        throw std::runtime_error(directory.string() + ":" + std::to_string(number) +
                                 ": no register " + match[1].str());
      if (const auto address = model::register_address(map, *info))
        result.writes.push_back({*address,
                                 static_cast<std::uint32_t>(std::stoul(match[2], nullptr, 0)),
                                 match[1].str()});
    } else if (std::regex_match(line, match, mem_init)) {
      result.regions.push_back(
          {std::stoull(match[1], nullptr, 0), std::stoull(match[2], nullptr, 0), {}});
    }
  }
  // What a trace does not name is memory, too: sparse and zero.
  result.regions.push_back({0, std::uint64_t{1} << 32, {}});
  return result;
}

}  // namespace nvdla::test
