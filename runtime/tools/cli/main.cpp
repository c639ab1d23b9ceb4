// SPDX-License-Identifier: MIT
//
// The `nvdla` command: what a person at a terminal wants from the stack without writing code.
#include <fmt/format.h>

#include <array>
#include <string>

#include "backend/name/device_name.hpp"
#include "tools/cli/input/commands.hpp"
#include "tools/common/program.hpp"
#include "tools/common/text.hpp"

namespace {

// "  name    text", the text wrapped at its column.
std::string entry(std::string_view name, std::string_view text) {
  constexpr std::size_t kColumn = 24;
  std::string head = fmt::format("  {:<{}}", name, kColumn - 2);
  if (name.size() + 3 > kColumn) head = fmt::format("  {}\n{:{}}", name, "", kColumn);
  return head + nvdla::program::wrap(text, kColumn) + "\n";
}

// Lists what --device and NVDLA_DEVICE may be, from the table that the parser has.
std::string device_names() {
  std::string text = "Names of devices, for --device and the environment variable NVDLA_DEVICE:\n";
  for (const nvdla::detail::DeviceForm& form : nvdla::detail::device_forms())
    text += entry(form.name, form.text);
  text += "`nvdla info` lists the configurations and the kernel devices.\n";
  std::string_view form;
  for (const nvdla::detail::DeviceOption& option : nvdla::detail::device_options()) {
    if (form != option.form) {
      form = option.form;
      text += fmt::format("\nOptions of {}, each behind a comma:\n", form);
    }
    text += entry(fmt::format("{}={}", option.key, option.value), option.text);
  }
  return text + "\n`nvdla COMMAND --help` describes a command.";
}

}  // namespace

int main(int argc, char** argv) {
  using namespace nvdla::cli;

  nvdla::program::Program program(
      "nvdla", "Devices, registers and traces of the NVIDIA Deep Learning Accelerator (NVDLA)");
  CLI::App& app = program.app();
  app.require_subcommand(1);
  app.set_help_all_flag("--help-all", "Print the help of all subcommands and exit");
  app.footer(device_names());

  struct Entry {
    CLI::App* command = nullptr;
    Run run;
  };
  // In the order of the help.
  constexpr auto kAdders = std::to_array<Run (*)(CLI::App&, CLI::App*&)>({
      add_info,
      add_regs,
      add_replay,
      add_run,
#ifdef NVDLA_ONNX
      add_compile,
#endif
      add_dump,
      add_profile,
      add_diff,
      add_selftest,
      add_measure,
      add_lut,
      add_dt,
  });
  std::array<Entry, kAdders.size()> entries;
  for (std::size_t i = 0; i < entries.size(); ++i)
    entries[i].run = kAdders[i](app, entries[i].command);

  return program.run(argc, argv, [&] {
    for (const Entry& entry : entries)
      if (entry.command->parsed()) return entry.run();
    return static_cast<int>(nvdla::program::kInternal);
  });
}
