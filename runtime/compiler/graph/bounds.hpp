// SPDX-License-Identifier: MIT
//
// Operators before SDP's converter hold its results to bounds, where they have a place.
#ifndef NVDLA_COMPILER_GRAPH_BOUNDS_HPP
#define NVDLA_COMPILER_GRAPH_BOUNDS_HPP

#include <optional>
#include <span>

#include "compiler/graph/graph.hpp"

namespace nvdla::detail {

// Makes negative results of `part` zero although operator Y is the last: Y does it where its ALU is
// free; else integers get bounds, and fp16 a layer behind, which lower_bounds() adds.
void add_relu_behind_y(SdpNode& part, Precision result, const Shape& out);

// Returns the element that the converter of `part` makes of 0: an integer, or bits of fp16.
std::int32_t element_of_zero(const SdpNode& part, Precision result);

// Returns true if bounds leave out elements that saturation does not.
bool has_bounds(const SdpNode& part, Precision result);

// Returns `part` without its bounds, with operators that do the same; nothing if there are no
// bounds, or no operators that would do.
std::optional<SdpNode> hold_to_bounds(const SdpNode& part, Precision result, bool has_y);

// Returns SDP behind the sums of a layer: that of each phase, which have the same bounds, of a
// deconvolution; nothing of a layer without SDP.
std::span<const SdpNode> sdp_nodes(const LayerNode& node);

// Returns true if a layer of its own, behind `node`, has to hold its results to their bounds.
bool is_held_apart(const Graph& graph, const LayerNode& node, bool has_y);

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_GRAPH_BOUNDS_HPP
