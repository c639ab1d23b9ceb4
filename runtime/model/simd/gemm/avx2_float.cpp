// SPDX-License-Identifier: MIT
//
// fp32 in AVX2 with FMA: a register tile of 6 positions x 16 kernels.
#include <immintrin.h>

#include "model/simd/set_loops.hpp"

namespace nvdla::model {
namespace {

#include "model/simd/gemm/float_tile.ipp"

struct Floats {
  using Register = __m256;
  static constexpr unsigned kLanes = 8;

  static Register zero() { return _mm256_setzero_ps(); }
  static Register load(const float* from) { return _mm256_loadu_ps(from); }
  static Register spread(const float* from) { return _mm256_broadcast_ss(from); }
  static Register fma(Register a, Register b, Register sum) { return _mm256_fmadd_ps(a, b, sum); }
  static void store(float* to, Register value) { _mm256_storeu_ps(to, value); }
};

}  // namespace

void avx2_float_tile(const FloatTile& tile) { float_tile<Floats, 6, 2>(tile); }

}  // namespace nvdla::model
