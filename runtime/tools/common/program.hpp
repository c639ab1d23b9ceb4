// SPDX-License-Identifier: MIT
//
// What all programs do alike: --help and --version, refusing arguments, turning errors into a
// message and an exit status, and seeing that their output arrived.
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
  // `about` is how --help begins.
  Program(const std::string& name, const std::string& about);

  CLI::App& app() { return app_; }

  // All of main(). Reads the arguments, runs `body` and returns the exit status: that of `body`, or
  // the one that an exception or lost output stands for, with one line on standard error.
  int run(int argc, char** argv, const std::function<int()>& body);

 private:
  int parse(int argc, char** argv);

  CLI::App app_;
};

// Adds --device,-d, "auto" unless it is given. `names` can add a positional: "DEVICE". A name that
// can be no device's, also that in NVDLA_DEVICE, is a wrong argument.
void add_device_option(CLI::App& app, std::string& device, const std::string& text,
                       const std::string& names = "");

// Returns the version of the project, "0.1.0".
std::string_view version() noexcept;

// Adds --resize: the name that parse_resize() takes, or nothing.
void add_resize_option(CLI::App& app, std::string& resize);

// Adds --search-budget: BuildOptions::search_budget.
void add_budget_option(CLI::App& app, std::uint64_t& budget);

// Options for Device::open() that print its notes on standard error, as "nvdla: ...".
OpenOptions open_options(std::string_view record = {});

// Options of Network::build() for the device at hand: tensors may lie in its secondary memory.
BuildOptions build_options(const DeviceInfo& info);
// Options of make_loadable() for devices like this one.
LoadableOptions loadable_options(const DeviceInfo& info);

// The exit status that an error of the library stands for.
ExitStatus status_of(ErrorCode code) noexcept;

}  // namespace nvdla::program

#endif  // NVDLA_TOOLS_COMMON_PROGRAM_HPP
