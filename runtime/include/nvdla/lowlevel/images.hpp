// SPDX-License-Identifier: MIT
//
/// @file
/// Images: pixels in lines, in one plane or two, as cameras and decoders deliver them. Convolutions
/// read them as they are.
///
/// Pixel (x, y) of plane p is at
/// @code{.unparsed}
///   offset of the plane + y * line stride of the plane + (x0 + x) * bytes of a pixel
/// @endcode
/// where x0 is x_offset in the first plane and x_offset modulo the pixels of an atom in the second.
/// A region of a larger image starts at the last atom before its first pixel; the pixels between
/// are x_offset.
#ifndef NVDLA_LOWLEVEL_IMAGES_HPP
#define NVDLA_LOWLEVEL_IMAGES_HPP

#include <drm/nvdla_layer.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "nvdla/device.hpp"
#include "nvdla/lowlevel/tensors.hpp"
#include "nvdla/types/export.hpp"

namespace nvdla {

/// The components of a pixel format. Whatever their order in memory, components are channels in the
/// order R G B A or Y U V A.
struct PixelLayout {
  std::uint32_t components = 1;            ///< Channels of a pixel, 1..4.
  Precision precision = Precision::kInt8;  ///< of a component as it is fetched
  std::uint32_t planes = 1;                ///< 1 or 2.
  std::uint32_t bytes[2] = {1, 0};         ///< of a pixel in each plane
};

/// Throws kInvalidArgument for what is no pixel format.
NVDLA_API PixelLayout pixel_layout(nvdla_pixel_format format);

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

/// The same with everything filled in for a device. Throws kInvalidArgument for what cannot be,
/// saying what would be right.
NVDLA_API ImageDesc resolve(const DeviceInfo& info, const ImageDesc& desc);
/// Bytes that a buffer needs.
NVDLA_API std::uint64_t image_bytes(const DeviceInfo& info, const ImageDesc& desc);

/// Pixels without gaps, plane by plane, into an image. Throws kInvalidArgument if a plane has
/// another number of bytes than width * height pixels.
NVDLA_API void pack_image(const DeviceInfo& info, const ImageDesc& desc,
                          std::span<const std::byte> plane, std::span<const std::byte> plane_uv,
                          std::span<std::byte> image);

}  // namespace nvdla

#endif  // NVDLA_LOWLEVEL_IMAGES_HPP
