// SPDX-License-Identifier: MIT
//
// AVX-512 with VNNI.
#include <immintrin.h>

#include "model/simd/kernels.hpp"
#include "model/simd/set_loops.hpp"
#include "model/simd/unit_kernels.hpp"

namespace nvdla::model {
namespace {

#include "model/simd/sets/kernel_loops.ipp"

// Eight 64-bit products to 17 bits. Half away from zero is half up, less the last bit where the
// product is negative: no absolute value is needed.
template <bool kCount>
__m512i convert_half(__m512i product, __m512i half, __m512i negative, __m128i shift, bool lenient,
                     __mmask8 lanes, __m512i& saturated) {
  const __m512i sign = _mm512_and_si512(_mm512_srai_epi64(product, 63), negative);
  const __m512i rounded =
      _mm512_sra_epi64(_mm512_add_epi64(_mm512_add_epi64(product, half), sign), shift);
  const __m512i result = _mm512_max_epi64(_mm512_min_epi64(rounded, _mm512_set1_epi64(65535)),
                                          _mm512_set1_epi64(-65536));
  if constexpr (kCount) {
    const __m512i truncated = _mm512_sra_epi64(product, shift);
    // How far beyond what passes.
    const __m512i excess =
        lenient ? _mm512_sub_epi64(_mm512_abs_epi64(_mm512_sub_epi64(truncated, result)),
                                   _mm512_set1_epi64(1))
                : _mm512_max_epi64(_mm512_sub_epi64(rounded, _mm512_set1_epi64(65535)),
                                   _mm512_sub_epi64(_mm512_set1_epi64(-65536), truncated));
    // Counted lane by lane: g++ 12 may store a mask and read back more than it stored.
    const __mmask8 counted = _mm512_mask_cmpgt_epi64_mask(lanes, excess, _mm512_setzero_si512());
    saturated = _mm512_mask_add_epi64(saturated, counted, saturated, _mm512_set1_epi64(1));
  }
  return result;
}

template <bool kCount>
uint32_t convert(int32_t* values, unsigned count, unsigned lanes, const SdpConverter& converter) {
  const int64_t half_value = converter.shift == 0 ? 0 : int64_t{1} << (converter.shift - 1);
  const __m512i scale = _mm512_set1_epi64(converter.scale);
  // (x - offset) * scale as x * scale + constant: all 64 bits are there.
  const __m512i constant = _mm512_set1_epi64(-int64_t{converter.offset} * converter.scale);
  const __m512i half = _mm512_set1_epi64(half_value);
  const __m512i negative = _mm512_set1_epi64(converter.shift == 0 ? 0 : -1);
  const __m128i shift = _mm_cvtsi32_si128(converter.shift);
  __m512i saturated = _mm512_setzero_si512();
  for (unsigned position = 0; position < count; ++position) {
    int32_t* row = values + position * kBlock;
    for (unsigned first = 0; first < lanes; first += 16) {
      // Lanes beyond the last are worked on but not counted. They come in multiples of 8, so both
      // halves of the interleaved lanes have as many.
      const auto used = static_cast<__mmask8>(lanes - first >= 16 ? 0xff : 0x0f);
      const __m512i x = _mm512_loadu_si512(row + first);
      const __m512i even =
          convert_half<kCount>(_mm512_add_epi64(_mm512_mul_epi32(x, scale), constant), half,
                               negative, shift, converter.lenient_count, used, saturated);
      const __m512i odd = convert_half<kCount>(
          _mm512_add_epi64(_mm512_mul_epi32(_mm512_srli_epi64(x, 32), scale), constant), half,
          negative, shift, converter.lenient_count, used, saturated);
      _mm512_storeu_si512(row + first,
                          _mm512_mask_blend_epi32(0xaaaa, even, _mm512_slli_epi64(odd, 32)));
    }
  }
  return static_cast<uint32_t>(_mm512_reduce_add_epi64(saturated));
}

uint32_t sdp_convert(int32_t* values, unsigned count, unsigned lanes,
                     const SdpConverter& converter) {
  return converter.count ? convert<true>(values, count, lanes, converter)
                         : convert<false>(values, count, lanes, converter);
}

// The converter to int8 in 32 bits. A value `reach` away from the offset is saturated, so it may be
// as far away as that and no further; and of a product that is shifted by more than kKept bits the
// rest only matters by what it carries.
struct NarrowConverter {
  static constexpr unsigned kKept = 23;  // 129 << 23 has 31 bits

