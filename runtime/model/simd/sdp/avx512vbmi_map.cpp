// SPDX-License-Identifier: MIT
//
// Bytes that are looked up among 256, 64 at a time: registers hold them all, and two permutations
// look into a half each.
#include <immintrin.h>

#include "model/simd/set_loops.hpp"
#include "model/simd/unit_kernels.hpp"

namespace nvdla::model {
namespace {

class ByteTable {
 public:
  explicit ByteTable(const uint8_t* results)
      : quarters_{_mm512_loadu_si512(results), _mm512_loadu_si512(results + 64),
                  _mm512_loadu_si512(results + 128), _mm512_loadu_si512(results + 192)} {}

  [[gnu::always_inline]] __m512i find(__m512i patterns) const {
    const __m512i low = _mm512_permutex2var_epi8(quarters_[0], patterns, quarters_[1]);
    const __m512i high = _mm512_permutex2var_epi8(quarters_[2], patterns, quarters_[3]);
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(patterns), low, high);
  }

 private:
  __m512i quarters_[4];
};

// Calls `part(bytes, mask, at)` for 64 bytes at a time, and for those that are left.
template <typename Part>
[[gnu::always_inline]] inline void for_each_part(const void* in, size_t count, Part part) {
  const auto* from = static_cast<const uint8_t*>(in);
  size_t at = 0;
  for (; at + 64 <= count; at += 64) part(_mm512_loadu_si512(from + at), ~__mmask64{0}, at);
  if (at == count) return;
  const __mmask64 mask = (__mmask64{1} << (count - at)) - 1;
  part(_mm512_maskz_loadu_epi8(mask, from + at), mask, at);
}

}  // namespace

void avx512vbmi_map_bytes(const uint8_t* results, const void* in, size_t count, void* out) {
  const ByteTable table(results);
  auto* const to = static_cast<uint8_t*>(out);
  for_each_part(in, count, [&](__m512i patterns, __mmask64 mask, size_t at) {
    _mm512_mask_storeu_epi8(to + at, mask, table.find(patterns));
  });
}

void avx512vbmi_count_flags(const uint8_t* flags, const void* in, size_t count, uint64_t* counts) {
  const ByteTable table(flags);
  uint64_t sums[kPatternFlags] = {};
  for_each_part(in, count, [&](__m512i patterns, __mmask64 mask, size_t) {
    const __m512i found = table.find(patterns);
#pragma GCC unroll 5
    for (unsigned i = 0; i < kPatternFlags; ++i) {
      const __mmask64 set = _mm512_mask_test_epi8_mask(mask, found, _mm512_set1_epi8(1 << i));
      sums[i] += static_cast<uint64_t>(__builtin_popcountll(set));
    }
  });
  for (unsigned i = 0; i < kPatternFlags; ++i) counts[i] += sums[i];
}

}  // namespace nvdla::model
