// SPDX-License-Identifier: MIT
#include <immintrin.h>

#include "model/kernels/kernels.hpp"
#include "model/kernels/unit_kernels.hpp"

namespace nvdla::model {
namespace {

#include "model/kernels/unit_loops.ipp"

struct Vector {
  static constexpr unsigned kLanes = 16;

  // False if a half is no number.
  static bool widen_halves(const void* from, int32_t* to) {
    const __m256i halves = _mm256_loadu_si256(static_cast<const __m256i*>(from));
    const __m256i exponent = _mm256_set1_epi16(0x7c00);
    if (_mm256_cmpeq_epi16_mask(_mm256_and_si256(halves, exponent), exponent) != 0) return false;
    _mm512_storeu_ps(to, _mm512_cvtph_ps(halves));
    return true;
  }

  // False if a magnitude is `most` or more.
  static bool narrow_halves(const int32_t* from, int32_t most, int16_t* to) {
    const __m512i values = _mm512_loadu_si512(from);
    const __m512i magnitude = _mm512_and_si512(values, _mm512_set1_epi32(kLaneMagnitude));
    if (_mm512_cmpge_epi32_mask(magnitude, _mm512_set1_epi32(most)) != 0) return false;
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                        _mm512_cvtps_ph(_mm512_castsi512_ps(values),
                                        _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
    return true;
  }
};

#include "model/kernels/unit_vectors.ipp"

}  // namespace

const UnitKernels kAvx512Units = unit_kernels();

}  // namespace nvdla::model
