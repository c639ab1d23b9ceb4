// SPDX-License-Identifier: MIT
//
// AVX2. There is no exact dot product of bytes: vpmaddubsw saturates in between, so both operands
// are widened to 16 bits and multiplied in pairs, which is exact.
#include <immintrin.h>

#include "model/kernels/avx2float.hpp"
#include "model/kernels/avx2half.hpp"
#include "model/kernels/avx2wide.hpp"
#include "model/kernels/kernels.hpp"

namespace nvdla::model {
namespace {

#include "model/kernels/loops.ipp"
#include "model/kernels/sdp_loops.ipp"

// Four positions times 8 kernels; each accumulator holds 4 kernels as two partial sums.
template <unsigned kPositions>
void part(const MacTile& tile, unsigned first, unsigned kernels) {
  __m256i sums[kPositions][2];
  for (unsigned p = 0; p < kPositions; ++p) sums[p][0] = sums[p][1] = _mm256_setzero_si256();
  const int8_t* weights = tile.weights + kernels * kStep;
  for (unsigned run = 0; run < tile.run_count; ++run) {
    const uint8_t* data[kPositions];
    for (unsigned p = 0; p < kPositions; ++p) data[p] = tile.bases[first + p] + tile.runs[run];
    for (unsigned step = 0; step < tile.steps; ++step, weights += kBlock * kStep) {
      const __m256i w0 =
          _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(weights)));
      const __m256i w1 =
          _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(weights + 16)));
      for (unsigned p = 0; p < kPositions; ++p) {
        int32_t four;
        __builtin_memcpy(&four, data[p] + step * kStep, sizeof(four));
        const __m256i a = _mm256_broadcastq_epi64(_mm_cvtepu8_epi16(_mm_cvtsi32_si128(four)));
        sums[p][0] = _mm256_add_epi32(sums[p][0], _mm256_madd_epi16(w0, a));
        sums[p][1] = _mm256_add_epi32(sums[p][1], _mm256_madd_epi16(w1, a));
      }
    }
  }
  const __m256i starts =
      _mm256_loadu_si256(reinterpret_cast<const __m256i*>(tile.starts + kernels));
  for (unsigned p = 0; p < kPositions; ++p) {
    // hadd works in 128-bit halves: put the quarters back in order.
    __m256i sum = _mm256_hadd_epi32(sums[p][0], sums[p][1]);
    sum = _mm256_permute4x64_epi64(sum, 0xd8);
    sum = _mm256_add_epi32(sum, starts);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(tile.sums + (first + p) * kBlock + kernels),
                        sum);
  }
}

void mac(const MacTile& tile) {
  for (unsigned kernels = 0; kernels < kBlock; kernels += 8) {
    unsigned first = 0;
    for (; first + 4 <= tile.count; first += 4) part<4>(tile, first, kernels);
    switch (tile.count - first) {
      case 3:
        part<3>(tile, first, kernels);
        break;
      case 2:
        part<2>(tile, first, kernels);
        break;
      case 1:
        part<1>(tile, first, kernels);
        break;
      default:
        break;
    }
  }
}

}  // namespace

const Kernels kAvx2Kernels = {
    "avx2",           mac,
    avx2_wide,        loop_wide_clip,
    avx2_half,        avx2_half_tile,
    avx2_float_tile,  loop_clip,
    loop_sdp_widen,   loop_sdp_shift,
    loop_sdp_operand, loop_sdp_half,
    loop_sdp_x,       loop_sdp_y,
    loop_sdp_convert, loop_convert_to_int8,
    loop_to_int8,     loop_to_int16,
};

}  // namespace nvdla::model
