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

// Returns the name of the model that a loadable's layers were chosen for, with its memory, or of
// the first configuration that runs the file; empty if none does.
std::string model_for(const Loadable& file);

// Returns the device that runs a loadable: that of --device or NVDLA_DEVICE, else a kernel device
// that the file was made for, else the model that it was made for.
std::string choose_device(const Loadable& file, const std::string& asked);

// Prints, on standard error, that a model has other memory, or another clock gate, than those that
// a loadable says its layers were chosen for. What memory other devices have nobody knows.
void print_other_memory(const Loadable& file, const std::string& device);

}  // namespace nvdla::cli

#endif  // NVDLA_TOOLS_CLI_INPUT_CONFIGURATION_HPP
