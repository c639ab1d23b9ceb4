// SPDX-License-Identifier: MIT
//
// Values of registers, a line each or as JSON.
#ifndef NVDLA_TOOLS_CLI_REGISTERS_REGISTER_PRINTER_HPP
#define NVDLA_TOOLS_CLI_REGISTERS_REGISTER_PRINTER_HPP

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "model/core/register_info.hpp"
#include "tools/cli/input/commands.hpp"
#include "tools/common/print.hpp"
#include "tools/common/text.hpp"

namespace nvdla::cli {

using RegisterJson = nlohmann::ordered_json;

// A register and a value of it, field by field.
inline RegisterJson register_json(model::RegisterMap map, std::uint32_t offset,
                                  std::optional<std::uint32_t> group, std::uint32_t value) {
  RegisterJson json = {{"offset", offset}, {"name", model::register_name(map, offset)}};
  if (group) json["group"] = *group;
  json["value"] = value;
  json["fields"] = RegisterJson::object();
  const model::RegisterInfo* const info = model::register_at(map, offset);
  if (info == nullptr) return json;
  for (const model::FieldInfo& field : info->fields)
    if (field.width[map] != 0) json["fields"][std::string(field.name)] = field.extract(map, value);
  return json;
}

// Prints the values that it is given and that belong to the unit that was asked for, or adds them
// to a list.
class RegisterPrinter {
 public:
  // All units if `unit` is empty; nothing is printed if there is a `list`. Throws UsageError for
  // what is no unit.
  RegisterPrinter(model::RegisterMap map, const std::string& unit, RegisterJson* list)
      : map_(map), unit_(unit), list_(list) {
    if (!unit.empty() && !model::find_unit(unit))
      throw UsageError(fmt::format("unknown unit '{}'; expected one such as SDP or CDMA", unit));
  }

  // Sets what the values that follow belong to: members of their JSON, and a line.
  void begin(const RegisterJson& context, const std::string& line) {
    context_ = context;
    if (list_ == nullptr) program::print("{}\n", program::Lines{line});
  }

  void add(std::uint32_t offset, std::optional<std::uint32_t> group, std::uint32_t value) {
    const model::RegisterInfo* const info = model::register_at(map_, offset);
    if (!unit_.empty() && (!info || model::unit_name(info->unit) != unit_)) return;
    if (list_ != nullptr) {
      RegisterJson entry = context_;
      entry.update(register_json(map_, offset, group, value));
      list_->push_back(std::move(entry));
      return;
    }
    const std::string head = group ? fmt::format("{:#07x}  group {}  ", offset, *group)
                                   : fmt::format("{:#07x}  ", offset);
    program::print("{}{}\n", head,
                   program::Lines{program::wrap(model::decode(map_, offset, value), head.size())});
  }

 private:
  model::RegisterMap map_;
  std::string unit_;
  RegisterJson* list_;
  RegisterJson context_ = RegisterJson::object();
};

}  // namespace nvdla::cli

#endif  // NVDLA_TOOLS_CLI_REGISTERS_REGISTER_PRINTER_HPP
