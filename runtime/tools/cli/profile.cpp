// SPDX-License-Identifier: MIT
//
// `nvdla profile`: where the time of a loadable goes, as a table and as a picture.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "tools/cli/counters_json.hpp"
#include "tools/cli/input/commands.hpp"
#include "tools/cli/input/configuration.hpp"
#include "tools/cli/input/inputs.hpp"
#include "tools/cli/input/load.hpp"
#include "tools/cli/pictures/pictures.hpp"
#include "tools/common/json_output.hpp"
#include "tools/common/layer_table.hpp"
#include "tools/common/print.hpp"
#include "tools/common/program.hpp"
#include "tools/common/text.hpp"
#include "tools/files/files.hpp"

namespace nvdla::cli {
namespace {

using Json = nlohmann::ordered_json;

struct ProfileOptions {
  std::string loadable;
  std::vector<std::string> inputs;
  std::string device;
  std::string svg;
  std::string json;
};

// The rows of the table as JSON, each counter that the device counts by its name.
Json json_of(const ProfileOptions& options, const Request& request, const DeviceInfo& info) {
  Json layers = Json::array();
  const auto statistics = request.statistics();
  for (std::uint32_t i = 0; i < statistics.size(); ++i) {
    const nvdla_layer_stats& stats = statistics[i];
    Json layer = {{"name", request.network().layer_name(i)},
                  {"start_nanoseconds", stats.start_ns - statistics[0].start_ns},
                  {"nanoseconds", stats.end_ns - stats.start_ns},
                  {"worst_case_cycles", request.network().layer_cycles(i)},
                  {"counters", counters_json(stats)}};
    layers.push_back(std::move(layer));
  }
  return {{"loadable", options.loadable},
          {"configuration", info.configuration},
          {"backend", info.backend},
          {"counter_worth", counter_worth_json(statistics, info)},
          {"layers", std::move(layers)}};
}

int profile(const ProfileOptions& options) {
  if (!options.json.empty() && program::is_standard_output(options.svg))
    throw UsageError("--json and the picture would both go to standard output; expected one there");
  const Loadable file = load_loadable(options.loadable);
  const std::vector<InputFile> inputs = read_inputs(options.inputs, file, options.loadable);
  const std::string chosen = choose_device(file, options.device);
  const Device device = Device::open(chosen, program::open_options());
  print_other_memory(file, chosen);
  Request request = file.open(device, {.statistics = true});
  write_inputs(request, file, inputs);
  // Profiles the second run, since the first one loads and faults in data, which later runs do not.
  request.run();
  request.run();

  const auto statistics = request.statistics();
  std::vector<program::LayerRow> rows;
  for (std::uint32_t i = 0; i < statistics.size(); ++i) {
    rows.push_back({std::string(request.network().layer_name(i)), std::nullopt,
                    request.network().layer_cycles(i), statistics[i]});
  }
  std::FILE* const stream = program::is_standard_output(options.svg) ? stderr : stdout;
  if (!options.json.empty())
    program::print_json(json_of(options, request, device.info()), options.json);
  else
    program::print(stream, "{}{} on {}\n",
                   program::Lines{program::layer_table(rows, device.info())},
                   device.info().configuration, device.info().backend);
  if (options.svg.empty()) return kSuccess;
  const std::string name =
      program::is_standard_input(options.loadable) ? "standard input" : options.loadable;
  const std::string picture =
      profile_picture(program_shape(file, device), statistics,
                      fmt::format("{} on {}, {}", program::elide(name, 60),
                                  device.info().configuration, device.info().backend));
  program::write_file(options.svg, std::as_bytes(std::span(picture)));
  return kSuccess;
}

}  // namespace

Run add_profile(CLI::App& app, CLI::App*& command) {
  auto options = std::make_shared<ProfileOptions>();
  command = app.add_subcommand("profile", "Show where the time of a loadable goes");
  command->add_option("LOADABLE", options->loadable, "File to run, - for standard input")
      ->required();
  command
      ->add_option("--input,-i", options->inputs,
                   "File for each input, as `nvdla run` takes them, or none: zeros")
      ->type_name("[NAME=]FILE")
      ->allow_extra_args(false);
  program::add_device_option(*command, options->device,
                             "Where to run; auto takes NVDLA_DEVICE, else a kernel device or else "
                             "the model that the loadable was made for");
  command
      ->add_option("--svg", options->svg,
                   "Draw units over time and buffers with their sizes and who uses them; - for "
                   "standard output")
      ->type_name("FILE");
  program::add_json_option(*command, options->json);
  command->footer(
      "It runs twice, and the second run is shown. A layer is drawn in each of its\n"
      "units from when it could start, as what it waits for had ended, to its end.\n"
      "\n"
      "Examples:\n"
      "  nvdla profile digits.nvdla\n"
      "  nvdla profile digits.nvdla --svg digits.svg -d model:nv_small");
  return [options] { return profile(*options); };
}

}  // namespace nvdla::cli
