// SPDX-License-Identifier: MIT
//
// What the owner of a model chooses, and what the model reports to it.
#ifndef NVDLA_MODEL_CORE_OPTIONS_HPP
#define NVDLA_MODEL_CORE_OPTIONS_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cost/memory_timing.hpp"
#include "firmware/nvdla_hw.h"

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
constexpr std::optional<Quirks> find_quirks(std::string_view name) noexcept {
  if (name == "rtl") return Quirks::kRtl;
  if (name == "cmodel") return Quirks::kCmodel;
  if (name == "gated") return Quirks::kGated;
  return std::nullopt;
}
// Of the configuration as it is built.
constexpr Quirks silicon_quirks(const nvdla_hw& hw) noexcept {
  return (hw.features & NVDLA_HW_WEIGHT_GATING) != 0 ? Quirks::kGated : Quirks::kRtl;
}

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
  // Nanoseconds, roughly: a layer that takes less stays on one thread, and one that takes several
  // times as much wakes threads that sleep.
  double worth_sharing = 5e3;
  // Direct convolutions of fp16 in plain fp32 instead of exactly as the logic: nothing for
  // conformance.
  bool fast_half = false;
  // What stall and latency counters are predicted with; results do not depend on it.
  cost::MemoryTiming memory = {};
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

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_CORE_OPTIONS_HPP
