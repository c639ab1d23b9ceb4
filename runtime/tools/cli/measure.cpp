// SPDX-License-Identifier: MIT
//
// `nvdla measure`: how fast is the memory behind a device, and what is its name for the compiler?
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "backend/info.hpp"
#include "backend/kernel/kernel_backend.hpp"
#include "backend/kernel/node.hpp"
#include "backend/name/device_name.hpp"
#include "model/core/machine.hpp"
#include "nvdla/device.hpp"
#include "tools/cli/input/commands.hpp"
#include "tools/cli/input/configuration.hpp"
#include "tools/common/json_output.hpp"
#include "tools/common/numbers.hpp"
#include "tools/common/print.hpp"
#include "tools/common/program.hpp"
#include "tools/common/progress.hpp"
#include "tools/measure/fit.hpp"
#include "tools/measure/probes.hpp"
#include "tools/profile/layer_profile.hpp"

namespace nvdla::cli {
namespace {

using Json = nlohmann::ordered_json;

// A copy takes so long: where nothing disturbs, and where the host's interrupts do.
constexpr std::uint64_t kSimulatedCycles = 1000;
constexpr std::uint64_t kMicroseconds = 200;
// Programs run so often where the host disturbs; the fastest counts.
constexpr unsigned kRepeats = 9;
// So much of a program's time may be left unexplained.
constexpr double kExplained = 0.05;

struct MeasureOptions {
  std::string device;
  std::uint64_t clock_khz = 0;
  std::string json;
};

// `Timing` tells how a device's times become cycles.
struct Timing {
  // The rate of its clock; 0: it has none, and predictions for this memory stand in for times.
  std::uint64_t khz = 0;
  cost::MemoryTiming memory = {};
  std::uint64_t cycles = kSimulatedCycles;  // of a copy
  unsigned repeats = 1;
};

std::uint64_t kernel_clock(const std::string& path) {
  const auto nodes = path.empty() ? detail::find_kernel_devices() : std::vector{path};
  return nodes.empty() ? 0 : detail::describe_kernel_device(nodes.front()).clock_khz;
}

Timing timing_of(const MeasureOptions& options, const DeviceInfo& info) {
  const detail::DeviceName name = detail::choose_device_name(options.device);
  const bool exists = info.backend == "kernel" || info.backend == "mmio";
  if (options.clock_khz != 0 && !exists)
    throw UsageError(fmt::format("--clock: a {} device counts cycles itself", info.backend));
  if (info.backend == "model") return {.memory = name.options.memory};
  // A simulated cycle counts as a microsecond.
  if (!exists) return {.khz = 1000};
  std::uint64_t khz = options.clock_khz;
  if (khz == 0) khz = info.backend == "kernel" ? kernel_clock(name.path) : name.mmio.clock_khz;
  if (khz == 0)
    throw UsageError(fmt::format(
        "the clock of {} is not known, which times are in; expected --clock, such as --clock "
        "600MHz",
        device_text(options.device)));
  return {.khz = khz, .cycles = khz * kMicroseconds / 1000, .repeats = kRepeats};
}

// Runs a probe, and returns the cycles from the start of its first layer to the end of its last.
double run(const Device& device, const program::Probe& probe, const Timing& timing) {
  const Program program = device.create_program(probe.desc());
  std::vector<Binding> bindings;
  for (const nvdla_slot& slot : probe.slots) {
    Buffer buffer = device.allocate(slot.size, static_cast<Memory>(slot.memory));
    const Map map = buffer.map(MapMode::kWrite);
    std::fill(map.bytes().begin(), map.bytes().end(), std::byte{0});
    bindings.emplace_back(std::move(buffer));
  }
  std::uint64_t fastest = ~std::uint64_t{0};
  for (unsigned i = 0; i < timing.repeats; ++i) {
    const Fence fence = device.submit(program, bindings);
    fence.wait();
    const auto times = fence.statistics();
    fastest = std::min<std::uint64_t>(fastest, times.back().end_ns - times.front().start_ns);
  }
  constexpr double kNanosecondsOfKilohertz = 1e6;
  return static_cast<double>(fastest) * static_cast<double>(timing.khz) / kNanosecondsOfKilohertz;
}

// `Measured` is one of a device's memories, and the probes that it was found by.
struct Measured {
  program::FittedMemory fitted;
  std::vector<program::ProbeTime> probes;
};

Measured measure(const Device& device, const Timing& timing, const cost::MemoryTiming& known,
                 Memory memory) {
  const nvdla_hw& hw = *detail::find_configuration(device.info());
  const cost::Machine machine = model::machine_of(hw);
  program::Progress progress;
  std::vector<program::ProbeTime> times;
  for (const program::Probe& probe :
       program::memory_probes(device.info(), machine, memory, timing.cycles)) {
    progress.say(fmt::format("running the probe '{}'", probe.name));
    program::ProbeTime& time = times.emplace_back();
    time.name = probe.name;
    time.layers = program::predicted_layers(probe.desc(), hw);
    time.cycles =
        timing.khz != 0
            ? run(device, probe, timing)
            : static_cast<double>(cost::sequence_cycles(machine, timing.memory, time.layers).total);
  }
  progress.say("fitting");
  const auto interface =
      memory == Memory::kSram ? cost::Interface::kSecondary : cost::Interface::kPrimary;
  auto fitted = program::fit_memory(machine, interface, known, times);
  return {std::move(fitted), std::move(times)};
}

// Returns nothing where the device has no secondary memory, or no room in it.
std::optional<Measured> measure_sram(const Device& device, const Timing& timing,
                                     const cost::MemoryTiming& known) {
  if (!device.info().has_sram) return std::nullopt;
  try {
    return measure(device, timing, known, Memory::kSram);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kNoMemory && error.code() != ErrorCode::kNotAvailable) throw;
    program::print(stderr, "nvdla: secondary memory is left out: {}\n", error.what());
    return std::nullopt;
  }
}

// Returns a number with three digits.
double rounded(double number) { return std::stod(fmt::format("{:.3g}", number)); }

// Returns the name of a model with this memory.
std::string name_of(const DeviceInfo& info, const cost::MemoryTiming& found) {
  MemorySpeed memory = detail::memory_speed(found);
  memory.bandwidth = rounded(memory.bandwidth);
  memory.sram_bandwidth = rounded(memory.sram_bandwidth);
  if (memory.sram_latency == memory.latency) memory.sram_latency = 0;
  return detail::model_name(*detail::find_configuration(info), memory);
}

std::string bandwidth_text(double bytes_a_cycle, std::uint64_t khz) {
  if (bytes_a_cycle == 0) return "all that the interface takes";
  std::string text = fmt::format("{:.3g} bytes a cycle", bytes_a_cycle);
  constexpr double kGigabyte = 1e6;  // in bytes a cycle times kHz
  if (khz != 0)
    text += fmt::format(", {:.3g} GB/s", bytes_a_cycle * static_cast<double>(khz) / kGigabyte);
  return text;
}

// `Findings` are what there is to print.
struct Findings {
  Measured primary;
  std::optional<Measured> secondary;
  std::string device;     // the name for the compiler
  std::uint64_t khz = 0;  // of the clock; 0: nobody knows what a second is

