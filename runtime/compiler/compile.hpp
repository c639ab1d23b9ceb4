// SPDX-License-Identifier: MIT
#ifndef NVDLA_COMPILER_COMPILE_HPP
#define NVDLA_COMPILER_COMPILE_HPP

#include "compiler/operators/network_impl.hpp"
#include "compiler/passes/program_cuts.hpp"

namespace nvdla::detail {

// Network::compile(), with other limits than those of programs.
CompiledNetwork compile(const Network::Impl& net, const Device& device, const BuildOptions& options,
                        const ProgramLimits& limits);

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_COMPILE_HPP
