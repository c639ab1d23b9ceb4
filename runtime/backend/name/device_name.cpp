// SPDX-License-Identifier: MIT
#include "backend/name/device_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "backend/info.hpp"
#include "model/core/options.hpp"
#include "support/check.hpp"
#include "support/quantity.hpp"

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
// Bytes a cycle, many times what an interface takes.
constexpr unsigned kMaxBandwidth = 65536;
constexpr unsigned kMaxStall = 86400;  // seconds: a day

// One table of names and options, from which --help, the manual and error messages are made; the
// README and Device::open() list the same ones.
const std::array kForms = std::to_array<DeviceForm>({
    {"model:nv_small", "the device model in this process; without a configuration nv_full"},
    {"/dev/accel/accel0", "a kernel device by its path; a render node on older kernels"},
    {"kernel", "the first kernel device"},
    {"sim:/tmp/nvdla", "a simulator of the logic that listens at this socket"},
    {"mmio:0000:00:04.0",
     "registers that the program maps: a PCI function, /dev/uio0 or an address"},
    {"auto",
     "the one that NVDLA_DEVICE names, else the first kernel device, else the model; commands take "
     "it without --device"},
});

const std::array kOptions = std::to_array<DeviceOption>({
    {"model", "threads", fmt::format("<1 to {}>", model::kMaxThreads),
     "threads that share a layer; one for each processor unless given"},
    {"model", "latency", fmt::format("<1 to {} cycles>", kMaxLatency),
     "cycles until memory answers reads and writes, for predicted cycles and counters of stalls; "
     "1"},
    {"model", "outstanding", fmt::format("<1 to {} requests>", kMaxOutstanding),
     "requests on their way to memory at once; as many as there are"},
    {"model", "bandwidth",
     fmt::format("<up to {} bytes a cycle, or such as 20GB/s>", kMaxBandwidth),
     "what memory reads and writes at most, for the same; bytes a second need clock; as much as "
     "the "
     "interface takes"},
    {"model", "clock", "<rate>", "rate of the clock, such as 1GHz, for bytes a second"},
    {"model", "sram", "<size>",
     "of secondary memory, for buffers there; as much as this machine has"},
    {"model", "sram-latency", fmt::format("<1 to {} cycles>", kMaxLatency),
     "of secondary memory; that of latency"},
    {"model", "sram-bandwidth",
     fmt::format("<up to {} bytes a cycle, or such as 20GB/s>", kMaxBandwidth),
     "of secondary memory; as much as the interface takes"},
    {"model", "fp16", "<exact or fast>",
     "fast: fp16 convolutions in fp32, some 20 times as fast and not bit by bit; exact"},
    {"model", "gating", "<on or off>",
     "off: logic without the fault of clock gates that loses weights; on"},
    {"model", "revision", "<2018 or 2019>",
     "year of the published logic of nv_small: that of 2019 reads no more than 8 atoms ahead"},
    {"sim", "config", "<configuration>", "which one it is; else the simulator tells"},
    {"sim", "gating", "<on or off>", "as of the model; needs config"},
    {"sim", "revision", "<2018 or 2019>", "as of the model; needs config"},
    {"sim", "stall", fmt::format("<1s to {}s>", kMaxStall),
     "time without a sign of life that is an error; 60s"},
    {"sim", "memory", "messages", "never share memory with the simulator"},
    {"mmio", "config", "<configuration>", "which one it is, where the registers do not show it"},
    {"mmio", "gating", "<on or off>", "as of the model; needs config"},
    {"mmio", "revision", "<2018 or 2019>", "as of the model; needs config"},
    {"mmio", "memory", "<size, or size@address>",
     "memory for buffers in whole pages: so much of huge pages, or what the kernel leaves alone"},
    {"mmio", "sram", "<size@address>", "memory behind the second interface, in whole pages"},
    {"mmio", "clock", "<rate>", "rate of its clock, such as 600MHz"},
    {"mmio", "interrupt", "<on or poll>", "poll: read the interrupt status; on"},
});

std::vector<DeviceOption> options_of(std::string_view form) {
  std::vector<DeviceOption> options;
  for (const DeviceOption& option : kOptions)
    if (option.form == form) options.push_back(option);
  return options;
}

// 0 for what is no number in 1..most.
unsigned parse_number(std::string_view value, unsigned most) {
  unsigned number = 0;
  const char* const end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data(), end, number);
  return error == std::errc() && stop == end && number <= most ? number : 0;
}

