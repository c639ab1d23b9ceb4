// SPDX-License-Identifier: MIT
//
// The plain form of all loops: what the others are compared with.
#include "model/kernels/kernels.hpp"
#include "model/kernels/unit_kernels.hpp"

namespace nvdla::model {
namespace {

#include "model/kernels/elements.ipp"
#include "model/kernels/half_loops.ipp"
#include "model/kernels/loops.ipp"
#include "model/kernels/sdp_loops.ipp"

void mac(const MacTile& tile) {
  for (unsigned position = 0; position < tile.count; ++position) {
    uint32_t sums[kBlock];
    for (unsigned k = 0; k < kBlock; ++k) sums[k] = static_cast<uint32_t>(tile.starts[k]);
    const int8_t* weights = tile.weights;
    for (unsigned run = 0; run < tile.run_count; ++run) {
      const auto* data = reinterpret_cast<const int8_t*>(tile.bases[position] + tile.runs[run]);
      for (unsigned step = 0; step < tile.steps; ++step, data += kStep, weights += kBlock * kStep)
        for (unsigned k = 0; k < kBlock; ++k)
          for (unsigned i = 0; i < kStep; ++i)
            sums[k] += static_cast<uint32_t>(data[i] * weights[k * kStep + i]);
    }
    for (unsigned k = 0; k < kBlock; ++k)
      tile.sums[position * kBlock + k] = static_cast<int32_t>(sums[k]);
  }
}

void loop_float_tile(const FloatTile& tile) {
  for (unsigned position = 0; position < tile.count; ++position) {
    float sums[kBlock] = {};
    const float* weights = tile.weights;
    for (unsigned run = 0; run < tile.run_count; ++run) {
      const float* data = tile.data + tile.bases[position] + tile.runs[run];
      for (unsigned i = 0; i < tile.elements; ++i, weights += kBlock)
        for (unsigned k = 0; k < kBlock; ++k) sums[k] += data[i] * weights[k];
    }
    for (unsigned k = 0; k < kBlock; ++k) tile.sums[position * kBlock + k] = sums[k];
  }
}

}  // namespace

const Kernels kPortableKernels = {
    .name = "portable",
    .form = {.biased = false, .sign = false},
    .mac = mac,
    .depthwise = loop_depthwise,
    .wide = loop_wide,
    .wide_clip = loop_wide_clip,
    .half = loop_half,
    .half_tile = loop_half_tile,
    .float_tile = loop_float_tile,
    .clip = loop_clip,
    .sdp_widen = loop_sdp_widen,
    .sdp_shift = loop_sdp_shift,
    .sdp_operand = loop_sdp_operand,
    .sdp_x = loop_sdp_x,
    .sdp_y = loop_sdp_y,
    .sdp_convert = loop_sdp_convert,
    .convert_to_int8 = loop_convert_to_int8,
    .to_int8 = loop_to_int8,
    .to_int16 = loop_to_int16,
    .units = &kPortableUnits,
};

}  // namespace nvdla::model
