// SPDX-License-Identifier: MIT
//
// The `nvdla` command: what a person at a terminal wants from the stack without writing code.
#include <array>

#include "program/program.hpp"
#include "tools/cli/commands.hpp"

int main(int argc, char** argv) {
  using namespace nvdla::cli;

  nvdla::program::Program program(
      "nvdla", "Devices, registers and traces of the NVIDIA Deep Learning Accelerator (NVDLA)");
  CLI::App& app = program.app();
  app.require_subcommand(1);
  app.set_help_all_flag("--help-all", "Print the help of all subcommands and exit");
  app.footer(
      "Names of devices, for --device and the environment variable NVDLA_DEVICE:\n"
      "  model:nv_small    the device model; `nvdla info` lists the configurations\n"
      "  model,threads=2   with so many threads; without a configuration nv_full\n"
      "  /dev/accel/accel0 a kernel device\n"
      "  kernel            the first kernel device\n"
      "  auto              what NVDLA_DEVICE says, else the first kernel device, else\n"
      "                    the model; this is what commands take without --device\n"
      "\n"
      "`nvdla COMMAND --help` tells more of a command.");

  struct Entry {
    CLI::App* command = nullptr;
    Run run;
  };
  std::array<Entry, 6> entries;
  entries[0].run = add_info(app, entries[0].command);
  entries[1].run = add_regs(app, entries[1].command);
  entries[2].run = add_replay(app, entries[2].command);
  entries[3].run = add_run(app, entries[3].command);
  entries[4].run = add_dump(app, entries[4].command);
  entries[5].run = add_selftest(app, entries[5].command);

  return program.run(argc, argv, [&] {
    for (const Entry& entry : entries)
      if (entry.command->parsed()) return entry.run();
    return static_cast<int>(nvdla::program::kInternal);
  });
}
