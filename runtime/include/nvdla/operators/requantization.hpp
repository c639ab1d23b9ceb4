// SPDX-License-Identifier: MIT
//
/// @file
/// Converters that multiply results with a factor of their user.
#ifndef NVDLA_OPERATORS_REQUANTIZATION_HPP
#define NVDLA_OPERATORS_REQUANTIZATION_HPP

#include <cstdint>

#include "nvdla/operators/sdp_operators.hpp"
#include "nvdla/types/conversion.hpp"
#include "nvdla/types/export.hpp"
#include "nvdla/types/precision.hpp"

namespace nvdla {

/// The converter for saturate(round(x * f + z)), halves away from zero, once: f is the multiple of
/// 2^-shift nearest to `factor` (0 < factor < 32767.5) of 15 significant bits, shift at most 63.
///
/// The hardware subtracts before it multiplies, so z is a multiple of f: that nearest to
/// `zero_point`, at most f / 2 beside it. Up to a sixteenth of a step of the result is taken, which
/// all factors up to 1/8 keep; more is refused: requantize_exactly() has no such error.
/// Throws kInvalidArgument for a factor out of range, or a zero point that is refused, saying what
/// it would be.
NVDLA_API Converter requantize(double factor, std::int32_t zero_point = 0);

/// A requantisation in two steps: one operator multiplies, then the converter adds and shifts.
struct Requantization {
  std::int16_t factor = 1;  ///< Factor that the operator multiplies with.
  Converter output = {};    ///< Converter behind the operator.

  /// The last operator of the layer, X1 or X2, which also merges with a bias before it. Refers to
  /// this object, which must live until the layer is added.
  Operator multiply() const { return scale({&factor, 1}); }
};

/// saturate(round(x * f + zero_point)) to the elements of `result`, int8 or int16, halves away from
/// zero, once, for every x of 32 bits: f is the multiple of 2^-22 (int8) or 2^-15 (int16) nearest
/// to `factor`, of at most 15 significant bits. ReLU of the layer comes before the zero point.
/// @code
///   const auto q = nvdla::requantize_exactly(0.7, -3);
///   layer.x1 = q.multiply();
///   layer.output = q.output;
/// @endcode
/// Throws kInvalidArgument for a zero point that the result does not have, and unless
/// 2^-11 (int8) or 2^-4 (int16) <= factor < 32767.5; with smaller ones requantize() is as good.
NVDLA_API Requantization requantize_exactly(double factor, std::int32_t zero_point,
                                            Precision result = Precision::kInt8);

}  // namespace nvdla

#endif  // NVDLA_OPERATORS_REQUANTIZATION_HPP
