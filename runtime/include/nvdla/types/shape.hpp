// SPDX-License-Identifier: MIT
//
/// @file
/// Sizes of tensors, and the order in which applications keep their elements.
#ifndef NVDLA_TYPES_SHAPE_HPP
#define NVDLA_TYPES_SHAPE_HPP

#include <cstdint>

#include "nvdla/types/export.hpp"

namespace nvdla {

/// Order of an application's elements, the last letter fastest.
enum class Layout {
  kNchw,  ///< cube, channel, line, column
  kNhwc,  ///< cube, line, column, channel
};

/// Size of a tensor in elements, each 1..8192 (batch 1..32).
struct Shape {
  std::uint32_t channels = 1;  ///< channels, C
  std::uint32_t height = 1;    ///< lines, H
  std::uint32_t width = 1;     ///< columns, W
  std::uint32_t batch = 1;     ///< cubes, N

  /// Returns how many elements all cubes have together.
  constexpr std::uint64_t elements() const noexcept {
    return std::uint64_t{batch} * channels * height * width;
  }
  friend bool operator==(const Shape&, const Shape&) = default;  ///< True if all sizes are equal.
};

}  // namespace nvdla

#endif  // NVDLA_TYPES_SHAPE_HPP
