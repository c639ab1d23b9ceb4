// SPDX-License-Identifier: MIT
//
// Which device runs a loadable.
#ifndef NVDLA_TOOLS_CLI_INPUT_LOADABLE_DEVICE_HPP
#define NVDLA_TOOLS_CLI_INPUT_LOADABLE_DEVICE_HPP

#include <string>

#include "nvdla/loadable.hpp"

namespace nvdla::cli {

// What --device or NVDLA_DEVICE says, else a kernel device that the file was made for, else the
// model of what it was made for.
std::string choose_device(const Loadable& file, const std::string& asked);

}  // namespace nvdla::cli

#endif  // NVDLA_TOOLS_CLI_INPUT_LOADABLE_DEVICE_HPP
