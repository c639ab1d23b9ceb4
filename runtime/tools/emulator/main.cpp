// SPDX-License-Identifier: MIT
//
// nvdla-device-server: starts QEMU with an NVDLA in it, which the device model computes.
#include <CLI/CLI.hpp>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "model/device.hpp"
#include "tools/emulator/function.hpp"
#include "tools/emulator/log.hpp"
#include "tools/emulator/qemu.hpp"
#include "tools/emulator/qtest.hpp"
#include "tools/emulator/server.hpp"

namespace nvdla::emulator {
namespace {

class ModelAccelerator final : public Accelerator {
 public:
  ModelAccelerator(const nvdla_hw& hw, model::Bus& bus, const model::Options& options)
      : device_(hw, bus, options) {}

  std::uint32_t read(std::uint32_t offset) override { return device_.read(offset); }
  void write(std::uint32_t offset, std::uint32_t value) override { device_.write(offset, value); }
  bool interrupt() const override { return device_.interrupt(); }
  bool step() override { return device_.step(); }
  bool idle() const override { return device_.idle(); }
  void reset() override { device_.reset(); }

 private:
  model::Device device_;
};

// Kills QEMU when it runs for too long.
class Watchdog {
 public:
  Watchdog(Qemu& qemu, unsigned seconds) {
    if (seconds == 0) return;
    thread_ = std::thread([this, &qemu, seconds] {
      std::unique_lock lock(mutex_);
      if (changed_.wait_for(lock, std::chrono::seconds(seconds), [this] { return stopping_; }))
        return;
      fired_ = true;
      qemu.kill();
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
  std::string device = "nv_small";
  std::string claim;
  Machine machine;
  std::vector<std::string> qemu;
  bool no_reset = false;
  std::string dma_log;
  std::string sram;
  unsigned time_out = 0;
  unsigned threads = 1;
  std::string quirks = "auto";
  bool quiet = false;
  Faults faults;
};

std::vector<std::string> device_names() {
  std::vector<std::string> names;
  for (std::uint32_t i = 0; const nvdla_hw* hw = nvdla_hw_get(i); ++i) names.emplace_back(hw->name);
  return names;
}

void declare(CLI::App& app, Arguments& arguments) {
  app.add_option("--device", arguments.device, "Configuration of the NVDLA")
      ->check(CLI::IsMember(device_names()))
      ->capture_default_str();
  app.add_option("--claim", arguments.claim, "Configuration that its PCI id stands for, if another")
      ->check(CLI::IsMember(device_names()));
  app.add_option("--kernel", arguments.machine.kernel, "Kernel image to boot")
      ->check(CLI::ExistingFile);
  app.add_option("--initrd", arguments.machine.initrd, "Its initial file system")
      ->check(CLI::ExistingFile);
  app.add_option("--append", arguments.machine.append, "Its command line");
  app.add_option("--memory", arguments.machine.memory, "Memory of the machine")
      ->capture_default_str();
  app.add_option("qemu", arguments.qemu,
                 "After --: a QEMU command of your own instead of the four options above; it needs "
                 "a q35 machine whose memory is a shared memfd, one processor and no VGA");
  app.add_flag("--no-reset", arguments.no_reset, "The function cannot be reset");
  app.add_option("--sram", arguments.sram,
                 "SIZE@ADDRESS, such as 1M@0x14000000: memory of the guest that only the second\n"
                 "memory interface reaches; the guest is to keep it free (memmap=SIZE$ADDRESS)")
      ->check([](const std::string& text) {
        return parse_window(text) ? std::string() : text + " is not SIZE@ADDRESS";
      });
  app.add_option("--dma-log", arguments.dma_log, "Write each memory access of the device there");
  app.add_option("--time-out", arguments.time_out, "Seconds after which QEMU is killed, 0: never")
      ->capture_default_str();
  app.add_option("--threads", arguments.threads, "Threads of the model, 0: one per processor")
      ->check(CLI::Range(0u, model::kMaxThreads))
      ->capture_default_str();
  app.add_option(
         "--quirks", arguments.quirks,
         "Follow the logic with its clock gates at work (gated), without them (rtl), or the\n"
         "reference model (cmodel); auto: as the configuration is built")
      ->check(CLI::IsMember({"auto", "rtl", "cmodel", "gated"}))
      ->capture_default_str();
  app.add_flag("--quiet", arguments.quiet, "Say nothing about resets and faults");

  const std::string group = "Misbehaviour (a guest can ask for it too: fault_capability.h)";
  app.add_option("--swallow-interrupts", arguments.faults.swallow_interrupts,
                 "Do not deliver the first N interrupts")
      ->group(group);
  app.add_option("--swallow-completions", arguments.faults.swallow_completions,
                 "Never show the first N completions")
      ->group(group);
  app.add_option("--block", arguments.faults.block, "Block at the N-th layer")->group(group);
  app.add_option("--late", arguments.faults.late_ms,
                 "Run a blocked layer after so many milliseconds, and overwrite its output")
      ->group(group);
  app.add_option("--delay", arguments.faults.delay_us, "Microseconds before each layer")
      ->group(group);
  app.add_option("--pattern", arguments.faults.pattern, "Byte that late writes leave")
      ->check(CLI::Range(0, 255))
      ->group(group);
  app.add_flag_callback(
         "--gone", [&] { arguments.faults.gone = 1; }, "Registers read as ones")
      ->group(group);
}

int run(const Arguments& arguments) {
  const nvdla_hw* hw = nvdla_hw_find(arguments.device.c_str());
  std::optional<DmaLog> dma_log;
  if (!arguments.dma_log.empty()) dma_log.emplace(arguments.dma_log);

  // First, while there is one thread only: it forks.
  Qemu qemu(arguments.qemu.empty() ? command_line(arguments.machine) : arguments.qemu);
  Qtest qtest(qemu.take_qtest_socket(), kIntx);
  Function function(*hw, qtest,
                    {.with_reset = !arguments.no_reset,
                     .claim = arguments.claim.empty() ? hw : nvdla_hw_find(arguments.claim.c_str()),
                     .faults = arguments.faults,
                     .dma_log = dma_log ? &*dma_log : nullptr,
                     .sram = parse_window(arguments.sram)});
  model::Options options;
  options.threads = arguments.threads;
  options.quirks = model::find_quirks(arguments.quirks).value_or(model::silicon_quirks(*hw));
  function.start(std::make_unique<ModelAccelerator>(*hw, function.bus(), options));
  Watchdog watchdog(qemu, arguments.time_out);
  serve(qemu.device_socket(), function);
  if (watchdog.stop()) {
    std::fprintf(stderr, "nvdla-device-server: time-out: QEMU was killed after %u s\n",
                 arguments.time_out);
    return 124;
  }
  return qemu.wait();
}

}  // namespace
}  // namespace nvdla::emulator

int main(int argc, char** argv) {
  using namespace nvdla::emulator;
  CLI::App app("Boots a kernel in QEMU on a machine with an NVDLA that the device model computes.");
  Arguments arguments;
  declare(app, arguments);
  CLI11_PARSE(app, argc, argv);
  if (arguments.qemu.empty() == arguments.machine.kernel.empty()) {
    std::fputs("nvdla-device-server: give either --kernel or a QEMU command after --\n", stderr);
    return 2;
  }
  if (!arguments.quiet) log_sink = stderr;
  try {
    return run(arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "nvdla-device-server: %s\n", error.what());
    return 1;
  }
}