bool parse_revision(std::string_view value, unsigned& revision) {
  revision = parse_number(value, kRevisions[1]);
  return std::find(std::begin(kRevisions), std::end(kRevisions), revision) != std::end(kRevisions);
}

// `hw` in logic of a revision, 0 where the name says none.
const nvdla_hw* revised(std::string_view name, const nvdla_hw* hw, unsigned revision) {
  if (revision == 0) return hw;
  if (hw->name != kRevised) {
    throw Error(
        ErrorCode::kNoDevice,
        fmt::format("device '{}': 'revision={}' is of {}: the logic of {} was published once", name,
                    revision, kRevised, hw->name));
  }
  return &with_revision(*hw, revision);
}

// `Bandwidth` is one as it stands in a name, and its value.
struct Bandwidth {
  std::string_view key = {}, value = {};
  std::uint64_t thousandths = 0;  // of a byte a cycle, where there is no unit
  std::uint64_t bytes_a_second = 0;

  bool given() const noexcept { return thousandths != 0 || bytes_a_second != 0; }
};

// `ModelWords` has the options of a name before they are put together: the clock may come last.
struct ModelWords {
  ModelOptions options;
  Bandwidth dram = {.key = "bandwidth"}, sram = {.key = "sram-bandwidth"};
  std::uint64_t hertz = 0;
};

bool parse_bandwidth_option(std::string_view value, Bandwidth& bandwidth) {
  bandwidth.value = value;
  bandwidth.thousandths = parse_thousandths(value).value_or(0);
  bandwidth.bytes_a_second =
      bandwidth.thousandths == 0 && value.ends_with("/s") ? parse_bandwidth(value).value_or(0) : 0;
  return bandwidth.given() && bandwidth.thousandths <= kMaxBandwidth * std::uint64_t{1000};
}

// Returns bytes a cycle.
double bytes_a_cycle(std::string_view name, const Bandwidth& bandwidth, std::uint64_t hertz) {
  if (bandwidth.bytes_a_second == 0) return static_cast<double>(bandwidth.thousandths) / 1000;
  if (hertz == 0) {
    throw Error(
        ErrorCode::kNoDevice,
        fmt::format("device '{}': '{}={}' needs 'clock=<rate>'; without a unit it is bytes a cycle",
                    name, bandwidth.key, bandwidth.value));
  }
  const double bytes = static_cast<double>(bandwidth.bytes_a_second) / static_cast<double>(hertz);
  if (bytes > kMaxBandwidth) {
    throw Error(ErrorCode::kNoDevice,
                fmt::format("device '{}': '{}={}' is {:.0f} bytes a cycle, expected up to {}", name,
                            bandwidth.key, bandwidth.value, bytes, kMaxBandwidth));
  }
  return bytes;
}

// One "<option>=<value>"; false for what is none.
bool parse_option(std::string_view key, std::string_view value, ModelWords& words) {
  ModelOptions& options = words.options;
  cost::MemoryTiming& memory = options.memory;
  if (key == "threads") return (options.threads = parse_number(value, model::kMaxThreads)) != 0;
  if (key == "latency") {
    memory.latency = memory.write_latency = parse_number(value, kMaxLatency);
    return memory.latency != 0;
  }
  if (key == "sram-latency") return (memory.sram_latency = parse_number(value, kMaxLatency)) != 0;
  if (key == "bandwidth") return parse_bandwidth_option(value, words.dram);
  if (key == "sram-bandwidth") return parse_bandwidth_option(value, words.sram);
  if (key == "clock") return (words.hertz = parse_rate(value, "").value_or(0)) != 0;
  if (key == "sram") return (options.sram_bytes = parse_size(value).value_or(0)) != 0;
  if (key == "outstanding") return (memory.outstanding = parse_number(value, kMaxOutstanding)) != 0;
  if (key == "fp16" && (value == "exact" || value == "fast")) {
    options.fast_fp16 = value == "fast";
    return true;
  }
  if (key == "revision") return parse_revision(value, options.revision);
  if (key != "gating" || (value != "on" && value != "off")) return false;
  options.gating = value == "on";
  return true;
}

