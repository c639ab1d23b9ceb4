// SPDX-License-Identifier: MIT
//
// Deconvolution (transposed convolution) layers. One of them is stride_x * stride_y convolutions
// (deconvolution_phases.hpp), whose results Rubik's contract puts side by side. Where there is no
// Rubik, lines are written where they belong and columns are copied there one by one.
#ifndef NVDLA_DECONVOLUTION_HPP
#define NVDLA_DECONVOLUTION_HPP

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "nvdla/convolution.hpp"

namespace nvdla {

//   out[k][oy][ox] = sum of (in[c][y][x] - zero_point) * w[k][c][r][s]
//     over y * stride_y + r = oy + pad_top, x * stride_x + s = ox + pad_left
//
// Output size: (size - 1) * stride + kernel size - paddings + extra. Everything is copied when the
// layer is added. A pooling follows on the fly where both strides are 1.
struct Deconvolution {
  std::string_view name = {};
  std::uint32_t kernels = 1;
  std::uint32_t kernel_height = 1;
  std::uint32_t kernel_width = 1;
  std::uint32_t stride_y = 1;
  std::uint32_t stride_x = 1;
  // Lines and columns that are cut off, less than the kernel.
  std::uint32_t pad_top = 0;
  std::uint32_t pad_bottom = 0;
  std::uint32_t pad_left = 0;
  std::uint32_t pad_right = 0;
  // Further lines and columns, less than the stride.
  std::uint32_t extra_bottom = 0;
  std::uint32_t extra_right = 0;
  // KCRS, of the precision of the input
  KernelSpan weights = {};
  // What stands for zero in the input, of integers. Sums are those of in * w, with the zero point
  // around the input; what that adds, other taps in every phase, is taken back by the bias, so it
  // takes operators as a bias of any size does, and there is no accumulator_shift before it.
  std::int32_t zero_point = 0;
  // As of Convolution. Operands are of the layer or per channel.
  std::span<const std::int32_t> bias = {};
  std::span<const float> bias_reals = {};
  bool relu = false;
  std::uint32_t accumulator_shift = 0;
  Operator x1 = {};
  Operator x2 = {};
  OperatorY y = {};
  Converter output = {};
  ElementBounds bounds = {};
  std::optional<Precision> precision = {};
};

}  // namespace nvdla

#endif  // NVDLA_DECONVOLUTION_HPP
