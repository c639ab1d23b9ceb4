// SPDX-License-Identifier: MIT
//
// What reports and pictures tell of a network: its layers as they were added.
#ifndef NVDLA_COMPILER_GRAPH_USER_NETWORK_HPP
#define NVDLA_COMPILER_GRAPH_USER_NETWORK_HPP

#include <span>
#include <vector>

#include "base/user_layer.hpp"
#include "compiler/graph/network_impl.hpp"
#include "device/compiled_impl.hpp"

namespace nvdla::detail {

// `compiled` are the layers that it became; `fused` is true of layers that became part of the layer
// that makes their input.
UserNetwork user_network(const Network::Impl& net,
                         std::span<const CompiledNetwork::Impl::Layer> compiled,
                         const std::vector<bool>& fused);

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_GRAPH_USER_NETWORK_HPP
