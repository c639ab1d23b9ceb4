// SPDX-License-Identifier: MIT
//
// What is known of a configuration, in the terms of the public interface.
#ifndef NVDLA_BACKEND_INFO_HPP
#define NVDLA_BACKEND_INFO_HPP

#include <cstdint>
#include <string_view>

#include "firmware/nvdla_hw.h"
#include "nvdla/types/device_info.hpp"

namespace nvdla::detail {

// nullptr if there is none of exactly that name.
const nvdla_hw* find_configuration(std::string_view name) noexcept;
// `hw`, which is one of these or of what the two functions below return, in logic without the fault
// of NVDLA_HW_WEIGHT_GATING. It lives as long.
const nvdla_hw& without_weight_gating(const nvdla_hw& hw);
// Returns `hw` of a revision of the published logic, 0 or one of those below. It lives as long.
const nvdla_hw& with_revision(const nvdla_hw& hw, std::uint32_t revision);
// Revisions that differ for software, and the configuration that has them.
inline constexpr std::uint32_t kRevisions[] = {2018, 2019};
inline constexpr std::string_view kRevised = "nv_small";
// The configuration of the device that `info` is of.
const nvdla_hw* find_configuration(const DeviceInfo& info);
DeviceInfo make_info(const nvdla_hw& hw, std::string_view backend);

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_INFO_HPP
