// SPDX-License-Identifier: MIT
//
// How long layers of the units take that work alone and do not compute much: CDP, RUBIK and BDMA.
#ifndef NVDLA_MODEL_COST_MOVE_CYCLES_HPP
#define NVDLA_MODEL_COST_MOVE_CYCLES_HPP

#include "firmware/nvdla_hw.h"
#include "model/cdp/cdp_layer.hpp"
#include "model/cost/layer_cycles.hpp"
#include "model/cost/memory_timing.hpp"
#include "model/move/rubik.hpp"

namespace nvdla::model::cycles {

LayerCycles cdp_cycles(const nvdla_hw& hw, const MemoryTiming& memory, const CdpLayer& layer);
LayerCycles rubik_cycles(const nvdla_hw& hw, const MemoryTiming& memory, const RubikLayer& layer);
// All transfers of a launch; `moved` is what they read.
LayerCycles bdma_cycles(const MemoryTiming& memory, const Reads& moved);

}  // namespace nvdla::model::cycles

#endif  // NVDLA_MODEL_COST_MOVE_CYCLES_HPP
