// SPDX-License-Identifier: MIT
//
// `nvdla selftest`: is this device what it should be, and if not, what is likely to be wrong?
#include "selftest/selftest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <vector>

#include "backend/kernel/kernel_backend.hpp"
#include "backend/kernel/node.hpp"
#include "backend/name/device_name.hpp"
#include "backend/open/open_registers.hpp"
#include "tools/cli/input/commands.hpp"
#include "tools/cli/input/configuration.hpp"
#include "tools/cli/selftest_output.hpp"
#include "tools/common/json_output.hpp"
#include "tools/common/numbers.hpp"
#include "tools/common/print.hpp"
#include "tools/common/program.hpp"
#include "tools/common/text.hpp"

namespace nvdla::cli {
namespace {

using selftest::Report;
using selftest::StepInfo;
using Json = nlohmann::ordered_json;

struct SelftestOptions {
  std::string device;
  std::vector<std::string> steps;
  unsigned limit = 60;
  bool list = false;
  std::string json;
};

int list(const SelftestOptions& options) {
  Json steps = Json::array();
  for (const StepInfo& step : selftest::list_steps()) {
    if (options.json.empty())
      program::print("{}", program::Lines{text_of(step)});
    else
      steps.push_back(json_of(step));
  }
  if (!options.json.empty()) program::print_json(Json{{"steps", std::move(steps)}}, options.json);
  return kSuccess;
}

void check_steps(const SelftestOptions& options) {
  std::vector<std::string> names;
  for (const StepInfo& step : selftest::list_steps()) names.emplace_back(step.name);
  for (const std::string& name : options.steps) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    const std::string_view near = program::closest(name, names);
    throw UsageError(
        fmt::format("--step: no step is called '{}'{}; `nvdla selftest --list` has all", name,
                    near.empty() ? "" : fmt::format("; did you mean '{}'?", near)));
  }
}

// Resolves "auto" as Device::open() does.
std::string chosen(const SelftestOptions& options) {
  if (detail::choose_device_name(options.device).kind != detail::DeviceName::Kind::kAuto)
    return device_text(options.device);
  if (!detail::find_kernel_devices().empty()) return "kernel";
  const char* const model = detail::default_configuration().name;
  program::print(stderr, "nvdla: no NVDLA found, testing the device model of {}\n", model);
  return fmt::format("model:{}", model);
}

// Tests a device behind the driver, which knows the core's clock.
Report test_kernel(const std::string& name, const std::string& path, selftest::Options options) {
  const Device device = Device::open(name);
  const auto nodes = path.empty() ? detail::find_kernel_devices() : std::vector{path};
  if (!nodes.empty()) options.clock_khz = detail::describe_kernel_device(nodes.front()).clock_khz;
  return selftest::test(device, options);
}

Report test(const std::string& name, const selftest::Options& options) {
  const detail::DeviceName parsed = detail::parse_device_name(name);
  if (parsed.kind == detail::DeviceName::Kind::kKernel)
    return test_kernel(name, parsed.path, options);
  const auto device = detail::open_bare(name);
  return selftest::test(*device, parsed.hw != nullptr ? parsed.hw : device->configuration(),
                        options);
}

int run(const SelftestOptions& given) {
  check_steps(given);
  if (given.list) return list(given);
  selftest::Options options;
  options.steps = given.steps;
  options.limit = std::chrono::seconds(given.limit);
  if (given.json.empty()) {
    options.progress = [](const Report::Entry& entry) {
      program::print("{}", program::Lines{text_of(entry)});
      // A step may take seconds: each is seen when it has ended.
      std::fflush(stdout);
    };
  }
  const std::string name = chosen(given);
  const Report report = test(name, options);

  if (!given.json.empty()) {
    program::print_json(json_of(report, name), given.json);
  } else {
    const auto count = [&](selftest::Verdict verdict) {
      return std::count_if(
          report.entries.begin(), report.entries.end(),
          [&](const Report::Entry& entry) { return entry.result.verdict == verdict; });
    };
    program::print("{}: {} passed, {} failed, {} left out\n", name,
                   count(selftest::Verdict::kPassed), count(selftest::Verdict::kFailed),
                   count(selftest::Verdict::kLeftOut));
  }
  return report.passed() ? kSuccess : kDifferent;
}

}  // namespace

Run add_selftest(CLI::App& app, CLI::App*& command) {
  auto options = std::make_shared<SelftestOptions>();
  command = app.add_subcommand("selftest",
                               "Test a device step by step, and name what is likely to be wrong");
  program::add_device_option(*command, options->device, "Device to test");
  command
      ->add_option("--step", options->steps,
                   "Run this step only; may be repeated. Steps run in the order of --list")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command->add_flag("--list", options->list, "List the steps and what each checks, run none");
  command
      ->add_option("--limit", options->limit,
                   "This machine's time until a layer counts as hung, such as 90s, whatever the "
                   "device's clock says: more for a slow simulation")
      ->type_name("TIME")
      ->transform(program::time_in("s", 1, 86400))
      ->capture_default_str();
  program::add_json_option(*command, options->json);
  command->footer(
      "Writes registers and memory of its own, and resets the device: nobody else may\n"
      "use it meanwhile. Behind a driver registers cannot be reached; steps that need\n"
      "them are left out.\n"
      "\n"
      "Examples:\n"
      "  nvdla selftest --device model:nv_small\n"
      "  nvdla selftest --device kernel\n"
      "  nvdla selftest --device mmio:0000:00:04.0\n"
      "  nvdla selftest --device model:nv_full --step interrupt --step copy");
  return [options] { return run(*options); };
}

}  // namespace nvdla::cli
