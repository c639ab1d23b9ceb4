// SPDX-License-Identifier: MIT
//
/// @file
/// Deconvolution (transposed convolution) layers. One of them is stride_width * stride_height
/// convolutions (deconvolution_phases.hpp), whose results Rubik's contract puts side by side. Where
/// there is no Rubik, lines are written where they belong and columns are copied there one by one.
#ifndef NVDLA_OPERATORS_DECONVOLUTION_HPP
#define NVDLA_OPERATORS_DECONVOLUTION_HPP

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "nvdla/operators/convolution.hpp"
#include "nvdla/operators/sdp_operators.hpp"
#include "nvdla/types/conversion.hpp"
#include "nvdla/types/export.hpp"
#include "nvdla/types/precision.hpp"

namespace nvdla {

/// @code{.unparsed}
///   out[k][oy][ox] = sum of (in[c][y][x] - zero_point) * w[k][c][r][s]
///     over y * stride_height + r = oy + pad_top, x * stride_width + s = ox + pad_left
/// @endcode
///
/// Output size: (size - 1) * stride + kernel size - paddings + extra. Everything is copied when the
/// layer is added. A pooling follows on the fly where both strides are 1.
struct Deconvolution {
  /// Name of the layer in errors, reports and pictures; it may stay empty.
  std::string_view name = {};
  std::uint32_t kernels = 1;        ///< Kernels, the channels of the result.
  std::uint32_t kernel_height = 1;  ///< Lines of a kernel, 1..32.
  std::uint32_t kernel_width = 1;   ///< Columns of a kernel, 1..32.
  std::uint32_t stride_height = 1;  ///< Lines from one input element's results to the next.
  std::uint32_t stride_width = 1;   ///< Columns from one input element's results to the next.
  /// Lines that are cut off at the top, fewer than the kernel has.
  std::uint32_t pad_top = 0;
  /// Lines that are cut off at the bottom, fewer than the kernel has.
  std::uint32_t pad_bottom = 0;
  std::uint32_t pad_left = 0;  ///< Columns that are cut off on the left, fewer than the kernel has.
  /// Columns that are cut off on the right, fewer than the kernel has.
  std::uint32_t pad_right = 0;
  /// Lines appended at the bottom, fewer than `stride_height`.
  std::uint32_t extra_bottom = 0;
  std::uint32_t extra_right = 0;  ///< Columns appended on the right, fewer than `stride_width`.
  /// KCRS, of the precision of the input
  KernelSpan weights = {};
  /// Element of an integer input that stands for zero. Sums are those of in * w, with the zero
  /// point around the input; what that adds, other taps in every phase, is taken back by the bias,
  /// so it takes operators as a bias of any size does, and no shift of the sums comes before it.
  std::int32_t zero_point = 0;
  /// One per kernel or none, added exactly; see Convolution::bias. Operands of all operators are of
  /// the layer or per channel.
  std::span<const std::int32_t> bias = {};
  /// The bias of fp16 layers, one per kernel or none, rounded to fp16; see Convolution::bias_reals.
  std::span<const float> bias_reals = {};
  bool relu = false;  ///< True if negative results become zero; see Convolution::relu.
  /// Shifts of sums, and what becomes of NaN.
  Arithmetic arithmetic = {};
  Operator x1 = {};  ///< The first SDP operator, after the bias.
  Operator x2 = {};  ///< The second SDP operator, after X1.
  OperatorY y = {};  ///< The third SDP operator, after X2, on devices that have it.
  /// Conversion of 32-bit results to integer elements; fp16 results are rounded instead.
  Converter output = {};
  ElementBounds bounds = {};  ///< Least and greatest element of an integer result.
  /// Precision of the result; absent: the one that the layer works in.
  std::optional<Precision> precision = {};
};

}  // namespace nvdla

#endif  // NVDLA_OPERATORS_DECONVOLUTION_HPP
