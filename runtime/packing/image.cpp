// SPDX-License-Identifier: MIT
#include <algorithm>

#include "firmware/compile/nvdla_compile.h"
#include "nvdla/lowlevel/images.hpp"
#include "nvdla/types/device_info.hpp"
#include "nvdla/types/image_desc.hpp"
#include "nvdla/types/precision.hpp"
#include "support/check.hpp"
#include "support/integers.hpp"

namespace nvdla {
namespace {

using arith::round_up;
using detail::throw_invalid_argument;

// Pixels before the first one of a line, within its atom.
std::uint64_t skipped(const DeviceInfo& info, const ImageDesc& d, std::uint32_t bytes) {
  return d.x_offset % (info.atom / bytes);
}

// Returns the bytes that are fetched of a line: whole atoms.
std::uint64_t line_bytes(const DeviceInfo& info, const ImageDesc& d, std::uint32_t bytes) {
  return round_up((skipped(info, d, bytes) + d.width) * bytes, info.atom);
}

std::uint32_t stride(const DeviceInfo& info, const char* what, std::uint32_t given,
                     std::uint64_t least) {
  const std::uint64_t value = given == 0 ? least : given;
  if (value % info.atom != 0 || value < least) {
    throw_invalid_argument(
        "{} {} must be a multiple of the atom ({}) and at least {}; nearest valid: {}", what, value,
        info.atom, least, std::max(round_up(value, info.atom), least));
  }
  return static_cast<std::uint32_t>(value);
}

void copy_plane(const char* what, std::span<const std::byte> pixels, std::uint64_t line,
                std::uint32_t height, std::uint32_t stride, std::byte* out) {
  if (pixels.size() != line * height) {
    throw_invalid_argument("{} bytes given for the {} plane, {} lines of {} bytes are {}",
                           pixels.size(), what, height, line, line * height);
  }
  for (std::uint32_t y = 0; y < height; ++y) {
    std::copy_n(pixels.data() + y * line, line, out + std::uint64_t{y} * stride);
  }
}

}  // namespace

PixelLayout pixel_layout(nvdla_pixel_format format) {
  const nvdla_pixel* pixel = nvdla_pixel_find(static_cast<u32>(format));
  if (pixel == nullptr)
    throw_invalid_argument("pixel format {} is not in 0..35", static_cast<u32>(format));
  PixelLayout layout;
  layout.components = pixel->components;
  layout.precision = static_cast<Precision>(pixel->precision);
  layout.planes = pixel->bytes[1] != 0 ? 2 : 1;
  layout.bytes[0] = pixel->bytes[0];
  layout.bytes[1] = pixel->bytes[1];
  return layout;
}

ImageDesc resolve(const DeviceInfo& info, const ImageDesc& desc) {
  const PixelLayout pixel = pixel_layout(desc.format);
  detail::check_range("width", desc.width, 1U, detail::kMaxSide);
  detail::check_range("height", desc.height, 1U, detail::kMaxSide);
  detail::check_range("x_offset", desc.x_offset, 0U, info.atom / pixel.bytes[0] - 1);
  ImageDesc d = desc;
  d.line_stride = stride(info, "line_stride", d.line_stride, line_bytes(info, d, pixel.bytes[0]));
  if (pixel.planes == 1) {
    if (d.line_stride_uv != 0 || d.offset_uv != 0) {
      throw_invalid_argument(
          "pixel format {} has one plane; there is no second one at offset {} with a "
          "line_stride of {}",
          pixel_format_name(static_cast<u32>(d.format)), d.offset_uv, d.line_stride_uv);
    }
    return d;
  }
  d.line_stride_uv =
      stride(info, "line_stride_uv", d.line_stride_uv, line_bytes(info, d, pixel.bytes[1]));
  if (d.offset_uv == 0) d.offset_uv = std::uint64_t{d.line_stride} * d.height;
  if (d.offset_uv % info.atom != 0) {
    throw_invalid_argument("offset_uv {} is not a multiple of the atom ({}); nearest valid: {}",
                           d.offset_uv, info.atom, round_up(d.offset_uv, info.atom));
  }
  return d;
}

std::uint64_t image_bytes(const DeviceInfo& info, const ImageDesc& desc) {
  const ImageDesc d = resolve(info, desc);
  const PixelLayout pixel = pixel_layout(d.format);
  const std::uint64_t lines = d.height - 1;
  const std::uint64_t first = lines * d.line_stride + line_bytes(info, d, pixel.bytes[0]);
  if (pixel.planes == 1) return first;
  return std::max(first,
                  d.offset_uv + lines * d.line_stride_uv + line_bytes(info, d, pixel.bytes[1]));
}

void pack_image(const DeviceInfo& info, const ImageDesc& desc, std::span<const std::byte> plane,
                std::span<const std::byte> plane_uv, std::span<std::byte> image) {
  const ImageDesc d = resolve(info, desc);
  const PixelLayout pixel = pixel_layout(d.format);
  if (const std::uint64_t need = image_bytes(info, d); image.size() < need) {
    throw_invalid_argument("{} bytes for an image that takes {}", image.size(), need);
  }
  copy_plane("first", plane, std::uint64_t{d.width} * pixel.bytes[0], d.height, d.line_stride,
             image.data() + std::uint64_t{d.x_offset} * pixel.bytes[0]);
  if (pixel.planes == 1) {
    if (!plane_uv.empty()) {
      throw_invalid_argument("{} bytes given for a second plane, the format has one",
                             plane_uv.size());
    }
    return;
  }
  copy_plane("second", plane_uv, std::uint64_t{d.width} * pixel.bytes[1], d.height,
             d.line_stride_uv,
             image.data() + d.offset_uv + skipped(info, d, pixel.bytes[1]) * pixel.bytes[1]);
}

}  // namespace nvdla
