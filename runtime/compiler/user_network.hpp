// SPDX-License-Identifier: MIT
//
// The layers of a network as its user added them, for reports and pictures.
#ifndef NVDLA_COMPILER_USER_NETWORK_HPP
#define NVDLA_COMPILER_USER_NETWORK_HPP

#include <span>

#include "compiler/graph/graph.hpp"
#include "compiler/lower/schedule.hpp"
#include "support/user_layer.hpp"

namespace nvdla::detail {

// Returns the layers of the graph, with those of the schedule that they became.
UserNetwork user_network(const Graph& graph, std::span<const Operation> operations);

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_USER_NETWORK_HPP
