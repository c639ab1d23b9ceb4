// SPDX-License-Identifier: MIT
//
// Layers of Rubik, as networks use it.
#ifndef NVDLA_COMPILER_LOWER_RUBIK_LAYER_HPP
#define NVDLA_COMPILER_LOWER_RUBIK_LAYER_HPP

#include <drm/nvdla_layer.h>

#include "nvdla/types/tensor_desc.hpp"

namespace nvdla::detail {

// Of a cube, or of its first channels; surfaces and strides are the caller's.
inline nvdla_layer rubik_layer(nvdla_rubik_mode mode, const TensorDesc& cube,
                               std::uint32_t channels) {
  nvdla_layer layer = {};
  layer.kind = NVDLA_LAYER_RUBIK;
  layer.rubik.mode = mode;
  layer.rubik.precision = static_cast<std::uint32_t>(cube.precision);
  layer.rubik.width = cube.shape.width;
  layer.rubik.height = cube.shape.height;
  layer.rubik.channels = channels;
  return layer;
}

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_LOWER_RUBIK_LAYER_HPP
