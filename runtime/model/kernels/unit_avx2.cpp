// SPDX-License-Identifier: MIT
#include <immintrin.h>

#include "model/kernels/kernels.hpp"
#include "model/kernels/unit_kernels.hpp"

namespace nvdla::model {
namespace {

#include "model/kernels/unit_loops.ipp"

struct Vector {
  static constexpr unsigned kLanes = 8;

  // False if a half is no number.
  static bool widen_halves(const void* from, int32_t* to) {
    const __m128i halves = _mm_loadu_si128(static_cast<const __m128i*>(from));
    const __m128i exponent = _mm_set1_epi16(0x7c00);
    const __m128i special = _mm_cmpeq_epi16(_mm_and_si128(halves, exponent), exponent);
    if (_mm_testz_si128(special, special) == 0) return false;
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                        _mm256_castps_si256(_mm256_cvtph_ps(halves)));
    return true;
  }

  // False if a magnitude is `most` or more.
  static bool narrow_halves(const int32_t* from, int32_t most, int16_t* to) {
    const __m256i values = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    const __m256i magnitude = _mm256_and_si256(values, _mm256_set1_epi32(kLaneMagnitude));
    const __m256i large = _mm256_cmpgt_epi32(magnitude, _mm256_set1_epi32(most - 1));
    if (_mm256_testz_si256(large, large) == 0) return false;
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to),
                     _mm256_cvtps_ph(_mm256_castsi256_ps(values), _MM_FROUND_TO_NEAREST_INT));
    return true;
  }
};

#include "model/kernels/unit_vectors.ipp"

}  // namespace

const UnitKernels kAvx2Units = unit_kernels();

}  // namespace nvdla::model
