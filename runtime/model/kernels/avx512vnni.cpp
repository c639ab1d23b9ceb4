// SPDX-License-Identifier: MIT
//
// AVX-512 with VNNI: a register tile of up to 14 positions x 32 kernels, one vpdpbusd for 4
// channels of 16 kernels. The weights are the unsigned operand, so four activations can be
// broadcast as they lie in memory.
#include <immintrin.h>

#include "model/kernels/kernels.hpp"

namespace nvdla::model {
namespace {

#include "model/kernels/loops.ipp"

// The count is a template parameter and everything is unrolled, so that the accumulators stay in
// registers.
template <unsigned kPositions>
void tile_mac(const MacTile& tile) {
  __m512i low[kPositions];
  __m512i high[kPositions];
#pragma GCC unroll 14
  for (unsigned p = 0; p < kPositions; ++p)
    low[p] = high[p] =
        _mm512_sub_epi32(_mm512_setzero_si512(), _mm512_set1_epi32(tile.corrections[p]));
  const uint8_t* weights = tile.weights;
  const size_t bytes = size_t{tile.steps} * kStep;
  for (unsigned run = 0; run < tile.run_count; ++run) {
    const int8_t* data[kPositions];
#pragma GCC unroll 14
    for (unsigned p = 0; p < kPositions; ++p) data[p] = tile.bases[p] + tile.runs[run];
    for (size_t at = 0; at < bytes; at += kStep, weights += kBlock * kStep) {
      const __m512i w0 = _mm512_loadu_si512(weights);
      const __m512i w1 = _mm512_loadu_si512(weights + 64);
#pragma GCC unroll 14
      for (unsigned p = 0; p < kPositions; ++p) {
        int32_t four;
        __builtin_memcpy(&four, data[p] + at, sizeof(four));
        const __m512i a = _mm512_set1_epi32(four);
        low[p] = _mm512_dpbusd_epi32(low[p], w0, a);
        high[p] = _mm512_dpbusd_epi32(high[p], w1, a);
      }
    }
  }
#pragma GCC unroll 14
  for (unsigned p = 0; p < kPositions; ++p) {
    _mm512_storeu_si512(tile.sums + p * kBlock, low[p]);
    _mm512_storeu_si512(tile.sums + p * kBlock + 16, high[p]);
  }
}

void mac(const MacTile& tile) {
  switch (tile.count) {
    case 1:
      return tile_mac<1>(tile);
    case 2:
      return tile_mac<2>(tile);
    case 3:
      return tile_mac<3>(tile);
    case 4:
      return tile_mac<4>(tile);
    case 5:
      return tile_mac<5>(tile);
    case 6:
      return tile_mac<6>(tile);
    case 7:
      return tile_mac<7>(tile);
    case 8:
      return tile_mac<8>(tile);
    case 9:
      return tile_mac<9>(tile);
    case 10:
      return tile_mac<10>(tile);
    case 11:
      return tile_mac<11>(tile);
    case 12:
      return tile_mac<12>(tile);
    case 13:
      return tile_mac<13>(tile);
    case 14:
      return tile_mac<14>(tile);
    default:
      return;
  }
}

void corrections(const MacTile& tile, int32_t* result) {
  const __m512i ones = _mm512_set1_epi8(1);
  const unsigned bytes = tile.steps * kStep;
  for (unsigned position = 0; position < tile.count; ++position) {
    __m512i sums = _mm512_setzero_si512();
    for (unsigned run = 0; run < tile.run_count; ++run) {
      const int8_t* data = tile.bases[position] + tile.runs[run];
      unsigned i = 0;
      for (; i + 64 <= bytes; i += 64)
        sums = _mm512_dpbusd_epi32(sums, ones, _mm512_loadu_si512(data + i));
      if (i < bytes) {
        const __mmask64 mask = ~uint64_t{0} >> (64 - (bytes - i));
        sums = _mm512_dpbusd_epi32(sums, ones, _mm512_maskz_loadu_epi8(mask, data + i));
      }
    }
    result[position] =
        static_cast<int32_t>(static_cast<uint32_t>(_mm512_reduce_add_epi32(sums)) * 128);
  }
}

void to_int8(const int32_t* values, unsigned count, int8_t* out) {
  for (unsigned i = 0; i < count * kBlock; i += 16)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i),
                     _mm512_cvtsepi32_epi8(_mm512_loadu_si512(values + i)));
}

}  // namespace

const Kernels kAvx512VnniKernels = {
    "avx512-vnni", mac,        corrections,      loop_wide, loop_clip,
    loop_sdp_x,    loop_sdp_y, loop_sdp_convert, to_int8,   loop_to_int16,
};

}  // namespace nvdla::model
