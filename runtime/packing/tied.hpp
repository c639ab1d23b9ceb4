// SPDX-License-Identifier: MIT
//
// Convolutions that reuse what one before them left in the buffer: nobody else may use the device
// in between, so together they may take as long as one layer (NVDLA_RULE_TIED_CYCLES).
#ifndef NVDLA_PACKING_TIED_HPP
#define NVDLA_PACKING_TIED_HPP

#include <drm/nvdla_layer.h>

#include <cstddef>
#include <span>

namespace nvdla::detail {

// Lets `layer` fetch all that it works on, and the convolution before it keep nothing. False if it
// did so before. The memory must hold what was kept, as it does for bands, cubes and parts of one
// layer.
bool fetch_again(std::span<nvdla_layer> layers, std::size_t layer);

}  // namespace nvdla::detail

#endif  // NVDLA_PACKING_TIED_HPP
