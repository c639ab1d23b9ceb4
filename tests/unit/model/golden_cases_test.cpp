// SPDX-License-Identifier: MIT
//
// Golden register cases played straight into the model, without the command's player: every byte of
// the expected memory and every expected register must match.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/shared.hpp"
#include "firmware/registers/nvdla_regs.h"
#include "model/core/memory.hpp"
#include "model/device.hpp"

namespace nvdla::model {
namespace {

namespace fs = std::filesystem;

std::uint64_t hex(const nlohmann::json& value) {
  return std::stoull(value.get<std::string>(), nullptr, 16);
}

std::vector<std::byte> slurp(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  const auto* data = reinterpret_cast<const std::byte*>(bytes.data());
  return {data, data + bytes.size()};
}

enum class Outcome { kPassed, kFailed, kNotYet };

Outcome play(const fs::path& folder, std::string& why) {
  const auto spec = nlohmann::json::parse(std::ifstream(folder / "case.json"));
  const std::string config = folder.parent_path().parent_path().filename();
  const nvdla_hw* hw = nvdla_hw_find(config.c_str());
  if (hw == nullptr) {
    why = "unknown configuration " + config;
    return Outcome::kFailed;
  }
  Memory memory;
  for (const auto& fill : spec["fill"])
    memory.fill(Ram::kPrimary, hex(fill["addr"]), fill["size"].get<std::uint64_t>(),
                std::byte(fill["byte"].get<int>()));
  for (const auto& blob : spec["mem"])
    memory.load(Ram::kPrimary, hex(blob["addr"]), slurp(folder / blob["file"]));
  // They are the reference model's truth, its quirks included.
  Device device(*hw, memory, Options{.quirks = Quirks::kCmodel});
  for (const auto& reg : spec["regs"])
    device.write(static_cast<std::uint32_t>(hex(reg[0])), static_cast<std::uint32_t>(hex(reg[1])));
  while (device.step()) {
  }
  if (!device.idle()) {
    for (const Blocked& blocked : device.blocked()) {
      why = blocked.reason;
      if (why.find("not implemented yet") != std::string::npos) return Outcome::kNotYet;
    }
    return Outcome::kFailed;
  }
  for (const auto& want : spec["expect_mem"]) {
    const auto expected = slurp(folder / want["file"]);
    const auto got = memory.read(Ram::kPrimary, hex(want["addr"]), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
      if (got[i] != expected[i]) {
        why = "byte " + std::to_string(i) + " of " + want["file"].get<std::string>() + " is " +
              std::to_string(std::to_integer<int>(got[i])) + ", not " +
              std::to_string(std::to_integer<int>(expected[i]));
        return Outcome::kFailed;
      }
  }
  for (const auto& want : spec["expect_regs"]) {
    const std::uint32_t got = device.read(static_cast<std::uint32_t>(hex(want[0])));
    if (got != hex(want[1])) {
      why = want[2].get<std::string>() + " is " + std::to_string(got) + ", not " +
            want[1].get<std::string>();
      return Outcome::kFailed;
    }
  }
  const std::uint32_t glb =
      hw->regmap == NVDLA_REGMAP_NV_FULL ? NVDLA_NV_FULL_GLB_BASE : NVDLA_NV_SMALL_GLB_BASE;
  const std::uint32_t interrupts = device.read(glb + NVDLA_GLB_S_INTR_STATUS);
  if (interrupts != hex(spec["expect_intr_status"])) {
    why = "S_INTR_STATUS is " + std::to_string(interrupts);
    return Outcome::kFailed;
  }
  return Outcome::kPassed;
}

TEST(GoldenCases, AllThatIsBuiltMatches) {
  NVDLA_NEEDS_SHARED("vectors");
  unsigned passed = 0, not_yet = 0;
  for (const auto& entry : fs::recursive_directory_iterator(test::shared_folder() / "vectors")) {
    if (entry.path().filename() != "case.json") continue;
    const fs::path folder = entry.path().parent_path();
    std::string why;
    switch (play(folder, why)) {
      case Outcome::kPassed:
        ++passed;
        break;
      case Outcome::kFailed:
        ADD_FAILURE() << folder << ": " << why;
        break;
      case Outcome::kNotYet:
        ++not_yet;
        if (std::getenv("NVDLA_VERBOSE") != nullptr)
          std::printf("%s: %s\n", folder.c_str(), why.c_str());
        break;
    }
  }
  std::printf("%u cases passed, %u need what is not there yet\n", passed, not_yet);
  EXPECT_GT(passed, 0u);
}

}  // namespace
}  // namespace nvdla::model
