// SPDX-License-Identifier: MIT
//
// The subcommands of `nvdla`. Each adds itself to the command line and is run when it was given.
#ifndef NVDLA_TOOLS_CLI_COMMANDS_HPP
#define NVDLA_TOOLS_CLI_COMMANDS_HPP

#include <CLI/CLI.hpp>
#include <functional>
#include <stdexcept>
#include <string>

#include "firmware/nvdla_hw.h"

namespace nvdla::cli {

enum ExitStatus : int {
  kSuccess = 0,
  kDifferent = 1,  // something that was compared is not as expected
  kUsage = 2,      // wrong arguments or input that cannot be used
};

// Wrong arguments, found after the command line itself was understood.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Returns the exit status.
using Run = std::function<int()>;

Run add_info(CLI::App& app, CLI::App*& command);
Run add_regs(CLI::App& app, CLI::App*& command);
Run add_replay(CLI::App& app, CLI::App*& command);
Run add_run(CLI::App& app, CLI::App*& command);
Run add_dump(CLI::App& app, CLI::App*& command);

// The configuration that "model:NAME" names. Throws UsageError.
const nvdla_hw& model_configuration(const std::string& device);

// "model:nv_full, model:nv_large, ..."
std::string known_devices();

}  // namespace nvdla::cli

#endif  // NVDLA_TOOLS_CLI_COMMANDS_HPP
