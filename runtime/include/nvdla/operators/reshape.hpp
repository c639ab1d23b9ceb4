// SPDX-License-Identifier: MIT
//
/// @file
/// Layers that move elements and change none, by Rubik, BDMA and SDP.
#ifndef NVDLA_OPERATORS_RESHAPE_HPP
#define NVDLA_OPERATORS_RESHAPE_HPP

#include <cstdint>
#include <string_view>

#include "nvdla/types/export.hpp"

namespace nvdla {

/// Channels to positions, by devices with Rubik, as after a deconvolution: with B = channels /
/// (stride_height * stride_width) channel (ky * stride_width + kx) * B + c at (y, x) becomes
/// channel c at (y * stride_height + ky, x * stride_width + kx). B must fill atoms
/// (DeviceInfo::atom bytes).
struct Contraction {
  /// Name of the layer in errors, reports and pictures; it may stay empty.
  std::string_view name = {};
  std::uint32_t stride_height = 1;  ///< 1..32
  std::uint32_t stride_width = 1;   ///< columns that the channels become, 1..32
};

/// Each element becomes scale_height x scale_width of the same: nearest neighbours. Where there is
/// no Rubik columns are copied one by one.
struct Upsampling {
  /// Name of the layer in errors, reports and pictures; it may stay empty.
  std::string_view name = {};
  std::uint32_t scale_height = 2;  ///< 1..32
  std::uint32_t scale_width = 2;   ///< how often a column is repeated, 1..32
};

}  // namespace nvdla

#endif  // NVDLA_OPERATORS_RESHAPE_HPP
