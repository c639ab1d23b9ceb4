// SPDX-License-Identifier: MIT
//
/// @file
/// The real numbers that elements stand for.
#ifndef NVDLA_TYPES_QUANTIZATION_HPP
#define NVDLA_TYPES_QUANTIZATION_HPP

#include <cstdint>

#include "nvdla/types/export.hpp"

namespace nvdla {

/// real = (q - zero_point) * scale. Packing: q = saturate(round(real / scale) + zero_point), the
/// quotient a float, halves rounded to even, as QuantizeLinear of ONNX does; the hardware's
/// converters round them away from zero. fp16 has no zero point: q = real / scale to the nearest
/// fp16, halves to even, 65504 beyond the largest; infinities and NaN stay.
///
/// Infinities of fp16 exist outside of networks only. No unit makes one, and those that read one
/// take it for a number that differs from unit to unit; so Request::write()
/// makes 65504 of it, with its sign. (A buffer that the application binds keeps what it
/// holds: whether an infinity in it arrives as one or as 65504 depends on what moves it.) NaN keeps
/// its sign and its payload, and zero its sign, where layers move or choose elements, on whatever
/// unit they run.
struct Quantization {
  float scale = 1.0F;           ///< real number that one step of an element stands for, above 0
  std::int32_t zero_point = 0;  ///< element that stands for 0

  /// True if scale and zero point are equal.
  friend bool operator==(const Quantization&, const Quantization&) = default;
};

}  // namespace nvdla

#endif  // NVDLA_TYPES_QUANTIZATION_HPP
