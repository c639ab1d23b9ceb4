// SPDX-License-Identifier: MIT
#include "backend/device_name.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "backend/info.hpp"
#include "base/check.hpp"
#include "model/device.hpp"

namespace nvdla::detail {
namespace {

using Kind = DeviceName::Kind;

constexpr std::string_view kModel = "model";
constexpr std::string_view kSim = "sim:";
constexpr std::string_view kMmio = "mmio:";
constexpr const char* kVariable = "NVDLA_DEVICE";

// Cycles, and requests.
constexpr unsigned kMaxLatency = 100000;
constexpr unsigned kMaxOutstanding = 4096;

// 0 for what is no number in 1..most.
unsigned parse_number(std::string_view value, unsigned most) {
  unsigned number = 0;
  const char* const end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data(), end, number);
  return error == std::errc() && stop == end && number <= most ? number : 0;
}

// One "<option>=<value>"; false for what is none.
bool parse_option(std::string_view key, std::string_view value, ModelOptions& options) {
  model::cycles::MemoryTiming& memory = options.memory;
  if (key == "threads") return (options.threads = parse_number(value, model::kMaxThreads)) != 0;
  if (key == "latency") return (memory.latency = parse_number(value, kMaxLatency)) != 0;
  if (key == "outstanding") return (memory.outstanding = parse_number(value, kMaxOutstanding)) != 0;
  if (key == "fp16" && (value == "exact" || value == "fast")) {
    options.fast_fp16 = value == "fast";
    return true;
  }
  if (key != "gating" || (value != "on" && value != "off")) return false;
  options.gating = value == "on";
  return true;
}

// Calls visit(key, value, option) for each ",<key>=<value>" of `rest`.
template <typename Visit>
void for_options(std::string_view rest, const Visit& visit) {
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',', 1);
    const std::string_view option = rest.substr(1, comma == rest.npos ? comma : comma - 1);
    rest = comma == rest.npos ? std::string_view() : rest.substr(comma);
    const std::size_t equals = std::min(option.find('='), option.size());
    visit(option.substr(0, equals), option.substr(std::min(equals + 1, option.size())), option);
  }
}

ModelOptions parse_options(std::string_view name, std::string_view rest) {
  ModelOptions options;
  for_options(rest, [&](auto key, auto value, auto option) {
    if (parse_option(key, value, options)) return;
    refuse(
        ErrorCode::kNoDevice,
        "device '{}': expected 'threads=<1 to {}>', 'latency=<1 to {} cycles>', "
        "'outstanding=<1 to {} requests>', 'fp16=<exact or fast>' or 'gating=<on or off>' behind "
        "the comma, not '{}'",
        name, model::kMaxThreads, kMaxLatency, kMaxOutstanding, option);
  });
  return options;
}

// "model[:<configuration>][,<option>=<value>]..."
DeviceName parse_model(std::string_view name) {
  const std::size_t comma = std::min(name.find(','), name.size());
  DeviceName parsed{.kind = Kind::kModel, .hw = &default_configuration()};
  parsed.options = parse_options(name, name.substr(comma));
  const std::string_view behind = name.substr(kModel.size(), comma - kModel.size());
  if (!behind.empty()) parsed.hw = find_configuration(behind.substr(1));
  if (parsed.hw == nullptr) {
    refuse(ErrorCode::kNoDevice, "device '{}': no configuration is called '{}'; there are {}", name,
           behind.substr(1), configuration_names());
  }
  if (!parsed.options.gating) parsed.hw = &without_weight_gating(*parsed.hw);
  return parsed;
}

constexpr unsigned kMaxStall = 86400;

bool parse_sim_option(std::string_view key, std::string_view value, SimOptions& sim) {
  if (key == "memory") return sim.messages = value == "messages";
  return key == "stall" && (sim.stall = parse_number(value, kMaxStall)) != 0;
}

bool parse_gating(std::string_view value, bool& gating) {
  gating = value != "off";
  return value == "on" || value == "off";
}

// The options of devices whose configuration may be named: it and "gating" in any order, and those
// that parse(key, value) takes, which `others` describes.
template <typename Parse>
void parse_named(std::string_view name, std::string_view rest, const std::string& others,
                 DeviceName& parsed, const Parse& parse) {
  bool gating = true;
  for_options(rest, [&](auto key, auto value, auto option) {
    if (key == "config") {
      parsed.hw = find_configuration(value);
      if (parsed.hw != nullptr) return;
      refuse(ErrorCode::kNoDevice, "device '{}': no configuration is called '{}'; there are {}",
             name, value, configuration_names());
    }
    if (key == "gating" ? parse_gating(value, gating) : parse(key, value)) return;
    refuse(ErrorCode::kNoDevice,
           "device '{}': expected 'config=<configuration>', 'gating=<on or off>', {} behind the "
           "comma, not '{}'",
           name, others, option);
  });
  if (gating) return;
  if (parsed.hw == nullptr) {
    refuse(ErrorCode::kNoDevice, "device '{}': 'gating=off' needs 'config=<configuration>'", name);
  }
  parsed.hw = &without_weight_gating(*parsed.hw);
}

