// SPDX-License-Identifier: MIT
//
// Steps tell how long a convolution keeps the multipliers busy, to choose between ways to do it.
#ifndef NVDLA_PACKING_CONV_STEPS_HPP
#define NVDLA_PACKING_CONV_STEPS_HPP

#include <drm/nvdla_layer.h>

#include <cstdint>

#include "nvdla/types/device_info.hpp"

namespace nvdla::detail {

// Steps of the multipliers: each takes atomic_c channels of one kernel position for a kernel group
// and one output; in Winograd mode 4 channels of a tile for a group and 4 outputs.
std::uint64_t conv_steps(const DeviceInfo& info, const nvdla_conv& conv);

}  // namespace nvdla::detail

#endif  // NVDLA_PACKING_CONV_STEPS_HPP
