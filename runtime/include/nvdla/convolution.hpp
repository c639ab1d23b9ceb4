// SPDX-License-Identifier: MIT
//
// Convolution layers, with the SDP that always follows.
#ifndef NVDLA_CONVOLUTION_HPP
#define NVDLA_CONVOLUTION_HPP

#include <cstdint>
#include <span>
#include <string_view>

#include "nvdla/layer.hpp"
#include "nvdla/operators.hpp"

namespace nvdla {

// int8 convolution. Everything is copied when the layer is added.
struct Convolution {
  std::string_view name = {};
  std::uint32_t kernels = 1;
  std::uint32_t kernel_height = 1;
  std::uint32_t kernel_width = 1;
  std::uint32_t stride_y = 1;
  std::uint32_t stride_x = 1;
  std::uint32_t dilation_y = 1;
  std::uint32_t dilation_x = 1;
  std::uint32_t pad_top = 0;
  std::uint32_t pad_bottom = 0;
  std::uint32_t pad_left = 0;
  std::uint32_t pad_right = 0;
  std::int32_t pad_value = 0;  // normally the zero point of the input
  // KCRS
  std::span<const std::int8_t> weights = {};
  // One per kernel or none, added to the accumulator exactly: X1 adds the high halves, X2 the low
  // ones, or X1 alone where all fit 16 bits (shifted left alike). Excludes operators that then
  // have no place: kInvalidArgument says which.
  std::span<const std::int32_t> bias = {};
  // Negative results become zero, in the last operator.
  bool relu = false;
  // Right shift of the accumulator before everything else, 0..16.
  std::uint32_t accumulator_shift = 0;
  // Further operators, after the bias.
  Operator x1 = {};
  Operator x2 = {};
  // int32 -> int8
  Converter output = {};
};

}  // namespace nvdla

#endif  // NVDLA_CONVOLUTION_HPP
