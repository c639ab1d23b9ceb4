// SPDX-License-Identifier: MIT
//
/// @file
/// Images: pixels in lines, in one plane or two, as cameras and decoders deliver them.
///
/// Pixel (x, y) of plane p is at
/// @code{.unparsed}
///   offset of the plane + y * line stride of the plane + (x0 + x) * bytes of a pixel
/// @endcode
/// where x0 is x_offset in the first plane and x_offset modulo the pixels of an atom in the second.
/// A region of a larger image starts at the last atom before its first pixel; the pixels between
/// are x_offset.
#ifndef NVDLA_TYPES_IMAGE_DESC_HPP
#define NVDLA_TYPES_IMAGE_DESC_HPP

#include <drm/nvdla_layer.h>

#include <cstdint>

#include "nvdla/types/export.hpp"
#include "nvdla/types/precision.hpp"

namespace nvdla {

/// The components of a pixel format. Whatever their order in memory, components are channels in the
/// order R G B A or Y U V A.
struct PixelLayout {
  std::uint32_t components = 1;            ///< Channels of a pixel, 1..4.
  Precision precision = Precision::kInt8;  ///< of a component as it is fetched
  std::uint32_t planes = 1;                ///< 1 or 2.
  std::uint32_t bytes[2] = {1, 0};         ///< of a pixel in each plane
};

/// An image in memory. Strides and offsets of 0 are filled in: lines packed to whole atoms, the
/// second plane behind the first.
struct ImageDesc {
  nvdla_pixel_format format = NVDLA_PIXEL_R8;  ///< Order, sizes and planes of the components.
  std::uint32_t width = 1;                     ///< Pixels of a line.
  std::uint32_t height = 1;                    ///< Lines.
  std::uint32_t x_offset = 0;        ///< less than the pixels of an atom in the first plane
  std::uint32_t line_stride = 0;     ///< multiples of the atom
  std::uint32_t line_stride_uv = 0;  ///< of the second plane
  std::uint64_t offset_uv = 0;       ///< of the second plane in the buffer
};

}  // namespace nvdla

#endif  // NVDLA_TYPES_IMAGE_DESC_HPP
