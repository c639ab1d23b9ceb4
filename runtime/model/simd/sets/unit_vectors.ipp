// SPDX-License-Identifier: MIT
//
// What vectors do better than unit_loops.ipp: included behind it, and behind the structs Vector,
// Words, Doubt and Atoms with the instructions.

// Each needs the ones before it.
// clang-format off
#include "model/simd/lut/cdp_vectors.ipp"
#include "model/simd/half_vectors.ipp"
#include "model/simd/pool/pdp_average_vectors.ipp"
#include "model/simd/pool/pdp_vectors.ipp"
#include "model/simd/move/rubik_vectors.ipp"
#include "model/simd/sdp/sdp_stream_vectors.ipp"
#include "model/simd/lut/lut_vectors.ipp"
#include "model/simd/lut/cdp_half_vectors.ipp"
// clang-format on

static constexpr UnitKernels unit_kernels() {
  UnitKernels set = unit_loops();
  set.sdp_load_half = load_half;
  set.sdp_float_to_half = float_to_half;
  set.sdp_stream = sdp_stream;
  set.cdp_look_up = cdp_look_up;
  set.cdp_look_up_plain = cdp_look_up_plain;
  set.cdp_bytes = cdp_bytes;
  set.cdp_halves = cdp_halves;
  set.cdp_in_half = cdp_in_half;
  set.cdp_sums_float = cdp_sums_float;
  set.cdp_out = cdp_out;
  set.cdp_out_half = cdp_out_half;
  set.pool_along = pool_along;
  set.pool_down = pool_down;
  set.split_atoms = split_atoms;
  set.merge_atoms = merge_atoms;
  return set;
}
