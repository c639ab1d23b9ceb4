// SPDX-License-Identifier: MIT
//
// The passes in the order in which they run.
#ifndef NVDLA_COMPILER_PASSES_PIPELINE_HPP
#define NVDLA_COMPILER_PASSES_PIPELINE_HPP

#include <vector>

#include "compiler/passes/passes.hpp"
#include "nvdla/compiled_network.hpp"
#include "nvdla/types/device_info.hpp"

namespace nvdla::detail {

// Throws kInvalidArgument for a name in `disabled_passes` that is none of a pass that can be left
// out.
void check_disabled_passes(const BuildOptions& options);

// Run all passes over the graph and all over the schedule, and append to `reports` what each did.
// `budget` and `alive_in_turns` are PassContext's.
Graph run_passes(Graph graph, const DeviceInfo& info, const BuildOptions& options,
                 std::vector<PassReport>& reports, SearchBudget* budget = nullptr);
Schedule run_passes(Schedule schedule, const Graph& graph, const DeviceInfo& info,
                    const BuildOptions& options, std::vector<PassReport>& reports,
                    SearchBudget* budget = nullptr, std::uint64_t alive_in_turns = kAnyBytes);

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_PASSES_PIPELINE_HPP
