// SPDX-License-Identifier: MIT
//
/// @file
/// Quantised layers that work element by element: int8 tensors with scales and zero points in, one
/// out, or int16 tensors likewise.
///
/// @code
///   auto z = net.add(y, other, {.name = "sum", .output = {0.1F, 3}, .relu = true});
///   auto p = net.multiply(y, gates, {.name = "scale", .output = {0.05F, -3}});
///   auto c = net.clamp(z, {.name = "relu6", .bounds = {0, 6}});
///   auto s = net.activation(y, {.output = {0.02F, -114}, .function = nvdla::swish});
/// @endcode
#ifndef NVDLA_OPERATORS_QUANTIZED_ELEMENTS_HPP
#define NVDLA_OPERATORS_QUANTIZED_ELEMENTS_HPP

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "nvdla/operators/quantized.hpp"
#include "nvdla/types/conversion.hpp"
#include "nvdla/types/export.hpp"
#include "nvdla/types/precision.hpp"
#include "nvdla/types/quantization.hpp"

namespace nvdla {

// A layer may leave the scale and zero point of an input out where the network knows them.

/// Elements held to bounds. What they stand for stays.
struct Clamp {
  /// Name of the layer in errors, reports and pictures; it may stay empty.
  std::string_view name = {};
  /// Scale and zero point of the input; absent: those that the network knows.
  std::optional<Quantization> input = {};
  Bounds bounds = {};  ///< Real numbers that the results are held to.
};

/// A sum of two quantised tensors of one shape.
struct Addition {
  /// Name of the layer in errors, reports and pictures; it may stay empty.
  std::string_view name = {};
  std::optional<Quantization> a = {};  ///< the first operand
  std::optional<Quantization> b = {};  ///< the second one
  Quantization output = {};            ///< Scale and zero point of the result.
  Bounds bounds = {};                  ///< Real numbers that the results are held to.
  /// Results below the real 0 become 0, before they are held to bounds. Costs nothing where the
  /// zero point of an operand is 0, or that of the output -128.
  bool relu = false;
  /// b is taken away from a.
  bool subtract = false;
};

/// The operators of a sum. Of the operand with the greater scale comes p, of the other q, and
/// result() is
/// @code{.unparsed}
///   v = (p - zero point) * factor + (q << shift), the factor being negative in a difference
///   output = saturate((v - offset) * scale >> right_shift), held to bounds()
/// @endcode
/// with halves away from zero, for the real number
/// @code{.unparsed}
///   r = (a - a.zero_point) * a.scale / output.scale + (b - b.zero_point) * b.scale / output.scale
///       + output.zero_point
/// @endcode
/// or that with a minus, which is rounded to the nearest integer wherever it is further than
/// error() from halfway.
class NVDLA_API QuantizedAddition {
 public:
  /// Throws kInvalidArgument for quantisations that are not known or cannot be, scales of p and q
  /// whose quotient is beyond 2^15 or, where ReLU says which is p, below 2^-8 (int16: 1), an output
  /// whose scale is out of their reach, and bounds that cannot be.
  static QuantizedAddition fit(const Addition& addition, Precision precision = Precision::kInt8);

  /// Returns the greatest error before rounding, in steps of the output.
  double error() const noexcept { return error_; }
  /// Exactly what the hardware computes.
  std::int16_t result(std::int16_t a, std::int16_t b) const;

  /// p is `a`, else `b`.
  bool first_is_a() const noexcept { return first_is_a_; }
  std::int16_t zero_point() const noexcept { return zero_point_; }  ///< of p
  /// Returns the factor of p.
  std::int16_t factor() const noexcept { return factor_; }
  /// Returns the left shift of q.
  std::uint32_t shift() const noexcept { return shift_; }
  /// Returns the converter of the result.
  const Converter& output() const noexcept { return output_; }
  /// Returns the least and greatest element of the result.
  const ElementBounds& bounds() const noexcept { return bounds_; }

