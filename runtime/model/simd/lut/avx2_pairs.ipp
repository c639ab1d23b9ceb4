// SPDX-License-Identifier: MIT
//
// Neighbours in a table in AVX2, which AVX-512 takes too: two loads of both numbers of an element
// take less time than a gathering load of one.

// Of eight elements the first numbers and the second ones.
static inline void fetch_eight(const int32_t (*pairs)[2], const int32_t* index, __m256& first,
                               __m256& second) {
  const auto two = [=](unsigned i) {
    const auto* low = reinterpret_cast<const __m128i*>(pairs[index[i]]);
    const auto* high = reinterpret_cast<const __m64*>(pairs[index[i + 1]]);
    return _mm_loadh_pi(_mm_castsi128_ps(_mm_loadl_epi64(low)), high);
  };
  const __m256 a = _mm256_insertf128_ps(_mm256_castps128_ps256(two(0)), two(4), 1);
  const __m256 b = _mm256_insertf128_ps(_mm256_castps128_ps256(two(2)), two(6), 1);
  first = _mm256_shuffle_ps(a, b, 0x88);
  second = _mm256_shuffle_ps(a, b, 0xdd);
}
