// SPDX-License-Identifier: MIT
//
// The least that shows a device at work.
#ifndef NVDLA_BACKEND_REGISTERS_COPY_LAYER_HPP
#define NVDLA_BACKEND_REGISTERS_COPY_LAYER_HPP

#include <drm/nvdla_layer.h>

#include <cstdint>

#include "firmware/nvdla_hw.h"

namespace nvdla::detail {

// An SDP layer that changes nothing, from one slot to another.
inline nvdla_layer copy_layer(const nvdla_hw& hw, std::uint32_t width, std::uint32_t height,
                              std::uint32_t channels) {
  nvdla_layer layer = {};
  layer.kind = NVDLA_LAYER_SDP;
  layer.sdp.width = width;
  layer.sdp.height = height;
  layer.sdp.channels = channels;
  layer.sdp.out_cvt.scale = 1;
  layer.sdp.input.line_stride = width * hw.atom;
  layer.sdp.input.surface_stride = width * height * hw.atom;
  layer.sdp.output = layer.sdp.input;
  layer.sdp.output.slot = 1;
  return layer;
}

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_REGISTERS_COPY_LAYER_HPP