 private:
  bool first_is_a_ = true;
  std::int16_t zero_point_ = 0;
  std::int16_t factor_ = 1;
  std::uint32_t shift_ = 0;
  Converter output_;
  ElementBounds bounds_;
  Precision precision_ = Precision::kInt8;
  double error_ = 0;
};

/// A product of two quantised tensors, of one shape, or of one and another of a single position and
/// as many channels, which squeeze and excitation multiplies with. Where both have a zero point,
/// and also where the one of a single position has one, it takes operator Y: compile() throws
/// kInvalidProgram, saying so, on devices without it (DeviceInfo::has_sdp_y).
struct Multiplication {
  /// Name of the layer in errors, reports and pictures; it may stay empty.
  std::string_view name = {};
  std::optional<Quantization> a = {};  ///< the first operand
  std::optional<Quantization> b = {};  ///< the second one
  Quantization output = {};            ///< Scale and zero point of the result.
  Bounds bounds = {};                  ///< Real numbers that the results are held to.
};

/// The operators of a product: result() is
/// @code{.unparsed}
///   v = (a - a.zero_point) * factor * (b - b.zero_point)
///   output = saturate((v - offset) * scale >> right_shift), held to bounds()
/// @endcode
/// with halves away from zero, for the real number
/// @code{.unparsed}
///   r = (a - a.zero_point) * (b - b.zero_point) * a.scale * b.scale / output.scale
///       + output.zero_point
/// @endcode
/// which is rounded to the nearest integer wherever it is further than error() from halfway.
class NVDLA_API QuantizedMultiplication {
 public:
  /// Throws kInvalidArgument for quantisations that are not known or cannot be, bounds that cannot
  /// be, and a.scale * b.scale / output.scale below 2^-23 (int16: 2^-31) or above 2^14.
  static QuantizedMultiplication fit(const Multiplication& multiplication,
                                     Precision precision = Precision::kInt8);

  /// Returns the greatest error before rounding, in steps of the output.
  double error() const noexcept { return error_; }
  /// Exactly what the hardware computes.
  std::int16_t result(std::int16_t a, std::int16_t b) const;

  /// Returns the zero point that is subtracted from a.
  std::int16_t a_zero_point() const noexcept { return a_zero_point_; }
  /// Returns the zero point that is subtracted from b.
  std::int16_t b_zero_point() const noexcept { return b_zero_point_; }
  /// Returns the factor between the differences.
  std::int16_t factor() const noexcept { return factor_; }
  /// Returns the converter of the result.
  const Converter& output() const noexcept { return output_; }
  /// Returns the least and greatest element of the result.
  const ElementBounds& bounds() const noexcept { return bounds_; }

 private:
  std::int16_t a_zero_point_ = 0, b_zero_point_ = 0;
  std::int16_t factor_ = 1;
  Converter output_;
  ElementBounds bounds_;
  Precision precision_ = Precision::kInt8;
  double error_ = 0;
};

/// A function of one element, of nvdla/operators/functions.hpp or the application's. A look-up
/// table has an entry for each of the 256 elements, so that nothing is interpolated, and every
/// result is
/// @code{.unparsed}
///   saturate(round(function((x - input.zero_point) * input.scale) / output.scale)
///            + output.zero_point)
/// @endcode
/// with halves away from zero, the function and all around it in doubles; what is no number becomes
/// the zero point. Where SDP has no table (DeviceInfo::has_lut), that of CDP has the same entries.
///
/// Of int16 the table has an entry for each 256th element, and for 65 that lie closer together
/// where that helps most; those between are interpolated (interpolation_error()). It takes
/// DeviceInfo::has_lut.
struct Activation {
  /// Name of the layer in errors, reports and pictures; it may stay empty.
  std::string_view name = {};
  /// Scale and zero point of the input; absent: those that the network knows.
  std::optional<Quantization> input = {};
  Quantization output = {};  ///< Scale and zero point of the result.
  /// The function, from the real number of an element to that of the result.
  std::function<double(double)> function = {};
};

/// The results of int8 for the elements from -128 on. Throws kInvalidArgument for quantisations
/// that are not known or cannot be and where there is no function, and what the function throws.
NVDLA_API std::array<std::int8_t, 256> activation_results(const Activation& activation);

/// Returns how far the table of int16 is beside the function: the root of the mean of the squares
/// of its errors over all elements, in parts of that of the results. It is great where the function
/// jumps, or bends sharply in many places. Throws the same.
NVDLA_API double interpolation_error(const Activation& activation);

}  // namespace nvdla

#endif  // NVDLA_OPERATORS_QUANTIZED_ELEMENTS_HPP
