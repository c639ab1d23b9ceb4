// SPDX-License-Identifier: MIT
//
// From a graph to a plan: passes over the graph, lowering, passes over the schedule, and memory.
// Where memory is scarce, choices that take more of it are given up.
#ifndef NVDLA_COMPILER_PLAN_HPP
#define NVDLA_COMPILER_PLAN_HPP

#include <cstdint>
#include <vector>

#include "compiler/graph/graph.hpp"
#include "compiler/lower/schedule.hpp"
#include "compiler/passes/memory_plan.hpp"
#include "compiler/passes/program_cuts.hpp"
#include "device/build_steps.hpp"
#include "nvdla/build_options.hpp"
#include "nvdla/types/device_info.hpp"

namespace nvdla::detail {

// `Plan` is all of a network but its programs.
struct Plan {
  Graph graph;
  Schedule schedule;        // it names allocations
  MemoryPlan memory;        // where they are
  Schedule placed;          // the schedule in the slots of `memory`
  std::uint64_t bytes = 0;  // of all slots, each in whole pages
  std::vector<PassReport> passes;
};

// Plans a network as BuildOptions::optimise and memory_limit ask for. Throws what passes and
// lowering refuse, and kNotAvailable where no plan that was found keeps to the limit. `steps` hears
// of each layer, and of memory.
Plan make_plan(const Graph& from, const DeviceInfo& info, const BuildOptions& options,
               const ProgramLimits& limits, BuildSteps& steps);

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_PLAN_HPP
