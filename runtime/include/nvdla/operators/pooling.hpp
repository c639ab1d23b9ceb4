// SPDX-License-Identifier: MIT
//
/// @file
/// Pooling layers.
#ifndef NVDLA_OPERATORS_POOLING_HPP
#define NVDLA_OPERATORS_POOLING_HPP

#include <drm/nvdla_layer.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "nvdla/types/export.hpp"

namespace nvdla {

/// The largest, the smallest or the average element of a window that moves over each channel, in
/// the precision of the input. Output height = (pad_top + height + pad_bottom - kernel_height) /
/// stride_height + 1, rounded down; so is the width.
///
/// Paddings take no part in a largest or smallest element. In an average they count as `pad_value`,
/// and the divisor is always the size of the kernel: sum * floor(65536 / kernel_width) >> 16, then
/// the same with the height (halves away from zero); fp16 sums and multiplies in fp17. Average has
/// larger windows, and rounds once.
///
/// Windows of a largest or smallest element that are larger than the hardware's 8x8 are taken in
/// steps, "name step 1/3", which changes nothing.
///
/// A pooling that alone reads what a convolution or an SDP layer makes becomes part of that layer
/// where the hardware can do it on the fly.
struct Pooling {
  /// Name of the layer in errors, reports and pictures; it may stay empty.
  std::string_view name = {};
  nvdla_pool method = NVDLA_POOL_MAX;  ///< largest, smallest or average element
  std::uint32_t kernel_height = 1;     ///< 1..8 of an average, else 1..8192
  std::uint32_t kernel_width = 1;      ///< columns of the window, likewise
  std::uint32_t stride_height = 1;     ///< 1..16
  std::uint32_t stride_width = 1;      ///< columns from window to window, 1..16
  std::uint32_t pad_top = 0;           ///< less than the kernel
  std::uint32_t pad_bottom = 0;        ///< Lines of padding below the input.
  std::uint32_t pad_left = 0;          ///< Columns of padding left of the input.
  std::uint32_t pad_right = 0;         ///< Columns of padding right of the input.
  /// Element that padding has in an average: an integer that the input can have, or in fp16 a real,
  /// which is rounded to fp17.
  double pad_value = 0;
  /// fp16: NaN of the input reads as zero; not on the fly.
  bool nan_to_zero = false;
};

/// The average of a window that moves over each channel, or of all positions: sum / count. Integers
/// are rounded once, halves away from zero. fp16 stands for itself.
///
/// Windows of up to 32x32 elements with strides of up to 8 are the device's: a depthwise
/// convolution with ones (Convolution::groups), whose sums are multiplied with 1 / count. Of fp16,
/// where padding counts as zero or there is none, these are sums as of a convolution and a product
/// in fp32; NaN may reach other channels. Larger windows of int8 are the device's, too, where it
/// has int16 and operator Y: sums of up to 256 elements fit int16, and the steps "name step 1/3"
/// add them up. They have to be exact: every window has the same count, padding counts as zero or
/// not at all, and the strides of several windows divide into those of the steps.
///
/// All others, and those of int16 whose many counts no multipliers divide by exactly, are computed
/// by the CPU between two programs (nvdla/operators/cpu_operators.hpp); of fp16 in doubles, rounded
/// once. A loadable has those of the device only. Integers are the same wherever they are computed.
struct Average {
  /// Name of the layer in errors, reports and pictures; it may stay empty.
  std::string_view name = {};
  /// Up to 8192; 0: all lines, all columns.
  std::uint32_t kernel_height = 0;
  std::uint32_t kernel_width = 0;   ///< Columns of the window, likewise.
  std::uint32_t stride_height = 1;  ///< Lines from window to window.
  std::uint32_t stride_width = 1;   ///< Columns from window to window.
  std::uint32_t pad_top = 0;        ///< less than the kernel
  std::uint32_t pad_bottom = 0;     ///< Lines of padding below the input.
  std::uint32_t pad_left = 0;       ///< Columns of padding left of the input.
  std::uint32_t pad_right = 0;      ///< Columns of padding right of the input.
  /// Element that padding has, an integer that the input can have (fp16: -2048..2048), and then the
  /// count is the size of the kernel. Without it padding does not count.
  std::optional<std::int32_t> pad_value = {};
  /// Input and output give integers a meaning: results then are input.scale / output.scale
  /// times the average of (element - input.zero_point), plus output.zero_point, rounded once, as
  /// those of a quantised convolution are (QuantizedOperators::average()). Without an output
  /// results stand for what the input does. An input that is left out is what the network knows.
  std::optional<Quantization> input = {};
  std::optional<Quantization> output = {};  ///< Scale and zero point of the result, see `input`.
};

}  // namespace nvdla

#endif  // NVDLA_OPERATORS_POOLING_HPP
