// SPDX-License-Identifier: MIT
//
// Cuts a schedule that exceeds the limits of one program into several programs.
#ifndef NVDLA_COMPILER_PASSES_PROGRAM_CUTS_HPP
#define NVDLA_COMPILER_PASSES_PROGRAM_CUTS_HPP

#include <drm/nvdla_layer.h>

#include <cstdint>

#include "compiler/passes/memory_plan.hpp"

namespace nvdla::detail {

// `ProgramLimits` has the limits of one program.
struct ProgramLimits {
  std::uint32_t layers = NVDLA_MAX_LAYERS;
  std::uint32_t slots = NVDLA_MAX_SLOTS;
  std::uint32_t luts = NVDLA_MAX_LUTS;
  std::uint32_t transfers = NVDLA_MAX_TRANSFERS;
};

// Adds segment starts until no segment has too many layers, tables or transfers. Each cut lies in
// the second half of what would fit, at the place where the tensors that are written before it and
// read after it have the fewest bytes and where no convolution reuses the data or weights that the
// previous one left in the convolution buffer. If every place has such a convolution, it fetches
// again.
void cut_programs(Schedule& schedule, const ProgramLimits& limits);

// Cuts each segment with too many slots in two, likewise in its middle half; `placed` is the
// schedule in the slots of a memory plan. Returns false if no segment has too many.
bool cut_for_slots(Schedule& schedule, const Schedule& placed, const ProgramLimits& limits);

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_PASSES_PROGRAM_CUTS_HPP
