// SPDX-License-Identifier: MIT
//
// Counters of layers as JSON, by their names.
#ifndef NVDLA_TOOLS_CLI_COUNTERS_JSON_HPP
#define NVDLA_TOOLS_CLI_COUNTERS_JSON_HPP

#include <drm/nvdla_layer.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "nvdla/types/device_info.hpp"
#include "nvdla/types/error.hpp"

namespace nvdla::cli {

// The counters that the device counted in a layer.
inline nlohmann::ordered_json counters_json(const nvdla_layer_stats& stats) {
  auto counters = nlohmann::ordered_json::object();
  for (std::uint32_t i = 0; i < NVDLA_COUNTER_COUNT; ++i)
    if ((stats.valid >> i & 1) != 0) counters[std::string(counter_name(i))] = stats.counter[i];
  return counters;
}

// "exact" or "indicative" for each counter that was counted in any layer.
inline nlohmann::ordered_json counter_worth_json(std::span<const nvdla_layer_stats> layers,
                                                 const DeviceInfo& info) {
  std::uint64_t valid = 0;
  for (const nvdla_layer_stats& stats : layers) valid |= stats.valid;
  auto worth = nlohmann::ordered_json::object();
  for (std::uint32_t i = 0; i < NVDLA_COUNTER_COUNT; ++i)
    if ((valid >> i & 1) != 0)
      worth[std::string(counter_name(i))] = counter_worth_name(counter_worth(info, i));
  return worth;
}

}  // namespace nvdla::cli

#endif  // NVDLA_TOOLS_CLI_COUNTERS_JSON_HPP
