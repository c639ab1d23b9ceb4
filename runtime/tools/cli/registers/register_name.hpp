// SPDX-License-Identifier: MIT
//
// A register as users write it.
#ifndef NVDLA_TOOLS_CLI_REGISTERS_REGISTER_NAME_HPP
#define NVDLA_TOOLS_CLI_REGISTERS_REGISTER_NAME_HPP

#include <cstdint>
#include <string>

#include "model/core/register_info.hpp"

namespace nvdla::cli {

// An offset or a name as in the list of `nvdla regs`; the generated headers' NVDLA_UNIT.REGISTER_0
// of traces too. Throws UsageError.
std::uint32_t register_address_of(model::RegisterMap map, const std::string& text);

}  // namespace nvdla::cli

#endif  // NVDLA_TOOLS_CLI_REGISTERS_REGISTER_NAME_HPP
