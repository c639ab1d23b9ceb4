// SPDX-License-Identifier: MIT
#ifndef NVDLA_COMPILER_PASSES_WISHES_HPP
#define NVDLA_COMPILER_PASSES_WISHES_HPP

#include "compiler/graph/graph.hpp"
#include "nvdla/build_options.hpp"

namespace nvdla::detail {

// Returns the graph with BuildOptions::choices in the tuning of its layers. Throws kInvalidArgument
// for what is no choice, for names that no convolution has, and for two choices that exclude each
// other.
Graph with_choices(Graph graph, const BuildOptions& options);

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_PASSES_WISHES_HPP
