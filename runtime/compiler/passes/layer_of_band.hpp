// SPDX-License-Identifier: MIT
#ifndef NVDLA_COMPILER_PASSES_LAYER_OF_BAND_HPP
#define NVDLA_COMPILER_PASSES_LAYER_OF_BAND_HPP

#include <drm/nvdla_layer.h>

#include "nvdla/types/device_info.hpp"
#include "packing/bands.hpp"

namespace nvdla::detail {

// Returns the layer that computes a band of `whole`.
nvdla_layer layer_of(const DeviceInfo& info, const nvdla_layer& whole, const Band& band);

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_PASSES_LAYER_OF_BAND_HPP
