// SPDX-License-Identifier: MIT
//
// A network is compiled: its schedule gets programs, and reports the layers as its user added them.
#ifndef NVDLA_COMPILER_COMPILE_HPP
#define NVDLA_COMPILER_COMPILE_HPP

#include <span>
#include <vector>

#include "compiler/graph/graph.hpp"
#include "compiler/lower/schedule.hpp"
#include "compiler/operators/network_impl.hpp"
#include "compiler/passes/program_cuts.hpp"
#include "device/compiled_impl.hpp"
#include "device/program_accesses.hpp"
#include "support/user_layer.hpp"

namespace nvdla::detail {

// Network::compile(), with other limits than those of programs.
CompiledNetwork compile(const Network::Impl& net, const Device& device, const BuildOptions& options,
                        const ProgramLimits& limits);

// Creates, on the device of `compiled`, a program for each segment, and puts them into it in their
// order. `placed` names the slots of `compiled` where `schedule` names allocations. Throws what the
// compiler of programs refuses, in the words of the graph.
void create_programs(const Graph& graph, const Schedule& schedule, const Schedule& placed,
                     CompiledNetwork::Impl& compiled, bool statistics);

// Returns what the layers of `compiled` and the CPU may touch.
std::vector<ProgramAccess> accesses_of(const CompiledNetwork::Impl& compiled,
                                       const Schedule& placed);

// Returns the layers of the graph, with those of the schedule that they became.
UserNetwork user_network(const Graph& graph, std::span<const Operation> operations);

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_COMPILE_HPP
