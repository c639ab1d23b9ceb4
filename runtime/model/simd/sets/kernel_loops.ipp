// SPDX-License-Identifier: MIT
//
// The loops of convolution and SDP that the compiler vectorises, and the set that they are;
// an instruction set adds its multipliers and replaces what it has a better one of.

// Each needs the ones before it.
// clang-format off
#include "model/simd/elements.ipp"
#include "model/simd/gemm/loops.ipp"
#include "model/simd/sdp/sdp_loops.ipp"
// clang-format on

static constexpr Kernels loop_kernels(const char* name) {
  Kernels set{};
  set.name = name;
  set.wide_clip = loop_wide_clip;
  set.clip = loop_clip;
  set.sdp_widen = loop_sdp_widen;
  set.sdp_shift = loop_sdp_shift;
  set.sdp_operand = loop_sdp_operand;
  set.sdp_x = loop_sdp_x;
  set.sdp_y = loop_sdp_y;
  set.sdp_convert = loop_sdp_convert;
  set.convert_to_int8 = loop_convert_to_int8;
  set.to_int8 = loop_to_int8;
  set.to_int16 = loop_to_int16;
  return set;
}
