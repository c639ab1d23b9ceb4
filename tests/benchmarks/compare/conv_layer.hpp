// SPDX-License-Identifier: MIT
//
// A convolution of the library with the shape of a network's layer.
#pragma once

#include "network/shapes.hpp"
#include "nvdla/nvdla.hpp"

namespace nvdla::bench {

// All but weights and what follows the sums.
inline Convolution layer_of(const ConvShape& shape) {
  Convolution conv{.name = "conv",
                   .kernels = shape.kernels,
                   .kernel_height = shape.size,
                   .kernel_width = shape.size};
  conv.stride_width = conv.stride_height = shape.stride;
  conv.pad_top = conv.pad_bottom = conv.pad_left = conv.pad_right = shape.pad;
  return conv;
}

inline std::size_t input_elements(const ConvShape& shape) {
  return std::size_t{shape.channels} * shape.side * shape.side;
}
inline std::size_t weight_elements(const ConvShape& shape) {
  return std::size_t{shape.kernels} * shape.channels * shape.size * shape.size;
}

}  // namespace nvdla::bench
