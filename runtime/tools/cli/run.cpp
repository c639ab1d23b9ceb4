// SPDX-License-Identifier: MIT
//
// `nvdla run`: a loadable on a device, from a file to a file.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "backend/info.hpp"
#include "nvdla/loadable.hpp"
#include "nvdla/types/device_info.hpp"
#include "tools/cli/counters_json.hpp"
#include "tools/cli/input/commands.hpp"
#include "tools/cli/input/configuration.hpp"
#include "tools/cli/input/inputs.hpp"
#include "tools/cli/input/load.hpp"
#include "tools/cli/input/model.hpp"
#include "tools/cli/input/tensors.hpp"
#include "tools/cli/layers.hpp"
#include "tools/common/json_output.hpp"
#include "tools/common/layer_notes.hpp"
#include "tools/common/layer_table.hpp"
#include "tools/common/numbers.hpp"
#include "tools/common/print.hpp"
#include "tools/common/program.hpp"
#include "tools/common/progress.hpp"
#include "tools/common/text.hpp"
#include "tools/files/files.hpp"
#include "tools/profile/layer_profile.hpp"

namespace nvdla::cli {
namespace {

using Json = nlohmann::ordered_json;

struct RunOptions {
  std::string loadable;
  std::vector<std::string> inputs;
  std::string output;
  std::string device;
  std::string record;
  bool stats = false;
  bool profile = false;
  std::string profile_trace;
  std::string compare;
  std::string dump_layers;
  std::string json;
  std::uint32_t repeat = 1;
  std::string labels;
  std::string resize;
#ifdef NVDLA_ONNX
  ModelOptions model;
#endif

