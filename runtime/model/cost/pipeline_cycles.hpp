// SPDX-License-Identifier: MIT
//
// How long layers of the units take that work on cubes: convolution, SDP and PDP, on the fly of one
// another or from memory. The rules are those of the logic as it was measured; what is called
// measured are cycles that no rule explains, the same for all layers.
#ifndef NVDLA_MODEL_COST_PIPELINE_CYCLES_HPP
#define NVDLA_MODEL_COST_PIPELINE_CYCLES_HPP

#include "firmware/nvdla_hw.h"
#include "model/conv/conv_layer.hpp"
#include "model/cost/layer_cycles.hpp"
#include "model/cost/memory_timing.hpp"
#include "model/pdp/pdp_layer.hpp"
#include "model/sdp/sdp_layer.hpp"

namespace nvdla::model::cycles {

struct ConvWork {
  const ConvLayer& layer;
  // What is fetched; the rest is in the convolution buffer.
  bool data = true, weights = true;
};

// `pdp` is the layer that takes SDP's results, or null.
LayerCycles conv_cycles(const nvdla_hw& hw, const MemoryTiming& memory, const ConvWork& work,
                        const SdpLayer& sdp, const PdpLayer* pdp);
LayerCycles sdp_cycles(const nvdla_hw& hw, const MemoryTiming& memory, const SdpLayer& layer,
                       const PdpLayer* pdp);
LayerCycles pdp_cycles(const nvdla_hw& hw, const MemoryTiming& memory, const PdpLayer& layer);

}  // namespace nvdla::model::cycles

#endif  // NVDLA_MODEL_COST_PIPELINE_CYCLES_HPP
