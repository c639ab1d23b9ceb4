// SPDX-License-Identifier: MIT
//
// int16 in AVX-512 with VNNI: for 4 channels of 32 kernels four vpdpwssd, which give the sums
// modulo 2^32, and two vpdpbusd of the upper bytes, which tell the rest.
#include <immintrin.h>

#include "model/simd/set_loops.hpp"

namespace nvdla::model {
namespace {

#include "model/simd/gemm/wide_place.ipp"

// Two kinds of sums for two rows of 16 kernels: registers for half a tile.
constexpr unsigned kBoth = 7;
constexpr unsigned kLowOnly = 14;

// sums[0..15] += low + 2^15 * near, which are 32 bits each.
template <bool kUpper>
void add_sums(int64_t* sums, __m512i low, __m512i near) {
  const auto add = [](int64_t* to, __m256i l, __m256i n) {
    __m512i sum = _mm512_add_epi64(_mm512_loadu_si512(to), _mm512_cvtepi32_epi64(l));
    if constexpr (kUpper)
      sum = _mm512_add_epi64(sum, _mm512_slli_epi64(_mm512_cvtepi32_epi64(n), 15));
    _mm512_storeu_si512(to, sum);
  };
  add(sums, _mm512_castsi512_si256(low), _mm512_castsi512_si256(near));
  add(sums + 8, _mm512_extracti64x4_epi64(low, 1), _mm512_extracti64x4_epi64(near, 1));
}

__m512i spread(const void* four_bytes) {
  int32_t four;
  __builtin_memcpy(&four, four_bytes, sizeof(four));
  return _mm512_set1_epi32(four);
}

// A chunk of steps for the positions from the `first` on.
template <unsigned kPositions, bool kUpper>
[[gnu::noinline]] WidePlace wide_chunk(const WideTile& tile, unsigned first, WidePlace at,
                                       unsigned chunk) {
  constexpr size_t kStepWords = size_t{kKr} * kBlock;
  __m512i low0[kPositions], low1[kPositions], up0[kPositions], up1[kPositions];
#pragma GCC unroll 14
  for (unsigned p = 0; p < kPositions; ++p)
    low0[p] = low1[p] = up0[p] = up1[p] = _mm512_setzero_si512();
  for (unsigned room = tile.chunk; room != 0 && at.in(tile);) {
    const unsigned count = at.together(tile, room);
    const size_t weighed = at.steps_before(tile);
    const int16_t* weights = tile.weights + weighed * kStepWords;
    const int8_t* upper_weights = kUpper ? tile.upper_weights + weighed * kStepWords : nullptr;
    ptrdiff_t bases[kPositions];
#pragma GCC unroll 14
    for (unsigned p = 0; p < kPositions; ++p)
      bases[p] = static_cast<ptrdiff_t>(tile.bases[first + p]) + tile.runs[at.run];
    const int16_t* data = tile.data + size_t{at.step} * kKr;
    const int16_t* const end = data + size_t{count} * kKr;
    const uint8_t* upper = kUpper ? tile.upper + size_t{at.step} * kKr : nullptr;
    for (; data != end; data += kKr, weights += kStepWords) {
#pragma GCC unroll 2
      for (unsigned pair = 0; pair < 2; ++pair) {
        const __m512i w0 = _mm512_loadu_si512(weights + pair * 2 * kBlock);
        const __m512i w1 = _mm512_loadu_si512(weights + pair * 2 * kBlock + kBlock);
#pragma GCC unroll 14
        for (unsigned p = 0; p < kPositions; ++p) {
          const __m512i a = spread(data + bases[p] + 2 * pair);
          low0[p] = _mm512_dpwssd_epi32(low0[p], w0, a);
          low1[p] = _mm512_dpwssd_epi32(low1[p], w1, a);
        }
      }
      if constexpr (kUpper) {
        const __m512i w0 = _mm512_loadu_si512(upper_weights);
        const __m512i w1 = _mm512_loadu_si512(upper_weights + kStepWords / 2);
#pragma GCC unroll 14
        for (unsigned p = 0; p < kPositions; ++p) {
          const __m512i a = spread(upper + bases[p]);
          up0[p] = _mm512_dpbusd_epi32(up0[p], a, w0);
          up1[p] = _mm512_dpbusd_epi32(up1[p], a, w1);
        }
        upper += kKr;
        upper_weights += kStepWords;
      }
    }
    room -= count;
    at.advance(tile, count);
  }
#pragma GCC unroll 14
  for (unsigned p = 0; p < kPositions; ++p) {
    int64_t* const sums = tile.sums + size_t{first + p} * kBlock;
    if constexpr (kUpper) {
      const int32_t* correction = tile.correction + size_t{chunk} * kBlock;
      const auto near = [&](__m512i up, unsigned k) {
        return _mm512_sub_epi32(_mm512_add_epi32(up, up), _mm512_loadu_si512(correction + k));
      };
      const __m512i near0 = near(up0[p], 0), near1 = near(up1[p], 16);
      add_sums<true>(sums, _mm512_sub_epi32(low0[p], _mm512_slli_epi32(near0, 15)), near0);
      add_sums<true>(sums + 16, _mm512_sub_epi32(low1[p], _mm512_slli_epi32(near1, 15)), near1);
    } else {
      add_sums<false>(sums, low0[p], low0[p]);
      add_sums<false>(sums + 16, low1[p], low1[p]);
    }
  }
  return at;
}

template <unsigned kPositions, bool kUpper>
void wide_part(const WideTile& tile, unsigned first) {
  int64_t* const sums = tile.sums + size_t{first} * kBlock;
  for (unsigned i = 0; i < kPositions * kBlock; ++i) sums[i] = 0;
  WidePlace at;
  for (unsigned chunk = 0; at.in(tile); ++chunk)
    at = wide_chunk<kPositions, kUpper>(tile, first, at, chunk);
}

}  // namespace

void avx512_wide(const WideTile& tile) {
  unsigned first = 0;
  if (tile.upper_weights == nullptr)
    for (; first + kLowOnly <= tile.count; first += kLowOnly)
      wide_part<kLowOnly, false>(tile, first);
  for (; first + kBoth <= tile.count; first += kBoth)
    tile.upper_weights == nullptr ? wide_part<kBoth, false>(tile, first)
                                  : wide_part<kBoth, true>(tile, first);
  for (; first < tile.count; ++first)
    tile.upper_weights == nullptr ? wide_part<1, false>(tile, first)
                                  : wide_part<1, true>(tile, first);
}

}  // namespace nvdla::model
