// SPDX-License-Identifier: MIT
//
// How long layers of the units take that work alone and do not compute much: CDP, RUBIK and BDMA.
#ifndef NVDLA_COST_MOVE_CYCLES_HPP
#define NVDLA_COST_MOVE_CYCLES_HPP

#include "cost/geometry.hpp"
#include "cost/layer_cycles.hpp"
#include "cost/memory_timing.hpp"

namespace nvdla::cost {

LayerCycles cdp_cycles(const Machine& machine, const MemoryTiming& memory,
                       const CdpGeometry& layer);
LayerCycles rubik_cycles(const Machine& machine, const MemoryTiming& memory,
                         const RubikGeometry& layer);
// All transfers of a launch; `moved` is what they read.
LayerCycles bdma_cycles(const MemoryTiming& memory, const Reads& moved);

}  // namespace nvdla::cost

#endif  // NVDLA_COST_MOVE_CYCLES_HPP
