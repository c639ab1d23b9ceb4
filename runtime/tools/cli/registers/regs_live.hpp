// SPDX-License-Identifier: MIT
//
// What the registers of a device hold now.
#ifndef NVDLA_TOOLS_CLI_REGISTERS_REGS_LIVE_HPP
#define NVDLA_TOOLS_CLI_REGISTERS_REGS_LIVE_HPP

#include <string>

#include "tools/cli/registers/register_printer.hpp"

namespace nvdla::cli {

// Prints all that can be read of the device without a change, of a unit, or one register. Writes
// nothing. `device` is as of --device; `what` is empty, "SDP", "SDP.D_CVT_SHIFT" or a byte offset.
// Throws UsageError and nvdla::Error.
// Adds to `list` instead, if there is one.
void print_live_registers(const std::string& device, const std::string& what, RegisterJson* list);

}  // namespace nvdla::cli

#endif  // NVDLA_TOOLS_CLI_REGISTERS_REGS_LIVE_HPP