  bool to_standard_output() const { return program::is_standard_output(output); }
};

std::string numbered(const std::string& path, std::uint32_t index, std::uint32_t count) {
  return count == 1 ? path : fmt::format("{}.{}", path, index);
}

void check_arguments(const RunOptions& options, const Loadable& file) {
  if (options.to_standard_output() && !options.json.empty()) {
    throw UsageError("--json and the output would both go to standard output; expected one there");
  }
  if (program::is_standard_output(options.profile_trace) &&
      (options.to_standard_output() || !options.json.empty())) {
    throw UsageError(
        fmt::format("--profile-trace and {} would both go to standard output; expected one there",
                    options.json.empty() ? "the output" : "--json"));
  }
  if (options.to_standard_output() && file.outputs() > 1) {
    throw UsageError(fmt::format(
        "the loadable has {} outputs, and standard output takes one; expected --output FILE",
        file.outputs()));
  }
  // Before a run that may take long.
  for (std::uint32_t i = 0; i < file.outputs() && !options.output.empty(); ++i)
    check_output_form(file.output(i), options.output);
}

std::vector<InputFile> inputs_of(const RunOptions& options, const Loadable& file) {
  std::vector<InputFile> inputs = read_inputs(options.inputs, file, options.loadable);
  if (inputs.empty() && file.inputs() != 0) {
    // NVIDIA's runtime runs on zeros, too, and some golden outputs were made so.
    program::print(stderr, "nvdla: no --input: {} of zeros\n",
                   file.inputs() == 1 ? "an input" : fmt::format("{} inputs", file.inputs()));
  }
  return inputs;
}

void write_outputs(const RunOptions& options, const Loadable& file, const Request& request) {
  for (std::uint32_t i = 0; i < file.outputs(); ++i) {
    program::write_file(numbered(options.output, i, file.outputs()),
                        output_bytes(request, file.output(i), options.output));
  }
}

// Runs layers one at a time, before the actual run. Returns false, with everything reported, if one
// of them differs.
bool look(const RunOptions& options, const Loadable& file, const Request& request,
          const Device& device) {
  if (options.compare.empty() && options.dump_layers.empty()) return true;
  std::optional<Device> reference;
  if (!options.compare.empty()) reference = open_reference(options.compare, device);
  const auto difference =
      look_at_layers(file, request, device, reference ? &*reference : nullptr, options.dump_layers);
  if (!reference) return true;
  std::FILE* const stream = options.to_standard_output() ? stderr : stdout;
  if (difference) {
    if (options.json.empty()) {
      program::print(stream, "{}\n", describe(*difference));
    } else {
      program::print_json(Json{{"loadable", options.loadable},
                               {"compared_with", options.compare},
                               {"difference", difference_json(*difference)}},
                          options.json);
    }
  } else if (options.json.empty()) {
    program::print(stream, "{} layer{} as on {}\n", request.network().layers(),
                   request.network().layers() == 1 ? " is" : "s are", options.compare);
  }
  return !difference;
}

// Prints in which layers NaNs or saturations began, if any; these are no errors.
void print_notes(const Request& request) {
  if (const auto note = program::first_nan(request.statistics()))
    program::print(stderr, "nvdla: {}\n",
                   program::nan_text(*note, request.network().layer_name(
                                                static_cast<std::uint32_t>(note->layer))));
  if (const auto note = program::first_saturated(request.statistics()))
    program::print(stderr, "nvdla: {}\n",
                   program::saturation_text(*note, request.network().layer_name(
                                                       static_cast<std::uint32_t>(note->layer))));
}

Json note_json(const std::optional<program::LayerNote>& note, const Request& request) {
  if (!note) return nullptr;
  return {{"layer", note->layer},
          {"name", request.network().layer_name(static_cast<std::uint32_t>(note->layer))},
          {"count", note->count}};
}

Json stats_json(const Request& request) {
  Json layers = Json::array();
  const auto statistics = request.statistics();
  for (std::uint32_t i = 0; i < statistics.size(); ++i) {
    Json layer = {{"name", request.network().layer_name(i)},
                  {"start_nanoseconds", statistics[i].start_ns - statistics[0].start_ns},
                  {"nanoseconds", statistics[i].end_ns - statistics[i].start_ns},
                  {"worst_case_cycles", request.network().layer_cycles(i)},
                  {"counters", counters_json(statistics[i])}};
    layers.push_back(std::move(layer));
  }
  return layers;
}

void print_stats(std::FILE* stream, const Request& request, const DeviceInfo& info) {
  std::vector<program::LayerRow> rows;
  const auto statistics = request.statistics();
  for (std::uint32_t i = 0; i < statistics.size(); ++i) {
    rows.push_back({std::string(request.network().layer_name(i)), std::nullopt,
                    request.network().layer_cycles(i), statistics[i]});
  }
  program::print(stream, "\n{}\n", program::Lines{program::layer_table(rows, info)});
}

Json values_json(const Request& request, const LoadableTensor& t) {
  const std::vector<double> values = values_of(request, t);
  // JSON has no NaN and no infinity: null.
  if (t.type != LoadableType::kInt8 && t.type != LoadableType::kInt16) return values;
  return std::vector<std::int64_t>(values.begin(), values.end());
}

// The time, in seconds, that `percent` of the runs took at most. `times` are sorted.
double percentile(const std::vector<double>& times, unsigned percent) {
  const std::size_t rank = (times.size() * percent + 99) / 100;
  return times[std::max<std::size_t>(rank, 1) - 1];
}

std::string seconds_text(double seconds) {
  return program::duration_text(static_cast<std::uint64_t>(seconds * 1e9));
}

// "812 us", or of several runs "100 runs: median 812 us, 90% 830 us, 99% 1.02 ms, ...".
std::string times_text(const std::vector<double>& times) {
  if (times.size() == 1) return seconds_text(times.front());
  return fmt::format("{} runs: median {}, 90% {}, 99% {}, fastest {}, slowest {}", times.size(),
                     seconds_text(percentile(times, 50)), seconds_text(percentile(times, 90)),
                     seconds_text(percentile(times, 99)), seconds_text(times.front()),
                     seconds_text(times.back()));
}

Json times_json(const std::vector<double>& times) {
  return {{"count", times.size()},
          {"median", percentile(times, 50)},
          {"percentile_90", percentile(times, 90)},
          {"percentile_99", percentile(times, 99)},
          {"least", times.front()},
          {"greatest", times.back()}};
}

// Lines of a text file; an empty last line is none.
std::vector<std::string> read_labels(const RunOptions& options, const Loadable& file) {
  if (options.labels.empty()) return {};
  if (options.to_standard_output())
    throw UsageError("--labels and the output would both go to standard output; expected one");
  constexpr std::uint64_t kMaxLabels = std::uint64_t{16} << 20;
  const auto bytes = program::read_file(options.labels, kMaxLabels);
  std::vector<std::string> labels(1);
  for (const std::uint8_t byte : bytes) {
    if (byte == '\n')
      labels.emplace_back();
    else if (byte != '\r')
      labels.back() += static_cast<char>(byte);
  }
  if (labels.back().empty()) labels.pop_back();
  for (std::uint32_t i = 0; i < file.outputs(); ++i) {
    const LoadableTensor t = file.output(i);
    if (t.shape.elements() != labels.size())
      throw UsageError(
          fmt::format("--labels {}: {} lines, and output '{}' has {} elements; "
                      "expected a line for each element",
                      options.labels, labels.size(), t.name, t.shape.elements()));
  }
  return labels;
}

struct Class {
  std::size_t index = 0;
  double value = 0;
};

// The greatest elements, the first of equal ones first.
std::vector<Class> top_classes(const Request& request, const LoadableTensor& t) {
  constexpr std::size_t kShown = 5;
  const std::vector<double> values = values_of(request, t);
  std::vector<Class> classes;
  // NaN is no score.
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!std::isnan(values[i])) classes.push_back({i, values[i]});
  std::stable_sort(classes.begin(), classes.end(),
                   [](const Class& a, const Class& b) { return a.value > b.value; });
  classes.resize(std::min(classes.size(), kShown));
  return classes;
}

// Returns the real number that an element stands for, if the loadable has its scale.
double score(const LoadableTensor& t, double value) {
  if (!t.quantization || t.type == LoadableType::kFp16) return value;
  return (value - t.quantization->zero_point) * t.quantization->scale;
}

void print_top(std::FILE* stream, const Request& request, const LoadableTensor& t,
               const std::vector<std::string>& labels) {
  for (const Class& one : top_classes(request, t))
    program::print(stream, "  {:>10.4g}  {}\n", score(t, one.value), labels[one.index]);
}

Json top_json(const Request& request, const LoadableTensor& t,
              const std::vector<std::string>& labels) {
  Json top = Json::array();
  for (const Class& one : top_classes(request, t))
    top.push_back(
        {{"index", one.index}, {"label", labels[one.index]}, {"score", score(t, one.value)}});
  return top;
}

void print_json(const RunOptions& options, const Loadable& file, const Request& request,
                const DeviceInfo& device, std::span<const program::LayerProfile> profile,
                const std::vector<double>& times, const std::vector<std::string>& labels) {
  Json document = {
      {"loadable", options.loadable},     {"configuration", device.configuration},
      {"backend", device.backend},        {"fp16", device.fast_fp16 ? "fast" : "exact"},
      {"seconds", percentile(times, 50)}, {"outputs", Json::array()}};
  for (std::uint32_t i = 0; i < file.outputs(); ++i) {
    const LoadableTensor t = file.output(i);
    document["outputs"].push_back({{"name", t.name},
                                   {"channels", t.shape.channels},
                                   {"height", t.shape.height},
                                   {"width", t.shape.width},
                                   {"type", type_name(t.type)},
                                   {"values", values_json(request, t)}});
    if (!labels.empty()) document["outputs"].back()["top"] = top_json(request, t, labels);
  }
  if (options.repeat > 1) document["runs"] = times_json(times);
  document["first_nan"] = note_json(program::first_nan(request.statistics()), request);
  document["first_saturated"] = note_json(program::first_saturated(request.statistics()), request);
  if (!options.compare.empty()) document["compared_with"] = options.compare;
  if (options.stats) {
    document["counter_worth"] = counter_worth_json(request.statistics(), device);
    document["layers"] = stats_json(request);
  }
  if (options.profile) document["profile"] = program::profile_json(profile);
  program::print_json(document, options.json);
}

void print_values(std::FILE* stream, const std::vector<double>& values) {
  constexpr std::size_t kShown = 32;
  std::string text;
  for (std::size_t k = 0; k < std::min(values.size(), kShown); ++k) {
    text += fmt::format("{}{:g}", k == 0 ? "" : " ", values[k]);
  }
  if (values.size() > kShown)
    text += fmt::format(" ... ({} elements; --output writes all)", values.size());
  program::print(stream, "  {}\n", program::Lines{program::wrap(text, 2)});
}

void print_text(const RunOptions& options, const Loadable& file, const Request& request,
                const DeviceInfo& device, std::span<const program::LayerProfile> profile,
                const std::vector<double>& times, const std::vector<std::string>& labels) {
  // Standard output may be the output's, or the trace's.
  std::FILE* const stream =
      options.to_standard_output() || program::is_standard_output(options.profile_trace) ? stderr
                                                                                         : stdout;
  for (std::uint32_t i = 0; i < file.outputs(); ++i) {
    const LoadableTensor t = file.output(i);
    program::print(stream, "{}: {}\n", t.name, shape_text(t));
    if (!labels.empty())
      print_top(stream, request, t, labels);
    else if (options.output.empty())
      print_values(stream, values_of(request, t));
  }
  if (options.stats) print_stats(stream, request, device);
  if (options.profile)
    program::print(stream, "\n{}\n", program::Lines{program::profile_table(profile)});
  program::print(stream, "{} on {}{}, {}\n", device.configuration, device.backend,
                 device.fast_fp16 ? " with fast fp16" : "", times_text(times));
}

std::vector<program::LayerProfile> profile_of(const RunOptions& options, const Loadable& file,
                                              const Request& request, const Device& device) {
  if (!options.profile && options.profile_trace.empty()) return {};
  return program::profile_layers(file, *detail::find_configuration(device.info()),
                                 program::memory_of(choose_device(file, options.device)),
                                 request.statistics());
}

Request open_network(const RunOptions& options, const Loadable& file, const Device& device) {
  program::Progress progress(options.json.empty());
  return file.open(device, {.statistics = true, .progress = progress.building("loading")});
}

// Runs as often as --repeat asks for. Returns the sorted times in seconds.
std::vector<double> run_times(const RunOptions& options, Request& request) {
  program::Progress progress(options.json.empty());
  std::vector<double> times;
  for (std::uint32_t i = 0; i < options.repeat; ++i) {
    progress.say(options.repeat == 1 ? "running"
                                     : fmt::format("running, {} of {}", i + 1, options.repeat));
    const auto start = std::chrono::steady_clock::now();
    request.run();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    times.push_back(seconds.count());
  }
  std::sort(times.begin(), times.end());
  return times;
}

// A loadable, or one that is made of a model in memory.
Loadable load_network(const RunOptions& options) {
#ifdef NVDLA_ONNX
  if (is_model(options.loadable)) {
    const nvdla_hw& hw = model_configuration(options.device);
    program::Progress progress(options.json.empty());
    progress.say("importing");
    const ImportedModel model = load_model(options.loadable, hw.name, options.model, options.resize,
                                           progress.building("importing"));
    print_notices(model);
    LoadableOptions making = loadable_options(hw, options.device);
    making.model_sizes = sizes_of(model);
    return Loadable::load(make_loadable(model.network, hw.name, making));
  }
  if (options.model.any())
    throw UsageError(
        "--shape, --constant, --outputs, --cpu, --precision, --samples, --mean, --std and --pixels "
        "are for "
        "models; expected NAME.onnx with them");
#endif
  return load_loadable(options.loadable);
}

int run_loadable(const RunOptions& options) {
  const Loadable file = load_network(options);
  check_arguments(options, file);
  const std::vector<InputFile> inputs = inputs_of(options, file);
  const std::vector<std::string> labels = read_labels(options, file);
  if (!options.compare.empty()) check_reference_name(options.compare);
  const std::string name = choose_device(file, options.device);
  const Device device = Device::open(name, program::open_options(options.record));
  print_other_memory(file, name);
  Request request = open_network(options, file, device);
  write_inputs(request, file, inputs, options.resize);
  if (!look(options, file, request, device)) return kDifferent;
  const std::vector<double> times = run_times(options, request);
  if (!options.output.empty()) write_outputs(options, file, request);
  const std::vector<program::LayerProfile> profile = profile_of(options, file, request, device);
  if (!options.profile_trace.empty()) {
    const std::string trace = program::profile_trace(
        profile, fmt::format("{} on {}", device.info().configuration, device.info().backend));
    program::write_file(options.profile_trace, std::as_bytes(std::span(trace)));
  }
  if (options.json.empty()) {
    print_notes(request);
    print_text(options, file, request, device.info(), profile, times, labels);
  } else {
    print_json(options, file, request, device.info(), profile, times, labels);
  }
  return kSuccess;
}

}  // namespace

