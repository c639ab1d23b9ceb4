// SPDX-License-Identifier: MIT
//
// This program predicts how many cycles the networks of the example `network` take on three
// configurations with several memories: with all of the compiler's choices, with none, and, from a
// file that was recorded once, with the rules that the compiler had before it predicted anything.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <nvdla/nvdla.hpp>
#include <optional>
#include <regex>
#include <string>
#include <tuple>
#include <vector>

#include "backend/info.hpp"
#include "backend/name/device_name.hpp"
#include "catalogue.hpp"
#include "describe.hpp"
#include "model/core/machine.hpp"
#include "tools/files/files.hpp"
#include "tools/profile/layer_profile.hpp"

namespace nvdla::test {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kClock = 1e9;  // hertz

// The memories that plans are made for: as fast as the interface takes it, NVIDIA's own condition,
// and slow memory; of nv_small what a small system has.
std::vector<std::string> devices() {
  std::vector<std::string> all;
  for (const char* name : {"nv_full", "nv_large"}) {
    for (const char* memory :
         {"", ",latency=50,bandwidth=20GB/s", ",latency=100,outstanding=16,bandwidth=10GB/s"})
      all.push_back(fmt::format("model:{}{},clock=1GHz", name, memory));
  }
  for (const char* memory :
       {"", ",gating=off", ",bandwidth=8GB/s", ",bandwidth=4GB/s", ",bandwidth=1GB/s"})
    all.push_back(fmt::format("model:nv_small{},clock=1GHz", memory));
  return all;
}

// Passes that choose by predicted cycles, or that rewrites of the network depend on.
const std::vector<std::string> kChoices = {"part-atoms",  "winograd",      "pixels",
                                           "fold-inputs", "fuse-poolings", "batch",
                                           "interleave",  "stage-weights"};

const char* precision_name(Precision precision) {
  return precision == Precision::kFp16 ? "fp16" : "int8";
}

struct Plan {
  std::uint64_t cycles = 0;  // of the whole batch
  std::uint64_t macs = 0, bytes = 0;
};

Plan predict(std::span<const std::byte> bytes, const Device& device, const std::string& name) {
  const Loadable file = Loadable::load(bytes);
  const nvdla_hw& hw = *detail::find_configuration(device.info());
  Plan plan;
  for (const auto& layer : program::profile_layers(file, hw, program::memory_of(name), {})) {
    plan.cycles = std::max(plan.cycles, layer.cycles.total);
    plan.macs += layer.alone.macs;
    plan.bytes += layer.alone.read + layer.alone.written;
  }
  return plan;
}

// Saves the loadable in `path`, unless that is empty.
Plan make_plan(const Network& network, const Device& device, const std::string& name,
               const std::vector<std::string>& forbidden, std::uint64_t budget = 0,
               const std::string& path = {}) {
  const DeviceInfo& info = device.info();
  LoadableOptions options;
  options.weight_gating = info.has_weight_gating;
  options.disabled_passes = forbidden;
  options.search_budget = budget;
  options.memory = info.memory;
  options.sram_bytes = detail::parse_device_name(name).options.sram_bytes;
  const auto bytes = make_loadable(network, info.configuration, options);
  if (!path.empty()) program::write_file(path, bytes);
  return predict(bytes, device, name);
}

struct Options {
  std::string json, only = ".*", rules, save;
  std::vector<std::string> forbidden;
  std::uint64_t search_budget = 0;
};

// `Case` is a network on a device; conditions of published figures are cases of their own.
struct Case {
  std::string network, device;
  std::uint32_t batch = 1;
  Precision precision = Precision::kInt8;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const networks::Entry& entry : networks::catalogue())
    for (const std::string& device : devices()) all.push_back({entry.name, device});
  for (const networks::Entry& entry : networks::catalogue())
    all.push_back({entry.name, "model:nv_full,clock=1GHz", 1, Precision::kFp16});
  all.push_back({"resnet50", "model:nv_full,latency=50,bandwidth=20GB/s,clock=1GHz", 4});
  all.push_back({"alexnet-groups", "model:nv_full,bandwidth=10GB/s,clock=1GHz", 16});
  all.push_back({"googlenet", "model:nv_full,bandwidth=10GB/s,clock=1GHz,sram=4MiB"});
  return all;
}

class Table {
 public:
  explicit Table(const Options& options) : options_(options), only_(options.only) {
    fmt::print("{:<16} {:<66} {:>11} {:>11} {:>11} {:>9}\n", "network",
               "device; cycles of an image", "off", "rules", "chosen", "frames/s");
    if (options.rules.empty()) return;
    std::ifstream file(options.rules);
    if (!file) throw Error(ErrorCode::kInvalidArgument, "cannot read '" + options.rules + "'");
    for (const Json& row : Json::parse(file)) rules_.push_back(row);
  }

