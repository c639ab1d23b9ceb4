// SPDX-License-Identifier: MIT
//
// Adding a layer to a network: its name, and its errors.
#ifndef NVDLA_COMPILER_GRAPH_ADD_LAYER_HPP
#define NVDLA_COMPILER_GRAPH_ADD_LAYER_HPP

#include <string_view>

#include "base/check.hpp"
#include "compiler/graph/network_impl.hpp"

namespace nvdla::detail {

// Runs `add`, which adds a layer to `net`; what is refused is said of that layer.
template <typename Add>
auto add_layer(const Network::Impl& net, std::string_view name, const Add& add) {
  const auto index = static_cast<std::uint32_t>(net.layers.size());
  return at_place(layer_text(index, name), index, [&] {
    net.check_layer_name(name);
    return add();
  });
}

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_GRAPH_ADD_LAYER_HPP
