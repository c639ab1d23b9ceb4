// SPDX-License-Identifier: MIT
//
// `nvdla compile`: from a model of a framework to a loadable.
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "backend/info.hpp"
#include "backend/name/device_name.hpp"
#include "nvdla/loadable.hpp"
#include "tools/cli/input/commands.hpp"
#include "tools/cli/input/configuration.hpp"
#include "tools/cli/input/model.hpp"
#include "tools/common/json_output.hpp"
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

struct CompileOptions {
  std::string model;
  std::string output;
  std::string device = "auto";
  std::string report;
  std::vector<std::string> forbidden, choices;
  bool allow_rounding = false;
  std::string optimise = "speed";
  std::uint64_t memory_limit = 0;
  std::uint64_t search_budget = 0;
  bool check = false;
  ModelOptions import;
  std::string resize;
};

// A layer of the compiled network, for the report.
struct CompiledLayer {
  std::string name;
  bool cpu = false;
  cost::LayerCycles cycles;  // predicted, with a memory that answers at once
};

struct CompileReport {
  std::string configuration;
  std::vector<ImportedNode> nodes;
  std::vector<ImportedScale> scales;
  std::vector<CompiledLayer> layers;
  std::vector<PassReport> passes;
  std::uint64_t cycles = 0;  // of all layers, side by side where they can be
  MemoryUse memory;
};

std::string sizes_text(const std::vector<std::int64_t>& sizes) {
  return sizes.empty() ? "1" : fmt::format("{}", fmt::join(sizes, "x"));
}

std::string place_of(const ImportedNode& node) {
  return node.place.empty() ? "not possible" : node.place;
}

std::string why(const ImportedNode& node) {
  return node.remedy.empty() ? node.reason : fmt::format("{}; {}", node.reason, node.remedy);
}

double busy_of(const cost::LayerCycles& cycles) {
  return cycles.peak == 0 ? 0 : static_cast<double>(cycles.macs) / static_cast<double>(cycles.peak);
}

std::string noise_text(double decibels) {
  return std::isfinite(decibels) ? fmt::format("{:.1f} dB", decibels) : "none";
}

// Returns scales with the ratio of signal to noise: of a layer alone, and of all up to it.
std::string scales_text(const std::vector<ImportedScale>& scales) {
  std::string text =
      fmt::format("\n{:<32} {:>12} {:>5} {:>12} {:>12} {:>9} {:>9} {:>9}\n", "tensor", "scale",
                  "zero", "least", "greatest", "alone", "so far", "saturated");
  for (const ImportedScale& s : scales)
    text += fmt::format("{:<32} {:>12.6g} {:>5} {:>12.5g} {:>12.5g} {:>9} {:>9} {:>8.2f}%\n",
                        program::elide(s.name, 32), s.quantization.scale, s.quantization.zero_point,
                        s.low, s.high, noise_text(s.alone), noise_text(s.until), 100 * s.saturated);
  return text;
}

std::string layer_line(std::string_view name, const std::string& cycles, const cost::LayerCycles& c,
                       std::string_view bound) {
  return fmt::format("{:<40} {:>10} {:>6} {:>12} {:>9} {:>9} {:>8}\n", program::elide(name, 40),
                     cycles, c.peak == 0 ? "-" : fmt::format("{:.1f}%", 100 * busy_of(c)), c.macs,
                     program::bytes_text(c.read), program::bytes_text(c.written), bound);
}

std::string layers_text(const CompileReport& report) {
  std::string text = fmt::format("\n{:<40} {:>10} {:>6} {:>12} {:>9} {:>9} {:>8}\n", "layer",
                                 "cycles", "busy", "MACs", "read", "written", "bound by");
  cost::LayerCycles all;
  std::uint64_t peak = 0;  // multiplications of a cycle
  for (const CompiledLayer& layer : report.layers) {
    const cost::LayerCycles& c = layer.cycles;
    text += layer_line(layer.name, layer.cpu ? "CPU" : std::to_string(c.total), c,
                       layer.cpu ? "-" : bound_name(c.bound));
    all.macs += c.macs;
    peak = std::max(peak, c.total == 0 ? 0 : c.peak / c.total);
    all.read += c.read;
    all.written += c.written;
  }
  all.peak = peak * report.cycles;
  text += layer_line("all", std::to_string(report.cycles), all, "");
  return text + fmt::format("\n{} of memory, of which {} at once if layers run one by one\n",
                            program::bytes_text(report.memory.total),
                            program::bytes_text(report.memory.peak));
}

