// SPDX-License-Identifier: MIT
//
// Nodes that take the place of another one.
#ifndef NVDLA_IMPORT_PASSES_EXPAND_NODES_HPP
#define NVDLA_IMPORT_PASSES_EXPAND_NODES_HPP

#include <optional>
#include <vector>

#include "import/graph/node_maker.hpp"

namespace nvdla::import {

// Return the nodes that take the place of a convolution whose window or stride is beyond those of
// the device, of an interpolation of a large tensor, and of an LSTM, GRU or RNN; nothing for a node
// that needs none.
std::optional<std::vector<Node>> expand_convolution(Graph& graph, const Node& node);
std::optional<std::vector<Node>> expand_interpolation(Graph& graph, const Node& node);
std::vector<Node> expand_recurrence(Graph& graph, const Node& node);

}  // namespace nvdla::import

#endif  // NVDLA_IMPORT_PASSES_EXPAND_NODES_HPP