Run add_run(CLI::App& app, CLI::App*& command) {
  auto options = std::make_shared<RunOptions>();
  command = app.add_subcommand("run", "Run a loadable or a model on a device");
  command
      ->add_option("LOADABLE", options->loadable,
                   "File to run, - for standard input; a model, NAME.onnx, is compiled in memory")
      ->required();
  command
      ->add_option("--input,-i", options->inputs,
                   "PNG, JPEG, PGM, NumPy array (.npy), raw reals (NAME.f32) or raw file, - for "
                   "standard input; one for each input, in their order or as NAME=FILE; one "
                   "archive (.npz) with an array for each; or none: zeros")
      ->type_name("[NAME=]FILE")
      ->allow_extra_args(false);
  command
      ->add_option("--output,-o", options->output,
                   "Where the output goes: NAME.png or NAME.pgm as a "
                   "picture, NAME.npy as a NumPy array, NAME.f32 as raw reals of 32 bits, "
                   "NAME.dimg as NVIDIA's golden files, "
                   "NAME.mem as in memory, else raw elements by channel, "
                   "line, column; - for standard output")
      ->type_name("FILE");
  program::add_device_option(*command, options->device,
                             "Where to run; auto takes NVDLA_DEVICE, else a kernel "
                             "device or else the model that the loadable was made for");
  command
      ->add_option(
          "--record", options->record,
          "Write the run to FILE: registers, and memory before and after, for `nvdla replay` and "
          "`nvdla diff`. Other programs do with NVDLA_RECORD=FILE")
      ->type_name("FILE");
  command->add_flag("--stats", options->stats, "Print a table of times and counters of the layers");
  command->add_flag("--profile", options->profile,
                    "Print a table of cycles that the hardware is predicted to take, how busy its "
                    "multipliers are, bytes moved, and what bounds each layer");
  command
      ->add_option("--profile-trace", options->profile_trace,
                   "Write the same over time, a track for each register group of a unit, for "
                   "ui.perfetto.dev; - for standard output")
      ->type_name("FILE");
  command
      ->add_option("--compare", options->compare,
                   "Run each layer on this device, too, and stop at the first difference; model: "
                   "that of the same configuration")
      ->type_name("DEVICE");
  command
      ->add_option("--dump-layers", options->dump_layers,
                   "Write inputs and what each layer leaves in memory as NumPy files, and "
                   "index.json")
      ->type_name("DIR");
  command
      ->add_option("--repeat", options->repeat,
                   "Run so many times and print the median and percentiles of the times; outputs "
                   "and counters are those of the last run")
      ->check(program::whole_number(1, 1'000'000))
      ->type_name("NUMBER");
  command
      ->add_option("--labels", options->labels,
                   "Print the classes with the greatest scores by their names: lines of FILE, one "
                   "for each element of the output")
      ->type_name("FILE");
  program::add_resize_option(*command, options->resize);
#ifdef NVDLA_ONNX
  add_model_options(*command, options->model);
#endif
  program::add_json_option(*command, options->json);
  command->footer(
      "Pixels of pictures, 0..255, become the same number in fp16 and int16, 128 less\n"
      "in int8, and the bytes of images whose components are bytes; int8 outputs become\n"
      "pictures the same way. Of several outputs the second goes to FILE.1 and so on,\n"
      "the first to FILE.0.\n"
      "Arrays of f2, f4 or f8 and files NAME.f32 are real numbers: they are quantised,\n"
      "and outputs made real again, as a loadable of this stack says. One of NVIDIA's\n"
      "compiler does not; arrays are i1 or i2 then, and fp16 is what it is.\n"
      "\n"
      "Examples:\n"
      "  nvdla run digits.nvdla --input seven.png --stats\n"
      "  nvdla run digits.nvdla --input seven.npy --output scores.npy\n"
      "  nvdla run digits.nvdla -i seven.png -o scores.raw -d model:nv_small\n"
      "  nvdla run pair.nvdla -i left=left.npy -i right=right.npy\n"
      "  nvdla run digits.nvdla -i seven.png -d kernel --compare model\n"
      "  nvdla run model.onnx -i picture.npy --labels labels.txt --cpu all\n"
      "  nvdla run digits.nvdla --profile -d model:nv_small,latency=100,outstanding=16\n"
      "  nvdla run digits.nvdla -i seven.png --repeat 1000 --labels digits.txt\n"
      "  cat seven.png | nvdla run digits.nvdla -i - --json=pretty");
  return [options] { return run_loadable(*options); };
}

}  // namespace nvdla::cli
