// SPDX-License-Identifier: MIT
//
// A bare device has registers and memory that this process reaches: simulated, mapped, or the
// model. Code that drives registers itself (the engine, a self-test, a player of traces) needs
// nothing else.
#ifndef NVDLA_BACKEND_REGISTERS_BARE_DEVICE_HPP
#define NVDLA_BACKEND_REGISTERS_BARE_DEVICE_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "firmware/nvdla_hw.h"
#include "nvdla/types/memory.hpp"

namespace nvdla::detail {

// `BareMemory` is memory of a device and is freed with this object. Devices outlive their memory.
class BareMemory {
 public:
  BareMemory(std::byte* data, std::uint64_t size, std::uint64_t address, Memory memory) noexcept
      : data_(data), size_(size), address_(address), memory_(memory) {}
  virtual ~BareMemory() = default;
  BareMemory(const BareMemory&) = delete;
  BareMemory& operator=(const BareMemory&) = delete;

  std::byte* data() const noexcept { return data_; }  // for the host
  std::uint64_t size() const noexcept { return size_; }
  std::uint64_t address() const noexcept { return address_; }  // for the device
  Memory memory() const noexcept { return memory_; }

  // These make the host's writes visible to the device, and the device's to the host. They do
  // nothing where both always see the same memory.
  virtual void sync_for_device() noexcept {}
  virtual void sync_for_cpu() noexcept {}
  // Retires the memory for ever: the device may still write to it, so it must not be used again
  // when this object is destroyed.
  virtual void abandon() noexcept {}

 private:
  std::byte* data_;
  std::uint64_t size_;
  std::uint64_t address_;
  Memory memory_;
};

// Not thread safe, but memory may come and go on any thread.
class BareDevice {
 public:
  // Time on the clock of the device, which is simulated if the device is.
  using Time = std::chrono::nanoseconds;

  virtual ~BareDevice() = default;

  // Offsets are bytes in the register window, multiples of 4. A register of a lost device reads as
  // ones, or throws kGone if the reason is known.
  virtual std::uint32_t read(std::uint32_t offset) = 0;
  virtual void write(std::uint32_t offset, std::uint32_t value) = 0;

  // Allocates zeroed memory, aligned to 4 KiB in both address spaces. Throws kNoMemory.
  virtual std::unique_ptr<BareMemory> allocate(std::uint64_t bytes, Memory memory) = 0;
  // Allocates at a device address that the caller chooses, a multiple of 4 KiB, for one memory
  // interface or, without `memory`, for both. Returns nullptr if addresses cannot be chosen, the
  // device does not reach the address, or it is in use.
  virtual std::unique_ptr<BareMemory> allocate_at(std::uint64_t address, std::uint64_t bytes,
                                                  std::optional<Memory> memory) = 0;

  // Runs the device until its interrupt line is up (at once if it is) or may be, or until `until`.
  // Returns false if that time has come.
  virtual bool wait_interrupt(Time until) = 0;
  // Waits a moment between two polls of a register.
  virtual void relax() = 0;
  virtual Time now() = 0;
  // Returns the frequency of the device's clock, for bounds on cycles; 0: 1 GHz.
  virtual std::uint32_t clock_khz() const noexcept { return 0; }
  // Returns true if now() counts cycles of a simulation, in which no job waits for its turn.
  virtual bool counts_cycles() const noexcept { return false; }

  // Resets the device: all registers as after power on, nothing running. Returns false if the
  // device cannot be reset.
  virtual bool reset() = 0;

  // Returns a description of the accesses that memory refused since the last call; empty if none,
  // or if the device does not report them.
  virtual std::string take_refusals() { return {}; }

  // Returns the configuration that the device's name or the simulator states; nullptr if neither
  // does.
  virtual const nvdla_hw* configuration() const noexcept = 0;

  // Returns the device's name for messages: "sim:/tmp/s".
  virtual std::string describe() const = 0;
};

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_REGISTERS_BARE_DEVICE_HPP
