// SPDX-License-Identifier: MIT
//
// The configuration of a device, for commands that compute nothing on it.
#ifndef NVDLA_TOOLS_CLI_INPUT_CONFIGURATION_HPP
#define NVDLA_TOOLS_CLI_INPUT_CONFIGURATION_HPP

#include <string>

#include "firmware/nvdla_hw.h"

namespace nvdla::cli {

// Of the device that this name, or NVDLA_DEVICE, stands for. Throws nvdla::Error.
const nvdla_hw& configuration_of(const std::string& device);

// The name itself: of --device, or for "auto" what NVDLA_DEVICE says, if anything.
std::string device_text(const std::string& device);

}  // namespace nvdla::cli

#endif  // NVDLA_TOOLS_CLI_INPUT_CONFIGURATION_HPP