// Returns "'threads=<1 to 64>', ... or 'gating=<on or off>'" from the table, or the one option
// whose key is there.
std::string options_text(std::string_view form, std::string_view key) {
  std::string text;
  auto all = options_of(form);
  const auto known = std::find_if(all.begin(), all.end(),
                                  [&](const DeviceOption& option) { return option.key == key; });
  if (known != all.end()) all = {*known};
  for (std::size_t i = 0; i < all.size(); ++i)
    text += fmt::format("{}'{}={}'",
                        i == 0                ? ""
                        : i + 1 == all.size() ? " or "
                                              : ", ",
                        all[i].key, all[i].value);
  return text;
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

ModelOptions parse_options(std::string_view name, std::string_view rest, const nvdla_hw& hw) {
  ModelWords words;
  for_options(rest, [&](auto key, auto value, auto option) {
    if (!parse_option(key, value, words)) {
      throw_error(ErrorCode::kNoDevice, "device '{}': expected {} behind the comma, not '{}'", name,
                  options_text("model", key), option);
    }
    if (key.starts_with("sram") && (hw.features & NVDLA_HW_SRAM) == 0) {
      throw Error(
          ErrorCode::kNoDevice,
          fmt::format(
              "device '{}': '{}' is of configurations with a secondary memory interface, which {} "
              "lacks",
              name, option, hw.name));
    }
  });
  words.options.memory.bandwidth = bytes_a_cycle(name, words.dram, words.hertz);
  words.options.memory.sram_bandwidth = bytes_a_cycle(name, words.sram, words.hertz);
  return words.options;
}

// "model[:<configuration>][,<option>=<value>]..."
DeviceName parse_model(std::string_view name) {
  const std::size_t comma = std::min(name.find(','), name.size());
  DeviceName parsed{.kind = Kind::kModel, .hw = &default_configuration()};
  const std::string_view behind = name.substr(kModel.size(), comma - kModel.size());
  if (!behind.empty()) parsed.hw = find_configuration(behind.substr(1));
  if (parsed.hw == nullptr) {
    throw_error(ErrorCode::kNoDevice, "device '{}': no configuration is called '{}'; there are {}",
                name, behind.substr(1), configuration_names());
  }
  parsed.options = parse_options(name, name.substr(comma), *parsed.hw);
  if (!parsed.options.gating) parsed.hw = &without_weight_gating(*parsed.hw);
  parsed.hw = revised(name, parsed.hw, parsed.options.revision);
  return parsed;
}

bool parse_sim_option(std::string_view key, std::string_view value, SimOptions& sim) {
  if (key == "memory") return sim.messages = value == "messages";
  constexpr std::uint64_t kSecond = 1'000'000'000;
  const auto stall = parse_time(value, "s");
  if (key != "stall" || !stall || *stall % kSecond != 0 || *stall / kSecond > kMaxStall)
    return false;
  sim.stall = static_cast<unsigned>(*stall / kSecond);
  return sim.stall != 0;
}

bool parse_gating(std::string_view value, bool& gating) {
  gating = value != "off";
  return value == "on" || value == "off";
}

// The options of devices whose configuration may be named: it and "gating" in any order, and those
// that parse(key, value) takes. The table has them all, below `form`.
template <typename Parse>
void parse_named(std::string_view name, std::string_view rest, std::string_view form,
                 DeviceName& parsed, const Parse& parse) {
  bool gating = true;
  unsigned revision = 0;
  for_options(rest, [&](auto key, auto value, auto option) {
    if (key == "config") {
      parsed.hw = find_configuration(value);
      if (parsed.hw != nullptr) return;
      throw_error(ErrorCode::kNoDevice,
                  "device '{}': no configuration is called '{}'; there are {}", name, value,
                  configuration_names());
    }
    if (key == "gating"     ? parse_gating(value, gating)
        : key == "revision" ? parse_revision(value, revision)
                            : parse(key, value))
      return;
    throw_error(ErrorCode::kNoDevice, "device '{}': expected {} behind the comma, not '{}'", name,
                options_text(form, key), option);
  });
  if (parsed.hw == nullptr && (!gating || revision != 0)) {
    throw_error(ErrorCode::kNoDevice, "device '{}': '{}' needs 'config=<configuration>'", name,
                gating ? fmt::format("revision={}", revision) : "gating=off");
  }
  if (!gating) parsed.hw = &without_weight_gating(*parsed.hw);
  parsed.hw = revised(name, parsed.hw, revision);
}

// "sim:<path>[,<option>=<value>]..."
DeviceName parse_sim(std::string_view name) {
  DeviceName parsed{.kind = Kind::kSim};
  const std::size_t comma = std::min(name.find(','), name.size());
  parsed.path = name.substr(kSim.size(), comma - kSim.size());
  if (parsed.path.empty()) {
    throw_error(ErrorCode::kNoDevice,
                "device '{}': expected the path of a simulator's socket behind '{}'", name, kSim);
  }
  parse_named(name, name.substr(comma), "sim", parsed,
              [&](auto key, auto value) { return parse_sim_option(key, value, parsed.sim); });
  return parsed;
}

// "mmio:<place>[,<option>=<value>]..."
DeviceName parse_mmio(std::string_view name) {
  DeviceName parsed{.kind = Kind::kMmio};
  const std::size_t comma = std::min(name.find(','), name.size());
  const auto place = parse_mmio_place(name.substr(kMmio.size(), comma - kMmio.size()));
  if (!place) {
    throw_error(
        ErrorCode::kNoDevice,
        "device '{}': expected a PCI function such as 0000:00:04.0, a device of UIO such as "
        "/dev/uio0 or the address of a page such as 0x10040000 behind '{}'",
        name, kMmio);
  }
  parsed.mmio = *place;
  parse_named(name, name.substr(comma), "mmio", parsed,
              [&](auto key, auto value) { return parse_mmio_option(key, value, parsed.mmio); });
  // Devices of UIO may belong to PCI, which is seen when they are opened.
  if (parsed.mmio.form == MmioName::Form::kPhysical && !parsed.mmio.memory) {
    throw_error(ErrorCode::kNoDevice, "device '{}': {}", name, kNeedsReservedMemory);
  }
  return parsed;
}

// Returns true for a name that begins with "model" as a whole word, before its end, a colon or a
// comma.
bool names_model(std::string_view name) {
  return name.starts_with(kModel) &&
         (name.size() == kModel.size() || name[kModel.size()] == ':' || name[kModel.size()] == ',');
}

}  // namespace

