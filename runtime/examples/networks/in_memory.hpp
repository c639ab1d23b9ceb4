// SPDX-License-Identifier: MIT
//
// What the layers of a request leave in memory: results that are no outputs, parts that are written
// where a concatenation wants them, bands of lines and of kernels.
#ifndef NVDLA_EXAMPLES_NETWORKS_IN_MEMORY_HPP
#define NVDLA_EXAMPLES_NETWORKS_IN_MEMORY_HPP

#include <nvdla/nvdla.hpp>
#include <span>

#include "check.hpp"
#include "graph.hpp"

namespace networks {

// Runs layer by layer and compares what each one wrote with the same part of its result. Results
// that a pooling takes on the fly, and concatenations, whose parts are seen, are not counted.
void check_in_memory(const nvdla::Request& request, const Graph& graph,
                     std::span<const Elements> results, Verdict& verdict);

}  // namespace networks

#endif  // NVDLA_EXAMPLES_NETWORKS_IN_MEMORY_HPP
