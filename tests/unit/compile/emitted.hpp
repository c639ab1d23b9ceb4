// SPDX-License-Identifier: MIT
//
// Whole register images, for tests that write them out.
#pragma once

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "common/compiled.hpp"
#include "common/recorded.hpp"
#include "unit_layers.hpp"

namespace nvdla::test {

// "SDP.D_DATA_CUBE_WIDTH.WIDTH 9", line by line.
inline std::string emitted(const Base& base, std::uint32_t flags = NVDLA_PROGRAM_STATS) {
  Program program(*base.hw, base.slots, 1, flags, 0, base.luts, base.transfers, base.control);
  if (!program.add(base.layer)) return to_string(program.error());
  std::vector<std::uint64_t> bases;
  for (std::uint64_t i = 1; i <= base.slots.size(); ++i) bases.push_back(i << 32 | i << 16);
  std::ostringstream text;
  const auto map = static_cast<nvdla_regmap>(base.hw->regmap);
  for (const auto& [address, value] : program.registers(0, bases)) {
    const model::RegisterInfo* info = model::register_at(map, address);
    if (info == nullptr) return "no register";
    for (const model::FieldInfo& field : info->fields) {
      const std::uint32_t number = field.extract(map, value);
      if (number == 0) continue;
      text << model::unit_name(info->unit) << '.' << info->name << '.' << field.name << ' '
           << std::hex << number << '\n';
    }
  }
  return text.str();
}

// Nothing is on but the output's converter, which multiplies with 1.
inline Base plain_sdp() {
  Base base = base_sdp("nv_full");
  nvdla_sdp& sdp = base.layer.sdp;
  sdp.x1 = sdp.x2 = {};
  sdp.out_cvt = {.offset = 0, .scale = 1, .truncate = 0, .pad = 0};
  return base;
}

// Without statistics all switches of counters are off, and nothing else changes.
inline std::string uncounted(const std::string& image) {
  std::istringstream lines(image);
  std::string kept;
  for (std::string line; std::getline(lines, line);) {
    if (line.find(".D_PERF_ENABLE.") == std::string::npos) kept += line + '\n';
  }
  return kept;
}

// Compares with emitted/`name`.txt, and without statistics with that less what only counters have.
inline void expect_emitted(const Base& base, const std::string& name) {
  const std::string image = emitted(base);
  expect_recorded("tests/unit/compile/emitted/" + name + ".txt", image);
  EXPECT_EQ(emitted(base, 0), uncounted(image));
}

}  // namespace nvdla::test
