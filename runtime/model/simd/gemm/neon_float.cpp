// SPDX-License-Identifier: MIT
//
// fp32 in NEON: a register tile of 12 positions x 8 kernels.
#include <arm_neon.h>

#include "model/simd/set_loops.hpp"

namespace nvdla::model {
namespace {

#include "model/simd/gemm/float_tile.ipp"

struct NeonFloats {
  using Register = float32x4_t;
  static constexpr unsigned kLanes = 4;

  static Register zero() { return vdupq_n_f32(0); }
  static Register load(const float* from) { return vld1q_f32(from); }
  static Register spread(const float* from) { return vld1q_dup_f32(from); }
  static Register fma(Register a, Register b, Register sum) { return vfmaq_f32(sum, a, b); }
  static void store(float* to, Register value) { vst1q_f32(to, value); }
};

}  // namespace

void neon_float_tile(const FloatTile& tile) { float_tile<NeonFloats, 12, 2>(tile); }

}  // namespace nvdla::model
