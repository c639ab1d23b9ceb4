// SPDX-License-Identifier: MIT
#include "model/simd/kernels.hpp"
#include "model/simd/set_loops.hpp"
#include "model/simd/unit_kernels.hpp"

namespace nvdla::model {
namespace {

#include "model/simd/sets/kernel_loops.ipp"

constexpr Kernels kernels() {
  Kernels set = loop_kernels("avx2");
  set.form = {.biased = false, .sign = true, .copied_run = 50};
  set.mac = avx2_mac;
  set.depthwise = avx2_depthwise;
  set.wide = avx2_wide;
  set.half = avx2_half;
  set.half_tile = avx2_half_tile;
  set.float_tile = avx2_float_tile;
  set.finish = avx2_finish;
  set.epilogue = avx2_epilogue;
  set.units = &kAvx2Units;
  set.pack_atoms = avx2_pack_atoms;
  set.convert_bytes = avx2_convert_bytes;
  return set;
}

}  // namespace

const Kernels kAvx2Kernels = kernels();

}  // namespace nvdla::model
