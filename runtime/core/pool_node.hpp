// SPDX-License-Identifier: MIT
//
// A pooling, as a network keeps it.
#ifndef NVDLA_CORE_POOL_NODE_HPP
#define NVDLA_CORE_POOL_NODE_HPP

#include <drm/nvdla_layer.h>

namespace nvdla::detail {

// Everything but surfaces and bands; width, height, channels and precision are those of the input.
struct PoolNode {
  nvdla_pdp pdp = {};
};

}  // namespace nvdla::detail

#endif  // NVDLA_CORE_POOL_NODE_HPP
