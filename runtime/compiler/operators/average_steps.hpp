// SPDX-License-Identifier: MIT
//
// Sums of large windows are taken in steps that convolutions have: all but the last add up blocks.
#ifndef NVDLA_COMPILER_OPERATORS_AVERAGE_STEPS_HPP
#define NVDLA_COMPILER_OPERATORS_AVERAGE_STEPS_HPP

#include <cstdint>
#include <optional>
#include <vector>

namespace nvdla::detail {

// `AxisWindow` is a window that moves along one axis; `after` may be less than the last one leaves.
struct AxisWindow {
  std::uint32_t size = 1, kernel = 1, stride = 1, before = 0, after = 0;

  std::uint32_t outputs() const { return (before + size + after - kernel) / stride + 1; }
  // Returns the number of elements of a window that are not padding.
  std::uint32_t count(std::uint32_t output) const;
  // Returns true if a convolution has it.
  bool of_device() const;
};

struct SumStep {
  AxisWindow y, x;
};

// Returns steps whose sums are those of the window if padding is zero: the first takes elements of
// 8 bits, and all but the last make sums of 16 bits. Returns nothing if no steps are exact.
std::optional<std::vector<SumStep>> sum_steps(const AxisWindow& y, const AxisWindow& x);

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_OPERATORS_AVERAGE_STEPS_HPP
