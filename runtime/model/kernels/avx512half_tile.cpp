// SPDX-License-Identifier: MIT
//
// Tiles of fp16 in AVX-512, as the compiler vectorises them.
#include <immintrin.h>

#include "model/kernels/avx512half.hpp"

namespace nvdla::model {
namespace {

HalfReach half_reach(const int16_t* distances) {
  const __m512i all = _mm512_load_si512(distances);
  const __m512i near =
      _mm512_maskz_mov_epi16(_mm512_cmplt_epi16_mask(all, _mm512_set1_epi16(8)), all);
  const auto beyond = [&](short distance) {
    return _mm512_cmpgt_epi16_mask(near, _mm512_set1_epi16(distance)) != 0;
  };
  if (!beyond(2)) return beyond(0) ? HalfReach::kTwo : HalfReach::kNone;
  return beyond(4) ? HalfReach::kAny : HalfReach::kFour;
}
#define NVDLA_HALF_REACH

#include "model/kernels/half_loops.ipp"

}  // namespace

void avx512_half_tile(const HalfTile& tile) { loop_half_tile(tile); }

}  // namespace nvdla::model
