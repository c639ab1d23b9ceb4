// SPDX-License-Identifier: MIT
//
// The faults that a test has requested, and counters for tests. See fault_capability.h.
#ifndef NVDLA_EMULATOR_DEVICE_FAULTS_HPP
#define NVDLA_EMULATOR_DEVICE_FAULTS_HPP

#include <cstdint>
#include <utility>

#include "emulator/device/fault_capability.h"

namespace nvdla::emulator {

struct Faults {
  std::uint32_t swallow_interrupts = 0;
  std::uint32_t swallow_completions = 0;
  std::uint32_t block = 0;
  std::uint32_t late_ms = 0;
  std::uint32_t delay_us = 0;
  std::uint32_t gone = 0;
  std::uint32_t pattern = 0xa5;
  std::uint32_t ones_reads = 0;
  std::uint32_t ones_ms = 0;
  std::uint32_t garbage_reads = 0;
  std::uint32_t garbage_seed = 1;
  std::uint32_t raise = 0;
  std::uint32_t storm_hz = 0;
  std::uint32_t reset = NVDLA_FAULT_RESET_WORKS;
  std::uint32_t reset_ms = 0;

  bool operator==(const Faults&) const = default;
};

struct Counters {
  std::uint32_t completions = 0;
  std::uint32_t interrupts = 0;
  std::uint32_t dma_refused = 0;
  std::uint32_t state = 0;
  std::uint32_t unreached = 0;
};

// The offset of a fault's register in the capability, and the fault's name in options and logs.
struct FaultRegister {
  std::uint32_t offset;
  std::uint32_t Faults::*member;
  const char* name;
};
inline constexpr FaultRegister kFaultRegisters[] = {
    {NVDLA_FAULT_SWALLOW_INTERRUPTS, &Faults::swallow_interrupts, "swallow-interrupts"},
    {NVDLA_FAULT_SWALLOW_COMPLETIONS, &Faults::swallow_completions, "swallow-completions"},
    {NVDLA_FAULT_BLOCK, &Faults::block, "block"},
    {NVDLA_FAULT_LATE_MS, &Faults::late_ms, "late-ms"},
    {NVDLA_FAULT_DELAY_US, &Faults::delay_us, "delay-us"},
    {NVDLA_FAULT_GONE, &Faults::gone, "gone"},
    {NVDLA_FAULT_PATTERN, &Faults::pattern, "pattern"},
    {NVDLA_FAULT_ONES_READS, &Faults::ones_reads, "ones-reads"},
    {NVDLA_FAULT_ONES_MS, &Faults::ones_ms, "ones-ms"},
    {NVDLA_FAULT_GARBAGE_READS, &Faults::garbage_reads, "garbage-reads"},
    {NVDLA_FAULT_GARBAGE_SEED, &Faults::garbage_seed, "garbage-seed"},
    {NVDLA_FAULT_RAISE, &Faults::raise, "raise"},
    {NVDLA_FAULT_STORM_HZ, &Faults::storm_hz, "storm-hz"},
    {NVDLA_FAULT_RESET, &Faults::reset, "reset"},
    {NVDLA_FAULT_RESET_MS, &Faults::reset_ms, "reset-ms"},
};

inline constexpr std::pair<std::uint32_t, std::uint32_t Counters::*> kCounterRegisters[] = {
    {NVDLA_FAULT_COMPLETIONS, &Counters::completions},
    {NVDLA_FAULT_INTERRUPTS, &Counters::interrupts},
    {NVDLA_FAULT_DMA_REFUSED, &Counters::dma_refused},
    {NVDLA_FAULT_STATE, &Counters::state},
    {NVDLA_FAULT_UNREACHED, &Counters::unreached},
};

}  // namespace nvdla::emulator

#endif  // NVDLA_EMULATOR_DEVICE_FAULTS_HPP
