// SPDX-License-Identifier: MIT
#include <immintrin.h>

#include "model/kernels/kernels.hpp"
#include "model/kernels/unit_kernels.hpp"

namespace nvdla::model {
namespace {

#include "model/kernels/unit_loops.ipp"

// Halves that are no numbers, which the processor widens otherwise: seldom, so lane by lane.
void load_half(const SdpElements& from, int32_t* to, bool flush_nan) {
  if (from.parts != 1 || from.lanes % 16 != 0) return loop_sdp_load_half(from, to, flush_nan);
  const auto* data = static_cast<const LooseInt16*>(from.data);
  const int32_t most = most_of_half(flush_nan);
  const __m256i exponent = _mm256_set1_epi16(0x7c00);
  for (unsigned i = 0; i < from.count; ++i, to += kBlock)
    for (unsigned lane = 0; lane < from.lanes; lane += 16, data += 16) {
      const __m256i halves = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(data));
      _mm512_storeu_ps(to + lane, _mm512_cvtph_ps(halves));
      if (_mm256_cmpeq_epi16_mask(_mm256_and_si256(halves, exponent), exponent) != 0)
        for (unsigned k = lane; k < lane + 16; ++k) to[k] = widen_half(data[k - lane].value, most);
    }
}

// From where on a result is the largest number, an infinity or none.
constexpr int32_t kAlmostLargest = 0x477fd000;

HalfCounts narrow_halves(const int32_t* from, unsigned count, int16_t* to) {
  HalfCounts sum{0, 0};
  const __m512i magnitude = _mm512_set1_epi32(kLaneMagnitude);
  const __m512i most = _mm512_set1_epi32(kAlmostLargest);
  unsigned i = 0;
  for (; i + 16 <= count; i += 16) {
    const __m512i values = _mm512_loadu_si512(from + i);
    if (_mm512_cmpge_epi32_mask(_mm512_and_si512(values, magnitude), most) != 0) {
      const HalfCounts counts = narrow_row(from + i, 16, to + i, lane_narrow);
      sum.nan += counts.nan;
      sum.largest += counts.largest;
      continue;
    }
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i),
                        _mm512_cvtps_ph(_mm512_castsi512_ps(values),
                                        _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
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

const UnitKernels kAvx512Units = unit_kernels();

}  // namespace nvdla::model
