// SPDX-License-Identifier: MIT
//
// Two sets for arm64: NEON, which each of its processors has, and the same with the dot product of
// bytes, which only int8 has a use for.
#include "model/simd/set_loops.hpp"
#include "model/simd/unit_kernels.hpp"

namespace nvdla::model {
namespace {

#include "model/simd/sets/kernel_loops.ipp"

constexpr Kernels set_with(const char* name, void (*mac)(const MacTile&)) {
  Kernels set = loop_kernels(name);
  set.form = {.biased = false, .sign = false};
  set.mac = mac;
  set.depthwise = neon_depthwise;
  set.wide = neon_wide;
  set.half = neon_half;
  set.half_tile = neon_half_tile;
  set.float_tile = neon_float_tile;
  set.finish = neon_finish;
  set.epilogue = neon_epilogue;
  set.units = &kNeonUnits;
  return set;
}

}  // namespace

const Kernels kNeonKernels = set_with("neon", neon_mac);
const Kernels kNeonDotKernels = set_with("neondot", neondot_mac);

}  // namespace nvdla::model
