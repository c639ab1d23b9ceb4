// SPDX-License-Identifier: MIT
#include "cost/array_steps.hpp"

#include <algorithm>

#include "cost/machine.hpp"

namespace nvdla::cost {

std::uint64_t array_steps(const ArrayWork& work) noexcept {
  return ceil_div(work.kernels, work.group) * work.blocks *
         std::max(ceil_div(work.outputs, kStripe) * kStripe, work.group);
}

}  // namespace nvdla::cost
