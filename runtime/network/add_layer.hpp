// SPDX-License-Identifier: MIT
//
// Errors of layers that are added to a network.
#ifndef NVDLA_NETWORK_ADD_LAYER_HPP
#define NVDLA_NETWORK_ADD_LAYER_HPP

#include <string_view>

#include "base/check.hpp"
#include "nvdla/operators.hpp"

namespace nvdla::detail {

// Runs `add`; what it refuses is said of the layer that was to be added, number `index`.
template <typename Add>
auto add_layer(std::size_t index, std::string_view name, const Add& add) {
  try {
    return add();
  } catch (const Error& error) {
    nvdla_error detail = error.detail();
    detail.object = NVDLA_OBJECT_LAYER;
    detail.index = static_cast<std::uint32_t>(index);
    throw Error(static_cast<ErrorCode>(error.code().value()),
                fmt::format("layer {}{}{}{}: {}", index, name.empty() ? "" : " '", name,
                            name.empty() ? "" : "'", error.what()),
                detail);
  }
}

}  // namespace nvdla::detail

#endif  // NVDLA_NETWORK_ADD_LAYER_HPP
