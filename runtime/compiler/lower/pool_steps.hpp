// SPDX-License-Identifier: MIT
//
// Windows that are larger than the hardware's, in steps: the largest of largest elements.
#ifndef NVDLA_COMPILER_LOWER_POOL_STEPS_HPP
#define NVDLA_COMPILER_LOWER_POOL_STEPS_HPP

#include <drm/nvdla_layer.h>

#include <vector>

namespace nvdla::detail {

// Returns the steps of a pooling for maximum or minimum, one after another, each with the width and
// height of its input.
std::vector<nvdla_pdp> split_window(const nvdla_pdp& pdp);

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_LOWER_POOL_STEPS_HPP
