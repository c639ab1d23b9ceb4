// SPDX-License-Identifier: MIT
//
// The `nvdla` command: what a person at a terminal wants from the stack without writing code.
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <exception>

#include "tools/cli/commands.hpp"

int main(int argc, char** argv) {
  using namespace nvdla::cli;

  CLI::App app("Devices, registers and traces of the NVIDIA Deep Learning Accelerator (NVDLA)");
  app.name("nvdla");
  app.require_subcommand(1);
  app.set_help_all_flag("--help-all", "Print the help of all subcommands and exit");
  app.footer(
      "Exit status: 0 success, 1 something that was compared is not as expected, 2 wrong\n"
      "arguments or input that cannot be used.");

  struct Entry {
    CLI::App* command = nullptr;
    Run run;
  };
  std::array<Entry, 5> entries;
  entries[0].run = add_info(app, entries[0].command);
  entries[1].run = add_regs(app, entries[1].command);
  entries[2].run = add_replay(app, entries[2].command);
  entries[3].run = add_run(app, entries[3].command);
  entries[4].run = add_dump(app, entries[4].command);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kSuccess : kUsage;
  }
  try {
    for (const Entry& entry : entries)
      if (entry.command->parsed()) return entry.run();
  } catch (const std::exception& error) {
    fmt::print(stderr, "nvdla: {}\n", error.what());
  }
  return kUsage;
}