  const program::FittedMemory& last() const {
    return secondary ? secondary->fitted : primary.fitted;
  }
  double error() const { return std::max(primary.fitted.error, last().error); }
};

Json probes_json(const Measured& measured) {
  Json probes = Json::array();
  for (std::size_t i = 0; i < measured.probes.size(); ++i)
    probes.push_back({{"name", measured.probes[i].name},
                      {"cycles", measured.probes[i].cycles},
                      {"explained", measured.fitted.explained[i]}});
  return probes;
}

Json json_of(const Findings& found, const DeviceInfo& info) {
  const cost::MemoryTiming& memory = found.last().memory;
  const auto limit = [](auto value) { return value == 0 ? Json() : Json(value); };
  Json json = {{"configuration", info.configuration},
               {"backend", info.backend},
               {"latency", memory.latency},
               {"outstanding", limit(memory.outstanding)},
               {"bandwidth", limit(memory.bandwidth)},
               {"overhead", found.primary.fitted.overhead},
               {"probes", probes_json(found.primary)}};
  if (found.secondary) {
    json["sram_latency"] = memory.sram_latency;
    json["sram_bandwidth"] = limit(memory.sram_bandwidth);
    json["sram_probes"] = probes_json(*found.secondary);
  }
  json["unexplained"] = found.error();
  json["device"] = found.device;
  return json;
}

void print_probes(const char* title, const Measured& measured) {
  program::print("{:<24}{:>10} {:>10}\n", title, "cycles", "explained");
  for (std::size_t i = 0; i < measured.probes.size(); ++i)
    program::print("{:<24}{:>10.0f} {:>10.0f}\n", measured.probes[i].name,
                   measured.probes[i].cycles, measured.fitted.explained[i]);
}

void print(const Findings& found) {
  const cost::MemoryTiming& memory = found.last().memory;
  const auto row = [](const char* what, const std::string& value) {
    program::print("{:<24}{}\n", what, value);
  };
  print_probes("memory", found.primary);
  if (found.secondary) print_probes("secondary memory", *found.secondary);
  program::print("\n");
  row("latency", fmt::format("{} cycles", memory.latency));
  row("requests at once",
      memory.outstanding == 0 ? "no limit seen" : fmt::format("{}", memory.outstanding));
  row("bandwidth", bandwidth_text(memory.bandwidth, found.khz));
  if (found.secondary) {
    row("of secondary memory", fmt::format("{} cycles, {}", memory.sram_latency,
                                           bandwidth_text(memory.sram_bandwidth, found.khz)));
  }
  row("start of a program", fmt::format("{:.0f} cycles", found.primary.fitted.overhead));
  row("left unexplained", fmt::format("{:.1f} %", 100 * found.error()));
  program::print("{}\n", found.device);
}

int measure(const MeasureOptions& options) {
  const Device device = Device::open(options.device, program::open_options());
  const DeviceInfo& info = device.info();
  const Timing timing = timing_of(options, info);
  Findings found;
  found.primary = measure(device, timing, {}, Memory::kDram);
  found.secondary = measure_sram(device, timing, found.primary.fitted.memory);
  found.device = name_of(info, found.last().memory);
  found.khz = info.backend == "sim" ? 0 : timing.khz;
  if (options.json.empty())
    print(found);
  else
    program::print_json(json_of(found, info), options.json);
  if (info.backend == "model")
    program::print(stderr, "nvdla: the model has no clock: these are its predicted cycles\n");
  if (found.error() <= kExplained) return kSuccess;
  program::print(stderr,
                 "nvdla: {:.0f} % of a program's time is not explained by the memory; is it busy "
                 "with something else? Try again on a quiet system\n",
                 100 * found.error());
  return kDifferent;
}

}  // namespace

