// SPDX-License-Identifier: MIT
//
// fp32 in AVX-512: a register tile of 14 positions x 32 kernels.
#include "model/kernels/avx512float.hpp"

#include <immintrin.h>

namespace nvdla::model {
namespace {

// A function of its own, or the compiler runs out of registers.
template <unsigned kCount>
[[gnu::noinline]] void part(const FloatTile& tile, unsigned first) {
  __m512 low[kCount], high[kCount];
#pragma GCC unroll 14
  for (unsigned p = 0; p < kCount; ++p) low[p] = high[p] = _mm512_setzero_ps();
  const float* weights = tile.weights;
  for (unsigned run = 0; run < tile.run_count; ++run) {
    const float* data[kCount];
#pragma GCC unroll 14
    for (unsigned p = 0; p < kCount; ++p)
      data[p] = tile.data + tile.bases[first + p] + tile.runs[run];
    for (size_t i = 0; i < tile.elements; ++i, weights += kBlock) {
      const __m512 w0 = _mm512_loadu_ps(weights);
      const __m512 w1 = _mm512_loadu_ps(weights + 16);
#pragma GCC unroll 14
      for (unsigned p = 0; p < kCount; ++p) {
        const __m512 a = _mm512_set1_ps(data[p][i]);
        low[p] = _mm512_fmadd_ps(a, w0, low[p]);
        high[p] = _mm512_fmadd_ps(a, w1, high[p]);
      }
    }
  }
#pragma GCC unroll 14
  for (unsigned p = 0; p < kCount; ++p) {
    _mm512_storeu_ps(tile.sums + (first + p) * kBlock, low[p]);
    _mm512_storeu_ps(tile.sums + (first + p) * kBlock + 16, high[p]);
  }
}

}  // namespace

void avx512_float_tile(const FloatTile& tile) {
  unsigned first = 0;
  for (; first + 14 <= tile.count; first += 14) part<14>(tile, first);
  for (; first + 4 <= tile.count; first += 4) part<4>(tile, first);
  for (; first < tile.count; ++first) part<1>(tile, first);
}

}  // namespace nvdla::model
