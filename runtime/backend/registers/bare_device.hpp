// SPDX-License-Identifier: MIT
//
// A device whose registers and memory this process reaches: simulated, mapped, or the model. What
// drives registers itself (the engine, a self-test, a player of traces) needs nothing else of it.
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

// Memory of a device, given back with this object. Devices outlive their memory.
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

  // What the host wrote is there for the device, and the other way round. Nothing where both always
  // see the same.
  virtual void sync_for_device() noexcept {}
  virtual void sync_for_cpu() noexcept {}
  // The device may go on writing there, for ever: not to be used again when this object is gone.
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
  // On the clock of the device: simulated where that is.
  using Time = std::chrono::nanoseconds;

  virtual ~BareDevice() = default;

  // Byte offsets in the register window, multiples of 4. What is gone reads as ones, or throws
  // kGone where it is known why.
  virtual std::uint32_t read(std::uint32_t offset) = 0;
  virtual void write(std::uint32_t offset, std::uint32_t value) = 0;

  // Zeroed, aligned to 4 KiB on both sides. Throws kNoMemory.
  virtual std::unique_ptr<BareMemory> allocate(std::uint64_t bytes, Memory memory) = 0;
  // The same at an address of the device that the caller chooses, a multiple of 4 KiB, for one
  // memory interface or, without `memory`, for both; nullptr where addresses cannot be chosen, the
  // device does not reach it, or something else is there.
  virtual std::unique_ptr<BareMemory> allocate_at(std::uint64_t address, std::uint64_t bytes,
                                                  std::optional<Memory> memory) = 0;

  // Lets the device go on until its interrupt line is up (at once if it is), or may be, or until
  // `until`; false if the time is over.
  virtual bool wait_interrupt(Time until) = 0;
  // Lets a moment pass, between two looks at a register.
  virtual void relax() = 0;
  virtual Time now() = 0;
  // Of the clock above, for bounds on cycles; 0: 1 GHz.
  virtual std::uint32_t clock_khz() const noexcept { return 0; }
  // Returns true if it counts cycles of a simulation, in which nobody waits for a turn.
  virtual bool counts_cycles() const noexcept { return false; }

  // All registers as after power on, nothing running. False if there is no way to.
  virtual bool reset() = 0;

  // Accesses that memory refused since the last call, for people; empty if none or not known.
  virtual std::string take_refusals() { return {}; }

  // What its name or its other side says that it is; nullptr if nobody said.
  virtual const nvdla_hw* configuration() const noexcept = 0;

  // "sim:/tmp/s", for messages.
  virtual std::string describe() const = 0;
};

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_REGISTERS_BARE_DEVICE_HPP
