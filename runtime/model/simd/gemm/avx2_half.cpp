// SPDX-License-Identifier: MIT
//
// fp16 in AVX2, as the compiler vectorises it.
#include <immintrin.h>

#include "model/simd/set_loops.hpp"

namespace nvdla::model {
namespace {

HalfReach half_reach(const int16_t* distances) {
  const auto near = [&](unsigned i) {
    const __m256i half = _mm256_load_si256(reinterpret_cast<const __m256i*>(distances) + i);
    return _mm256_and_si256(half, _mm256_cmpgt_epi16(_mm256_set1_epi16(8), half));
  };
  const __m256i most = _mm256_max_epi16(near(0), near(1));
  const auto beyond = [&](short distance) {
    return _mm256_movemask_epi8(_mm256_cmpgt_epi16(most, _mm256_set1_epi16(distance))) != 0;
  };
  if (!beyond(2)) return beyond(0) ? HalfReach::kTwo : HalfReach::kNone;
  return beyond(4) ? HalfReach::kAny : HalfReach::kFour;
}
#define NVDLA_HALF_REACH

#include "model/simd/gemm/half_loops.ipp"

}  // namespace

void avx2_half(const HalfStep& step, HalfProducts& result) { loop_half(step, result); }
void avx2_half_tile(const HalfTile& tile) { loop_half_tile(tile); }

}  // namespace nvdla::model
