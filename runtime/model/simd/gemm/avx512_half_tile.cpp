// SPDX-License-Identifier: MIT
//
// Tiles of fp16 in AVX-512: the loops of half_loops.ipp as the compiler vectorises them, but for
// what most of the time goes into.
#include <immintrin.h>

#include "model/simd/set_loops.hpp"

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

// 32 kernels in 16 bits, sums in two registers of 32.
struct Pair {
  __m512i a, b;
};

__m512i add3_sums(__m512i x, __m512i y, __m512i z) {
  return _mm512_ternarylogic_epi32(x, y, z, 0x96);
}

Pair add3(__m512i x, __m512i y, __m512i z) {
  const __m512i carries = _mm512_ternarylogic_epi32(x, y, z, 0xe8);
  return {add3_sums(x, y, z), _mm512_add_epi16(carries, carries)};
}

template <typename Rows>
Pair add_rows(const Rows& rows, unsigned first, __m512i data) {
  const auto row = [&](unsigned i) {
    return _mm512_add_epi16(_mm512_mullo_epi16(data, _mm512_load_si512(rows.factors[i])),
                            _mm512_load_si512(rows.lacks[i]));
  };
  const Pair one = add3(row(first), row(first + 1), row(first + 2));
  const Pair two = add3(one.a, one.b, row(first + 3));
  return add3(two.a, two.b, _mm512_load_si512(rows.ends[first / 4]));
}

// Of Booth's digits, by the three bits that say which it is; what there is of the index above them
// does not matter.
__m512i digits(__m512i index, short one, short two, short minus_two, short minus_one) {
  const __m128i table = _mm_setr_epi16(0, one, one, two, minus_two, minus_one, minus_one, 0);
  return _mm512_permutexvar_epi16(index, _mm512_broadcast_i32x4(table));
}

template <unsigned kFirst, typename Rows>
void four_rows(__m512i bits, Rows& rows) {
  __m512i before = _mm512_setzero_si512();
#pragma GCC unroll 4
  for (unsigned i = kFirst; i < kFirst + 4; ++i) {
    const __m512i index = _mm512_srai_epi16(bits, 2 * i);
    const __m512i lack = _mm512_slli_epi16(digits(index, 0, 0, 1, 1), 2 * i);
    _mm512_store_si512(rows.factors[i], _mm512_slli_epi16(digits(index, 1, 2, -2, -1), 2 * i));
    _mm512_store_si512(rows.lacks[i], _mm512_sub_epi16(before, lack));
    before = lack;
  }
  _mm512_store_si512(rows.ends[kFirst / 4], before);
  rows.known = kFirst + 4;
}

template <typename Rows>
void half_rows(const int16_t* mantissas, bool negative, unsigned first, Rows& rows) {
  const __m512i weights = _mm512_loadu_si512(mantissas);
  const __m512i twice = _mm512_slli_epi16(_mm512_abs_epi16(weights), 1);
  const __m512i flipped =
      _mm512_xor_si512(_mm512_srai_epi16(weights, 15), _mm512_set1_epi16(negative ? -1 : 0));
  // The upper bit is the sign, which shifts repeat.
  const __m512i bits = _mm512_xor_si512(twice, flipped);
  first == 0 ? four_rows<0>(bits, rows) : four_rows<4>(bits, rows);
}

template <unsigned kMost, typename Rows>
void half_add(const Rows& rows, int16_t activation, const int16_t* mantissas,
              const int16_t* distances, int32_t* sums) {
  const auto magnitude = static_cast<int16_t>(activation < 0 ? -activation : activation);
  const __m512i data = _mm512_set1_epi16(magnitude);
  const Pair low = add_rows(rows, 0, data);
  Pair high = {_mm512_setzero_si512(), _mm512_setzero_si512()};
  if constexpr (kMost > 2) high = add_rows(rows, 4, data);
  const Pair words = add3(low.a, low.b, high.a);
  const __m512i word = add3_sums(words.a, words.b, high.b);

  const __m512i all = _mm512_loadu_si512(mantissas), distance = _mm512_load_si512(distances);
  const __mmask32 near = _mm512_cmplt_epi16_mask(distance, _mm512_set1_epi16(8));
  const __m512i shift = _mm512_slli_epi16(distance, 2);
  // What is shifted out; of too long a shift nothing is left that would be taken away.
  const __m512i one = _mm512_set1_epi16(1);
  const __m512i out = _mm512_sub_epi16(_mm512_sllv_epi16(one, shift), one);
  const __m512i product = _mm512_mullo_epi16(_mm512_set1_epi16(activation), all);
  const __mmask32 carried =
      _mm512_cmplt_epu16_mask(_mm512_and_si512(product, out), _mm512_and_si512(word, out)) & near;
  // Of pairs of words the second is nothing.
  const __m512i factor = _mm512_set1_epi32(static_cast<uint16_t>(activation));
#pragma GCC unroll 2
  for (unsigned half = 0; half < 2; ++half) {
    const auto lanes = [&](const int16_t* from) {
      return _mm512_cvtepu16_epi32(
          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + size_t{16} * half)));
    };
    const __m512i whole = _mm512_madd_epi16(lanes(mantissas), factor);
    const __m512i shifted = _mm512_srav_epi32(whole, _mm512_slli_epi32(lanes(distances), 2));
    __m512i sum = _mm512_loadu_si512(sums + size_t{16} * half);
    sum = _mm512_mask_add_epi32(sum, static_cast<__mmask16>(near >> 16 * half), sum, shifted);
    sum = _mm512_mask_sub_epi32(sum, static_cast<__mmask16>(carried >> 16 * half), sum,
                                _mm512_set1_epi32(1));
    _mm512_storeu_si512(sums + size_t{16} * half, sum);
  }
}
#define NVDLA_HALF_ROWS

#include "model/simd/gemm/half_loops.ipp"

}  // namespace

void avx512_half_tile(const HalfTile& tile) { loop_half_tile(tile); }

}  // namespace nvdla::model
