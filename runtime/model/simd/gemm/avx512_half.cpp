// SPDX-License-Identifier: MIT
//
// A step of the fp16 multiply-accumulate in AVX-512, as half_loops.ipp has it lane by lane.
// Products of the greatest exponent are exact, so a multiplication gives them; only the others,
// which are cut off, go through the multiplier's tree of adders.
#include <immintrin.h>

#include "model/simd/set_loops.hpp"

namespace nvdla::model {
namespace {

constexpr int kInfinity = 0x7c00;

// Truth tables of a three-operand instruction.
constexpr int kXor = 0x96, kMajority = 0xe8;

// 32 lanes in 16 bits.
struct Lanes {
  __m512i data, weights;  // mantissas as the multiplier takes them
  __m512i group;          // of the product's exponent, 0 if it takes no part
  __mmask32 negative;
};

__m512i magnitude(__m512i values) { return _mm512_and_si512(values, _mm512_set1_epi16(0x7fff)); }

// An infinity is nothing special: exponent 31 with mantissa 0.
__m512i mantissa(__m512i values) {
  const __m512i exponent = _mm512_and_si512(_mm512_srli_epi16(values, 10), _mm512_set1_epi16(31));
  const __mmask32 normal = _mm512_test_epi16_mask(exponent, exponent);
  const __m512i fraction = _mm512_and_si512(values, _mm512_set1_epi16(0x3ff));
  const __m512i shift = _mm512_mask_mov_epi16(_mm512_set1_epi16(1), normal,
                                              _mm512_and_si512(exponent, _mm512_set1_epi16(3)));
  return _mm512_sllv_epi16(
      _mm512_or_si512(fraction, _mm512_maskz_mov_epi16(normal, _mm512_set1_epi16(0x400))), shift);
}

uint32_t greatest_of(__m512i a, __m512i b) {
  const __m512i both = _mm512_max_epu16(a, b);
  const __m256i half =
      _mm256_max_epu16(_mm512_castsi512_si256(both), _mm512_extracti64x4_epi64(both, 1));
  const __m128i quarter =
      _mm_max_epu16(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
  // There is an instruction for the least.
  const __m128i least = _mm_minpos_epu16(_mm_xor_si128(quarter, _mm_set1_epi32(-1)));
  return ~static_cast<uint32_t>(_mm_cvtsi128_si32(least)) & 0xffff;
}

struct Words {
  __m512i a, b;
};

Words add3(__m512i x, __m512i y, __m512i z) {
  const __m512i carries = _mm512_ternarylogic_epi32(x, y, z, kMajority);
  return {_mm512_ternarylogic_epi32(x, y, z, kXor), _mm512_add_epi32(carries, carries)};
}

Words add5(__m512i v, __m512i w, __m512i x, __m512i y, __m512i z) {
  const Words first = add3(v, w, x);
  const Words second = add3(first.a, first.b, y);
  return add3(second.a, second.b, z);
}

// Tables of Booth digits by the three bits that say which it is (0, 1, 1, 2, -2, -1, -1, 0); what
// there is of the index above these bits does not matter.
__m512i look_up(__m512i index, int one, int two, int minus_two, int minus_one, int none) {
  return _mm512_permutexvar_epi32(
      index, _mm512_setr_epi32(none, one, one, two, minus_two, minus_one, minus_one, none, none,
                               one, one, two, minus_two, minus_one, minus_one, none));
}

// What digit kDigit lacks if it is negative, as ones' complement does, on top of `rest`.
template <unsigned kDigit>
__m512i lacks(__m512i index, int rest) {
  constexpr int kOne = 1 << (2 * kDigit);
  return look_up(index, rest, rest, rest + kOne, rest + kOne, rest);
}

// Digit kDigit times the data in its place: 17 bits with a bias of 2^16 in them, and below them
// what the digit before lacks. The factor has the digit in its lower half, and in its upper one
// what a negative digit lacks, which `data` multiplies with 1. Digits from 4 on want the data
// doubled, since they would not fit otherwise.
template <unsigned kDigit>
__m512i booth_row(__m512i data, __m512i before, __m512i index) {
  constexpr int kOne = kDigit < 4 ? 1 << (2 * kDigit) : 1 << (2 * kDigit - 1);
  constexpr int kLack = -(1 << (2 * kDigit)) * 0x10000;
  constexpr int kBias = 0x10000 << (2 * kDigit);
  const __m512i factor =
      look_up(index, kOne, 2 * kOne, (-2 * kOne & 0xffff) + kLack, (-kOne & 0xffff) + kLack, 0);
  __m512i rest = _mm512_set1_epi32(kBias);
  // The first of each tree has none before it.
  if constexpr (kDigit % 4 != 0) rest = lacks<kDigit - 1>(before, kBias);
  return _mm512_dpwssd_epi32(rest, data, factor);
}

// What the tree takes, in one word: 14 bits of each mantissa, the sign, the shift by four.
__m512i pack(__m512i data, __m512i weights, __mmask16 negative, __m512i shift) {
  const __m512i mantissas = _mm512_or_si512(data, _mm512_slli_epi32(weights, 14));
  const __m512i rest =
      _mm512_mask_or_epi32(_mm512_slli_epi32(shift, 29), negative, _mm512_slli_epi32(shift, 29),
                           _mm512_set1_epi32(1 << 28));
  return _mm512_or_si512(mantissas, rest);
}

__m512i tree(__m512i packed) {
  const __m512i data = _mm512_and_si512(packed, _mm512_set1_epi32(0x3fff));
  const __m512i one = _mm512_set1_epi32(0x10000);
  const __m512i once = _mm512_or_si512(data, one);
  const __m512i twice = _mm512_add_epi32(once, data);
  const __m512i weight = _mm512_and_si512(_mm512_srli_epi32(packed, 13), _mm512_set1_epi32(0x7ffe));
  const __m512i i0 = _mm512_xor_si512(weight, _mm512_srai_epi32(_mm512_slli_epi32(packed, 3), 31));
  const __m512i i1 = _mm512_srli_epi32(i0, 2), i2 = _mm512_srli_epi32(i0, 4);
  const __m512i i3 = _mm512_srli_epi32(i0, 6), i4 = _mm512_srli_epi32(i0, 8);
  const __m512i i5 = _mm512_srli_epi32(i0, 10), i6 = _mm512_srli_epi32(i0, 12);
  const __m512i i7 = _mm512_srli_epi32(i0, 14);
  const Words low = add5(booth_row<0>(once, i0, i0), booth_row<1>(once, i0, i1),
                         booth_row<2>(once, i1, i2), booth_row<3>(once, i2, i3), lacks<3>(i3, 0));
  const Words high =
      add5(booth_row<4>(twice, i4, i4), booth_row<5>(twice, i4, i5), booth_row<6>(twice, i5, i6),
           booth_row<7>(twice, i6, i7), lacks<7>(i7, 0));
  const Words three = add3(low.a, low.b, high.a);
  const Words two = add3(three.a, three.b, high.b);
  // 4 to 28, for which the bias is shifted like the words.
  const __m512i shift = _mm512_and_si512(_mm512_srli_epi32(packed, 27), _mm512_set1_epi32(28));
  const __m512i sum =
      _mm512_add_epi32(_mm512_srlv_epi32(two.a, shift), _mm512_srlv_epi32(two.b, shift));
  return _mm512_sub_epi32(sum, _mm512_srlv_epi32(_mm512_set1_epi32(0x55550000), shift));
}

__m512i low_half(__m512i lanes) { return _mm512_cvtepu16_epi32(_mm512_castsi512_si256(lanes)); }
__m512i high_half(__m512i lanes) {
  return _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(lanes, 1));
}

int64_t sum_of(__m512i values) {
  const __m512i low = _mm512_cvtepi32_epi64(_mm512_castsi512_si256(values));
  const __m512i high = _mm512_cvtepi32_epi64(_mm512_extracti64x4_epi64(values, 1));
  return _mm512_reduce_add_epi64(_mm512_add_epi64(low, high));
}

// One of the masks, of 32 lanes each, is not empty.
uint16_t first_nan(const uint16_t* values, const uint32_t nans[2]) {
  return nans[0] != 0 ? values[__builtin_ctz(nans[0])] : values[32 + __builtin_ctz(nans[1])];
}

}  // namespace

void avx512_half(const HalfStep& step, HalfProducts& result) {
  constexpr unsigned kParts = kLanes / 32;
  const uint64_t present = step.lanes == kLanes ? ~uint64_t{0} : (uint64_t{1} << step.lanes) - 1;
  Lanes parts[kParts];
  uint32_t data_nans[kParts], weight_nans[kParts];
#pragma GCC unroll 2
  for (unsigned part = 0; part < kParts; ++part) {
    const auto there = static_cast<__mmask32>(present >> (32 * part));
    const __m512i data = _mm512_maskz_loadu_epi16(there, step.data + 32 * part);
    const __m512i weights = _mm512_maskz_loadu_epi16(there, step.weights + 32 * part);
    const __m512i d = magnitude(data), w = magnitude(weights);
    const __m512i infinity = _mm512_set1_epi16(kInfinity);
    data_nans[part] = _mm512_cmpgt_epu16_mask(d, infinity);
    weight_nans[part] = _mm512_cmpgt_epu16_mask(w, infinity);
    // Zeros take no part, so that one cannot raise the exponent of the step.
    const __mmask32 active = _mm512_test_epi16_mask(d, d) & _mm512_test_epi16_mask(w, w);
    const __m512i group = _mm512_add_epi16(_mm512_srli_epi16(d, 12), _mm512_srli_epi16(w, 12));
    parts[part] = {mantissa(d), mantissa(w),
                   _mm512_maskz_add_epi16(active, group, _mm512_set1_epi16(1)),
                   _mm512_movepi16_mask(_mm512_xor_si512(data, weights))};
  }
  result.nan = 0;
  if ((weight_nans[0] | weight_nans[1]) != 0) {
    result.nan = first_nan(step.weights, weight_nans);
    return;
  }
  if ((data_nans[0] | data_nans[1]) != 0) {
    result.nan = first_nan(step.data, data_nans);
    return;
  }
  const uint32_t greatest = greatest_of(parts[0].group, parts[1].group);
  result.exponent = greatest == 0 ? 0 : (greatest - 1) * 4;

  // Products that are cut off, close together: lanes that have none cost nothing.
  uint32_t cut[kLanes + 16];
  unsigned cuts = 0;
  __m512i sum = _mm512_setzero_si512();
#pragma GCC unroll 2
  for (unsigned part = 0; part < kParts; ++part) {
    const Lanes& lanes = parts[part];
    const __m512i shift =
        _mm512_sub_epi16(_mm512_set1_epi16(static_cast<short>(greatest)), lanes.group);
    const __mmask32 active = _mm512_test_epi16_mask(lanes.group, lanes.group) &
                             _mm512_cmplt_epu16_mask(shift, _mm512_set1_epi16(8));
    const __mmask32 shifted = active & _mm512_test_epi16_mask(shift, shift);
    const __m512i whole = _mm512_maskz_mov_epi16(active & ~shifted, lanes.data);
    const __m512i signed_data =
        _mm512_mask_sub_epi16(whole, lanes.negative, _mm512_setzero_si512(), whole);
    if (!step.each) {
      // Sums of two lanes, each product of at most 28 bits.
      sum = _mm512_add_epi32(sum, _mm512_madd_epi16(signed_data, lanes.weights));
      if (shifted == 0) continue;
    }
#pragma GCC unroll 2
    for (unsigned half = 0; half < 2; ++half) {
      const auto chosen = static_cast<__mmask16>(shifted >> (16 * half));
      const auto negative = static_cast<__mmask16>(lanes.negative >> (16 * half));
      const auto widen = half == 0 ? low_half : high_half;
      const __m512i packed = pack(widen(lanes.data), widen(lanes.weights), negative, widen(shift));
      if (step.each) {
        // A product of lanes that are alone in their pairs.
        const __m512i exact = _mm512_madd_epi16(widen(signed_data), widen(lanes.weights));
        const __m512i products = _mm512_mask_mov_epi32(exact, chosen, tree(packed));
        _mm512_storeu_si512(result.products + 32 * part + 16 * half, products);
        sum = _mm512_add_epi32(sum, products);
      } else {
        _mm512_storeu_si512(cut + cuts, _mm512_maskz_compress_epi32(chosen, packed));
        const uint32_t counted = half == 0 ? shifted << 16 : shifted >> 16;
        cuts += static_cast<unsigned>(__builtin_popcount(counted));
      }
    }
  }
  for (unsigned i = 0; i < cuts; i += 16) {
    const unsigned left = cuts - i;
    const auto there = static_cast<__mmask16>(left >= 16 ? 0xffff : (1u << left) - 1);
    // Nothing of them is so great that a sum of all lanes might not fit.
    sum = _mm512_mask_add_epi32(sum, there, sum, tree(_mm512_maskz_loadu_epi32(there, cut + i)));
  }
  result.sum = sum_of(sum);
}

}  // namespace nvdla::model
