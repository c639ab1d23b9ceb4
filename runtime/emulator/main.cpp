// SPDX-License-Identifier: MIT
//
// nvdla-device-server: starts QEMU or User-mode Linux with an NVDLA in it, which the device model
// computes; or is a simulator for the runtime, with the model for its logic.
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "backend/name/device_name.hpp"
#include "emulator/device/child.hpp"
#include "emulator/device/function.hpp"
#include "emulator/device/log.hpp"
#include "emulator/device/platform.hpp"
#include "emulator/device/qemu.hpp"
#include "emulator/device/qtest.hpp"
#include "emulator/simulated_model.hpp"
#include "emulator/vhost/uml.hpp"
#include "emulator/vhost/vhost_device.hpp"
#include "model/device.hpp"
#include "tools/common/numbers.hpp"
#include "tools/common/print.hpp"
#include "tools/common/program.hpp"

namespace nvdla::emulator {
namespace program = nvdla::program;
namespace {

class ModelAccelerator final : public Accelerator {
 public:
  ModelAccelerator(const nvdla_hw& hw, model::Bus& bus, const model::Options& options)
      : device_(hw, bus, options) {}

  std::uint32_t read(std::uint32_t offset) override { return device_.read(offset); }
  void write(std::uint32_t offset, std::uint32_t value) override { device_.write(offset, value); }
  bool interrupt() const override { return device_.interrupt(); }
  bool settle() override { return device_.settle(); }
  bool step() override { return device_.step(); }
  bool idle() const override { return device_.idle(); }
  void reset() override { device_.reset(); }

 private:
  model::Device device_;
};

// Kills the machine when it runs for too long.
class Watchdog {
 public:
  Watchdog(Child& machine, unsigned seconds) {
    if (seconds == 0) return;
    thread_ = std::thread([this, &machine, seconds] {
      std::unique_lock lock(mutex_);
      if (changed_.wait_for(lock, std::chrono::seconds(seconds), [this] { return stopping_; }))
        return;
      fired_ = true;
      machine.kill();
    });
  }
  ~Watchdog() { stop(); }

  // After this the child may be waited for; true if it was killed.
  bool stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
    return fired_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  bool fired_ = false;
  std::thread thread_;
};

struct Arguments {
  std::string device;
  std::string claim;
  Machine machine;
  std::vector<std::string> qemu;
  bool no_reset = false;
  std::string dma_log;
  std::string sram;
  bool stale = false;
  std::vector<std::string> uncached;
  unsigned time_out = 0;
  std::string quirks = "auto";
  bool quiet = false;
  Faults faults;
  std::string simulator;
  bool only_messages = false;
};

// The exit status of a timeout, as for timeout(1).
constexpr int kTimeOut = 124;
constexpr const char* kDefaultDevice = "model:nv_small";

// Parses the name of the machine's device, which must be a model.
detail::DeviceName model_named(const std::string& name) {
  using Kind = detail::DeviceName::Kind;
  detail::DeviceName chosen = detail::choose_device_name(name);
  if (chosen.kind == Kind::kAuto) chosen = detail::parse_device_name(kDefaultDevice);
  if (chosen.kind != Kind::kModel) {
    throw program::UsageError(
        "the machine's device is computed by the model; expected --device model:<configuration> "
        "with one of " +
        detail::configuration_names());
  }
  return chosen;
}

const nvdla_hw& configuration_named(const std::string& name) {
  if (const nvdla_hw* hw = nvdla_hw_find(name.c_str())) return *hw;
  throw program::UsageError("no configuration is called '" + name + "'; there are " +
                            detail::configuration_names());
}

// Checks a file early; otherwise QEMU would fail on it after it has started.
void check_file(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored))
    throw program::UsageError(path + ": there is no such file");
  if (!std::filesystem::is_regular_file(path, ignored))
    throw program::UsageError(path + ": is not a regular file; expected one");
}

std::string is_window(const std::string& text) {
  return parse_window(text) ? std::string() : text + " is not SIZE@ADDRESS";
}

