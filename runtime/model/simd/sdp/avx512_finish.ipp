// SPDX-License-Identifier: MIT
//
// AVX-512 for the loops of finish.ipp, included by translation units into an unnamed namespace.

#include "model/simd/sdp/finish.ipp"

struct Vector {
  using Register = __m512i;
  using Floats = __m512;
  static constexpr unsigned kLanes = 16;
  static constexpr int kCut = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;
  // Instructions say it themselves.
  struct Truncation {
    Truncation() {}
  };

  static Register load(const int32_t* from) { return _mm512_loadu_si512(from); }
  static Floats load_floats(const float* from) { return _mm512_loadu_ps(from); }
  static Register spread(int32_t value) { return _mm512_set1_epi32(value); }
  static Floats spread_float(float value) { return _mm512_set1_ps(value); }
  static Register add(Register a, Register b) { return _mm512_add_epi32(a, b); }
  static Register max(Register a, Register b) { return _mm512_max_epi32(a, b); }
  static Floats to_float(Register x) { return _mm512_cvt_roundepi32_ps(x, kCut); }
  static Floats fma(Floats a, Floats b, Floats sum) {
    return _mm512_fmadd_round_ps(a, b, sum, kCut);
  }
  static Register truncate(Floats x) { return _mm512_cvttps_epi32(x); }
  // Changes the sign where `x` is negative.
  static Floats with_sign_of(Register value, Register x) {
    // value ^ (x & sign)
    return _mm512_castsi512_ps(
        _mm512_ternarylogic_epi32(value, x, _mm512_set1_epi32(INT32_MIN), 0x78));
  }
  static void store_int8(int8_t* to, const Register (&row)[kBlock / kLanes]) {
    auto* const halves = reinterpret_cast<__m128i*>(to);
    _mm_storeu_si128(halves, _mm512_cvtsepi32_epi8(row[0]));
    _mm_storeu_si128(halves + 1, _mm512_cvtsepi32_epi8(row[1]));
  }
};
