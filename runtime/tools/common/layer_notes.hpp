// SPDX-License-Identifier: MIT
//
// Finds the first layer that produced a NaN, and the first one that saturated.
#ifndef NVDLA_TOOLS_COMMON_LAYER_NOTES_HPP
#define NVDLA_TOOLS_COMMON_LAYER_NOTES_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tools/common/layer_table.hpp"

namespace nvdla::program {

struct LayerNote {
  std::size_t layer = 0;
  std::uint64_t count = 0;  // results that are NaN or saturated
  std::uint64_t read = 0;   // NaNs in the layer's inputs
};

// Returns the first layer in which a unit counted NaNs in its results.
std::optional<LayerNote> first_nan(std::span<const nvdla_layer_stats> layers);
// Returns the first layer in which sums or results exceeded their type's range.
std::optional<LayerNote> first_saturated(std::span<const nvdla_layer_stats> layers);

// "the first NaN come from layer 2 'softmax': 12, and it reads 3"
std::string nan_text(const LayerNote& note, std::string_view layer_name);
// "the first results that saturate are of layer 0 'conv1': 5"
std::string saturation_text(const LayerNote& note, std::string_view layer_name);

}  // namespace nvdla::program

#endif  // NVDLA_TOOLS_COMMON_LAYER_NOTES_HPP
