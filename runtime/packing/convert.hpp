// SPDX-License-Identifier: MIT
//
// Converters as layer descriptors have them.
#ifndef NVDLA_PACKING_CONVERT_HPP
#define NVDLA_PACKING_CONVERT_HPP

#include <drm/nvdla_layer.h>

#include "nvdla/types/conversion.hpp"

namespace nvdla::detail {

inline nvdla_convert convert(const Converter& converter) noexcept {
  nvdla_convert c = {};
  c.offset = converter.offset;
  c.scale = converter.scale;
  c.truncate = converter.shift;
  return c;
}

}  // namespace nvdla::detail

#endif  // NVDLA_PACKING_CONVERT_HPP