// Returns what the compiler chose from, with the predicted cycles of each and how much slower it
// is.
std::string candidates_text(const CompileReport& report) {
  std::string text =
      fmt::format("\n{:<40} {:<24} {:>12} {:>8}\n", "chosen by predicted cycles", "", "cycles", "");
  for (const PassReport& pass : report.passes) {
    for (const Candidate& one : pass.candidates) {
      const auto chosen = std::find_if(
          pass.candidates.begin(), pass.candidates.end(),
          [&](const Candidate& other) { return other.chosen && other.layers == one.layers; });
      std::string worth = "chosen";
      if (!one.chosen) worth = one.cycles == 0 ? "cannot" : "";
      if (!one.chosen && one.cycles != 0 && chosen != pass.candidates.end())
        worth = fmt::format(
            "{:+.1f}%",
            100 * (static_cast<double>(one.cycles) / static_cast<double>(chosen->cycles) - 1));
      text += fmt::format("{:<40} {:<24} {:>12} {:>8}\n", program::elide(one.layers, 40), one.form,
                          one.cycles == 0 ? "-" : std::to_string(one.cycles), worth);
    }
  }
  for (const PassReport& pass : report.passes)
    if (pass.cut_short)
      text +=
          fmt::format("{}: cut short behind {} forms by --search-budget\n", pass.name, pass.costed);
  return text;
}

std::string text_report(const CompileReport& report) {
  std::string text;
  for (const ImportedNode& node : report.nodes) {
    text += fmt::format("{:<32} {:<20} {}{}{}\n", program::elide(node.name, 32), node.op,
                        place_of(node), node.reason.empty() ? "" : ": ", why(node));
  }
  if (!report.scales.empty()) text += scales_text(report.scales);
  if (report.layers.empty()) return text;
  return text + layers_text(report) + candidates_text(report);
}

// A field of CSV: quoted, with quotes doubled.
std::string csv_field(std::string_view text) {
  std::string field = "\"";
  for (const char c : text) field += c == '"' ? "\"\"" : std::string(1, c);
  return field + '"';
}

std::string csv_report(const CompileReport& report) {
  std::string text = "node,operator,place,reason\n";
  for (const ImportedNode& node : report.nodes)
    text += fmt::format("{},{},{},{}\n", csv_field(node.name), csv_field(node.op),
                        csv_field(place_of(node)), csv_field(why(node)));
  return text;
}

