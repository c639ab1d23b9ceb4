// SPDX-License-Identifier: MIT
//
// Steps of the multipliers, by which the compiler chooses between ways to do a convolution.
#ifndef NVDLA_COST_ARRAY_STEPS_HPP
#define NVDLA_COST_ARRAY_STEPS_HPP

#include <cstdint>

namespace nvdla::cost {

// Each step takes a block of channels of one kernel position for a kernel group and one output; in
// Winograd mode four channels of a tile for a group and four outputs.
struct ArrayWork {
  std::uint64_t outputs = 0;  // positions, of all images
  std::uint64_t blocks = 0;   // of channels, at each kernel position
  std::uint64_t kernels = 0;
  std::uint64_t group = 1;  // kernels of a group
};

// Returns the steps that keep the multipliers busy, stripes that are not full included.
std::uint64_t array_steps(const ArrayWork& work) noexcept;

}  // namespace nvdla::cost

#endif  // NVDLA_COST_ARRAY_STEPS_HPP
