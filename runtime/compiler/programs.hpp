// SPDX-License-Identifier: MIT
//
// Programs of a schedule whose memory is planned, and the work of the CPU between them.
#ifndef NVDLA_COMPILER_PROGRAMS_HPP
#define NVDLA_COMPILER_PROGRAMS_HPP

#include <vector>

#include "compiler/graph/graph.hpp"
#include "compiler/lower/schedule.hpp"
#include "device/compiled_impl.hpp"
#include "device/program_accesses.hpp"

namespace nvdla::detail {

// Creates, on the device of `compiled`, a program for each segment, and puts them into it in their
// order. `placed` names the slots of `compiled` where `schedule` names allocations. Throws what the
// compiler of programs refuses, in the words of the graph.
void create_programs(const Graph& graph, const Schedule& schedule, const Schedule& placed,
                     CompiledNetwork::Impl& compiled, bool statistics);

// Returns what the layers of `compiled` and the CPU may touch.
std::vector<ProgramAccess> accesses_of(const CompiledNetwork::Impl& compiled,
                                       const Schedule& placed);

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_PROGRAMS_HPP
