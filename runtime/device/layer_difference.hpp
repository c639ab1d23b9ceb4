// SPDX-License-Identifier: MIT
//
// What two devices left of one layer, against each other.
#ifndef NVDLA_DEVICE_LAYER_DIFFERENCE_HPP
#define NVDLA_DEVICE_LAYER_DIFFERENCE_HPP

#include <cstddef>
#include <optional>
#include <span>

#include "nvdla/layer_tensors.hpp"

namespace nvdla::detail {

// The elements of `tensor` and those at the same place of the reference.
std::optional<LayerDifference> compare_elements(const LayerTensor& tensor,
                                                std::span<const std::byte> expected);
// All bytes of a buffer whose elements are equal.
std::optional<LayerDifference> compare_bytes(const LayerTensor& tensor,
                                             std::span<const std::byte> expected);
// What a comparison found.
std::optional<LayerDifference> compare_verdicts(const LayerTensor& tensor,
                                                const nvdla_layer_stats& found,
                                                const nvdla_layer_stats& expected);

}  // namespace nvdla::detail

#endif  // NVDLA_DEVICE_LAYER_DIFFERENCE_HPP
