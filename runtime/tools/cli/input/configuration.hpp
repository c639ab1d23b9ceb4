// SPDX-License-Identifier: MIT
//
// The device that an option stands for, and its configuration, for commands that compute nothing on
// it.
#ifndef NVDLA_TOOLS_CLI_INPUT_CONFIGURATION_HPP
#define NVDLA_TOOLS_CLI_INPUT_CONFIGURATION_HPP

#include <string>

#include "firmware/nvdla_hw.h"
#include "nvdla/loadable.hpp"

namespace nvdla::cli {

// Returns the configuration of the device that this name, or NVDLA_DEVICE, stands for. Throws
// nvdla::Error.
const nvdla_hw& configuration_of(const std::string& device);

// Returns the name itself: of --device, or for "auto" that in NVDLA_DEVICE, if there is one.
std::string device_text(const std::string& device);

// Returns the device that runs a loadable: that of --device or NVDLA_DEVICE, else a kernel device
// that the file was made for, else the model of the configuration that it was made for.
std::string choose_device(const Loadable& file, const std::string& asked);

}  // namespace nvdla::cli

#endif  // NVDLA_TOOLS_CLI_INPUT_CONFIGURATION_HPP
