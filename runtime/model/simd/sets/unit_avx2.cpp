// SPDX-License-Identifier: MIT
#include <immintrin.h>

#include "model/simd/kernels.hpp"
#include "model/simd/unit_kernels.hpp"

namespace nvdla::model {
namespace {

#include "model/simd/sets/unit_loops.ipp"

using Floats = __m256;
using Ints = __m256i;

// Lanes of ones and of zeros.
struct Mask {
  __m256i lanes;
};

struct Vector {
  static constexpr unsigned kLanes = 8;

  static Floats load(const int32_t* from) {
    return _mm256_castsi256_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
  }
  static void store(Floats values, int32_t* to) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_castps_si256(values));
  }
  static Floats fill(int32_t bits) { return _mm256_castsi256_ps(_mm256_set1_epi32(bits)); }
  static Floats from_halves(const void* from) {
    return _mm256_cvtph_ps(_mm_loadu_si128(static_cast<const __m128i*>(from)));
  }
  static void to_halves(Floats values, void* to) {
    _mm_storeu_si128(static_cast<__m128i*>(to), halves(values));
  }
  static Floats add(Floats a, Floats b) { return _mm256_add_ps(a, b); }
  static Floats multiply(Floats a, Floats b) { return _mm256_mul_ps(a, b); }
  static Floats multiply_add(Floats sum, Floats a, Floats b) { return _mm256_fmadd_ps(a, b, sum); }
  static Floats subtract_product(Floats from, Floats a, Floats b) {
    return _mm256_fnmadd_ps(a, b, from);
  }

  static Floats floats(Ints bits) { return _mm256_castsi256_ps(bits); }
  static Ints ints(Floats values) { return _mm256_castps_si256(values); }
  static Ints load_ints(const int32_t* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  }
  static void store_ints(Ints values, int32_t* to) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), values);
  }
  static Ints same(int32_t value) { return _mm256_set1_epi32(value); }
  static Ints from_int8(const void* from) {
    return _mm256_cvtepi8_epi32(_mm_loadl_epi64(static_cast<const __m128i*>(from)));
  }
  static Ints from_int16(const void* from) {
    return _mm256_cvtepi16_epi32(_mm_loadu_si128(static_cast<const __m128i*>(from)));
  }
  // What is too large saturates.
  static void to_int8(Ints values, void* to) {
    const __m128i words = narrow(values);
    _mm_storel_epi64(static_cast<__m128i*>(to), _mm_packs_epi16(words, words));
  }
  static void to_int16(Ints values, void* to) {
    _mm_storeu_si128(static_cast<__m128i*>(to), narrow(values));
  }
  static Ints add(Ints a, Ints b) { return _mm256_add_epi32(a, b); }
  static Ints subtract(Ints a, Ints b) { return _mm256_sub_epi32(a, b); }
  static Ints multiply(Ints a, Ints b) { return _mm256_mullo_epi32(a, b); }
  static Ints most(Ints a, Ints b) { return _mm256_max_epi32(a, b); }
  static Ints least(Ints a, Ints b) { return _mm256_min_epi32(a, b); }
  static Floats subtract(Floats a, Floats b) { return _mm256_sub_ps(a, b); }
  static Floats most(Floats a, Floats b) { return _mm256_max_ps(a, b); }
  static Floats least(Floats a, Floats b) { return _mm256_min_ps(a, b); }
  static Floats to_floats(Ints values) { return _mm256_cvtepi32_ps(values); }
  static Ints truncate(Floats values) { return _mm256_cvttps_epi32(values); }
  static Ints both(Ints a, Ints b) { return _mm256_and_si256(a, b); }
  static Ints either(Ints a, Ints b) { return _mm256_or_si256(a, b); }
  static Ints differing(Ints a, Ints b) { return _mm256_xor_si256(a, b); }
  // By less than 32.
  static Ints left(Ints a, unsigned bits) { return _mm256_sll_epi32(a, shift(bits)); }
  static Ints right(Ints a, unsigned bits) { return _mm256_srl_epi32(a, shift(bits)); }
  static Ints right_signed(Ints a, unsigned bits) { return _mm256_sra_epi32(a, shift(bits)); }
  static Ints gather(const void* table, Ints index) {
    return _mm256_i32gather_epi32(static_cast<const int*>(table), index, 4);
  }

  // Of a row of numbers those that are so many later, or earlier.
  template <unsigned kNumbers>
  static Floats later(Floats values, Floats next) {
    const Ints between = _mm256_permute2x128_si256(ints(values), ints(next), 0x21);
    return floats(_mm256_alignr_epi8(between, ints(values), 4 * kNumbers));
  }
  template <unsigned kNumbers>
  static Floats earlier(Floats previous, Floats values) {
    const Ints between = _mm256_permute2x128_si256(ints(previous), ints(values), 0x21);
    return floats(_mm256_alignr_epi8(ints(values), between, 16 - 4 * kNumbers));
  }

  static Mask condition(bool all) { return {_mm256_set1_epi32(all ? -1 : 0)}; }
  static Mask above(Ints a, Ints b) { return {_mm256_cmpgt_epi32(a, b)}; }
  static Mask equal(Ints a, Ints b) { return {_mm256_cmpeq_epi32(a, b)}; }
  static Mask opposite(Mask a) { return one_of(a, condition(true)); }
  static Mask both(Mask a, Mask b) { return {_mm256_and_si256(a.lanes, b.lanes)}; }
  static Mask either(Mask a, Mask b) { return {_mm256_or_si256(a.lanes, b.lanes)}; }
  static Mask one_of(Mask a, Mask b) { return {_mm256_xor_si256(a.lanes, b.lanes)}; }
  static Mask without(Mask a, Mask b) { return {_mm256_andnot_si256(b.lanes, a.lanes)}; }
  static Mask choose(Mask which, Mask yes, Mask no) { return {choose(which, yes.lanes, no.lanes)}; }
  static Ints choose(Mask which, Ints yes, Ints no) {
    return _mm256_blendv_epi8(no, yes, which.lanes);
  }
  static bool any(Mask a) { return _mm256_testz_si256(a.lanes, a.lanes) == 0; }
  static bool any_bit(Ints a) { return _mm256_testz_si256(a, a) == 0; }

  // Patterns of fp32 as integers of the same order, and back.
  static Ints order(Ints bits) {
    return _mm256_xor_si256(bits, _mm256_srli_epi32(_mm256_srai_epi32(bits, 31), 1));
  }
  static Ints where_negative(Ints value, Ints then) {
    return _mm256_castps_si256(_mm256_blendv_ps(floats(value), floats(then), floats(value)));
  }
  // Half away from zero is half up, less the last bit of a negative number.
  static Ints round_right(Ints value, unsigned shift) {
    if (shift == 0) return value;
    const Ints up = _mm256_add_epi32(value, _mm256_set1_epi32(1 << (shift - 1)));
    return _mm256_sra_epi32(_mm256_add_epi32(up, _mm256_srai_epi32(value, 31)),
                            _mm_cvtsi32_si128(static_cast<int>(shift)));
  }

  // A zero has the sign of `a`.
  static Floats sign_of_zero(Floats sum, Floats a) {
    const __m256i zero = _mm256_cmpeq_epi32(_mm256_castps_si256(sum), _mm256_setzero_si256());
    const Floats sign = _mm256_and_ps(a, fill(kLaneSign));
    return _mm256_or_ps(sum, _mm256_and_ps(_mm256_castsi256_ps(zero), sign));
  }
  // To 11 bits.
  static Floats round_to_17(Floats values) {
    const __m256i bits = _mm256_castps_si256(values);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 13), _mm256_set1_epi32(1));
    const __m256i sum = _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0xfff)), odd);
    return _mm256_castsi256_ps(_mm256_and_si256(sum, _mm256_set1_epi32(~0x1fff)));
  }

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
    to_halves(_mm256_castsi256_ps(values), to);
    return true;
  }

 private:
  static __m128i shift(unsigned bits) { return _mm_cvtsi32_si128(static_cast<int>(bits)); }
  static __m128i narrow(Ints values) {
    return _mm_packs_epi32(_mm256_castsi256_si128(values), _mm256_extracti128_si256(values, 1));
  }
  static __m128i halves(Floats values) {
    return _mm256_cvtps_ph(values, _MM_FROUND_TO_NEAREST_INT);
  }
};

