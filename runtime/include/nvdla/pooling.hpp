// SPDX-License-Identifier: MIT
//
// Pooling layers.
#ifndef NVDLA_POOLING_HPP
#define NVDLA_POOLING_HPP

#include <drm/nvdla_layer.h>

#include <cstdint>
#include <string_view>

#include "nvdla/export.hpp"

namespace nvdla {

// The largest, the smallest or the average element of a window that moves over each channel, in the
// precision of the input. Output height = (pad_top + height + pad_bottom - kernel_height) /
// stride_y + 1, rounded down; so is the width.
//
// Paddings take no part in a largest or smallest element. In an average they count as `pad_value`,
// and the divisor is always the size of the kernel: sum * floor(65536 / kernel_width) >> 16, then
// the same with the height (halves away from zero); fp16 sums and multiplies in fp17.
//
// A pooling that alone reads what a convolution or an SDP layer makes becomes part of that layer
// where the hardware can do it on the fly.
struct Pooling {
  std::string_view name = {};
  nvdla_pool method = NVDLA_POOL_MAX;
  std::uint32_t kernel_height = 1;  // 1..8
  std::uint32_t kernel_width = 1;
  std::uint32_t stride_y = 1;  // 1..16
  std::uint32_t stride_x = 1;
  std::uint32_t pad_top = 0;  // 0..7, less than the kernel
  std::uint32_t pad_bottom = 0;
  std::uint32_t pad_left = 0;
  std::uint32_t pad_right = 0;
  // Of an average: an integer that the input can have, or in fp16 a real, which is rounded to fp17.
  double pad_value = 0;
  // fp16: NaN of the input reads as zero; not on the fly.
  bool nan_to_zero = false;
};

}  // namespace nvdla

#endif  // NVDLA_POOLING_HPP