std::string json_report(const CompileReport& report) {
  Json nodes = Json::array(), layers = Json::array(), scales = Json::array();
  Json candidates = Json::array(), cut_short = Json::array();
  std::uint64_t costed = 0;
  for (const PassReport& pass : report.passes) {
    costed += pass.costed;
    if (pass.cut_short) cut_short.push_back(pass.name);
  }
  for (const PassReport& pass : report.passes)
    for (const Candidate& one : pass.candidates)
      candidates.push_back({{"pass", pass.name},
                            {"layers", one.layers},
                            {"form", one.form},
                            {"cycles", one.cycles == 0 ? Json(nullptr) : Json(one.cycles)},
                            {"chosen", one.chosen}});
  for (const ImportedNode& node : report.nodes)
    nodes.push_back({{"name", node.name},
                     {"operator", node.op},
                     {"place", node.place},
                     {"reason", node.reason},
                     {"remedy", node.remedy}});
  for (const CompiledLayer& layer : report.layers)
    layers.push_back({{"name", layer.name},
                      {"place", layer.cpu ? "CPU" : "device"},
                      {"cycles", layer.cycles.total},
                      {"macs", layer.cycles.macs},
                      {"macs_busy", busy_of(layer.cycles)},
                      {"bytes_read", layer.cycles.read},
                      {"bytes_written", layer.cycles.written},
                      {"bound_by", layer.cpu ? "" : bound_name(layer.cycles.bound)}});
  // JSON has no infinity: null is a tensor without noise.
  const auto noise = [](double decibels) {
    return std::isfinite(decibels) ? Json(decibels) : Json(nullptr);
  };
  for (const ImportedScale& s : report.scales)
    scales.push_back({{"tensor", s.name},
                      {"node", s.node},
                      {"scale", s.quantization.scale},
                      {"zero_point", s.quantization.zero_point},
                      {"least", s.low},
                      {"greatest", s.high},
                      {"decibels_alone", noise(s.alone)},
                      {"decibels_so_far", noise(s.until)},
                      {"saturated", s.saturated}});
  const Json all = {{"configuration", report.configuration},
                    {"nodes", nodes},
                    {"scales", scales},
                    {"layers", layers},
                    {"cycles", report.cycles},
                    {"candidates", candidates},
                    {"forms_costed", costed},
                    {"cut_short", cut_short},
                    {"bytes_of_memory", report.memory.total},
                    {"bytes_at_once", report.memory.peak}};
  return all.dump(2) + "\n";
}

void check_compile_arguments(const CompileOptions& options) {
  if (options.check == !options.output.empty())
    throw UsageError("expected either --output FILE or --check");
  const std::string& report = options.report;
  if (!report.empty() && !report.ends_with(".txt") && !report.ends_with(".json") &&
      !report.ends_with(".csv"))
    throw UsageError(
        fmt::format("--report {}: expected a name that ends with .txt, .json or .csv", report));
}

void write_report(const CompileOptions& options, const CompileReport& report) {
  if (options.report.empty()) return;
  const std::string text = options.report.ends_with(".json")  ? json_report(report)
                           : options.report.ends_with(".csv") ? csv_report(report)
                                                              : text_report(report);
  program::write_file(options.report, std::as_bytes(std::span(text)));
}

std::string counts_text(const std::vector<ImportedNode>& nodes) {
  std::map<std::string, int> counts;
  for (const ImportedNode& node : nodes) ++counts[place_of(node)];
  std::string text;
  for (const auto& [place, count] : counts)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, place);
  return text;
}

int check_model(const CompileOptions& options, const CompileReport& report) {
  program::print("{}", program::Lines{text_report(report)});
  write_report(options, report);
  for (const ImportedNode& node : report.nodes)
    if (!node.reason.empty()) return kDifferent;
  return kSuccess;
}

// Returns the name of the model that a file is made for.
std::string model_of(const std::string& device, const nvdla_hw& hw) {
  const LoadableOptions making = loadable_options(hw, device);
  return detail::model_name(hw, making.memory, making.sram_bytes);
}

// Returns what made the file: version and options, without the names of files, which differ from
// machine to machine.
std::string note_of(const CompileOptions& options, const nvdla_hw& hw, const ImportedModel& model) {
  const ModelOptions& import = options.import;
  std::string note = fmt::format("nvdla {} compile --device {} --cpu {}", program::version(),
                                 model_of(options.device, hw), import.cpu);
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) note += fmt::format(" {} {}", name, value);
  };
  for (const std::string& shape : import.shapes) add("--shape", shape);
  for (const std::string& constant : import.constants) add("--constant", constant);
  for (const std::string& output : import.outputs) add("--outputs", output);
  add("--precision", import.precision);
  add("--mean", fmt::format("{}", fmt::join(import.mean, ",")));
  add("--std", fmt::format("{}", fmt::join(import.deviation, ",")));
  add("--pixels", import.pixels);
  add("--resize", options.resize);
  for (const std::string& pass : options.forbidden) add("--forbid", pass);
  for (const std::string& choice : options.choices) add("--choose", choice);
  if (options.allow_rounding) note += " --allow-rounding";
  if (options.optimise != "speed") add("--optimise", options.optimise);
  if (options.memory_limit != 0) note += fmt::format(" --memory-limit {}", options.memory_limit);
  if (options.search_budget != 0) note += fmt::format(" --search-budget {}", options.search_budget);
  if (model.samples != 0) note += fmt::format(", {} samples", model.samples);
  return note;
}

