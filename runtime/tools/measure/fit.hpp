// SPDX-License-Identifier: MIT
//
// The memory that explains measured times best, by the model of cycles that the compiler chooses
// with.
#ifndef NVDLA_TOOLS_MEASURE_FIT_HPP
#define NVDLA_TOOLS_MEASURE_FIT_HPP

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cost/machine.hpp"
#include "cost/memory_timing.hpp"
#include "cost/sequence_cycles.hpp"

namespace nvdla::program {

// `ProbeTime` is a program with the cycles that it took, from the start of its first layer to the
// end of its last.
struct ProbeTime {
  std::string name;
  std::vector<cost::SequenceLayer> layers;
  double cycles = 0;
};

// `FittedMemory` is a memory with what the times were taken apart into.
struct FittedMemory {
  cost::MemoryTiming memory;
  std::vector<double> explained;  // cycles of each probe with this memory and the overhead
  double overhead = 0;            // of each program, which its layers do not explain
  double error = 0;               // the largest of the probes, as a part of its time
};

// Fits latency, requests on their way and bandwidth of one memory: of the primary one, or of the
// secondary where `interface` says so, with what `known` has of the other. A limit that explains
// nothing is left out.
FittedMemory fit_memory(const cost::Machine& machine, cost::Interface interface,
                        const cost::MemoryTiming& known, std::span<const ProbeTime> probes);

}  // namespace nvdla::program

#endif  // NVDLA_TOOLS_MEASURE_FIT_HPP
