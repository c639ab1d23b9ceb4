// SPDX-License-Identifier: MIT
//
// Worked example: networks as people have them, with weights that are drawn, on an NVDLA. Each has
// a file of its own; every tensor is compared with a reference that shares no code with the stack.
#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <nvdla/nvdla.hpp>
#include <optional>
#include <string>
#include <vector>

#include "catalogue.hpp"
#include "check.hpp"
#include "describe.hpp"
#include "numbers.hpp"
#include "save.hpp"
#include "tools/common/numbers.hpp"
#include "tools/common/print.hpp"
#include "tools/common/program.hpp"
#include "tools/common/progress.hpp"
#include "tools/common/text.hpp"
#include "tools/files/files.hpp"

namespace {

namespace program = nvdla::program;
using Clock = std::chrono::steady_clock;

struct Options {
  std::string name, device, save, layers;
  std::vector<std::string> forbidden;
  std::uint64_t search_budget = 0;
  std::string precision = "int8";
  std::int64_t seed = 1;
  bool tensors = false;
  bool passes = false;
};

// On the clock, and of all processors: what others on the machine do changes the second one little.
struct Cost {
  Clock::duration time{}, work{};

  friend bool operator<(const Cost& a, const Cost& b) { return a.work < b.work; }
};

template <typename Body>
Cost cost_of(const Body& body) {
  const auto start = Clock::now();
  const std::clock_t work = std::clock();
  body();
  const double seconds = static_cast<double>(std::clock() - work) / CLOCKS_PER_SEC;
  return {Clock::now() - start,
          std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))};
}

// The median of a few runs that come after others.
Cost warm_cost(nvdla::Request& request) {
  constexpr std::size_t kRuns = 5;
  std::vector<Cost> costs;
  Clock::duration sum{};
  while (costs.size() < kRuns && sum < std::chrono::seconds(1)) {
    costs.push_back(cost_of([&] { request.run(); }));
    sum += costs.back().time;
  }
  std::sort(costs.begin(), costs.end());
  return costs[costs.size() / 2];
}

std::string text_of(Clock::duration time) {
  return program::duration_text(static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(time).count()));
}

std::string text_of(const networks::Shape& shape) {
  return fmt::format("{}x{}x{}", shape.channels, shape.height, shape.width);
}

void list() {
  program::print("{:<15} {:>7} {:>8} {:>6}  {:<10}  {}\n", "network", "tensors", "weights", "MACs",
                 "image", "what it has");
  for (const networks::Entry& entry : networks::catalogue()) {
    const networks::Graph graph = entry.graph();
    program::print("{:<15} {:>7} {:>8} {:>6}  {:<10}  {}\n", entry.name, graph.layers().size() - 1,
                   program::count_text(graph.weights()), program::count_text(graph.macs()),
                   text_of(graph.shape(networks::Graph::image())), entry.about);
  }
}

void print_tensors(const networks::Network& network) {
  program::print("{:<32} {:>14} {:>7} {:>10}\n", "tensor", "shape", "zero", "saturated");
  for (std::size_t i = 0; i < network.results.size(); ++i) {
    const networks::Layer& layer = network.graph.layers()[i];
    const networks::Use use = networks::use_of(network.results[i]);
    program::print("{:<32} {:>14} {:>6.1f}% {:>9.2f}%\n", program::elide(layer.name, 32),
                   text_of(layer.shape), 100 * use.zero, 100 * use.saturated);
  }
}

// Returns true if all tensors vary enough for a comparison to reveal errors, and prints those that
// do not.
bool print_use(const networks::Network& network) {
  networks::Use most;
  bool good = true;
  for (std::size_t i = 0; i < network.results.size(); ++i) {
    const networks::Use use = networks::use_of(network.results[i]);
    most.zero = std::max(most.zero, use.zero);
    most.saturated = std::max(most.saturated, use.saturated);
    if (use.good()) continue;
    program::print("'{}' is {:.1f} % zeros and {:.1f} % saturated: comparing it shows little\n",
                   network.graph.layers()[i].name, 100 * use.zero, 100 * use.saturated);
    good = false;
  }
  program::print("each tensor at most {:.1f} % zeros, at most {:.2f} % saturated\n",
                 100 * most.zero, 100 * most.saturated);
  return good;
}

// Prints the layers that run on the CPU because the device has no unit for them.
void print_cpu(const nvdla::CompiledNetwork& network) {
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < network.layers(); ++i)
    if (network.layer_on_cpu(i)) names.emplace_back(network.layer_name(i));
  if (names.empty()) return;
  program::print("{} layers on the CPU between {} programs: {}\n", names.size(), network.programs(),
                 fmt::format("{}", fmt::join(names, ", ")));
}

void print_passes(const nvdla::CompiledNetwork& network) {
  program::print("{:14} {:>7}  {}\n", "pass", "applied", "purpose");
  for (const nvdla::PassReport& pass : network.passes())
    program::print("{:14} {:>7}  {}\n", pass.name, pass.applied, pass.purpose);
}

