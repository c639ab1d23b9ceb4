// SPDX-License-Identifier: MIT
//
// The misbehaviour that is asked for, and counters for tests. See fault_capability.h.
#ifndef NVDLA_EMULATOR_FAULTS_HPP
#define NVDLA_EMULATOR_FAULTS_HPP

#include <cstdint>

namespace nvdla::emulator {

struct Faults {
  std::uint32_t swallow_interrupts = 0;
  std::uint32_t swallow_completions = 0;
  std::uint32_t block = 0;
  std::uint32_t late_ms = 0;
  std::uint32_t delay_us = 0;
  std::uint32_t gone = 0;
  std::uint32_t pattern = 0xa5;

  bool operator==(const Faults&) const = default;
};

struct Counters {
  std::uint32_t completions = 0;
  std::uint32_t interrupts = 0;
  std::uint32_t dma_refused = 0;
  std::uint32_t state = 0;
};

}  // namespace nvdla::emulator

#endif  // NVDLA_EMULATOR_FAULTS_HPP
