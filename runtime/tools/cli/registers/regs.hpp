// SPDX-License-Identifier: MIT
//
// `nvdla regs` in parts: names of registers, and their values in a file or a device.
#ifndef NVDLA_TOOLS_CLI_REGISTERS_REGS_HPP
#define NVDLA_TOOLS_CLI_REGISTERS_REGS_HPP

#include <cstdint>
#include <string>

#include "model/core/register_info.hpp"
#include "tools/cli/registers/register_printer.hpp"

namespace nvdla::cli {

// Returns the address of a register as users write it: an offset or a name as in the list of `nvdla
// regs`; the generated headers' NVDLA_UNIT.REGISTER_0 of traces too. Throws UsageError.
std::uint32_t register_address_of(model::RegisterMap map, const std::string& text);

// Returns whether an argument names a file of registers rather than a register: a dump of the
// driver, a record, or what the driver shows of a running device in debugfs.
bool is_registers_file(const std::string& name);

// Prints the registers of a file that are of `unit` ("SDP"), or all if it is empty, with their
// fields. `map` is that of a file
// that does not say of which configuration it is. Throws UsageError and replay::Error.
// It adds to `list` instead, if there is one.
void print_registers_file(const std::string& path, model::RegisterMap map, const std::string& unit,
                          RegisterJson* list);

// Prints what the registers of a device hold now: all that can be read of the device without a
// change, of a unit, or one register. Writes nothing. `device` is as of --device; `what` is empty,
// "SDP", "SDP.D_CVT_SHIFT" or a byte offset. Throws UsageError and nvdla::Error. Adds to `list`
// instead, if there is one.
void print_live_registers(const std::string& device, const std::string& what, RegisterJson* list);

}  // namespace nvdla::cli

#endif  // NVDLA_TOOLS_CLI_REGISTERS_REGS_HPP
