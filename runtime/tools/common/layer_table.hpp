// SPDX-License-Identifier: MIT
//
// Formats the statistics of each layer as a table.
#ifndef NVDLA_TOOLS_COMMON_LAYER_TABLE_HPP
#define NVDLA_TOOLS_COMMON_LAYER_TABLE_HPP

#include <drm/nvdla_layer.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "nvdla/types/device_info.hpp"

namespace nvdla::program {

struct LayerRow {
  std::string name;
  std::optional<std::uint64_t> macs;  // multiply-accumulates, if known
  std::uint64_t cycles = 0;           // estimate of the worst case
  nvdla_layer_stats stats = {};
};

// Returns a line for each layer, then one for each counter that has no column and is not 0, except
// latencies. A dash stands for counters that a layer's units do not have, "~" for values that are
// only indicative on the device.
std::string layer_table(std::span<const LayerRow> layers, const DeviceInfo& info);

}  // namespace nvdla::program

#endif  // NVDLA_TOOLS_COMMON_LAYER_TABLE_HPP
