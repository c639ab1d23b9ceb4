// SPDX-License-Identifier: MIT
#include <immintrin.h>

#include "model/simd/sdp/epilogue.ipp"
#include "model/simd/set_loops.hpp"

namespace nvdla::model {
namespace {

#include "model/simd/sdp/finish.ipp"

struct Vector {
  using Register = __m256i;
  using Floats = __m256;
  static constexpr unsigned kLanes = 8;
  // The processor's mode, for who is called in between.
  class Truncation {
   public:
    Truncation() : before_(_mm_getcsr()) {
      _mm_setcsr(before_ | _MM_ROUND_TOWARD_ZERO);
      __asm__ volatile("" ::: "memory");
    }
    ~Truncation() {
      __asm__ volatile("" ::: "memory");
      _mm_setcsr(before_);
    }
    Truncation(const Truncation&) = delete;
    Truncation& operator=(const Truncation&) = delete;

   private:
    unsigned before_;
  };

  static Register load(const int32_t* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  }
  static Floats load_floats(const float* from) { return _mm256_loadu_ps(from); }
  static Register spread(int32_t value) { return _mm256_set1_epi32(value); }
  static Floats spread_float(float value) { return _mm256_set1_ps(value); }
  static Register add(Register a, Register b) { return _mm256_add_epi32(a, b); }
  static Register max(Register a, Register b) { return _mm256_max_epi32(a, b); }
  static Floats to_float(Register x) { return _mm256_cvtepi32_ps(x); }
  static Floats fma(Floats a, Floats b, Floats sum) { return _mm256_fmadd_ps(a, b, sum); }
  static Register truncate(Floats x) { return _mm256_cvttps_epi32(x); }
  // Changes the sign where `x` is negative.
  static Floats with_sign_of(Register value, Register x) {
    const Register sign = _mm256_and_si256(x, _mm256_set1_epi32(INT32_MIN));
    return _mm256_castsi256_ps(_mm256_xor_si256(value, sign));
  }
  static void store_int8(int8_t* to, const Register (&row)[kBlock / kLanes]) {
    const Register bytes =
        _mm256_packs_epi16(_mm256_packs_epi32(row[0], row[1]), _mm256_packs_epi32(row[2], row[3]));
    // Packing works in 128-bit halves: put fours of bytes back in order.
    const Register order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_permutevar8x32_epi32(bytes, order));
  }
};

}  // namespace

void avx2_finish(const int32_t* values, unsigned count, const SdpFinish& finish, int8_t* out) {
  finish_tile<Vector>(values, count, finish, out);
}

bool avx2_epilogue(const int32_t* values, unsigned count, const EpilogueBlock& block, int8_t* out) {
  return HWY_NAMESPACE::epilogue(values, count, block, out);
}

}  // namespace nvdla::model
