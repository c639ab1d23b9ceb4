// SPDX-License-Identifier: MIT
//
// Options that the owner of a model sets, and what the model reports to it.
#ifndef NVDLA_MODEL_CORE_OPTIONS_HPP
#define NVDLA_MODEL_CORE_OPTIONS_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cost/memory_timing.hpp"
#include "firmware/nvdla_hw.h"

namespace nvdla::model {

// Selects between behaviours in which the published logic, NVIDIA's reference model and silicon
// differ.
enum class Quirks : std::uint8_t {
  kRtl,     // the logic; the default
  kCmodel,  // the reference model that made the golden cases
  // Silicon of the second generation with active clock gates: CDMA misses the weights that CSC
  // frees while CDMA has nothing to fetch, and eventually waits for room for ever. The first
  // generation has no such gate.
  kGated,
};

// Finds quirks by their names: rtl, cmodel and gated.
constexpr std::optional<Quirks> find_quirks(std::string_view name) noexcept {
  if (name == "rtl") return Quirks::kRtl;
  if (name == "cmodel") return Quirks::kCmodel;
  if (name == "gated") return Quirks::kGated;
  return std::nullopt;
}
// Returns the quirks of silicon of a configuration.
constexpr Quirks silicon_quirks(const nvdla_hw& hw) noexcept {
  return (hw.features & NVDLA_HW_WEIGHT_GATING) != 0 ? Quirks::kGated : Quirks::kRtl;
}

// The limit on Options::threads; a caller that parses a user's number checks it against this.
inline constexpr unsigned kMaxThreads = 1024;

struct Options {
  Quirks quirks = Quirks::kRtl;
  // Steps from the end of OP_ENABLE to the interrupt bit, since write responses take time.
  unsigned completion_delay = 1;
  // Register writes are posted, as in the logic: a write that changes the interrupt line (a mask, a
  // clear, a bit that is set) reaches it later. A read of any register, or a step of time,
  // completes it. false: the line changes at once.
  bool posted_writes = true;
  // Host threads for heavy layers, the caller's included; 0: one per processor. Results do not
  // depend on the number. Only the caller's thread calls the bus.
  unsigned threads = 1;
  // Approximate nanoseconds: a shorter layer stays on one thread, and a layer that takes several
  // times as long wakes sleeping threads.
  double worth_sharing = 5e3;
  // Computes direct convolutions of fp16 in plain fp32 instead of exactly as the logic does; not
  // for conformance.
  bool fast_half = false;
  // The memory with which stall and latency counters are predicted; results do not depend on it.
  cost::MemoryTiming memory = {};
};

// A memory access that the bus refused: the read returned ones, the write was dropped.
struct Refusals {
  std::uint64_t count = 0;
  std::uint64_t first_address = 0;
  std::uint32_t first_dma = 0;  // enum nvdla_dma
  bool first_write = false;
};

// A unit that is enabled and can never continue, with the reason. Silicon would hang there.
struct Blocked {
  std::uint32_t unit = 0;   // enum nvdla_unit
  std::uint32_t group = 0;  // register group
  std::string reason;
};

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_CORE_OPTIONS_HPP
