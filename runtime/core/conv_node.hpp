// SPDX-License-Identifier: MIT
//
// A convolution, as a network keeps it.
#ifndef NVDLA_CORE_CONV_NODE_HPP
#define NVDLA_CORE_CONV_NODE_HPP

#include <drm/nvdla_layer.h>

#include <cstdint>
#include <vector>

#include "core/sdp_node.hpp"

namespace nvdla::detail {

struct ConvNode {
  nvdla_conv conv = {};              // its geometry
  std::vector<std::int8_t> weights;  // KCRS
  SdpNode sdp;
};

}  // namespace nvdla::detail

#endif  // NVDLA_CORE_CONV_NODE_HPP
