// SPDX-License-Identifier: MIT
//
// What AVX-512 takes of AVX2: neighbours in a table, and atoms of 32 bytes for pdp_vectors.ipp and
// rubik_vectors.ipp.

// Fetches the first numbers and the second ones of eight elements of a table: two loads of both
// numbers of an element take less time than a gathering load of one.
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

struct Atoms {
  using Atom = __m256i;

  static Atom load(const char* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  }
  static void store(Atom atom, char* to) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), atom);
  }
  static Atom most_int8(Atom a, Atom b) { return _mm256_max_epi8(a, b); }
  static Atom least_int8(Atom a, Atom b) { return _mm256_min_epi8(a, b); }
  static Atom most_int16(Atom a, Atom b) { return _mm256_max_epi16(a, b); }
  static Atom least_int16(Atom a, Atom b) { return _mm256_min_epi16(a, b); }
  // Patterns of fp16 as integers of the same order, and back.
  static Atom order(Atom atom) {
    return _mm256_xor_si256(
        atom, _mm256_and_si256(_mm256_srai_epi16(atom, 15), _mm256_set1_epi16(0x7fff)));
  }
};
