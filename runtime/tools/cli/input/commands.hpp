// SPDX-License-Identifier: MIT
//
// The subcommands of `nvdla`. Each adds itself to the command line and is run when it was given.
#ifndef NVDLA_TOOLS_CLI_INPUT_COMMANDS_HPP
#define NVDLA_TOOLS_CLI_INPUT_COMMANDS_HPP

#include <CLI/CLI.hpp>
#include <functional>

#include "tools/files/status.hpp"

namespace nvdla::cli {

using program::kDifferent;
using program::kSuccess;
using program::UsageError;

// Returns the exit status.
using Run = std::function<int()>;

Run add_info(CLI::App& app, CLI::App*& command);
Run add_regs(CLI::App& app, CLI::App*& command);
Run add_replay(CLI::App& app, CLI::App*& command);
Run add_run(CLI::App& app, CLI::App*& command);
Run add_compile(CLI::App& app, CLI::App*& command);
Run add_dump(CLI::App& app, CLI::App*& command);
Run add_selftest(CLI::App& app, CLI::App*& command);
Run add_measure(CLI::App& app, CLI::App*& command);
Run add_diff(CLI::App& app, CLI::App*& command);
Run add_profile(CLI::App& app, CLI::App*& command);
Run add_lut(CLI::App& app, CLI::App*& command);
Run add_dt(CLI::App& app, CLI::App*& command);

}  // namespace nvdla::cli

#endif  // NVDLA_TOOLS_CLI_INPUT_COMMANDS_HPP
