// SPDX-License-Identifier: MIT
//
// All registers of a file, decoded: a dump of the driver, a record, or what the driver shows of a
// running device in debugfs.
#ifndef NVDLA_TOOLS_CLI_REGISTERS_REGS_FILE_HPP
#define NVDLA_TOOLS_CLI_REGISTERS_REGS_FILE_HPP

#include <string>

#include "model/core/register_info.hpp"
#include "tools/cli/registers/register_printer.hpp"

namespace nvdla::cli {

// Whether an argument names such a file rather than a register.
bool is_registers_file(const std::string& name);

// Prints those of `unit` ("SDP"), or all if it is empty, with their fields. `map` is that of a file
// that does not say of which configuration it is. Throws UsageError and replay::Error.
// It adds to `list` instead, if there is one.
void print_registers_file(const std::string& path, model::RegisterMap map, const std::string& unit,
                          RegisterJson* list);

}  // namespace nvdla::cli

#endif  // NVDLA_TOOLS_CLI_REGISTERS_REGS_FILE_HPP