void declare(CLI::App& app, Arguments& arguments) {
  program::add_device_option(app, arguments.device,
                             "Model of the NVDLA, such as model:nv_full,threads=2; auto "
                             "with NVDLA_DEVICE unset: " +
                                 std::string(kDefaultDevice));
  app.add_option("--claim", arguments.claim, "Configuration that its PCI id stands for, if another")
      ->type_name("NAME");
  auto* const simulator =
      app.add_option("--simulator", arguments.simulator,
                     "Instead of a machine: serve the runtime at this socket, as sim:PATH")
          ->type_name("PATH");
  app.add_flag("--only-messages", arguments.only_messages,
               "There: do not share memory, as with a simulator elsewhere")
      ->needs(simulator);
  app.add_option(
         "--route", arguments.machine.route,
         "How the driver finds it: pci, acpi, dt (aarch64, device tree), uml (User-mode Linux, "
         "without QEMU)")
      ->transform(CLI::Transformer(std::map<std::string, Route>{{"pci", Route::kPci},
                                                                {"acpi", Route::kAcpi},
                                                                {"dt", Route::kDeviceTree},
                                                                {"uml", Route::kUml}}))
      ->type_name("ROUTE");
  app.add_option("--plugin", arguments.machine.plugin,
                 "nvdla-window.so, for the routes acpi and dt")
      ->type_name("FILE");
  app.add_option("--description", arguments.machine.description,
                 "There: the compiled ACPI table or device tree that has the device")
      ->type_name("FILE");
  app.add_option("--cpus", arguments.machine.processors, "Processors of the machine, there")
      ->check(program::whole_number(1, 8))
      ->capture_default_str();
  app.add_option("--kernel", arguments.machine.kernel,
                 "Kernel image to boot, a program for the route uml")
      ->type_name("FILE");
  app.add_option("--initrd", arguments.machine.initrd, "Its initial file system")
      ->type_name("FILE");
  app.add_option("--append", arguments.machine.append, "Its command line");
  app.add_option("--memory", arguments.machine.memory, "Memory of the machine")
      ->capture_default_str();
  app.add_option("qemu", arguments.qemu,
                 "After --: a QEMU command of your own instead of "
                 "--kernel, --initrd, --append and --memory; it needs a "
                 "q35 machine whose memory is a shared memfd, one "
                 "processor and no VGA");
  app.add_flag("--no-reset", arguments.no_reset, "The function cannot be reset");
  app.add_option("--sram", arguments.sram,
                 "SIZE@ADDRESS, such as 1M@0x14000000: memory of the "
                 "guest that only the second memory interface reaches; "
                 "the guest is to keep it free (memmap=SIZE$ADDRESS)")
      ->type_name("WINDOW")
      ->check(is_window);
  app.add_flag("--stale", arguments.stale,
               "The device has its own view of memory, as where it is not coherent with caches: "
               "a guest needs nvdla_machine.ko");
  app.add_option(
         "--uncached", arguments.uncached,
         "SIZE@ADDRESS, with --stale: memory that the guest maps so that no cache holds it; "
         "may be repeated")
      ->type_name("WINDOW")
      ->check(is_window)
      ->allow_extra_args(false);
  app.add_option("--dma-log", arguments.dma_log, "Write each memory access of the device there")
      ->type_name("FILE");
  app.add_option("--time-out", arguments.time_out,
                 "Time after which the machine is killed, such as 10min, 0: never")
      ->transform(program::time_in("s", 0, 31'536'000))
      ->type_name("TIME")
      ->capture_default_str();
  app.add_option("--quirks", arguments.quirks,
                 "Follow the logic with its clock gates at work (gated), without "
                 "them (rtl), or the reference model (cmodel); auto: as the "
                 "configuration is built, ungated with gating=off")
      ->check(CLI::IsMember({"auto", "rtl", "cmodel", "gated"}))
      ->capture_default_str();
  app.add_flag("--quiet", arguments.quiet, "Say nothing about resets and faults");

  const std::string before = app.option_defaults()->get_group();
  app.option_defaults()->group("Misbehaviour (a guest can ask for it too: fault_capability.h)");
  app.add_option("--swallow-interrupts", arguments.faults.swallow_interrupts,
                 "Do not deliver the first N interrupts");
  app.add_option("--swallow-completions", arguments.faults.swallow_completions,
                 "Never show the first N completions");
  app.add_option("--block", arguments.faults.block, "Block at the N-th layer");
  app.add_option("--late", arguments.faults.late_ms,
                 "Run a blocked layer after this time, such as 20ms, and "
                 "overwrite its output")
      ->transform(program::time_in("ms", 0, 86'400'000))
      ->type_name("TIME");
  app.add_option("--delay", arguments.faults.delay_us, "Time before each layer, such as 50us")
      ->transform(program::time_in("us", 0, 3'600'000'000))
      ->type_name("TIME");
  app.add_option("--pattern", arguments.faults.pattern, "Byte that late writes leave")
      ->check(program::whole_number(0, 255));
  app.add_flag_callback(
      "--gone", [&] { arguments.faults.gone = 1; }, "Registers read as ones");
  app.add_option("--ones-reads", arguments.faults.ones_reads,
                 "The first N register reads are ones");
  app.add_option("--ones", arguments.faults.ones_ms,
                 "Registers read as ones for this time, such as 20ms")
      ->transform(program::time_in("ms", 0, 86'400'000))
      ->type_name("TIME");
  app.add_option("--garbage-reads", arguments.faults.garbage_reads,
                 "The first N register reads are random");
  app.add_option("--garbage-seed", arguments.faults.garbage_seed, "Of these random words")
      ->capture_default_str();
  app.add_option("--storm", arguments.faults.storm_hz,
                 "Rate of interrupts without reason, such as 10kHz")
      ->transform(program::rate_in("Hz", 0, 1'000'000))
      ->type_name("RATE");
  app.add_option("--reset", arguments.faults.reset,
                 "Resets of the function do that: work; fail; or barely "
                 "work, and the device goes on")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, std::uint32_t>{{"works", NVDLA_FAULT_RESET_WORKS},
                                               {"fails", NVDLA_FAULT_RESET_FAILS},
                                               {"barely", NVDLA_FAULT_RESET_BARELY}}));
  app.add_option("--reset-time", arguments.faults.reset_ms,
                 "Everything reads as ones for this time after a reset, such as 20ms")
      ->transform(program::time_in("ms", 0, 86'400'000))
      ->type_name("TIME");
  app.option_defaults()->group(before);
}

