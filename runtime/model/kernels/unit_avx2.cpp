// SPDX-License-Identifier: MIT
#include <immintrin.h>

#include "model/kernels/kernels.hpp"
#include "model/kernels/unit_kernels.hpp"

namespace nvdla::model {
namespace {

#include "model/kernels/unit_loops.ipp"

// Halves that are no numbers, which the processor widens otherwise: seldom, so lane by lane.
void load_half(const SdpElements& from, int32_t* to, bool flush_nan) {
  if (from.parts != 1 || from.lanes % 8 != 0) return loop_sdp_load_half(from, to, flush_nan);
  const auto* data = static_cast<const LooseInt16*>(from.data);
  const int32_t most = most_of_half(flush_nan);
  const __m128i exponent = _mm_set1_epi16(0x7c00);
  for (unsigned i = 0; i < from.count; ++i, to += kBlock)
    for (unsigned lane = 0; lane < from.lanes; lane += 8, data += 8) {
      const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(data));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + lane),
                          _mm256_castps_si256(_mm256_cvtph_ps(halves)));
      const __m128i special = _mm_cmpeq_epi16(_mm_and_si128(halves, exponent), exponent);
      if (_mm_testz_si128(special, special) == 0)
        for (unsigned k = lane; k < lane + 8; ++k) to[k] = widen_half(data[k - lane].value, most);
    }
}

// From where on a result is the largest number, an infinity or none, less one.
constexpr int32_t kLargeNumber = 0x477fcfff;

HalfCounts narrow_halves(const int32_t* from, unsigned count, int16_t* to) {
  HalfCounts sum{0, 0};
  const __m256i magnitude = _mm256_set1_epi32(kLaneMagnitude);
  const __m256i most = _mm256_set1_epi32(kLargeNumber);
  unsigned i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m256i values = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i));
    const __m256i large = _mm256_cmpgt_epi32(_mm256_and_si256(values, magnitude), most);
    if (_mm256_testz_si256(large, large) == 0) {
      const HalfCounts counts = narrow_row(from + i, 8, to + i, lane_narrow);
      sum.nan += counts.nan;
      sum.largest += counts.largest;
      continue;
    }
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i),
                     _mm256_cvtps_ph(_mm256_castsi256_ps(values), _MM_FROUND_TO_NEAREST_INT));
  }
  const HalfCounts rest = narrow_row(from + i, count - i, to + i, lane_narrow);
  return {sum.nan + rest.nan, sum.largest + rest.largest};
}

HalfCounts float_to_half(const int32_t* values, unsigned count, unsigned lanes, int16_t* out) {
  return for_each_lanes(values, count, lanes, out, narrow_halves);
}

constexpr UnitKernels unit_kernels() {
  UnitKernels set = unit_loops();
  set.sdp_load_half = load_half;
  set.sdp_float_to_half = float_to_half;
  return set;
}

}  // namespace

const UnitKernels kAvx2Units = unit_kernels();

}  // namespace nvdla::model
