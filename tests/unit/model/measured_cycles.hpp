// SPDX-License-Identifier: MIT
//
// The layers whose cycles were measured on the published logic: ../shared/hw/cycles.csv.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "cost/layer_cycles.hpp"
#include "cost/memory_timing.hpp"

namespace nvdla::test {

struct MeasuredLayer {
  std::string configuration, trace, units;
  cost::MemoryTiming memory;
  std::uint64_t cycles = 0;
  std::map<std::string, std::uint64_t> numbers;  // "W", "K", "data_end", ... what the row says
};

// Throws std::runtime_error naming file and line for what is no such table.
std::vector<MeasuredLayer> read_measured(const std::filesystem::path& path);

// The same layer, predicted.
cost::LayerCycles predict(const MeasuredLayer& layer);

}  // namespace nvdla::test
