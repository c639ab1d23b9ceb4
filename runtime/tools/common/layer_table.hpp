// SPDX-License-Identifier: MIT
//
// What the device counted in each layer, as a table.
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
  std::optional<std::uint64_t> macs;  // multiply-accumulates, where they are known
  std::uint64_t cycles = 0;           // estimate of the worst case
  nvdla_layer_stats stats = {};
};

// A line for each layer; then one for each counter that has no column and is not 0, but for
// latencies. A dash stands for what the units of a layer do not count, "~" for values that are
// only indicative on the device.
std::string layer_table(std::span<const LayerRow> layers, const DeviceInfo& info);

}  // namespace nvdla::program

#endif  // NVDLA_TOOLS_COMMON_LAYER_TABLE_HPP