// Returns the addresses of the register window; nullptr for routes without a window.
const Place* place_of(const Arguments& arguments) {
  const Machine& machine = arguments.machine;
  if (machine.route == Route::kPci || machine.route == Route::kUml) {
    if (machine.processors != 1)
      throw program::UsageError("--cpus: one processor is possible on the routes pci and uml");
    if (!machine.plugin.empty() || !machine.description.empty())
      throw program::UsageError("--plugin and --description are for the routes acpi and dt");
    if (machine.route == Route::kUml && !arguments.qemu.empty())
      throw program::UsageError("the route uml has no QEMU");
    return nullptr;
  }
  if (!arguments.qemu.empty())
    throw program::UsageError("a QEMU command of your own has the route pci");
  if (machine.plugin.empty() || machine.description.empty())
    throw program::UsageError("the routes acpi and dt need --plugin and --description");
  return machine.route == Route::kAcpi ? &kAcpiPlace : &kDeviceTreePlace;
}

model::Options model_options(const Arguments& arguments, const detail::DeviceName& device) {
  model::Options options;
  // One thread suffices for the layers of tests and leaves the other processors to the machine.
  options.threads = device.options.threads == 0 ? 1 : device.options.threads;
  options.memory = device.options.memory;
  options.quirks = model::find_quirks(arguments.quirks).value_or(model::silicon_quirks(*device.hw));
  return options;
}

// The device of a machine that has been started; `serve` answers it until it is gone.
int drive(const Arguments& arguments, const detail::DeviceName& device,
          const Function::Options& card, Child& machine, InterruptPort& port,
          const std::function<void(Function&)>& serve) {
  Function function(*device.hw, port, card);
  function.start(std::make_unique<ModelAccelerator>(*device.hw, function.bus(),
                                                    model_options(arguments, device)));
  Watchdog watchdog(machine, arguments.time_out);
  serve(function);
  if (card.dma_log != nullptr) card.dma_log->close();
  if (watchdog.stop()) {
    program::print(stderr, "nvdla-device-server: time-out: the machine was killed after {} s\n",
                   arguments.time_out);
    return kTimeOut;
  }
  return machine.wait();
}

