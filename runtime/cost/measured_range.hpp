// SPDX-License-Identifier: MIT
//
// The constants of predictions rest on measurements of the published logic; these functions tell
// what those do not cover.
#ifndef NVDLA_COST_MEASURED_RANGE_HPP
#define NVDLA_COST_MEASURED_RANGE_HPP

#include "cost/machine.hpp"
#include "cost/memory_timing.hpp"
#include "cost/sequence_cycles.hpp"

namespace nvdla::cost {

// Return what lies beyond all that was measured, for people: "kernels of more than 8 x 8"; nullptr
// for a device with its memory, or a layer, whose like was measured.
const char* beyond_measured(const Machine& machine, const MemoryTiming& memory) noexcept;
const char* beyond_measured(const LayerGeometry& layer) noexcept;

}  // namespace nvdla::cost

#endif  // NVDLA_COST_MEASURED_RANGE_HPP
