// SPDX-License-Identifier: MIT
//
// Layers that work on some of the kernels: what they read and write begins further behind.
#ifndef NVDLA_COMPILER_LOWER_MOVE_KERNELS_HPP
#define NVDLA_COMPILER_LOWER_MOVE_KERNELS_HPP

#include <drm/nvdla_layer.h>

#include <cstdint>

#include "nvdla/types/device_info.hpp"

namespace nvdla::detail {

// Moves SDP to the kernels from `first` on, which begin with an atom: its operands and its output.
void move_kernels(const DeviceInfo& info, nvdla_sdp& sdp, std::uint32_t first);
// The same of a whole layer, with its weights and a pooling.
void move_kernels(const DeviceInfo& info, nvdla_layer& layer, std::uint32_t first);

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_LOWER_MOVE_KERNELS_HPP
