// SPDX-License-Identifier: MIT
//
/// @file
/// Feature cubes, planes and pixels: how a tensor lies in memory.
///
/// Element (x, y, c) of cube n is at
/// @code{.unparsed}
///   n * batch_stride + (c / E) * surface_stride + y * line_stride + x * atom + (c % E) * bytes
/// @endcode
/// with E = atom / bytes elements per atom (formats of feature data; nvdla_surface). Lanes beyond
/// the last channel are padding; packing writes zero there.
#ifndef NVDLA_TYPES_TENSOR_DESC_HPP
#define NVDLA_TYPES_TENSOR_DESC_HPP

#include <cstdint>

#include "nvdla/types/export.hpp"
#include "nvdla/types/precision.hpp"
#include "nvdla/types/shape.hpp"

namespace nvdla {

/// A feature cube in memory. Strides of 0 mean packed.
///
/// Planes instead: element (x, y, c) of tensor n is at
/// @code{.unparsed}
///   n * batch_stride + c * surface_stride + y * line_stride + x * bytes
/// @endcode
/// with strides that are multiples of 64; lines are worked on in whole atoms.
///
/// Pixels instead, of inputs with up to four channels: element (x, y, c) of tensor n is at
/// @code{.unparsed}
///   n * batch_stride + y * line_stride + x * pixel + c * bytes
/// @endcode
/// where `pixel` bytes hold one channel or four, of which those beyond the last are padding.
struct TensorDesc {
  Shape shape;                             ///< size in elements
  Precision precision = Precision::kInt8;  ///< type of the elements
  std::uint32_t atom = 32;                 ///< DeviceInfo::atom
  std::uint32_t line_stride = 0;           ///< bytes from line to line, a multiple of the atom
  /// bytes from surface (or plane) to surface, a multiple of the atom
  std::uint32_t surface_stride = 0;
  std::uint32_t batch_stride = 0;  ///< bytes from cube to cube, a multiple of the atom
  bool planar = false;             ///< true of planes, one a channel
  std::uint32_t pixel = 0;         ///< bytes of a pixel where the tensor lies as pixels; else 0

  /// Returns the bytes of an element: 1 or 2.
  constexpr std::uint32_t element_bytes() const noexcept { return precision_bytes(precision); }
  /// Returns how many channels of a position an atom has.
  constexpr std::uint32_t elements_per_atom() const noexcept { return atom / element_bytes(); }
  /// Returns the number of surfaces, or planes.
  constexpr std::uint32_t surfaces() const noexcept {
    if (planar) return shape.channels;
    if (pixel != 0) return 1;
    return (shape.channels + elements_per_atom() - 1) / elements_per_atom();
  }
};

}  // namespace nvdla

#endif  // NVDLA_TYPES_TENSOR_DESC_HPP
