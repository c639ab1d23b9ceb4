// SPDX-License-Identifier: MIT
//
// Where numbers went wrong first: the layer that gave a NaN, and the one that saturated.
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
  std::uint64_t count = 0;  // of results
  std::uint64_t read = 0;   // NaN that were there before, in what the layer read
};

// The first layer of which a unit counted NaN in what it gave.
std::optional<LayerNote> first_nan(std::span<const nvdla_layer_stats> layers);
// The first in which sums or results were beyond what their type holds.
std::optional<LayerNote> first_saturated(std::span<const nvdla_layer_stats> layers);

// "the first NaN come from layer 2 'softmax': 12, and it reads 3"
std::string nan_text(const LayerNote& note, std::string_view layer_name);
// "the first results that saturate are of layer 0 'conv1': 5"
std::string saturation_text(const LayerNote& note, std::string_view layer_name);

}  // namespace nvdla::program

#endif  // NVDLA_TOOLS_COMMON_LAYER_NOTES_HPP
