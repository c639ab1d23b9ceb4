// SPDX-License-Identifier: MIT
//
// `Program` does what all programs have in common: --help and --version, checks of arguments,
// messages and exit statuses for errors, and a check that the output was written.
#ifndef NVDLA_TOOLS_COMMON_PROGRAM_HPP
#define NVDLA_TOOLS_COMMON_PROGRAM_HPP

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "nvdla/build_options.hpp"
#include "nvdla/device.hpp"
#include "nvdla/loadable.hpp"
#include "nvdla/types/error.hpp"
#include "tools/files/status.hpp"

namespace nvdla::program {

class Program {
 public:
  // `about` is the beginning of --help.
  Program(const std::string& name, const std::string& about);

  CLI::App& app() { return app_; }

  // Implements main(): parses the arguments, runs `body` and returns the exit status, which is that
  // of `body` or that of an exception or of lost output, with one line on standard error.
  int run(int argc, char** argv, const std::function<int()>& body);

 private:
  int parse(int argc, char** argv);

  CLI::App app_;
};

// Adds --device,-d, whose default is "auto". `names` can add a positional: "DEVICE". An invalid
// name of a device, also in NVDLA_DEVICE, is a wrong argument.
void add_device_option(CLI::App& app, std::string& device, const std::string& text,
                       const std::string& names = "");

// Returns the version of the project, "0.1.0".
std::string_view version() noexcept;

// Adds --resize, which takes a name for parse_resize() or nothing.
void add_resize_option(CLI::App& app, std::string& resize);

// Adds --search-budget, see BuildOptions::search_budget.
void add_budget_option(CLI::App& app, std::uint64_t& budget);

// Returns options for Device::open() that print its notes on standard error, as "nvdla: ...".
OpenOptions open_options(std::string_view record = {});

// Returns options of Network::build() for this device, whose secondary memory tensors may use.
BuildOptions build_options(const DeviceInfo& info);
// Returns options of make_loadable() for devices like this one.
LoadableOptions loadable_options(const DeviceInfo& info);

// Returns the exit status for an error of the library.
ExitStatus status_of(ErrorCode code) noexcept;

}  // namespace nvdla::program

#endif  // NVDLA_TOOLS_COMMON_PROGRAM_HPP