// Lanes of 16 bits.
struct Words {
  static constexpr unsigned kLanes = 2 * Vector::kLanes;

  static Ints load(const int16_t* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  }
  static void store(Ints values, int16_t* to) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), values);
  }
  static Ints same(int16_t value) { return _mm256_set1_epi16(value); }
  static Ints from_int8(const void* from) {
    return _mm256_cvtepi8_epi16(_mm_loadu_si128(static_cast<const __m128i*>(from)));
  }
  // An atom of what int8 holds.
  static void to_int8(const Ints (&values)[2], void* to) {
    _mm256_storeu_si256(static_cast<__m256i*>(to),
                        _mm256_permute4x64_epi64(_mm256_packs_epi16(values[0], values[1]), 0xd8));
  }
  static Ints add(Ints a, Ints b) { return _mm256_add_epi16(a, b); }
  static Ints subtract(Ints a, Ints b) { return _mm256_sub_epi16(a, b); }
  // Products of 32 bits: each two neighbours' sum, or both halves, for two vectors of these, from
  // which narrow() brings what saturates back to its place.
  static Ints multiply_pairs(Ints a, Ints b) { return _mm256_madd_epi16(a, b); }
  static Ints multiply_low(Ints a, Ints b) { return _mm256_mullo_epi16(a, b); }
  static Ints multiply_high(Ints a, Ints b) { return _mm256_mulhi_epi16(a, b); }
  static Ints first_pairs(Ints low, Ints high) { return _mm256_unpacklo_epi16(low, high); }
  static Ints second_pairs(Ints low, Ints high) { return _mm256_unpackhi_epi16(low, high); }
  static Ints narrow(Ints first, Ints second) { return _mm256_packs_epi32(first, second); }
};

