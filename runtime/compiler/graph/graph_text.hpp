// SPDX-License-Identifier: MIT
//
// Graphs as text, for tests of passes and for reports of errors: a line for each input, layer and
// output.
//
//   graph
//   %0 = input "image" : int8 3x32x32
//   %1 = pad "pad" %0 corner={line=1 column=1} : int8 3x34x34
//   %2 = conv "conv1" %1 kernels=16 kernel=3x3 weights=ramp(0, 91)
//        x1={alu=sum mode=channel alu_values=ramp(0, 3)} converter={scale=3 shift=9} : int8
//        16x32x32
//   output %2 "scores"
//
// (The third layer is one line; it is broken here to fit.) A layer names its input, then the other
// tensors that it reads, then the fields that differ from their usual values, in any order, then
// the precision and shape of its output. %2 is the tensor of index 2; names of letters work, too:
// these tensors are numbered as they come. A '#' begins a comment. Which fields a node has is
// listed in compiler/graph/node_fields.hpp, how constants are written in
// compiler/text/list_text.hpp.
#ifndef NVDLA_COMPILER_GRAPH_GRAPH_TEXT_HPP
#define NVDLA_COMPILER_GRAPH_GRAPH_TEXT_HPP

#include <string>
#include <string_view>

#include "compiler/graph/graph.hpp"
#include "compiler/text/list_text.hpp"

namespace nvdla::detail {

// Throws kInvalidArgument for a graph whose layers name tensors that are not there. Long constants
// that no generator makes are left out, unless the options ask for all values.
std::string print_graph(const Graph& graph, const text::PrintOptions& options = {});

// Reads what print_graph() prints. Throws kInvalidArgument, with line and column, for anything
// else: layers read tensors of earlier lines, and shapes are those that Network takes. Whether a
// layer fits its tensors is not checked.
Graph parse_graph(std::string_view text, const text::ParseOptions& options = {});

// Returns the first difference, as "layer 3 'conv': x1.alu"; empty if the graphs are equal.
std::string graph_difference(const Graph& a, const Graph& b);

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_GRAPH_GRAPH_TEXT_HPP
