// SPDX-License-Identifier: MIT
//
// Windows that are larger than the hardware's, in steps: the largest of largest elements.
#ifndef NVDLA_COMPILER_LOWER_POOL_STEPS_HPP
#define NVDLA_COMPILER_LOWER_POOL_STEPS_HPP

#include <drm/nvdla_layer.h>

#include <cstdint>
#include <vector>

namespace nvdla::detail {

// Lines and columns of a window of PDP.
inline constexpr std::uint32_t kMostWindow = 8;

inline bool is_one_step(const nvdla_pdp& pdp) noexcept {
  return pdp.kernel_width <= kMostWindow && pdp.kernel_height <= kMostWindow;
}

// Of a pooling for maximum or minimum of a width and a height: one after another, each with those
// of its input.
std::vector<nvdla_pdp> split_window(const nvdla_pdp& pdp);

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_LOWER_POOL_STEPS_HPP