std::span<const DeviceForm> device_forms() { return kForms; }
std::span<const DeviceOption> device_options() { return kOptions; }

MemorySpeed memory_speed(const cost::MemoryTiming& timing) noexcept {
  return {.latency = timing.latency,
          .outstanding = timing.outstanding,
          .bandwidth = timing.bandwidth,
          .sram_latency = timing.sram_latency,
          .sram_bandwidth = timing.sram_bandwidth};
}

bool is_model_name(std::string_view name) {
  if (!name.starts_with(kModel)) return false;
  try {
    return parse_device_name(name).kind == Kind::kModel;
  } catch (const Error&) {
    return false;
  }
}

std::string model_name(const nvdla_hw& hw, const MemorySpeed& memory, std::uint64_t sram_bytes) {
  constexpr MemorySpeed kDefault;
  std::string name = fmt::format("model:{}", hw.name);
  const auto add = [&](std::string_view key, auto value, decltype(value) left_out) {
    if (value != left_out) name += fmt::format(",{}={}", key, value);
  };
  const auto add_bandwidth = [&](std::string_view key, double bytes) {
    if (bytes > 0) name += fmt::format(",{}={:g}", key, std::round(bytes * 1000) / 1000);
  };
  const std::uint32_t lacks = find_configuration(hw.name)->features & ~hw.features;
  if ((lacks & NVDLA_HW_WEIGHT_GATING) != 0) name += ",gating=off";
  add("revision", hw.revision, 0U);
  add("latency", memory.latency, kDefault.latency);
  add("outstanding", memory.outstanding, kDefault.outstanding);
  add_bandwidth("bandwidth", memory.bandwidth);
  add("sram", sram_bytes, std::uint64_t{0});
  add("sram-latency", memory.sram_latency, kDefault.sram_latency);
  add_bandwidth("sram-bandwidth", memory.sram_bandwidth);
  return name;
}

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
  throw_error(
      ErrorCode::kNoDevice,
      "no device is called '{}'; valid are 'auto', 'kernel' (the first kernel device), the path "
      "of one such as /dev/accel/accel0, 'model' and 'model:<configuration>' with one of {}, "
      "'sim:<path of a simulator's socket>', and 'mmio:<PCI function, device of UIO or "
      "address>'; options such as ',threads=2' may follow: `nvdla --help` lists them",
      name, configuration_names());
}

DeviceName choose_device_name(std::string_view name) {
  const DeviceName given = parse_device_name(name);
  const char* const value = std::getenv(kVariable);
  if (given.kind != Kind::kAuto || value == nullptr || *value == '\0') return given;
  try {
    return parse_device_name(value);
  } catch (const Error& error) {
    throw_error(ErrorCode::kNoDevice, "{}: {}", kVariable, error.what());
  }
}

}  // namespace nvdla::detail
