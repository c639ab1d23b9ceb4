// SPDX-License-Identifier: MIT
//
// Values of registers for people, a line each.
#ifndef NVDLA_TOOLS_CLI_REGISTER_PRINTER_HPP
#define NVDLA_TOOLS_CLI_REGISTER_PRINTER_HPP

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>

#include "model/register_info.hpp"
#include "program/print.hpp"
#include "program/text.hpp"
#include "tools/cli/commands.hpp"

namespace nvdla::cli {

// Prints what it is given and belongs to the unit that was asked for.
class RegisterPrinter {
 public:
  // All units if `unit` is empty. Throws UsageError for what is no unit.
  RegisterPrinter(model::RegisterMap map, const std::string& unit) : map_(map), unit_(unit) {
    if (!unit.empty() && !model::find_unit(unit))
      throw UsageError(fmt::format("unknown unit '{}'; expected one such as SDP or CDMA", unit));
  }

  void add(std::uint32_t offset, std::optional<std::uint32_t> group, std::uint32_t value) {
    const model::RegisterInfo* const info = model::register_at(map_, offset);
    if (!unit_.empty() && (!info || model::unit_name(info->unit) != unit_)) return;
    const std::string head = group ? fmt::format("{:#07x}  group {}  ", offset, *group)
                                   : fmt::format("{:#07x}  ", offset);
    program::print("{}{}\n", head,
                   program::Lines{program::wrap(model::decode(map_, offset, value), head.size())});
  }

 private:
  model::RegisterMap map_;
  std::string unit_;
};

}  // namespace nvdla::cli

#endif  // NVDLA_TOOLS_CLI_REGISTER_PRINTER_HPP
