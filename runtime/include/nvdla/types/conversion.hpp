// SPDX-License-Identifier: MIT
//
/// @file
/// What follows the sums of a layer: a converter, and the range of its results.
#ifndef NVDLA_TYPES_CONVERSION_HPP
#define NVDLA_TYPES_CONVERSION_HPP

#include <cstdint>
#include <limits>

#include "nvdla/types/export.hpp"

namespace nvdla {

/// (x - offset) * scale >> shift, halves away from zero, saturated: SDP's converters.
struct Converter {
  std::int32_t offset = 0;  ///< is subtracted first
  std::int16_t scale = 1;   ///< factor of the difference
  std::uint32_t shift = 0;  ///< right shift of the product, 0..63
};

/// The range that the elements of a result are held to, after the converter: those beyond become
/// the end. int8 and int16 saturate in any case. It is the same on every device: ReLU, operators
/// that the layer leaves free, Y where there is one, or a further layer "NAME clamp" behind it,
/// which takes what the layer has left.
struct ElementBounds {
  std::int32_t least = std::numeric_limits<std::int32_t>::min();     ///< least element
  std::int32_t greatest = std::numeric_limits<std::int32_t>::max();  ///< greatest element

  /// True if both ends are equal.
  friend constexpr bool operator==(const ElementBounds&, const ElementBounds&) noexcept = default;
};

}  // namespace nvdla

#endif  // NVDLA_TYPES_CONVERSION_HPP