int run(const Options& options) {
  if (options.name.empty()) {
    list();
    return program::kSuccess;
  }
  const networks::Entry& entry = networks::find_entry(options.name);
  if (program::is_standard_output(options.save))
    throw program::UsageError("--save takes the name of a file: two others are written beside it");
  const bool half = options.precision == "fp16";
  const auto precision = half ? nvdla::Precision::kFp16 : nvdla::Precision::kInt8;
  const nvdla::Device device = nvdla::Device::open(options.device, nvdla::program::open_options());
  std::optional<program::Progress> progress(std::in_place);
  const networks::Say say = [&](const std::string& text) { progress->say(text); };
  networks::Graph graph = entry.graph_for(device.info());
  if (!options.layers.empty()) graph = networks::part_of(graph, options.layers);
  const networks::Network network =
      networks::draw(graph, static_cast<std::uint64_t>(options.seed), precision, say);

  networks::Verdict verdict;
  const auto results = networks::check_every_tensor(device, network, precision, verdict, say);
  const std::uint64_t tensors = verdict.tensors, elements = verdict.elements;

  const auto result = static_cast<networks::Value>(network.graph.layers().size() - 1);
  const nvdla::Network described = networks::describe(network, precision, {&result, 1});
  std::optional<nvdla::Request> request;
  const Cost built = cost_of([&] {
    nvdla::BuildOptions build = program::build_options(device.info());
    build.progress = progress->building("building");
    build.disabled_passes = options.forbidden;
    build.search_budget = options.search_budget;
    request.emplace(described.build(device, build));
  });
  say("running as applications do");
  networks::write_image(*request, network, precision);
  const Cost first = cost_of([&] { request->run(); });
  const Cost warm = warm_cost(*request);
  networks::check_result(*request, network, precision, results.back(), verdict);
  networks::check_in_memory(*request, network.graph, results, verdict);
  progress.reset();

  if (options.tensors) print_tensors(network);
  if (options.passes) print_passes(request->network());
  program::print("{}: {} tensors, {} elements, {} differ\n", entry.name, tensors, elements,
                 verdict.different);
  // One is the network's output.
  program::print("as applications have it {} tensors in memory were compared, too\n",
                 verdict.tensors - tensors - 1);
  if (entry.without_tables != nullptr && !device.info().has_lut)
    program::print("{} has no look-up table in SDP: {}\n", device.info().configuration,
                   entry.substitutes);
  if (verdict.different != 0) program::print("first difference: {}\n", verdict.first);
  if (half) program::print("greatest error {:.2f} of its bound\n", verdict.greatest);
  const bool good = half || print_use(network);
  const nvdla::MemoryUse memory = request->network().memory();
  program::print("{} {}, {}: {} layers\n", device.info().backend, device.info().configuration,
                 options.precision, request->network().layers());
  print_cpu(request->network());
  program::print("build {}, first run {}, warm run {}; of processors {}, {}, {}\n",
                 text_of(built.time), text_of(first.time), text_of(warm.time), text_of(built.work),
                 text_of(first.work), text_of(warm.work));
  program::print("memory {}, at most {} in use at once\n", program::bytes_text(memory.total),
                 program::bytes_text(memory.peak));
  if (verdict.different != 0 || !good) return program::kDifferent;
  if (!options.save.empty()) {
    nvdla::LoadableOptions saved = program::loadable_options(device.info());
    saved.disabled_passes = options.forbidden;
    saved.search_budget = options.search_budget;
    networks::save(network, precision, device.info(), saved, results.back(), options.save);
  }
  return program::kSuccess;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  program::Program self("network",
                        "Runs a well-known network on an NVDLA and compares every tensor");
  CLI::App& app = self.app();
  app.add_option("NAME", options.name, "Which network; without, all are listed");
  program::add_device_option(app, options.device,
                             "Where to run: model:nv_small, kernel, ... as "
                             "`nvdla --help` tells");
  app.add_option("-p,--precision", options.precision, "int8, or fp16 where the device has it")
      ->check(CLI::IsMember({"int8", "fp16"}))
      ->capture_default_str()
      ->type_name("TYPE");
  app.add_option("--seed", options.seed, "Weights and image are drawn from it")
      ->check(nvdla::program::whole_number(0, INT64_MAX))
      ->capture_default_str()
      ->type_name("N");
  app.add_option("--layers", options.layers,
                 "Take only this layer, or those from FIRST to LAST, as a network of their own; "
                 "names are those that --tensors prints")
      ->type_name("FIRST[..LAST]");
  app.add_flag("--tensors", options.tensors, "Print how the elements of each tensor are spread");
  app.add_flag("--passes", options.passes, "Print what each pass of the compiler did");
  app.add_option("--forbid", options.forbidden,
                 "Passes of the compiler that are left out, of those that --passes lists")
      ->type_name("PASS ...");
  program::add_budget_option(app, options.search_budget);
  app.add_option("--save", options.save,
                 "If nothing differs write the network as a loadable for the device's "
                 "configuration, its image to FILE.image and its result to FILE.result, for "
                 "`nvdla run`")
      ->type_name("FILE");
  app.footer(
      "Without NAME the networks are listed with tensors, weights and arithmetic.\n"
      "\n"
      "Weights and the image are drawn, scales follow from what the layers compute.\n"
      "Networks with all results as outputs are run, 100 at a time: int8 equals an\n"
      "integer reference, fp16 stays within what rounding can do of one in doubles\n"
      "that is given the device's own inputs of each layer. Then the network runs as\n"
      "applications have it, with only its last result as output: that, and what each\n"
      "layer leaves in memory, must be the same. Times and memory are of this one.\n"
      "\n"
      "Examples:\n"
      "  network\n"
      "  network resnet50 --device model:nv_large\n"
      "  network googlenet --precision fp16 --device model:nv_full\n"
      "  network resnet50 --layers stage2.2.reduce..stage2.2.expand\n"
      "  network lenet5 --device model:nv_small --save lenet5.nvdla");
  return self.run(argc, argv, [&] { return run(options); });
}
