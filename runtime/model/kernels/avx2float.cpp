// SPDX-License-Identifier: MIT
//
// fp32 in AVX2 with FMA: a register tile of 6 positions x 16 kernels.
#include "model/kernels/avx2float.hpp"

#include <immintrin.h>

namespace nvdla::model {
namespace {

constexpr unsigned kPositions = 6;

template <unsigned kCount>
[[gnu::noinline]] void part(const FloatTile& tile, unsigned first, unsigned kernel) {
  __m256 low[kCount], high[kCount];
#pragma GCC unroll 6
  for (unsigned p = 0; p < kCount; ++p) low[p] = high[p] = _mm256_setzero_ps();
  const float* weights = tile.weights + kernel;
  for (unsigned run = 0; run < tile.run_count; ++run) {
    const float* data[kCount];
#pragma GCC unroll 6
    for (unsigned p = 0; p < kCount; ++p)
      data[p] = tile.data + tile.bases[first + p] + tile.runs[run];
    for (size_t i = 0; i < tile.elements; ++i, weights += kBlock) {
      const __m256 w0 = _mm256_loadu_ps(weights);
      const __m256 w1 = _mm256_loadu_ps(weights + 8);
#pragma GCC unroll 6
      for (unsigned p = 0; p < kCount; ++p) {
        const __m256 a = _mm256_broadcast_ss(data[p] + i);
        low[p] = _mm256_fmadd_ps(a, w0, low[p]);
        high[p] = _mm256_fmadd_ps(a, w1, high[p]);
      }
    }
  }
#pragma GCC unroll 6
  for (unsigned p = 0; p < kCount; ++p) {
    _mm256_storeu_ps(tile.sums + (first + p) * kBlock + kernel, low[p]);
    _mm256_storeu_ps(tile.sums + (first + p) * kBlock + kernel + 8, high[p]);
  }
}

}  // namespace

void avx2_float_tile(const FloatTile& tile) {
  for (unsigned kernel = 0; kernel < kBlock; kernel += 16) {
    unsigned first = 0;
    for (; first + kPositions <= tile.count; first += kPositions)
      part<kPositions>(tile, first, kernel);
    for (; first + 2 <= tile.count; first += 2) part<2>(tile, first, kernel);
    for (; first < tile.count; ++first) part<1>(tile, first, kernel);
  }
}

}  // namespace nvdla::model
