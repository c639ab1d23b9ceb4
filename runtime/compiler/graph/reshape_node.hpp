// SPDX-License-Identifier: MIT
//
// Normalisation and the layers that only move elements, as a network keeps them: everything but
// the surfaces.
#ifndef NVDLA_COMPILER_GRAPH_RESHAPE_NODE_HPP
#define NVDLA_COMPILER_GRAPH_RESHAPE_NODE_HPP

#include <drm/nvdla_layer.h>

#include <cstdint>

namespace nvdla::detail {

struct NormNode {
  nvdla_cdp cdp = {};
  std::uint32_t lut = 0;  // index in the network
};

struct RubikNode {
  nvdla_rubik rubik = {};
};

struct CopyNode {};

// Each element becomes so many.
struct UpsampleNode {
  std::uint32_t scale_height = 1, scale_width = 1;
};

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_GRAPH_RESHAPE_NODE_HPP
