// SPDX-License-Identifier: MIT
//
// The plan of memory: it decides which tensors and constants of a network share a buffer.
//
// A tensor takes the memory of another when every layer that touches the other has ended before any
// layer that touches it starts: by what they wait for anyway, so that nothing waits for memory. The
// tensors that the application knows keep theirs for themselves. Constants lie one behind the
// other.
#ifndef NVDLA_COMPILER_PASSES_MEMORY_PLAN_HPP
#define NVDLA_COMPILER_PASSES_MEMORY_PLAN_HPP

#include <drm/nvdla_layer.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "compiler/lower/schedule.hpp"
#include "device/program_accesses.hpp"
#include "nvdla/types/memory_use.hpp"

namespace nvdla::detail {

struct MemoryPlan {
  struct Place {
    std::uint32_t slot = 0;
    std::uint64_t offset = 0;
  };
  struct LiveRange {
    std::uint32_t allocation = 0;
    std::uint32_t first = 0, last = 0;  // of the layers that touch it
  };
  struct Slot {
    nvdla_slot slot = {};
    std::vector<LiveRange> live_ranges;  // in order of time
  };

  static constexpr std::uint32_t kNowhere = ~std::uint32_t{0};

  std::vector<Place> places;  // by allocation; the slot of what no layer touches is kNowhere
  std::vector<Slot> slots;
};

struct MemoryPlanOptions {
  bool share = true;       // else each tensor has a slot of its own
  std::uint64_t sram = 0;  // bytes that slots in secondary memory may take together
};

// Returns the layers that touch each allocation, in their order.
std::vector<std::vector<std::uint32_t>> users_of(const Schedule& schedule);

// Plans memory. Allocations with a dedicated slot come first, in their order.
//
// Tensors that nobody has placed go to secondary memory as long as there is room: first those that
// layers touch most often while they are alive, since what counts there is bytes times time; of
// equals the largest.
MemoryPlan plan_memory(const Schedule& schedule, const MemoryPlanOptions& options);

// Returns the layers of the schedule with slots of the plan in place of allocations.
Schedule assign_slots(const MemoryPlan& plan, const Schedule& schedule);

// Returns true if nothing but constants lies there.
bool holds_constants(const MemoryPlan::Slot& slot, std::span<const Allocation> allocations);

// Returns the figures of the plan.
MemoryUse memory_use(const MemoryPlan& plan, std::span<const Allocation> allocations);

// Checks that a plan of memory is right, whoever made it. The schedule names allocations, as
// plan_memory() had it; `accesses` are of the programs that the plan was made for, and of the CPU.
// Throws kInvalidProgram
//   where a layer may touch bytes that belong to none of the allocations that it names,
//   where allocations share bytes, and a layer that touches the one need not have ended before
//   another that touches the other starts, or in the wrong order.
void check_plan(const MemoryPlan& plan, const Schedule& schedule,
                std::span<const ProgramAccess> accesses);

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_PASSES_MEMORY_PLAN_HPP