class Doubt {
 public:
  // Or where only the lower half of it is the same.
  void where_mantissa(Floats values, int32_t mantissa) {
    const __m256i half = _mm256_set1_epi16(static_cast<int16_t>(mantissa));
    above_ = _mm256_or_si256(above_, _mm256_cmpeq_epi16(_mm256_castps_si256(values), half));
  }
  void where_above(Floats values, int32_t magnitude) {
    const __m256i bits =
        _mm256_and_si256(_mm256_castps_si256(values), _mm256_set1_epi32(kLaneMagnitude));
    above_ = _mm256_or_si256(above_, _mm256_cmpgt_epi32(bits, _mm256_set1_epi32(magnitude)));
  }
  void where_zero(Floats values) { add(_mm256_castps_si256(values)); }
  bool any() const {
    const __m256i zero = _mm256_cmpeq_epi32(least_, _mm256_setzero_si256());
    return _mm256_movemask_epi8(_mm256_or_si256(zero, above_)) != 0;
  }

 private:
  void add(__m256i zeros) { least_ = _mm256_min_epu32(least_, zeros); }

  __m256i least_ = _mm256_set1_epi32(-1);
  __m256i above_ = _mm256_setzero_si256();
};

// Of lanes that a mask has.
class LaneCounter {
 public:
  void add(Mask mask) { sums_ = _mm256_sub_epi32(sums_, mask.lanes); }
  uint32_t sum() const {
    uint32_t lanes[Vector::kLanes], sum = 0;
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(lanes), sums_);
    for (const uint32_t lane : lanes) sum += lane;
    return sum;
  }

 private:
  __m256i sums_ = _mm256_setzero_si256();
};

using WordVector = __m256i;

struct StreamWords {
  static constexpr unsigned kBytes = 32;

  static void load(const void* from, WordVector& low, WordVector& high) {
    const __m256i bytes = _mm256_loadu_si256(static_cast<const __m256i*>(from));
    low = _mm256_srai_epi16(_mm256_unpacklo_epi8(bytes, bytes), 8);
    high = _mm256_srai_epi16(_mm256_unpackhi_epi8(bytes, bytes), 8);
  }
  // What is too large saturates.
  static void store(WordVector low, WordVector high, void* to) {
    _mm256_storeu_si256(static_cast<__m256i*>(to), _mm256_packs_epi16(low, high));
  }
  static WordVector same(int16_t value) { return _mm256_set1_epi16(value); }
  static WordVector add(WordVector a, WordVector b) { return _mm256_add_epi16(a, b); }
  static WordVector subtract(WordVector a, WordVector b) { return _mm256_sub_epi16(a, b); }
  static WordVector most(WordVector a, WordVector b) { return _mm256_max_epi16(a, b); }
  static WordVector least(WordVector a, WordVector b) { return _mm256_min_epi16(a, b); }
  static WordVector differing(WordVector a, WordVector b) { return _mm256_xor_si256(a, b); }
  static WordVector magnitude(WordVector a) { return _mm256_abs_epi16(a); }
  static WordVector left(WordVector a, unsigned bits) {
    return _mm256_sll_epi16(a, _mm_cvtsi32_si128(static_cast<int>(bits)));
  }
  static WordVector right(WordVector a, unsigned bits) {
    return _mm256_srl_epi16(a, _mm_cvtsi32_si128(static_cast<int>(bits)));
  }
  static WordVector lower_product(WordVector a, WordVector b) { return _mm256_mullo_epi16(a, b); }
  static WordVector rounded_product(WordVector a, WordVector b) {
    return _mm256_mulhrs_epi16(a, b);
  }
  static WordVector upper_product(WordVector a, WordVector b) { return _mm256_mulhi_epu16(a, b); }
  static WordVector where_negative(WordVector value, WordVector then) {
    return _mm256_blendv_epi8(value, then, _mm256_srai_epi16(value, 15));
  }
  // A magnitude with the sign of `sign`.
  static WordVector signed_by(WordVector a, WordVector sign) {
    return _mm256_sign_epi16(a, _mm256_or_si256(sign, _mm256_set1_epi16(1)));
  }
};

#include "model/simd/sets/avx2_shared.ipp"

// Rises and entries of a table of CDP.
class LoPairs {
 public:
  LoPairs(const FloatTables& tables, int32_t first) : pairs_(tables.both + first) {}
  void fetch(Ints places, Floats& rise, Floats& low) const {
    alignas(32) int32_t index[Vector::kLanes];
    Vector::store_ints(places, index);
    fetch_eight(pairs_, index, rise, low);
  }

 private:
  const int32_t (*pairs_)[2];
};
using LePairs = LoPairs;

// clang-format off
#include "model/simd/sdp/sdp_word_vectors.ipp"
#include "model/simd/sets/unit_vectors.ipp"
// clang-format on

constexpr UnitKernels avx2_units() {
  UnitKernels set = unit_kernels();
  set.sdp_words = sdp_words;
  return set;
}

}  // namespace

const UnitKernels kAvx2Units = avx2_units();

}  // namespace nvdla::model
