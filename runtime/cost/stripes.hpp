// SPDX-License-Identifier: MIT
//
// CSC cuts the outputs of a kernel group into stripes; the array takes some cycles for each, and
// the compiler chooses between ways to do a convolution by its steps.
#ifndef NVDLA_COST_STRIPES_HPP
#define NVDLA_COST_STRIPES_HPP

#include <cstdint>

#include "cost/geometry.hpp"
#include "cost/machine.hpp"

namespace nvdla::cost {

// `Stripes` describes one kernel group. A stripe is a run of outputs (in Winograd of tiles of four)
// that takes all its steps, a block of channels at a kernel position each, before the next begins.
struct Stripes {
  std::uint64_t steps = 0;            // of a stripe
  std::uint64_t least = 0;            // cycles of a step, in which the next kernels are loaded
  std::uint64_t cycles = 0;           // of all steps of all stripes
  std::uint64_t first = 0, last = 0;  // outputs of these stripes
  std::uint64_t results = 1;          // atoms of kernels that an output has

  // Stripes of each length that the second generation makes, and outputs that CACC has room for.
  struct Kind {
    std::uint64_t outputs = 0, count = 0;
  };
  Kind kinds[3] = {};
  std::uint64_t room = 0;
};

// `group` is the number of kernels of a group.
Stripes cut_stripes(const Machine& machine, const ConvGeometry& layer, std::uint64_t group);

// `ArrayWork` is what steps are counted of: each takes a block of channels of one kernel position
// for a kernel group and one output; in Winograd mode four channels of a tile for a group and four
// outputs.
struct ArrayWork {
  std::uint64_t outputs = 0;  // positions, of all images
  std::uint64_t blocks = 0;   // of channels, at each kernel position
  std::uint64_t kernels = 0;
  std::uint64_t group = 1;  // kernels of a group
};

// Returns the steps that keep the multipliers busy, stripes that are not full included.
std::uint64_t array_steps(const ArrayWork& work) noexcept;

}  // namespace nvdla::cost

#endif  // NVDLA_COST_STRIPES_HPP
