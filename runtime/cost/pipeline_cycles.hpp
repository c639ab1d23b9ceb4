// SPDX-License-Identifier: MIT
//
// How long layers of the units take that work on cubes: convolution, SDP and PDP, on the fly of one
// another or from memory. The rules are those of the logic as it was measured; what is called
// measured are cycles that no rule explains, the same for all layers.
#ifndef NVDLA_COST_PIPELINE_CYCLES_HPP
#define NVDLA_COST_PIPELINE_CYCLES_HPP

#include "cost/geometry.hpp"
#include "cost/layer_cycles.hpp"
#include "cost/memory_timing.hpp"

namespace nvdla::cost {

// `pdp` is the layer that takes SDP's results, or null.
LayerCycles conv_cycles(const Machine& machine, const MemoryTiming& memory,
                        const ConvGeometry& layer, const SdpGeometry& sdp, const PdpGeometry* pdp);
LayerCycles sdp_cycles(const Machine& machine, const MemoryTiming& memory, const SdpGeometry& layer,
                       const PdpGeometry* pdp);
LayerCycles pdp_cycles(const Machine& machine, const MemoryTiming& memory,
                       const PdpGeometry& layer);

}  // namespace nvdla::cost

#endif  // NVDLA_COST_PIPELINE_CYCLES_HPP