Run add_measure(CLI::App& app, CLI::App*& command) {
  auto options = std::make_shared<MeasureOptions>();
  command = app.add_subcommand(
      "measure", "Measure the memory behind a device, and print its name for the compiler");
  program::add_device_option(*command, options->device, "Device whose memory is measured");
  command
      ->add_option("--clock", options->clock_khz,
                   "Rate of the device's clock, such as 600MHz, where neither the driver nor the "
                   "device's name tells")
      ->type_name("RATE")
      ->transform(program::rate_in("kHz", 1, 10'000'000));
  program::add_json_option(*command, options->json);
  command->footer(
      "Copies of several lengths and a layer of weights run, in some seconds, and the\n"
      "latency and bandwidth are those with which predicted cycles fit their times.\n"
      "The last line is a name for `nvdla compile --device`: with it the compiler\n"
      "chooses for this memory. Nothing else should use the memory meanwhile. Exit\n"
      "status 1 says that the times do not fit.\n"
      "\n"
      "Examples:\n"
      "  nvdla measure --device kernel\n"
      "  nvdla measure --device kernel --clock 600MHz\n"
      "  nvdla measure --device sim:/tmp/nvdla\n"
      "  nvdla measure --device model:nv_full,latency=50,bandwidth=20 --json");
  return [options] { return measure(*options); };
}

}  // namespace nvdla::cli
