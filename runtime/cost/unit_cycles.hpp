// SPDX-License-Identifier: MIT
//
// Cycles that layers of each unit take.
#ifndef NVDLA_COST_UNIT_CYCLES_HPP
#define NVDLA_COST_UNIT_CYCLES_HPP

#include "cost/geometry.hpp"
#include "cost/layer_cycles.hpp"
#include "cost/memory_timing.hpp"

namespace nvdla::cost {

// Convolution, SDP and PDP work on cubes, on the fly of one another or from memory. The rules are
// those of the logic as it was measured; what is called measured are cycles that no rule explains,
// the same for all layers. `pdp` is the layer that takes SDP's results, or null.
LayerCycles conv_cycles(const Machine& machine, const MemoryTiming& memory,
                        const ConvGeometry& layer, const SdpGeometry& sdp, const PdpGeometry* pdp);
LayerCycles sdp_cycles(const Machine& machine, const MemoryTiming& memory, const SdpGeometry& layer,
                       const PdpGeometry* pdp);
LayerCycles pdp_cycles(const Machine& machine, const MemoryTiming& memory,
                       const PdpGeometry& layer);

// CDP, RUBIK and BDMA work alone and do not compute much.
LayerCycles cdp_cycles(const Machine& machine, const MemoryTiming& memory,
                       const CdpGeometry& layer);
LayerCycles rubik_cycles(const Machine& machine, const MemoryTiming& memory,
                         const RubikGeometry& layer);
// Predicts all transfers of a launch; `moved` is what they read.
LayerCycles bdma_cycles(const MemoryTiming& memory, const Reads& moved,
                        Interface destination = Interface::kPrimary);

}  // namespace nvdla::cost

#endif  // NVDLA_COST_UNIT_CYCLES_HPP
