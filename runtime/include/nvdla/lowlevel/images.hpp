// SPDX-License-Identifier: MIT
//
/// @file
/// Images: pixels in lines, in one plane or two, as cameras and decoders deliver them. Convolutions
/// read them as they are.
#ifndef NVDLA_LOWLEVEL_IMAGES_HPP
#define NVDLA_LOWLEVEL_IMAGES_HPP

#include <drm/nvdla_layer.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "nvdla/lowlevel/tensors.hpp"
#include "nvdla/types/device_info.hpp"
#include "nvdla/types/export.hpp"
#include "nvdla/types/image_desc.hpp"

namespace nvdla {

/// Throws kInvalidArgument for what is no pixel format.
NVDLA_API PixelLayout pixel_layout(nvdla_pixel_format format);

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