[[noreturn]] void simulate(const Arguments& arguments) {
  if (!arguments.machine.kernel.empty() || !arguments.qemu.empty())
    throw program::UsageError(
        "--simulator starts no machine: neither --kernel nor -- goes with it");
  const detail::DeviceName device = model_named(arguments.device);
  const nvdla_hw& claim =
      arguments.claim.empty() ? *device.hw : configuration_named(arguments.claim);
  std::optional<SimulatedModel> simulator;
  try {
    simulator.emplace(arguments.simulator, *device.hw,
                      SimulatedModel::Options{.configuration = claim.name,
                                              .only_messages = arguments.only_messages,
                                              .model = model_options(arguments, device)});
  } catch (const std::runtime_error& error) {
    throw program::UsageError(error.what());
  }
  log("{} listens at {}", claim.name, arguments.simulator);
  for (;;) {
    if (const std::string error = simulator->serve(); !error.empty()) log("{}", error);
  }
}

int run(const Arguments& arguments) {
  const Machine& machine = arguments.machine;
  if (!arguments.simulator.empty()) simulate(arguments);
  if (arguments.qemu.empty() == machine.kernel.empty())
    throw program::UsageError("expected either --kernel or a QEMU command after --");
  const Place* place = place_of(arguments);
  for (const std::string& path :
       {machine.kernel, machine.initrd, machine.plugin, machine.description})
    if (!path.empty()) check_file(path);
  const detail::DeviceName device = model_named(arguments.device);
  std::optional<DmaLog> dma_log;
  if (!arguments.dma_log.empty()) dma_log.emplace(arguments.dma_log);
  Function::Options card{
      .with_reset = !arguments.no_reset,
      .claim = arguments.claim.empty() ? device.hw : &configuration_named(arguments.claim),
      .faults = arguments.faults,
      .dma_log = dma_log ? &*dma_log : nullptr,
      .sram = parse_window(arguments.sram),
      .stale = arguments.stale,
      .uncached = {}};
  for (const std::string& window : arguments.uncached)
    card.uncached.push_back(parse_window(window).value());

  // Machines come first, while there is one thread only: they fork.
  if (machine.route == Route::kUml) {
    Uml uml(machine);
    VhostDevice port;
    return drive(arguments, device, card, uml, port, [&](Function& function) {
      const Descriptor connection = uml.accept();
      if (connection.get() >= 0) port.serve(connection.get(), function);
    });
  }
  MemoryRange memory;
  if (place != nullptr) memory = share_memory(*place, machine.memory);
  Qemu qemu(arguments.qemu.empty() ? command_line(machine, memory.file.get()) : arguments.qemu,
            machine.plugin, place != nullptr ? place->window : 0);
  Qtest qtest(qemu.take_qtest_socket(), interrupt_line(machine.route, machine.processors));
  return drive(arguments, device, card, qemu, qtest, [&](Function& function) {
    if (place == nullptr) {
      serve(qemu.device_socket(), function);
      return;
    }
    // A descriptor of its own: QEMU opens that of `memory` whenever it gets there.
    std::vector<MemoryRange> ranges;
    ranges.push_back({memory.address, memory.size, 0, Descriptor(::dup(memory.file.get()))});
    function.replace_memory(std::move(ranges));
    Platform platform(function);
    serve(qemu.device_socket(), platform);
  });
}

}  // namespace
}  // namespace nvdla::emulator

int main(int argc, char** argv) {
  using namespace nvdla::emulator;
  program::Program self(
      "nvdla-device-server",
      "Boots a kernel on a machine, QEMU or User-mode Linux, with an NVDLA that the device model "
      "computes, or is a simulator of one.");
  Arguments arguments;
  declare(self.app(), arguments);
  self.app().footer(
      "Examples:\n"
      "  nvdla-device-server --kernel vmlinuz --initrd initrd --append console=ttyS0\n"
      "  nvdla-device-server --device model:nv_full -- qemu-system-x86_64 -machine ...\n"
      "  nvdla-device-server --device model:nv_small --simulator /tmp/nvdla\n"
      "\n"
      "Ends with the exit status of QEMU or User-mode Linux, or 124 when the time was\n"
      "out; its own are:");
  return self.run(argc, argv, [&] {
    if (!arguments.quiet) log_sink = stderr;
    return run(arguments);
  });
}
