// SPDX-License-Identifier: MIT
#ifndef NVDLA_COMPILER_PASSES_WISHES_HPP
#define NVDLA_COMPILER_PASSES_WISHES_HPP

#include "compiler/graph/graph.hpp"
#include "nvdla/build_options.hpp"

namespace nvdla::detail {

// Returns the graph with BuildOptions::choices and allow_rounding in the tuning of its layers.
// Throws kInvalidArgument for what is no choice, for names that no convolution has, and for choices
// that exclude each other or what the layer is.
Graph with_choices(Graph graph, const BuildOptions& options);

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_PASSES_WISHES_HPP
