// SPDX-License-Identifier: MIT
//
// Averages of windows of any size.
#ifndef NVDLA_HOST_OPS_AVERAGE_HPP
#define NVDLA_HOST_OPS_AVERAGE_HPP

#include <array>
#include <cstdint>
#include <optional>

#include "host_ops/cube.hpp"

namespace nvdla::cpu {

// `AverageScale` makes elements of int8 of sums, where the target stands for other numbers than the
// source does.
struct AverageScale {
  // (v + (addend << left_shift)) * factor >> right_shift, with halves away from zero, saturated to
  // 32 bits.
  struct Step {
    std::int32_t addend = 0;
    std::uint32_t left_shift = 0;
    std::int32_t factor = 1;
    std::uint32_t right_shift = 0;
  };
  // The first one or two, which have the number of elements in them, or none: then the mean is
  // converted from `input` to `output`, and rounded. Steps are followed by the zero point of
  // `output`.
  std::uint32_t steps = 0;
  std::array<Step, 2> step = {};
  Quantization input, output;

  std::int8_t element(std::int64_t sum, std::int64_t count) const noexcept;
};

// `pad_value` is what padding counts as; without it, padding does not count.
struct AverageWindow {
  std::uint32_t height = 1, width = 1;
  std::uint32_t stride_height = 1, stride_width = 1;
  std::uint32_t pad_top = 0, pad_left = 0;
  std::optional<std::int32_t> pad_value;
  // It replaces the quotient, in int8 only.
  std::optional<AverageScale> scale = {};
};

// Source and target have the same precision; they stand for the same unless the window has
// a scale. The target's shape says how many windows there are, each of which
// has an element. Integers are sum / count, rounded once, halves away from zero. Halves are summed
// and divided in doubles, and rounded to the nearest.
void average(const Source& from, const Target& to, const AverageWindow& window);

}  // namespace nvdla::cpu

#endif  // NVDLA_HOST_OPS_AVERAGE_HPP
