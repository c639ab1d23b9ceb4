// SPDX-License-Identifier: MIT
//
// `Function` is the emulated card: a device behind a PCI function. Configuration space controls the
// accesses to the device and those by it. A thread runs the device, so that a register access does
// not wait for the layer that it starts.
//
// One lock guards everything. While the device runs a layer, accesses wait for it.
#ifndef NVDLA_EMULATOR_DEVICE_FUNCTION_HPP
#define NVDLA_EMULATOR_DEVICE_FUNCTION_HPP

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "emulator/device/faults.hpp"
#include "emulator/device/guest_memory.hpp"
#include "emulator/device/interrupts.hpp"
#include "emulator/device/pci_config.hpp"
#include "firmware/nvdla_hw.h"

namespace nvdla::emulator {

// The device that the function drives: the device model, or a mock in tests. See model::Device.
class Accelerator {
 public:
  virtual ~Accelerator() = default;
  virtual std::uint32_t read(std::uint32_t offset) = 0;
  virtual void write(std::uint32_t offset, std::uint32_t value) = 0;
  virtual bool interrupt() const = 0;
  // Completes pending writes that affect the interrupt line; false if there are none.
  virtual bool settle() { return false; }
  virtual bool step() = 0;
  virtual bool idle() const = 0;
  virtual void reset() = 0;
};

class Function {
 public:
  struct Options {
    bool with_reset = true;           // offer function-level reset
    const nvdla_hw* claim = nullptr;  // configuration in the PCI ID; default: hw
    Faults faults;
    DmaLog* dma_log = nullptr;
    std::optional<MemoryWindow> sram = std::nullopt;  // guest memory behind the second interface
    bool stale = false;                               // the device has its own view of memory
    std::vector<MemoryWindow> uncached = {};          // memory that the guest never caches
  };

  // `hw` and `port` outlive the function.
  Function(const nvdla_hw& hw, InterruptPort& port, const Options& options);
  ~Function();
  Function(const Function&) = delete;
  Function& operator=(const Function&) = delete;

  // Returns the bus to construct the device with; start() then takes the device.
  model::Bus& bus() noexcept { return memory_; }
  void start(std::unique_ptr<Accelerator> accelerator);

  std::uint32_t config_read(std::uint32_t address, std::uint32_t length);
  void config_write(std::uint32_t address, std::uint32_t value, std::uint32_t length);
  // Addresses are guest physical. A refused read returns ones.
  std::uint64_t bar_read(std::uint64_t address, std::uint32_t size);
  void bar_write(std::uint64_t address, std::uint64_t value, std::uint32_t size);
  void replace_memory(std::vector<MemoryRange> ranges);
  // Resets the function by the reset line of the bus, or by a power cycle.
  void reset();

 private:
  using Clock = std::chrono::steady_clock;

  std::optional<std::uint32_t> register_offset(std::uint64_t address, std::uint32_t size);
  bool reads_ones() const;
  std::uint64_t read_locked(std::uint64_t address, std::uint32_t size);
  std::uint64_t lie(std::uint64_t truth, std::uint32_t size);
  void publish_faults();
  void adopt_faults();
  void sync_memory();
  void reset_locked();
  void poke();
  void refresh();
  void work();
  void storm();
  void hold_back(std::unique_lock<std::mutex>& lock);
  bool advance();

  InterruptPort& port_;
  const std::uint32_t glb_;

  std::mutex mutex_;
  std::condition_variable wake_;
  Faults faults_;
  Counters counters_;
  PciConfig config_;
  GuestMemory memory_;
  Interrupts interrupts_;
  std::unique_ptr<Accelerator> accelerator_;  // after its bus

  bool stopping_ = false;
  bool due_ = false;            // the device may have something to do
  std::uint64_t accesses_ = 0;  // accesses that may create work
  std::uint64_t resets_ = 0;
  bool delayed_ = false;                      // the next layer has waited for DELAY_US
  std::optional<Clock::time_point> blocked_;  // when the layer was blocked
  std::mt19937 garbage_;
  Clock::time_point ones_until_{};   // for registers
  Clock::time_point reset_until_{};  // for the whole function
  std::thread worker_;
  std::thread storm_;
};

// Answers QEMU's messages about a function until QEMU disconnects. Throws ProtocolError for an
// invalid message.
void serve(int socket, Function& function);

}  // namespace nvdla::emulator

#endif  // NVDLA_EMULATOR_DEVICE_FUNCTION_HPP
