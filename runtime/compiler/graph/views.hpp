// SPDX-License-Identifier: MIT
//
// Tensors that lie in others: parts of concatenations, insides of paddings, and slices.
#ifndef NVDLA_COMPILER_GRAPH_VIEWS_HPP
#define NVDLA_COMPILER_GRAPH_VIEWS_HPP

#include <cstdint>
#include <vector>

#include "compiler/graph/graph.hpp"
#include "nvdla/types/device_info.hpp"

namespace nvdla::detail {

// Returns the first channel, line and column of each part.
std::vector<Corner> part_corners(const Graph& graph, const ConcatNode& node);
// Returns true if channels of a tensor begin with an atom there.
bool begins_atom(const DeviceInfo& info, const TensorNode& tensor, const Corner& corner);
// Returns true if those of all parts do.
bool parts_fill_atoms(const Graph& graph, const DeviceInfo& info, const ConcatNode& node);
// Returns the place that begins so far inside of `whole`, whose strides `desc` has.
nvdla_surface inside(const nvdla_surface& whole, const Corner& corner, const TensorDesc& desc);

// Returns true if a tensor is an input of the network that one layer reads, once.
bool is_input_of_one(const Graph& graph, std::uint32_t tensor);
// Returns the tensor that a tensor lies in, or the tensor itself.
std::uint32_t root_of(const Graph& graph, std::uint32_t tensor);
// Returns true if a layer reads it, or a tensor that lies in it.
bool is_read(const Graph& graph, std::uint32_t tensor);
// Returns true if `part` lies in `whole`, from `corner` on.
bool lies_there(const Graph& graph, std::uint32_t part, std::uint32_t whole, const Corner& corner);
// Returns true if the application reads it.
bool is_output(const Graph& graph, std::uint32_t tensor);

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_GRAPH_VIEWS_HPP
