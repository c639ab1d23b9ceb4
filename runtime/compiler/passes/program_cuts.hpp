// SPDX-License-Identifier: MIT
//
// Where a schedule of layers that is too much for one program is cut into several.
#ifndef NVDLA_COMPILER_PASSES_PROGRAM_CUTS_HPP
#define NVDLA_COMPILER_PASSES_PROGRAM_CUTS_HPP

#include <drm/nvdla_layer.h>

#include <cstdint>

#include "compiler/passes/memory_plan.hpp"

namespace nvdla::detail {

// `ProgramLimits` bounds what a program has.
struct ProgramLimits {
  std::uint32_t layers = NVDLA_MAX_LAYERS;
  std::uint32_t slots = NVDLA_MAX_SLOTS;
  std::uint32_t luts = NVDLA_MAX_LUTS;
  std::uint32_t transfers = NVDLA_MAX_TRANSFERS;
};

// Adds starts of segments until none has too many layers, tables or transfers. Each cut is in the
// second half of what would fit, where the tensors that are written before it and read after it
// have the fewest bytes, and where no convolution takes from the buffer what the one before kept.
// If there is no such place that one fetches again.
void cut_programs(Schedule& schedule, const ProgramLimits& limits);

// Cuts segments that have too many slots in two, likewise in their middle half; `placed` is the
// schedule in the slots of a plan. Returns false if no segment has.
bool cut_for_slots(Schedule& schedule, const Schedule& placed, const ProgramLimits& limits);

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_PASSES_PROGRAM_CUTS_HPP
