// SPDX-License-Identifier: MIT
#include "model/simd/gemm/avxvnni_dots.hpp"
#include "model/simd/set_loops.hpp"

namespace nvdla::model {
namespace {

__m256i add_products(__m256i sums, __m256i weights, __m256i data) {
  sums = NVDLA_DPWSSD(sums, weights, data);
  // Keeps g++ 12 from working on several steps at once, for which there are no registers.
  __asm__("" : "+x"(sums));
  return sums;
}

#include "model/simd/gemm/avx2_wide.ipp"

}  // namespace

void avxvnni_wide(const WideTile& tile) { wide_tile(tile); }

}  // namespace nvdla::model
