// SPDX-License-Identifier: MIT
//
// Two sets for arm64: NEON, which each of its processors has, and the same with the dot product of
// bytes, which only int8 has a use for.
#include "model/kernels/neon.hpp"

#include "model/kernels/unit_kernels.hpp"

namespace nvdla::model {
namespace {

#include "model/kernels/elements.ipp"
#include "model/kernels/loops.ipp"
#include "model/kernels/sdp_loops.ipp"

constexpr Kernels set_with(const char* name, void (*mac)(const MacTile&)) {
  return {
      .name = name,
      .form = {.biased = false, .sign = false},
      .mac = mac,
      .depthwise = neon_depthwise,
      .wide = neon_wide,
      .wide_clip = loop_wide_clip,
      .half = neon_half,
      .half_tile = neon_half_tile,
      .float_tile = neon_float_tile,
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
      .finish = neon_finish,
      .units = &kNeonUnits,
  };
}

}  // namespace

const Kernels kNeonKernels = set_with("neon", neon_mac);
const Kernels kNeonDotKernels = set_with("neondot", neondot_mac);

}  // namespace nvdla::model
