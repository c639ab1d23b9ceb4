// SPDX-License-Identifier: MIT
//
// Atoms of 32 bytes in AVX2, which AVX-512 takes too, for pdp_vectors.ipp and rubik_vectors.ipp.

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
