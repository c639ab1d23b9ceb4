// SPDX-License-Identifier: MIT
//
// Layers that move elements and change none: Rubik and BDMA, on devices that have them.
#ifndef NVDLA_RESHAPE_HPP
#define NVDLA_RESHAPE_HPP

#include <cstdint>
#include <string_view>

#include "nvdla/export.hpp"

namespace nvdla {

// Channels to positions, as after a deconvolution: with B = channels / (stride_y * stride_x)
// channel (ky * stride_x + kx) * B + c at (y, x) becomes channel c at (y * stride_y + ky, x *
// stride_x + kx). B must fill atoms (DeviceInfo::atom bytes).
struct Contraction {
  std::string_view name = {};
  std::uint32_t stride_y = 1;  // 1..32
  std::uint32_t stride_x = 1;
};

}  // namespace nvdla

#endif  // NVDLA_RESHAPE_HPP
