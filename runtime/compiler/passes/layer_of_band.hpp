// SPDX-License-Identifier: MIT
#ifndef NVDLA_COMPILER_PASSES_LAYER_OF_BAND_HPP
#define NVDLA_COMPILER_PASSES_LAYER_OF_BAND_HPP

#include <drm/nvdla_layer.h>

#include "nvdla/types/device_info.hpp"
#include "packing/bands.hpp"

namespace nvdla::detail {

// Returns the layer that computes a band of `whole`.
nvdla_layer layer_of(const DeviceInfo& info, const nvdla_layer& whole, const Band& band);

// Makes a layer that works on a batch one that works on one image of it.
void select_image(nvdla_layer& layer, std::uint32_t image);

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_PASSES_LAYER_OF_BAND_HPP