  void add(const Case& one) {
    if (!std::regex_search(fmt::format("{} {} batch {} {}", one.network, one.device, one.batch,
                                       precision_name(one.precision)),
                           only_))
      return;
    const Device device = Device::open(one.device);
    const networks::Network& drawn = draw(one.network, device.info(), one.precision);
    const std::vector<networks::Value> shown = {
        static_cast<networks::Value>(drawn.graph.layers().size() - 1)};
    const Network network = networks::describe(drawn, one.precision, shown, one.batch);
    add(one, device, make_plan(network, device, one.device, kChoices),
        make_plan(network, device, one.device, options_.forbidden, options_.search_budget,
                  options_.save));
  }

  void write() const {
    if (options_.json.empty()) return;
    std::ofstream file(options_.json);
    file << rows_.dump(1) << "\n";
    file.flush();
    if (!file) throw Error(ErrorCode::kInvalidArgument, "cannot write '" + options_.json + "'");
  }

 private:
  // Drawing takes longer than all that is done with it.
  const networks::Network& draw(const std::string& name, const DeviceInfo& info,
                                Precision precision) {
    auto& drawn = drawn_[{name, info.has_lut, precision}];
    if (!drawn) drawn = networks::draw(networks::find_entry(name).graph_for(info), 1, precision);
    return *drawn;
  }

  void add(const Case& one, const Device& device, const Plan& off, const Plan& chosen) {
    const cost::Machine machine = model::machine_of(*detail::find_configuration(device.info()));
    const double rate =
        device.info().memory.bandwidth > 0 ? device.info().memory.bandwidth : machine.bus_bytes;
    const auto frames = [&](std::uint64_t cycles) {
      return kClock * one.batch / static_cast<double>(cycles);
    };
    const auto row = [&](const char* choices, std::uint64_t cycles) {
      rows_.push_back(
          {{"network", one.network},
           {"precision", precision_name(one.precision)},
           {"batch", one.batch},
           {"device", one.device},
           {"choices", choices},
           {"cycles", cycles},
           {"cycles_per_image", cycles / one.batch},
           {"frames_per_second", frames(cycles)},
           {"mac_bound", off.macs * precision_bytes(one.precision) /
                             (std::uint64_t{machine.atomic_c} * machine.atomic_k)},
           {"byte_bound", static_cast<std::uint64_t>(
                              static_cast<double>(std::min(off.bytes, chosen.bytes)) / rate)}});
    };
    const std::optional<std::uint64_t> before = rule(one);
    row("off", off.cycles);
    if (before) row("rules", *before);
    row("chosen", chosen.cycles);
    std::string condition = one.device;
    if (one.batch != 1) condition += fmt::format(", batch {}", one.batch);
    if (one.precision != Precision::kInt8) condition += " in fp16";
    fmt::print("{:<16} {:<66} {:>11} {:>11} {:>11} {:>9.1f}\n", one.network, condition,
               off.cycles / one.batch, before ? std::to_string(*before / one.batch) : "-",
               chosen.cycles / one.batch, frames(chosen.cycles));
    std::fflush(stdout);
  }

  std::optional<std::uint64_t> rule(const Case& one) const {
    for (const Json& row : rules_)
      if (row.at("network") == one.network && row.at("device") == one.device &&
          row.at("batch") == one.batch && row.at("precision") == precision_name(one.precision))
        return row.at("cycles").get<std::uint64_t>();
    return std::nullopt;
  }

  const Options& options_;
  const std::regex only_;
  std::map<std::tuple<std::string, bool, Precision>, std::optional<networks::Network>> drawn_;
  std::vector<Json> rules_;
  Json rows_ = Json::array();
};

int run(const Options& options) {
  Table table(options);
  for (const Case& one : cases()) table.add(one);
  table.write();
  return 0;
}

}  // namespace
}  // namespace nvdla::test

int main(int argc, char** argv) {
  CLI::App app("Predicts the cycles of networks with and without the compiler's choices");
  nvdla::test::Options options;
  app.add_option("--json", options.json, "Write the rows to this file, too")->type_name("FILE");
  app.add_option("--only", options.only, "Only rows whose network and device match")
      ->type_name("EXPRESSION")
      ->capture_default_str();
  app.add_option("--rules", options.rules, "Cycles with the rules of before, as recorded")
      ->type_name("FILE");
  app.add_option("--save", options.save, "Write the loadable of the last row")->type_name("FILE");
  app.add_option("--forbid", options.forbidden,
                 "Passes that no choice may use, to see what each gains")
      ->type_name("PASS ...");
  app.add_option("--search-budget", options.search_budget,
                 "Forms of layers that are predicted at most; 0: all")
      ->type_name("NUMBER");
  CLI11_PARSE(app, argc, argv);
  try {
    return nvdla::test::run(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_cycles: {}\n", error.what());
    return 1;
  }
}