// "sim:<path>[,<option>=<value>]..."
DeviceName parse_sim(std::string_view name) {
  DeviceName parsed{.kind = Kind::kSim};
  const std::size_t comma = std::min(name.find(','), name.size());
  parsed.path = name.substr(kSim.size(), comma - kSim.size());
  if (parsed.path.empty()) {
    refuse(ErrorCode::kNoDevice,
           "device '{}': expected the path of a simulator's socket behind '{}'", name, kSim);
  }
  const std::string others =
      fmt::format("'stall=<1 to {} seconds>' or 'memory=messages'", kMaxStall);
  parse_named(name, name.substr(comma), others, parsed,
              [&](auto key, auto value) { return parse_sim_option(key, value, parsed.sim); });
  return parsed;
}

// "mmio:<place>[,<option>=<value>]..."
DeviceName parse_mmio(std::string_view name) {
  DeviceName parsed{.kind = Kind::kMmio};
  const std::size_t comma = std::min(name.find(','), name.size());
  const auto place = parse_mmio_place(name.substr(kMmio.size(), comma - kMmio.size()));
  if (!place) {
    refuse(ErrorCode::kNoDevice,
           "device '{}': expected a PCI function such as 0000:00:04.0, a device of UIO such as "
           "/dev/uio0 or the address of a page such as 0x10040000 behind '{}'",
           name, kMmio);
  }
  parsed.mmio = *place;
  parse_named(name, name.substr(comma),
              "'memory=<size of huge pages>', 'memory=<size>@<address>', 'sram=<size>@<address>', "
              "in whole pages, 'clock=<kHz>', 'interrupt=<on or poll>'",
              parsed,
              [&](auto key, auto value) { return parse_mmio_option(key, value, parsed.mmio); });
  // Devices of UIO may belong to PCI, which is seen when they are opened.
  if (parsed.mmio.form == MmioName::Form::kPhysical && !parsed.mmio.memory) {
    refuse(ErrorCode::kNoDevice, "device '{}': {}", name, kNeedsReservedMemory);
  }
  return parsed;
}

// Whether what follows "model" in a name can belong to it.
bool names_model(std::string_view name) {
  return name.starts_with(kModel) &&
         (name.size() == kModel.size() || name[kModel.size()] == ':' || name[kModel.size()] == ',');
}

}  // namespace

const nvdla_hw& default_configuration() noexcept { return *find_configuration("nv_full"); }

std::string configuration_names() {
  std::string names;
  for (std::uint32_t i = 0; i < nvdla_hw_count(); ++i) {
    names += (i == 0 ? "" : ", ") + std::string(nvdla_hw_get(i)->name);
  }
  return names;
}

DeviceName parse_device_name(std::string_view name) {
  if (name == "auto") return {.kind = Kind::kAuto};
  if (name == "kernel") return {.kind = Kind::kKernel};
  if (names_model(name)) return parse_model(name);
  if (name.starts_with(kSim)) return parse_sim(name);
  if (name.starts_with(kMmio)) return parse_mmio(name);
  if (name.find('/') != name.npos) return {.kind = Kind::kKernel, .path = std::string(name)};
  refuse(
      ErrorCode::kNoDevice,
      "no device is called '{}'; valid are 'auto', 'kernel' (the first kernel device), the path "
      "of one such as /dev/accel/accel0, 'model' and 'model:<configuration>' with one of {}; "
      "'model' may end in ',threads=<n>', ',latency=<n>', ',outstanding=<n>' and ',gating=off'; "
      "'sim:<path of a simulator's socket>'; and 'mmio:<PCI function, device of UIO or address>'",
      name, configuration_names());
}

DeviceName choose_device_name(std::string_view name) {
  const DeviceName given = parse_device_name(name);
  const char* const value = std::getenv(kVariable);
  if (given.kind != Kind::kAuto || value == nullptr || *value == '\0') return given;
  try {
    return parse_device_name(value);
  } catch (const Error& error) {
    refuse(ErrorCode::kNoDevice, "{}: {}", kVariable, error.what());
  }
}

}  // namespace nvdla::detail
