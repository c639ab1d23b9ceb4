// SPDX-License-Identifier: MIT
//
// fp32 in AVX-512: a register tile of 14 positions x 32 kernels.
#include <immintrin.h>

#include "model/simd/set_loops.hpp"

namespace nvdla::model {
namespace {

#include "model/simd/gemm/float_tile.ipp"

struct Floats {
  using Register = __m512;
  static constexpr unsigned kLanes = 16;

  static Register zero() { return _mm512_setzero_ps(); }
  static Register load(const float* from) { return _mm512_loadu_ps(from); }
  static Register spread(const float* from) { return _mm512_set1_ps(*from); }
  static Register fma(Register a, Register b, Register sum) { return _mm512_fmadd_ps(a, b, sum); }
  static void store(float* to, Register value) { _mm512_storeu_ps(to, value); }
};

}  // namespace

void avx512_float_tile(const FloatTile& tile) { float_tile<Floats, 14, 4>(tile); }

}  // namespace nvdla::model
