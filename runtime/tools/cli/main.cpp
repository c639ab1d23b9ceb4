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
      "  model,latency=100,outstanding=16\n"
      "                    memory that answers after so many cycles, so many requests\n"
      "                    at once: for predicted cycles and the counters of stalls\n"
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
  // In the order of the help.
  constexpr auto kAdders = std::to_array<Run (*)(CLI::App&, CLI::App*&)>({
      add_info,
      add_regs,
      add_replay,
      add_run,
      add_dump,
      add_profile,
      add_diff,
      add_selftest,
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