// Adds the layers of the loadable, and the memory that it takes.
void add_layers(std::span<const std::byte> bytes, const nvdla_hw& hw,
                const cost::MemoryTiming& memory, CompileReport& report) {
  const Loadable file = Loadable::load(bytes);
  const CompiledNetwork compiled = file.compile(Device::open(detail::model_name(hw)));
  const auto profile = program::profile_layers(file, hw, memory, {});
  auto next = profile.begin();
  for (std::uint32_t i = 0; i < compiled.layers(); ++i) {
    CompiledLayer layer{std::string(compiled.layer_name(i)), compiled.layer_on_cpu(i), {}};
    if (!layer.cpu && next != profile.end()) {
      report.cycles = std::max(report.cycles, next->cycles.total);
      layer.cycles = next++->alone;
    }
    report.layers.push_back(std::move(layer));
  }
  report.memory = compiled.memory();
}

// Returns true if somebody wants no pixels: bytes have no other form in fp16.
bool forbids_pixels(const CompileOptions& options) {
  const auto& passes = options.forbidden;
  return std::find(passes.begin(), passes.end(), "pixels") != passes.end() ||
         std::any_of(options.choices.begin(), options.choices.end(),
                     [](const std::string& choice) { return choice.ends_with(":no-pixels"); });
}

// Returns the node whose layer an error names, if it names one. Layers have the name of their node,
// perhaps with more behind it.
ImportedNode* node_of(const Network& network, const Error& error,
                      std::vector<ImportedNode>& nodes) {
  if (error.layer() < 0 || error.layer() >= network.layers()) return nullptr;
  const std::string_view layer = network.layer_name(static_cast<std::uint32_t>(error.layer()));
  ImportedNode* found = nullptr;
  for (ImportedNode& node : nodes)
    if (layer.starts_with(node.name) && (found == nullptr || node.name.size() > found->name.size()))
      found = &node;
  return found;
}

// Refuses the node whose layer the device has no room for, as the compiler finds out.
void check_layers(const Network& network, const LoadableOptions& making, CompileReport& report) {
  const bool is_refused = std::any_of(report.nodes.begin(), report.nodes.end(),
                                      [](const ImportedNode& n) { return !n.reason.empty(); });
  if (is_refused) return;
  try {
    make_loadable(network, report.configuration, making);
  } catch (const Error& error) {
    ImportedNode* const node = node_of(network, error, report.nodes);
    if (node == nullptr) throw;
    node->reason = error.what();
    node->place.clear();
  }
}

int compile_model(const CompileOptions& options) {
  check_compile_arguments(options);
  CompileReport report;
  const nvdla_hw& hw = model_configuration(options.device);
  report.configuration = hw.name;
  program::Progress progress;
  progress.say("importing");
  ModelOptions import = options.import;
  import.bytes = !forbids_pixels(options);
  const ImportedModel model =
      load_model(options.model, report.configuration, import, options.resize,
                 progress.building("importing"), options.check, !options.report.empty());
  print_notices(model);
  report.nodes = model.nodes;
  report.scales = model.scales;
  progress.say("compiling");
  LoadableOptions making = loadable_options(hw, options.device);
  making.note = note_of(options, hw, model);
  making.model_sizes = sizes_of(model);
  making.disabled_passes = options.forbidden;
  making.allow_rounding = options.allow_rounding;
  making.choices = options.choices;
  making.optimise = options.optimise == "memory" ? Optimise::kMemory : Optimise::kSpeed;
  making.memory_limit = options.memory_limit;
  making.search_budget = options.search_budget;
  making.passes = &report.passes;
  if (options.check) {
    check_layers(model.network, making, report);
    return check_model(options, report);
  }
  const auto bytes = make_loadable(model.network, report.configuration, making);
  program::write_file(options.output, bytes);
  if (!options.report.empty())
    add_layers(bytes, hw, program::memory_of(device_text(options.device)), report);
  write_report(options, report);
  std::FILE* const stream = program::is_standard_output(options.output) ? stderr : stdout;
  for (const ImportedTensor& t : model.inputs)
    program::print(stream, "input {}: {} {}\n", t.name, sizes_text(t.sizes), t.type);
  for (const ImportedTensor& t : model.outputs)
    program::print(stream, "output {}: {} {}\n", t.name, sizes_text(t.sizes), t.type);
  program::print(stream, "{} node{} for {}: {}\n", model.nodes.size(),
                 model.nodes.size() == 1 ? "" : "s", report.configuration,
                 counts_text(model.nodes));
  return kSuccess;
}

}  // namespace

