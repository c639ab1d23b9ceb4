// SPDX-License-Identifier: MIT
//
/// @file
/// Width folding: a convolution with a stride in W, done as one without. Each `stride_width`
/// neighbouring columns of the input become one column of `stride_width` times the channels, so
/// that an input of few channels fills more of the multipliers' lanes:
///
/// @code{.unparsed}
///   column x, channel c  ->  column x / stride_width, channel (x % stride_width) * channels + c
/// @endcode
///
/// Kernels are folded alike, behind zero taps that align the first window with a folded column.
/// Integer results are the same bit for bit, whatever the paddings. fp16 adds in another order, so
/// it is not folded.
#ifndef NVDLA_LOWLEVEL_FOLDING_HPP
#define NVDLA_LOWLEVEL_FOLDING_HPP

#include <drm/nvdla_layer.h>

#include <cstdint>
#include <span>
#include <vector>

#include "nvdla/types/device_info.hpp"
#include "nvdla/types/export.hpp"
#include "nvdla/types/shape.hpp"

namespace nvdla {

/// A convolution folded in width, and what becomes of its tensor and kernels.
struct Folding {
  /// The folded convolution: width, channels, kernel_width, stride_width, pad_left and pad_right
  /// are new.
  nvdla_conv conv = {};
  /// Columns that become one, the stride before.
  std::uint32_t columns = 1;
  /// Zero taps before the kernel.
  std::uint32_t lead = 0;
  /// The folded tensor, in as many columns as the last output needs: at most
  /// ceil(width / columns), and what is beyond them no output has ever read.
  Shape shape;
};

/// Returns the reason for which fold_width() refuses `conv`, or nullptr if it does not.
NVDLA_API const char* cannot_fold(const nvdla_conv& conv);

/// `conv`: direct, of integers, stride_width > 1, dilation_width 1; banks, flags and surfaces are
/// left as they are. Throws kInvalidArgument if it cannot be folded, saying why.
NVDLA_API Folding fold_width(const nvdla_conv& conv);

/// KCRS of the convolution -> KCRS of the folded one. Throws kInvalidArgument for a wrong number.
NVDLA_API std::vector<std::int8_t> fold_weights(const nvdla_conv& conv,
                                                std::span<const std::int8_t> kcrs);
/// The same for elements of 16 bits.
NVDLA_API std::vector<std::int16_t> fold_weights(const nvdla_conv& conv,
                                                 std::span<const std::int16_t> kcrs);

/// The application's elements of the tensor before -> elements of the folded tensor (NCHW). What is
/// beyond the last column is the padding value. Throws kInvalidArgument for a wrong number.
NVDLA_API std::vector<std::int8_t> fold_tensor(const nvdla_conv& conv, Layout layout,
                                               std::span<const std::int8_t> source);
/// The same for elements of 16 bits.
NVDLA_API std::vector<std::int16_t> fold_tensor(const nvdla_conv& conv, Layout layout,
                                                std::span<const std::int16_t> source);

/// The share of all multipliers that work in an average step, 0..1: estimated from the channels and
/// kernels that fill the lanes, and from stripes of 16 outputs. Direct convolutions.
NVDLA_API double mac_utilisation(const DeviceInfo& info, const nvdla_conv& conv);

/// Returns true if the folded convolution takes fewer steps; false where there is none.
NVDLA_API bool folding_pays(const DeviceInfo& info, const nvdla_conv& conv);

}  // namespace nvdla

#endif  // NVDLA_LOWLEVEL_FOLDING_HPP
