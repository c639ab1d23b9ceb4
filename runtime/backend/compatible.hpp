// SPDX-License-Identifier: MIT
//
// Compatible strings of device trees, as kernel/nvdla_platform.c and its binding have them.
#ifndef NVDLA_BACKEND_COMPATIBLE_HPP
#define NVDLA_BACKEND_COMPATIBLE_HPP

#include <string>
#include <string_view>

#include "firmware/nvdla_hw.h"

namespace nvdla::detail {

// Returns the generic name: "nvidia,nvdla-nv-small" for nv_small.
std::string compatible_of(const nvdla_hw& hw);
// Returns the configuration that a generic name stands for, or nullptr. It takes the names of
// before as well, which had underscores.
const nvdla_hw* find_compatible(std::string_view compatible) noexcept;

// nv_full's name in the device trees that were published with the hardware.
inline constexpr const char* kPublishedCompatible = "nvidia,nvdla_os_initial";

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_COMPATIBLE_HPP
