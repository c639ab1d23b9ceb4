// SPDX-License-Identifier: MIT
//
// Finds configurations, and describes them in the terms of the public interface.
#ifndef NVDLA_BACKEND_INFO_HPP
#define NVDLA_BACKEND_INFO_HPP

#include <cstdint>
#include <string_view>

#include "firmware/nvdla_hw.h"
#include "nvdla/types/device_info.hpp"

namespace nvdla::detail {

// Returns the configuration of exactly this name, or nullptr.
const nvdla_hw* find_configuration(std::string_view name) noexcept;
// Returns `hw` without the fault NVDLA_HW_WEIGHT_GATING. `hw` comes from a function of this header,
// or is one of the configurations. The result lives as long as the process.
const nvdla_hw& without_weight_gating(const nvdla_hw& hw);
// Returns `hw` in a revision of the published logic: 0 or one of kRevisions. The result lives as
// long as the process.
const nvdla_hw& with_revision(const nvdla_hw& hw, std::uint32_t revision);
// The revisions that differ for software, and the configuration that has them.
inline constexpr std::uint32_t kRevisions[] = {2018, 2019};
inline constexpr std::string_view kRevised = "nv_small";
// Returns the configuration of the device that `info` describes.
const nvdla_hw* find_configuration(const DeviceInfo& info);
DeviceInfo make_info(const nvdla_hw& hw, std::string_view backend);

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_INFO_HPP
