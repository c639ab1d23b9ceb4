// SPDX-License-Identifier: MIT
//
// The passes in the order in which they run.
#ifndef NVDLA_COMPILER_PASSES_PIPELINE_HPP
#define NVDLA_COMPILER_PASSES_PIPELINE_HPP

#include <vector>

#include "compiler/graph/graph.hpp"
#include "compiler/passes/passes.hpp"
#include "nvdla/build_options.hpp"
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

// Returns the graph with BuildOptions::choices and allow_rounding in the tuning of its layers.
// Throws kInvalidArgument for what is no choice, for names that no convolution has, and for choices
// that exclude each other or what the layer is.
Graph with_choices(Graph graph, const BuildOptions& options);

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_PASSES_PIPELINE_HPP
