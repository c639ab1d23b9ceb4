// SPDX-License-Identifier: MIT
#include <immintrin.h>

#include "model/simd/set_loops.hpp"

namespace nvdla::model {
namespace {

__m256i add_products(__m256i sums, __m256i weights, __m256i data) {
  return _mm256_add_epi32(sums, _mm256_madd_epi16(weights, data));
}

#include "model/simd/gemm/avx2_wide.ipp"

}  // namespace

void avx2_wide(const WideTile& tile) { wide_tile(tile); }

}  // namespace nvdla::model