  bool exact = false;
  int32_t low = 0, high = 0;
  unsigned rest = 0, kept = 0;

  explicit NarrowConverter(const SdpConverter& c) {
    // Longer shifts leave more than 32 bits to reach, or to multiply.
    if (c.scale <= 0 || c.shift == 0 || c.shift > kKept + 15) return;
    const int64_t reach = (int64_t{129} << c.shift) / c.scale + 1;
    if (reach > INT32_MAX) return;
    exact = true;
    low = static_cast<int32_t>(clamp64(c.offset - reach, kMin32, kMax32));
    high = static_cast<int32_t>(clamp64(c.offset + reach, kMin32, kMax32));
    rest = c.shift > kKept ? c.shift - kKept : 0;
    kept = c.shift - rest;
  }
};

template <bool kRest>
void convert_narrow(const int32_t* values, unsigned count, const SdpConverter& converter,
                    const NarrowConverter& narrow, int8_t* out) {
  const __m512i low = _mm512_set1_epi32(narrow.low);
  const __m512i high = _mm512_set1_epi32(narrow.high);
  const __m512i offset = _mm512_set1_epi32(converter.offset);
  const __m512i scale = _mm512_set1_epi32(converter.scale);
  const __m512i half = _mm512_set1_epi32(1 << (narrow.kept - 1));
  const __m512i mask = _mm512_set1_epi32((1 << narrow.rest) - 1);
  const __m128i rest = _mm_cvtsi32_si128(static_cast<int>(narrow.rest));
  const __m128i kept = _mm_cvtsi32_si128(static_cast<int>(narrow.kept));
  for (unsigned i = 0; i < count * kBlock; i += 16) {
    const __m512i x = _mm512_sub_epi32(
        _mm512_max_epi32(_mm512_min_epi32(_mm512_loadu_si512(values + i), high), low), offset);
    // Half away from zero is half up, less the last bit where the product is negative.
    __m512i carry = _mm512_srai_epi32(x, 31);
    __m512i top = x;
    if constexpr (kRest) {
      top = _mm512_sra_epi32(x, rest);
      const __m512i bottom = _mm512_mullo_epi32(_mm512_and_si512(x, mask), scale);
      carry = _mm512_sra_epi32(_mm512_add_epi32(bottom, carry), rest);
    }
    const __m512i product = _mm512_add_epi32(_mm512_mullo_epi32(top, scale), half);
    const __m512i result = _mm512_sra_epi32(_mm512_add_epi32(product, carry), kept);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), _mm512_cvtsepi32_epi8(result));
  }
}

void convert_to_int8(const int32_t* values, unsigned count, const SdpConverter& converter,
                     int8_t* out) {
  const NarrowConverter narrow(converter);
  if (!narrow.exact) return loop_convert_to_int8(values, count, converter, out);
  narrow.rest == 0 ? convert_narrow<false>(values, count, converter, narrow, out)
                   : convert_narrow<true>(values, count, converter, narrow, out);
}

void to_int8(const int32_t* values, unsigned count, int8_t* out) {
  for (unsigned i = 0; i < count * kBlock; i += 16)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i),
                     _mm512_cvtsepi32_epi8(_mm512_loadu_si512(values + i)));
}

constexpr Kernels kernels() {
  Kernels set = loop_kernels("avx512");
  set.form = {.biased = true, .sign = false};
  set.mac = avx512_mac;
  set.depthwise = avx512_depthwise;
  set.wide = avx512_wide;
  set.half = avx512_half;
  set.half_tile = avx512_half_tile;
  set.float_tile = avx512_float_tile;
  set.sdp_convert = sdp_convert;
  set.convert_to_int8 = convert_to_int8;
  set.to_int8 = to_int8;
  set.finish = avx512_finish;
  set.epilogue = avx512_epilogue;
  set.mac_finish = avx512_mac_finish;
  set.mac_epilogue = avx512_mac_epilogue;
  set.units = &kAvx512Units;
  set.pack_atoms = avx2_pack_atoms;
  set.convert_bytes = avx2_convert_bytes;
  return set;
}

}  // namespace

const Kernels kAvx512VnniKernels = kernels();

}  // namespace nvdla::model
