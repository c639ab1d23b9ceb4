// SPDX-License-Identifier: MIT
//
// A bit-exact, functional model of an NVDLA: driven by register reads and writes, moves bytes
// through its bus, raises an interrupt line. Knows nothing of descriptors, jobs or the runtime.
#ifndef NVDLA_MODEL_DEVICE_HPP
#define NVDLA_MODEL_DEVICE_HPP

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "firmware/nvdla_hw.h"
#include "model/core/bus.hpp"
#include "model/cost/memory_timing.hpp"

namespace nvdla::model {

// Where the published logic and NVIDIA's reference model are known to differ.
enum class Quirks : std::uint8_t {
  kRtl,     // as silicon; the default
  kCmodel,  // as the reference model that made the golden cases
  // As silicon of the second generation with its clock gates at work: what CSC frees of the weights
  // while CDMA has nothing to fetch, CDMA never learns, and one day it waits for room for ever. The
  // first generation has no such gate.
  kGated,
};

// By the names rtl, cmodel and gated.
std::optional<Quirks> find_quirks(std::string_view name) noexcept;
// Of the configuration as it is built.
Quirks silicon_quirks(const nvdla_hw& hw) noexcept;

// Of Options::threads; whoever takes a number from people checks it against this.
inline constexpr unsigned kMaxThreads = 1024;

struct Options {
  Quirks quirks = Quirks::kRtl;
  // Steps between the fall of OP_ENABLE and the interrupt bit, as write responses take time.
  unsigned completion_delay = 1;
  // Writes of registers are posted, as on the logic: one that changes the interrupt line (a mask, a
  // clear, a bit that is set) reaches it later. A read of any register orders it, and a step of
  // time is long enough for it. false: the line follows at once.
  bool posted_writes = true;
  // Host threads for heavy layers of the convolution pipeline, the caller's included; 0 is one per
  // processor. Results never depend on it. The bus is only ever called on the caller's.
  unsigned threads = 1;
  // Nanoseconds, roughly: a layer that takes less stays on one thread.
  double worth_sharing = 50e3;
  // Direct convolutions of fp16 in plain fp32 instead of exactly as the logic: nothing for
  // conformance.
  bool fast_half = false;
  // What stall and latency counters are predicted with; results do not depend on it.
  cycles::MemoryTiming memory = {};
};

// A memory access that the bus refused: the read returned ones, the write was dropped.
struct Refusals {
  std::uint64_t count = 0;
  std::uint64_t first_address = 0;
  std::uint32_t first_dma = 0;  // enum nvdla_dma
  bool first_write = false;
};

// A unit that is enabled and cannot go on, and why (silicon would hang there).
struct Blocked {
  std::uint32_t unit = 0;   // enum nvdla_unit
  std::uint32_t group = 0;  // register group
  std::string reason;
};

// Not thread safe: the owner serialises all calls.
class Device {
 public:
  // Throws std::invalid_argument for a configuration that cannot be, or kernels (NVDLA_KERNELS in
  // the environment) that this processor does not have.
  Device(const nvdla_hw& hw, Bus& bus, const Options& options = {});
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  std::uint32_t read(std::uint32_t offset);
  void write(std::uint32_t offset, std::uint32_t value);

  // Level of the interrupt line.
  bool interrupt() const;

  // Lets time pass: runs one layer that can run or delivers what is due. A register write never
  // runs a layer by itself. Returns false when nothing is left to do: idle or blocked.
  bool step();

  // Lets writes that are on their way to the interrupt line arrive; false if there are none. A step
  // does so, too.
  bool settle();

  // No unit is enabled and no completion is due.
  bool idle() const;

  std::vector<Blocked> blocked() const;
  Refusals refusals() const;
  void clear_refusals();

  // What the reset line does.
  void reset();

  const nvdla_hw& hw() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_DEVICE_HPP
