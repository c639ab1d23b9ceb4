// SPDX-License-Identifier: MIT
//
// Averages of windows of any size.
#ifndef NVDLA_CPU_AVERAGE_HPP
#define NVDLA_CPU_AVERAGE_HPP

#include <cstdint>
#include <functional>
#include <optional>

#include "cpu/cube.hpp"

namespace nvdla::cpu {

// What padding counts as; without it, it does not count.
struct AverageWindow {
  std::uint32_t height = 1, width = 1;
  std::uint32_t stride_y = 1, stride_x = 1;
  std::uint32_t pad_top = 0, pad_left = 0;
  std::optional<std::int32_t> pad_value;
  // Makes an element of int8 of a sum and a count, in place of their quotient.
  std::function<std::int8_t(std::int64_t sum, std::int64_t count)> finish = {};
};

// Source and target have the same precision; they stand for the same unless the window has a
// function that finishes sums. The target's shape says how many windows there are, each of which
// has an element. Integers are sum / count, rounded once, halves away from zero. Halves are summed
// and divided in doubles, and rounded to the nearest.
void average(const Source& from, const Target& to, const AverageWindow& window);

}  // namespace nvdla::cpu

#endif  // NVDLA_CPU_AVERAGE_HPP
