// SPDX-License-Identifier: MIT
//
// Whether a plan of memory is right, whoever made it.
#ifndef NVDLA_COMPILER_PASSES_PLAN_CHECK_HPP
#define NVDLA_COMPILER_PASSES_PLAN_CHECK_HPP

#include <span>

#include "compiler/passes/memory_plan.hpp"
#include "device/program_accesses.hpp"

namespace nvdla::detail {

// The schedule names allocations, as plan_memory() had it; `accesses` are of the programs that the
// plan was made for, and of the CPU. Throws kInvalidProgram
//   where a layer may touch bytes that belong to none of the allocations that it names,
//   where allocations share bytes, and a layer that touches the one need not have ended before
//   another that touches the other starts, or in the wrong order.
void check_plan(const MemoryPlan& plan, const Schedule& schedule,
                std::span<const ProgramAccess> accesses);

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_PASSES_PLAN_CHECK_HPP
