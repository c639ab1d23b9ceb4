// SPDX-License-Identifier: MIT
//
// `nvdla regs`: what a register is, and what a value of it means.
#include "tools/cli/registers/regs.hpp"

#include <fmt/format.h>

#include <memory>

#include "model/core/register_info.hpp"
#include "tools/cli/input/commands.hpp"
#include "tools/cli/input/configuration.hpp"
#include "tools/cli/registers/register_printer.hpp"
#include "tools/common/json_output.hpp"
#include "tools/common/print.hpp"
#include "tools/common/program.hpp"
#include "tools/common/text.hpp"
#include "tools/replay/text.hpp"

namespace nvdla::cli {
namespace {

const char* access_name(model::Access access) {
  switch (access) {
    case model::Access::kReadOnly:
      return "read only";
    case model::Access::kReadWrite:
      return "read, write";
    case model::Access::kWriteOnly:
      return "write only";
    case model::Access::kWriteOneClears:
      return "write 1 to clear";
    case model::Access::kWriteOneSets:
      return "write 1 to set";
    case model::Access::kTrigger:
      return "acts when written";
    case model::Access::kPort:
      return "port";
    case model::Access::kMixed:
      return "mixed";
  }
  return "unknown";
}

void list_registers(model::RegisterMap map) {
  for (const model::RegisterInfo& info : model::registers())
    if (const auto address = model::register_address(map, info))
      program::print("{:#07x}  {:<44}{}\n", *address,
                     fmt::format("{}.{}", model::unit_name(info.unit), info.name),
                     access_name(info.access));
}

void describe(model::RegisterMap map, std::uint32_t address) {
  const model::RegisterInfo* info = model::register_at(map, address);
  if (!info) {
    program::print("{:#07x}  {}: no register; reads 0, writes are dropped\n", address,
                   model::register_name(map, address));
    return;
  }
  const std::string about =
      fmt::format("{}  {}{}, {:#010x} after reset", model::register_name(map, address),
                  access_name(info->access),
                  info->scope == model::Scope::kGroup ? ", one per group" : "", info->reset[map]);
  program::print("{:#07x}  {}\n", address, program::Lines{program::wrap(about, 9)});
  if (!info->description.empty())
    program::print("  {}\n", program::Lines{program::wrap(info->description, 2)});
  for (const model::FieldInfo& field : info->fields) {
    if (!field.width[map]) continue;
    const unsigned low = field.lsb[map];
    const unsigned high = low + field.width[map] - 1;
    const std::string head = fmt::format(
        "  {:>5}  {:<28}", high == low ? fmt::format("{}", low) : fmt::format("{}:{}", high, low),
        field.name);
    program::print("{}{}\n", head, program::Lines{program::wrap(field.description, head.size())});
    for (const model::EnumInfo& value : field.enums)
      program::print("           {} = {:#x}\n", value.name, value.value);
  }
}

// The members of JSON for what describe() prints.
RegisterJson description(model::RegisterMap map, const model::RegisterInfo& info) {
  RegisterJson json = {{"offset", *model::register_address(map, info)},
                       {"name", fmt::format("{}.{}", model::unit_name(info.unit), info.name)},
                       {"access", access_name(info.access)},
                       {"per_group", info.scope == model::Scope::kGroup},
                       {"reset", info.reset[map]},
                       {"description", info.description},
                       {"fields", RegisterJson::array()}};
  for (const model::FieldInfo& field : info.fields) {
    if (field.width[map] == 0) continue;
    RegisterJson entry = {{"name", field.name},
                          {"lsb", field.lsb[map]},
                          {"width", field.width[map]},
                          {"description", field.description},
                          {"values", RegisterJson::object()}};
    for (const model::EnumInfo& value : field.enums)
      entry["values"][std::string(value.name)] = value.value;
    json["fields"].push_back(std::move(entry));
  }
  return json;
}

RegisterJson descriptions(model::RegisterMap map) {
  RegisterJson list = RegisterJson::array();
  for (const model::RegisterInfo& info : model::registers())
    if (model::register_address(map, info)) list.push_back(description(map, info));
  return list;
}

struct RegsOptions {
  std::string device;
  std::string reg;
  std::string value;
  bool live = false;
  std::string json;
};

// Prints what is asked for, or adds it to `list` if there is one.
void show(const RegsOptions& options, RegisterJson* list) {
  if (options.live) {
    if (!options.value.empty())
      throw UsageError(fmt::format(
          "regs --live reads values itself; expected none behind the register, not '{}'",
          options.value));
    return print_live_registers(options.device, options.reg, list);
  }
  const auto map = static_cast<model::RegisterMap>(configuration_of(options.device).regmap);
  if (options.reg.empty()) {
    if (list == nullptr) return list_registers(map);
    *list = descriptions(map);
    return;
  }
  if (is_registers_file(options.reg))
    return print_registers_file(options.reg, map, options.value, list);
  const std::uint32_t address = register_address_of(map, options.reg);
  if (options.value.empty()) {
    const model::RegisterInfo* const info = model::register_at(map, address);
    if (list == nullptr) return describe(map, address);
    if (info != nullptr) list->push_back(description(map, *info));
    return;
  }
  const auto value = replay::parse_u32({"regs"}, options.value, "register value");
  RegisterPrinter(map, "", list).add(address, std::nullopt, value);
}

}  // namespace

Run add_regs(CLI::App& app, CLI::App*& command) {
  auto options = std::make_shared<RegsOptions>();
  command = app.add_subcommand(
      "regs",
      "List the registers, describe one, or decode a value of one, a file or what a device holds");
  program::add_device_option(*command, options->device, "Whose register map to use");
  command->add_option("REGISTER", options->reg,
                      "Byte offset or UNIT.REGISTER; or a file with registers: a dump "
                      "(.devcoredump), a record (.record), what debugfs shows of a device (a path "
                      "with a /, or - for standard input)");
  command->add_option("VALUE", options->value, "Value to decode; of a file, the unit to show");
  command->add_flag("--live", options->live,
                    "Read the device: all registers, those of the unit REGISTER, or that one");
  program::add_json_option(*command, options->json);
  command->footer(
      "--live writes nothing, and leaves out what cannot be read without a change:\n"
      "ports, whose index every access moves on. Of two groups of registers it shows\n"
      "the one that S_POINTER.PRODUCER chooses. A simulator (sim:) resets when it is\n"
      "opened.\n"
      "\n"
      "Examples:\n"
      "  nvdla regs CDMA.D_BANK\n"
      "  nvdla regs --device model:nv_small CDMA.D_BANK 0x10000\n"
      "  nvdla regs hang.devcoredump SDP\n"
      "  nvdla regs --device kernel /sys/kernel/debug/accel/0000:00:04.0/registers\n"
      "  nvdla regs --device mmio:0000:00:04.0 --live SDP");
  return [options] {
    if (options->json.empty()) {
      show(*options, nullptr);
      return kSuccess;
    }
    RegisterJson list = RegisterJson::array();
    show(*options, &list);
    program::print_json(RegisterJson{{"registers", std::move(list)}}, options->json);
    return kSuccess;
  };
}

}  // namespace nvdla::cli
