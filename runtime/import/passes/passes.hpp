// SPDX-License-Identifier: MIT
//
// The passes over a graph before it is lowered.
#ifndef NVDLA_IMPORT_PASSES_PASSES_HPP
#define NVDLA_IMPORT_PASSES_PASSES_HPP

#include <optional>
#include <string>
#include <vector>

#include "import/graph/graph.hpp"
#include "nvdla/import.hpp"

namespace nvdla::import {

// Sets sizes that the model leaves open, from `options` or to 1 for a batch, and makes constants of
// inputs. `constants` are those of options.constants, read. Throws Error naming an input whose
// sizes stay open, and names that no input has.
void fix_inputs(Graph& graph, const ImportOptions& options, const std::vector<Constant>& constants,
                std::vector<std::string>& notices);
// Makes QLinearConv and the like nodes between DequantizeLinear and QuantizeLinear.
void expand_integer_operators(Graph& graph);
// Returns the nodes that take the place of one whose graph or states have to be unrolled: of an If
// with a constant condition those of the branch, of an LSTM, GRU or RNN those of each step, of a
// convolution those of one with a smaller window. Returns nothing for all others. Sizes and
// constants of the inputs are known.
std::optional<std::vector<Node>> expand_node(Graph& graph, const Node& node);
// Return the nodes that take the place of a convolution whose window or stride is beyond those of
// the device, of an interpolation of a large tensor, and of an LSTM, GRU or RNN; nothing for a node
// that needs none.
std::optional<std::vector<Node>> expand_convolution(Graph& graph, const Node& node);
std::optional<std::vector<Node>> expand_interpolation(Graph& graph, const Node& node);
std::vector<Node> expand_recurrence(Graph& graph, const Node& node);
// Returns the nodes that compute an Einsum of two tensors.
std::vector<Node> expand_einsum(Graph& graph, const Node& node);
// Infers types and sizes of all values, expands nodes, computes values that follow from constants,
// and removes their nodes. Appends an entry for each node that is removed or that is not possible.
void fold_constants(Graph& graph, std::vector<ImportedNode>& nodes);
// Makes one node of several that compute a function of one tensor and meet again, such as
// x * sigmoid(x).
void merge_functions(Graph& graph);

// Moves Transposes behind what can be computed in the order of axes in front of them, so that those
// that take each other back meet, and affine operators and activations stand behind their sums.
void move_transposes(Graph& graph);
// Makes Gathers of channels of a Reshape, a Transpose and a Reshape that exchange channels.
void merge_shuffles(Graph& graph);
// Makes a DepthToSpace or a SpaceToDepth of a Reshape, a Transpose and a Reshape that compute one.
void merge_blocks(Graph& graph);
// Makes several Transposes of one that changes the order of more runs of axes than a cube has axes.
void split_transposes(Graph& graph);
// Makes one reshape of several in a row.
void merge_reshapes(Graph& graph);
// Makes a LayerNormalization of the steps of one.
void merge_normalizations(Graph& graph);
// Makes nearest neighbours, padding and a convolution of an interpolation between neighbours by a
// whole factor.
void expand_resizes(Graph& graph);
// Makes two axes of each that is longer than those of the device, where nodes can be made to
// compute that. Returns true if there is one.
bool split_long_axes(Graph& graph);

}  // namespace nvdla::import

#endif  // NVDLA_IMPORT_PASSES_PASSES_HPP