Run add_compile(CLI::App& app, CLI::App*& command) {
  auto options = std::make_shared<CompileOptions>();
  command = app.add_subcommand("compile", "Make a loadable of an ONNX model");
  command->add_option("MODEL", options->model, "File to read, NAME.onnx")->required();
  command
      ->add_option("--output,-o", options->output, "Where the loadable goes; - for standard output")
      ->type_name("FILE");
  program::add_device_option(*command, options->device,
                             "What it is for; auto takes NVDLA_DEVICE, else nv_full");
  add_model_options(*command, options->import);
  program::add_resize_option(*command, options->resize);
  command
      ->add_option(
          "--choose", options->choices,
          "What a layer has to be or may not be: pixels, folding, winograd, batch or turns, "
          "or no- and one of these; impossible wishes are refused with the reason")
      ->type_name("LAYER:CHOICE ...");
  command->add_flag("--allow-rounding", options->allow_rounding,
                    "Convolutions may be computed in other steps where that is faster (Winograd): "
                    "results then round or saturate elsewhere");
  command
      ->add_option("--forbid", options->forbidden,
                   "Passes of the compiler that are left out; for another word the error lists all "
                   "that can be")
      ->type_name("PASS ...");
  command
      ->add_option(
          "--optimise", options->optimise,
          "What layers are chosen for: speed, the fewest predicted cycles; memory, the least and "
          "then the fewest cycles")
      ->check(CLI::IsMember({"speed", "memory"}).description(""))
      ->type_name("NAME")
      ->capture_default_str();
  command
      ->add_option("--memory-limit", options->memory_limit,
                   "Memory that weights, tensors, inputs and outputs may take together, such as "
                   "24MiB: layers are as fast as fits; what cannot fit is refused with what is "
                   "needed")
      ->type_name("SIZE")
      ->transform(program::size_from(1));
  program::add_budget_option(*command, options->search_budget);
  command->add_flag("--check", options->check,
                    "Print each node with its place, or the reason why it has none, and compile "
                    "nothing; exit status 1 if one has none");
  command
      ->add_option("--report", options->report,
                   "Write nodes and layers to NAME.txt or NAME.json, nodes alone to NAME.csv")
      ->type_name("FILE");
  command->footer(
      "Nodes are on the device, on the CPU, constant (computed now), moved (nothing is\n"
      "computed, elements lie otherwise) or fused (part of another node's layer).\n"
      "docs/operators.md lists the operators.\n"
      "\n"
      "Examples:\n"
      "  nvdla compile model.onnx --output model.nvdla\n"
      "  nvdla compile model.onnx -o model.nvdla --device model:nv_full --report model.txt\n"
      "  nvdla compile model.onnx -o model.nvdla --shape data=1x3x224x224 --cpu all\n"
      "  nvdla compile model.onnx -o model.nvdla -d model:nv_small --samples pictures \\\n"
      "    --resize crop --mean 0.485,0.456,0.406 --std 0.229,0.224,0.225\n"
      "  nvdla compile model.onnx --check --outputs features");
  return [options] { return compile_model(*options); };
}

}  // namespace nvdla::cli
