// SPDX-License-Identifier: MIT
//
// AVX2. There is no exact dot product of bytes: vpmaddubsw saturates in between, so both operands
// are widened to 16 bits and multiplied in pairs, which is exact.
#include <immintrin.h>

#include "model/kernels/avx2finish.hpp"
#include "model/kernels/avx2float.hpp"
#include "model/kernels/avx2half.hpp"
#include "model/kernels/avx2wide.hpp"
#include "model/kernels/kernels.hpp"
#include "model/kernels/unit_kernels.hpp"

namespace nvdla::model {
namespace {

#include "model/kernels/elements.ipp"
#include "model/kernels/loops.ipp"
#include "model/kernels/parts.ipp"
#include "model/kernels/sdp_loops.ipp"

// More of them and g++ 12 keeps sums in memory.
constexpr unsigned kPositions = 4;
// Kernels of two registers, each of which holds 4 of them as two partial sums.
constexpr unsigned kRow = 8;
// Steps whose activations are widened at once, for all kernels.
constexpr unsigned kWidened = 128;

// Up to kWidened steps of a row of kernels.
template <unsigned kCount>
[[gnu::noinline]] void add_steps(const int16_t (*data)[kWidened * kStep], unsigned steps,
                                 const int8_t* weights, __m256i (*sums)[2]) {
  __m256i sums0[kCount], sums1[kCount];
#pragma GCC unroll 4
  for (unsigned p = 0; p < kCount; ++p) {
    sums0[p] = sums[p][0];
    sums1[p] = sums[p][1];
  }
  for (size_t i = 0; i < size_t{steps} * kStep; i += kStep, weights += kBlock * kStep) {
    const __m256i w0 =
        _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(weights)));
    const __m256i w1 =
        _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(weights + 16)));
#pragma GCC unroll 4
    for (unsigned p = 0; p < kCount; ++p) {
      long long four;
      __builtin_memcpy(&four, data[p] + i, sizeof(four));
      const __m256i a = _mm256_set1_epi64x(four);
      sums0[p] = _mm256_add_epi32(sums0[p], _mm256_madd_epi16(w0, a));
      sums1[p] = _mm256_add_epi32(sums1[p], _mm256_madd_epi16(w1, a));
    }
  }
#pragma GCC unroll 4
  for (unsigned p = 0; p < kCount; ++p) {
    sums[p][0] = sums0[p];
    sums[p][1] = sums1[p];
  }
}

template <unsigned kCount>
void part(const MacTile& tile, unsigned first) {
  __m256i sums[kBlock / kRow][kCount][2];
  for (auto& row : sums)
    for (auto& position : row) position[0] = position[1] = _mm256_setzero_si256();
  alignas(32) int16_t data[kCount][kWidened * kStep];
  const int8_t* weights = tile.weights;
  for (unsigned run = 0; run < tile.run_count; ++run)
    for (unsigned step = 0; step < tile.steps; step += kWidened) {
      const unsigned steps = tile.steps - step < kWidened ? tile.steps - step : kWidened;
      for (unsigned p = 0; p < kCount; ++p) {
        const uint8_t* from = tile.bases[first + p] + tile.runs[run] + size_t{step} * kStep;
        for (unsigned i = 0; i < steps * kStep; ++i) data[p][i] = from[i];
      }
      for (unsigned row = 0; row < kBlock / kRow; ++row)
        add_steps<kCount>(data, steps, weights + size_t{row} * kRow * kStep, sums[row]);
      weights += size_t{steps} * kStep * kBlock;
    }
  for (unsigned row = 0; row < kBlock / kRow; ++row) {
    const __m256i starts =
        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(tile.starts + row * kRow));
    for (unsigned p = 0; p < kCount; ++p) {
      // hadd works in 128-bit halves: put the quarters back in order.
      __m256i sum = _mm256_hadd_epi32(sums[row][p][0], sums[row][p][1]);
      sum = _mm256_add_epi32(_mm256_permute4x64_epi64(sum, 0xd8), starts);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(tile.sums + (first + p) * kBlock + row * kRow),
                          sum);
    }
  }
}

void mac(const MacTile& tile) {
  constexpr void (*kParts[])(const MacTile&, unsigned) = {part<1>, part<2>, part<3>,
                                                          part<kPositions>};
  in_parts(tile, kParts);
}

}  // namespace

const Kernels kAvx2Kernels = {
    "avx2",
    mac,
    avx2_wide,
    loop_wide_clip,
    avx2_half,
    avx2_half_tile,
    avx2_float_tile,
    loop_clip,
    loop_sdp_widen,
    loop_sdp_shift,
    loop_sdp_operand,
    loop_sdp_x,
    loop_sdp_y,
    loop_sdp_convert,
    loop_convert_to_int8,
    loop_to_int8,
    loop_to_int16,
    avx2_finish,
    &kAvx2Units,
};

}  // namespace nvdla::model
