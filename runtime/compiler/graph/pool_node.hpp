// SPDX-License-Identifier: MIT
//
// A pooling, as a network keeps it.
#ifndef NVDLA_COMPILER_GRAPH_POOL_NODE_HPP
#define NVDLA_COMPILER_GRAPH_POOL_NODE_HPP

#include <drm/nvdla_layer.h>

#include <cstdint>

#include "support/fp17.hpp"

namespace nvdla::detail {

// Returns the factor of an average's sums, as nvdla_pdp takes it, for kernel sizes of 1 to 8.
// Integers are cut off, as they always were; loadables leave them to whoever reads them.
inline std::uint32_t pool_reciprocal(std::uint32_t size, bool real) noexcept {
  return real ? arith::to_fp17(1.0 / size) : 0x10000 / size;
}

// A window of PDP has so many lines and columns at most.
inline constexpr std::uint32_t kMaxWindow = 8;

inline bool is_one_step(const nvdla_pdp& pdp) noexcept {
  return pdp.kernel_width <= kMaxWindow && pdp.kernel_height <= kMaxWindow;
}

struct PoolNode {
  // It has everything but surfaces and bands; its size and precision are those of the input.
  nvdla_pdp pdp = {};
  // A pass sets it: PDP may take its input on the fly, from the layer that makes it.
  bool flies = false;
};

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_GRAPH_POOL_NODE_HPP
