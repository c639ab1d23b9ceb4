// SPDX-License-Identifier: MIT
//
// What is known of a configuration, in the terms of the public interface.
#ifndef NVDLA_BACKEND_INFO_HPP
#define NVDLA_BACKEND_INFO_HPP

#include <string_view>

#include "firmware/nvdla_hw.h"
#include "nvdla/device.hpp"

namespace nvdla::detail {

// nullptr if there is none of exactly that name.
const nvdla_hw* find_configuration(std::string_view name) noexcept;
DeviceInfo make_info(const nvdla_hw& hw, std::string_view backend);

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_INFO_HPP
