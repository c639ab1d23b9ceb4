// SPDX-License-Identifier: MIT
//
// A concatenation as a network keeps it.
#ifndef NVDLA_NETWORK_CONCAT_NODE_HPP
#define NVDLA_NETWORK_CONCAT_NODE_HPP

#include <cstdint>
#include <vector>

#include "nvdla/concatenation.hpp"

namespace nvdla::detail {

struct ConcatNode {
  Axis axis = Axis::kChannels;
  std::vector<std::uint32_t> parts;  // tensors
};

}  // namespace nvdla::detail

#endif  // NVDLA_NETWORK_CONCAT_NODE_HPP
