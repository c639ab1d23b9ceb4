// SPDX-License-Identifier: MIT
//
// Holding the results of SDP to bounds: by operators before its converter, where they have a place.
#ifndef NVDLA_COMPILER_GRAPH_BOUNDS_HPP
#define NVDLA_COMPILER_GRAPH_BOUNDS_HPP

#include <optional>

#include "compiler/graph/sdp_node.hpp"

namespace nvdla::detail {

// Makes negative results of `part` zero although operator Y is the last: Y does it where its ALU is
// free; else integers get bounds, and fp16 a layer behind, which Builder::add_bounds() adds.
void add_relu_behind_y(SdpNode& part, Precision result, const Shape& out);

// The element that the converter of `part` makes of 0: integers, or bits of fp16.
std::int32_t element_of_zero(const SdpNode& part, Precision result);

// Whether bounds leave out elements that saturation does not.
bool has_bounds(const SdpNode& part, Precision result);

// `part` without its bounds, with operators that do the same; nothing if there are no bounds, or no
// operators that would do.
std::optional<SdpNode> hold_to_bounds(const SdpNode& part, Precision result, bool has_y);

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_GRAPH_BOUNDS_HPP
