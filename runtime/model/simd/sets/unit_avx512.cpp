// SPDX-License-Identifier: MIT
#include <immintrin.h>

#include "model/simd/kernels.hpp"
#include "model/simd/set_loops.hpp"
#include "model/simd/unit_kernels.hpp"

namespace nvdla::model {
namespace {

#include "model/simd/sets/unit_loops.ipp"

using Floats = __m512;
using Ints = __m512i;
using Mask = __mmask16;

struct Vector {
  static constexpr unsigned kLanes = 16;

  static Floats load(const int32_t* from) { return _mm512_loadu_ps(from); }
  static void store(Floats values, int32_t* to) { _mm512_storeu_ps(to, values); }
  static Floats fill(int32_t bits) { return _mm512_castsi512_ps(_mm512_set1_epi32(bits)); }
  static Floats from_halves(const void* from) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(static_cast<const __m256i*>(from)));
  }
  static void to_halves(Floats values, void* to) {
    _mm256_storeu_si256(static_cast<__m256i*>(to), halves(values));
  }
  static Floats add(Floats a, Floats b) { return _mm512_add_ps(a, b); }
  static Floats multiply(Floats a, Floats b) { return _mm512_mul_ps(a, b); }
  static Floats multiply_add(Floats sum, Floats a, Floats b) { return _mm512_fmadd_ps(a, b, sum); }
  static Floats subtract_product(Floats from, Floats a, Floats b) {
    return _mm512_fnmadd_ps(a, b, from);
  }

  static Floats floats(Ints bits) { return _mm512_castsi512_ps(bits); }
  static Ints ints(Floats values) { return _mm512_castps_si512(values); }
  static Ints load_ints(const int32_t* from) { return _mm512_loadu_si512(from); }
  static void store_ints(Ints values, int32_t* to) { _mm512_storeu_si512(to, values); }
  static Ints same(int32_t value) { return _mm512_set1_epi32(value); }
  static Ints from_int8(const void* from) {
    return _mm512_cvtepi8_epi32(_mm_loadu_si128(static_cast<const __m128i*>(from)));
  }
  static Ints from_int16(const void* from) {
    return _mm512_cvtepi16_epi32(_mm256_loadu_si256(static_cast<const __m256i*>(from)));
  }
  // What is too large saturates.
  static void to_int8(Ints values, void* to) {
    _mm_storeu_si128(static_cast<__m128i*>(to), _mm512_cvtsepi32_epi8(values));
  }
  static void to_int16(Ints values, void* to) {
    _mm256_storeu_si256(static_cast<__m256i*>(to), _mm512_cvtsepi32_epi16(values));
  }
  static Ints add(Ints a, Ints b) { return _mm512_add_epi32(a, b); }
  static Ints subtract(Ints a, Ints b) { return _mm512_sub_epi32(a, b); }
  static Ints multiply(Ints a, Ints b) { return _mm512_mullo_epi32(a, b); }
  static Ints most(Ints a, Ints b) { return _mm512_max_epi32(a, b); }
  static Ints least(Ints a, Ints b) { return _mm512_min_epi32(a, b); }
  static Floats subtract(Floats a, Floats b) { return _mm512_sub_ps(a, b); }
  static Floats most(Floats a, Floats b) { return _mm512_max_ps(a, b); }
  static Floats least(Floats a, Floats b) { return _mm512_min_ps(a, b); }
  static Floats to_floats(Ints values) { return _mm512_cvtepi32_ps(values); }
  static Ints truncate(Floats values) { return _mm512_cvttps_epi32(values); }
  static Ints both(Ints a, Ints b) { return _mm512_and_si512(a, b); }
  static Ints either(Ints a, Ints b) { return _mm512_or_si512(a, b); }
  static Ints differing(Ints a, Ints b) { return _mm512_xor_si512(a, b); }
  // By less than 32.
  static Ints left(Ints a, unsigned bits) { return _mm512_sll_epi32(a, shift(bits)); }
  static Ints right(Ints a, unsigned bits) { return _mm512_srl_epi32(a, shift(bits)); }
  static Ints right_signed(Ints a, unsigned bits) { return _mm512_sra_epi32(a, shift(bits)); }
  static Ints gather(const void* table, Ints index) {
    return _mm512_i32gather_epi32(index, table, 4);
  }

  // Of a row of numbers those that are so many later, or earlier.
  template <unsigned kNumbers>
  static Floats later(Floats values, Floats next) {
    return floats(_mm512_alignr_epi32(ints(next), ints(values), kNumbers));
  }
  template <unsigned kNumbers>
  static Floats earlier(Floats previous, Floats values) {
    return floats(_mm512_alignr_epi32(ints(values), ints(previous), kLanes - kNumbers));
  }

  static Mask condition(bool all) { return static_cast<Mask>(all ? 0xffff : 0); }
  static Mask above(Ints a, Ints b) { return _mm512_cmpgt_epi32_mask(a, b); }
  static Mask equal(Ints a, Ints b) { return _mm512_cmpeq_epi32_mask(a, b); }
  static Mask opposite(Mask a) { return static_cast<Mask>(~a); }
  static Mask both(Mask a, Mask b) { return static_cast<Mask>(a & b); }
  static Mask either(Mask a, Mask b) { return static_cast<Mask>(a | b); }
  static Mask one_of(Mask a, Mask b) { return static_cast<Mask>(a ^ b); }
  static Mask without(Mask a, Mask b) { return static_cast<Mask>(a & ~b); }
  static Mask choose(Mask which, Mask yes, Mask no) {
    return static_cast<Mask>((which & yes) | (~which & no));
  }
  static Ints choose(Mask which, Ints yes, Ints no) {
    return _mm512_mask_mov_epi32(no, which, yes);
  }
  static bool any(Mask a) { return a != 0; }
  static bool any_bit(Ints a) { return _mm512_test_epi32_mask(a, a) != 0; }

  // Patterns of fp32 as integers of the same order, and back.
  static Ints order(Ints bits) {
    return _mm512_xor_si512(bits, _mm512_srli_epi32(_mm512_srai_epi32(bits, 31), 1));
  }
  static Ints where_negative(Ints value, Ints then) {
    return _mm512_mask_mov_epi32(value, _mm512_movepi32_mask(value), then);
  }
  // Half away from zero is half up, less the last bit of a negative number.
  static Ints round_right(Ints value, unsigned shift) {
    if (shift == 0) return value;
    const Ints up = _mm512_add_epi32(value, _mm512_set1_epi32(1 << (shift - 1)));
    return _mm512_sra_epi32(_mm512_add_epi32(up, _mm512_srai_epi32(value, 31)),
                            _mm_cvtsi32_si128(static_cast<int>(shift)));
  }

  // A zero has the sign of `a`.
  static Floats sign_of_zero(Floats sum, Floats a) {
    const __m512i bits = _mm512_castps_si512(sum);
    const __m512i sign = _mm512_set1_epi32(kLaneSign);
    return _mm512_castsi512_ps(_mm512_mask_and_epi32(bits, _mm512_testn_epi32_mask(bits, bits),
                                                     _mm512_castps_si512(a), sign));
  }
  // To 11 bits.
  static Floats round_to_17(Floats values) {
    const __m512i bits = _mm512_castps_si512(values);
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 13), _mm512_set1_epi32(1));
    const __m512i sum = _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0xfff)), odd);
    return _mm512_castsi512_ps(_mm512_and_si512(sum, _mm512_set1_epi32(~0x1fff)));
  }

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
    to_halves(_mm512_castsi512_ps(values), to);
    return true;
  }

 private:
  static __m128i shift(unsigned bits) { return _mm_cvtsi32_si128(static_cast<int>(bits)); }
  static __m256i halves(Floats values) {
    return _mm512_cvtps_ph(values, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  }
};

// Lanes of 16 bits.
struct Words {
  static constexpr unsigned kLanes = 2 * Vector::kLanes;

  static Ints load(const int16_t* from) { return _mm512_loadu_si512(from); }
  static void store(Ints values, int16_t* to) { _mm512_storeu_si512(to, values); }
  static Ints same(int16_t value) { return _mm512_set1_epi16(value); }
  static Ints from_int8(const void* from) {
    return _mm512_cvtepi8_epi16(_mm256_loadu_si256(static_cast<const __m256i*>(from)));
  }
  // An atom of what int8 holds.
  static void to_int8(const Ints (&values)[1], void* to) {
    _mm256_storeu_si256(static_cast<__m256i*>(to), _mm512_cvtepi16_epi8(values[0]));
  }
  static Ints add(Ints a, Ints b) { return _mm512_add_epi16(a, b); }
  static Ints subtract(Ints a, Ints b) { return _mm512_sub_epi16(a, b); }
  // Products of 32 bits: each two neighbours' sum, or both halves, for two vectors of these, from
  // which narrow() brings what saturates back to its place.
  static Ints multiply_pairs(Ints a, Ints b) { return _mm512_madd_epi16(a, b); }
  static Ints multiply_low(Ints a, Ints b) { return _mm512_mullo_epi16(a, b); }
  static Ints multiply_high(Ints a, Ints b) { return _mm512_mulhi_epi16(a, b); }
  static Ints first_pairs(Ints low, Ints high) { return _mm512_unpacklo_epi16(low, high); }
  static Ints second_pairs(Ints low, Ints high) { return _mm512_unpackhi_epi16(low, high); }
  static Ints narrow(Ints first, Ints second) { return _mm512_packs_epi32(first, second); }
};

class Doubt {
 public:
  void where_mantissa(Floats values, int32_t mantissa) {
    // (a ^ b) & c
    add(_mm512_ternarylogic_epi32(_mm512_castps_si512(values), _mm512_set1_epi32(mantissa),
                                  _mm512_set1_epi32(kLaneMantissa), 0x28));
  }
  void where_above(Floats values, int32_t magnitude) {
    const __m512i bits = _mm512_castps_si512(values);
    mask_ |= _mm512_cmpgt_epi32_mask(_mm512_and_si512(bits, _mm512_set1_epi32(kLaneMagnitude)),
                                     _mm512_set1_epi32(magnitude));
  }
  void where_zero(Floats values) { add(_mm512_castps_si512(values)); }
  bool any() const { return (mask_ | _mm512_testn_epi32_mask(least_, least_)) != 0; }

 private:
  // A compare for each would wait for the one before it.
  void add(__m512i zeros) { least_ = _mm512_min_epu32(least_, zeros); }

  __m512i least_ = _mm512_set1_epi32(-1);
  __mmask16 mask_ = 0;
};

// Of lanes that a mask has.
class LaneCounter {
 public:
  void add(Mask mask) { sum_ += static_cast<uint32_t>(__builtin_popcount(mask)); }
  uint32_t sum() const { return sum_; }

 private:
  uint32_t sum_ = 0;
};

using WordVector = __m512i;

struct StreamWords {
  static constexpr unsigned kBytes = 64;

  static void load(const void* from, WordVector& low, WordVector& high) {
    const __m512i bytes = _mm512_loadu_si512(from);
    low = _mm512_srai_epi16(_mm512_unpacklo_epi8(bytes, bytes), 8);
    high = _mm512_srai_epi16(_mm512_unpackhi_epi8(bytes, bytes), 8);
  }
  // What is too large saturates.
  static void store(WordVector low, WordVector high, void* to) {
    _mm512_storeu_si512(to, _mm512_packs_epi16(low, high));
  }
  static WordVector same(int16_t value) { return _mm512_set1_epi16(value); }
  static WordVector add(WordVector a, WordVector b) { return _mm512_add_epi16(a, b); }
  static WordVector subtract(WordVector a, WordVector b) { return _mm512_sub_epi16(a, b); }
  static WordVector most(WordVector a, WordVector b) { return _mm512_max_epi16(a, b); }
  static WordVector least(WordVector a, WordVector b) { return _mm512_min_epi16(a, b); }
  static WordVector differing(WordVector a, WordVector b) { return _mm512_xor_si512(a, b); }
  static WordVector magnitude(WordVector a) { return _mm512_abs_epi16(a); }
  static WordVector left(WordVector a, unsigned bits) {
    return _mm512_sll_epi16(a, _mm_cvtsi32_si128(static_cast<int>(bits)));
  }
  static WordVector right(WordVector a, unsigned bits) {
    return _mm512_srl_epi16(a, _mm_cvtsi32_si128(static_cast<int>(bits)));
  }
  static WordVector lower_product(WordVector a, WordVector b) { return _mm512_mullo_epi16(a, b); }
  static WordVector rounded_product(WordVector a, WordVector b) {
    return _mm512_mulhrs_epi16(a, b);
  }
  static WordVector upper_product(WordVector a, WordVector b) { return _mm512_mulhi_epu16(a, b); }
  static WordVector where_negative(WordVector value, WordVector then) {
    return _mm512_mask_mov_epi16(value, _mm512_movepi16_mask(value), then);
  }
  // A magnitude with the sign of `sign`.
  static WordVector signed_by(WordVector a, WordVector sign) {
    return _mm512_mask_sub_epi16(a, _mm512_movepi16_mask(sign), _mm512_setzero_si512(), a);
  }
};

#include "model/simd/sets/avx2_shared.ipp"

// Rises and entries of a table of CDP.
class LoPairs {
 public:
  LoPairs(const FloatTables& tables, int32_t first) : pairs_(tables.both + first) {}
  void fetch(Ints places, Floats& rise, Floats& low) const {
    alignas(64) int32_t index[Vector::kLanes];
    Vector::store_ints(places, index);
    __m256 rises[2], lows[2];
    for (unsigned i = 0; i < 2; ++i) fetch_eight(pairs_, index + 8 * i, rises[i], lows[i]);
    rise = _mm512_insertf32x8(_mm512_castps256_ps512(rises[0]), rises[1], 1);
    low = _mm512_insertf32x8(_mm512_castps256_ps512(lows[0]), lows[1], 1);
  }

 private:
  const int32_t (*pairs_)[2];
};

// LE has so few that registers hold them.
class LePairs {
 public:
  LePairs(const FloatTables& tables, int32_t first) {
    for (int i = 0; i < 4; ++i) {
      rises_[i] = Vector::load(tables.first + first + 16 * i);
      lows_[i] = Vector::load(tables.second + first + 16 * i);
    }
  }
  void fetch(Ints places, Floats& rise, Floats& low) const {
    const Mask upper = _mm512_test_epi32_mask(places, _mm512_set1_epi32(32));
    rise = of(rises_, places, upper);
    low = of(lows_, places, upper);
  }

 private:
  static Floats of(const Floats (&table)[4], Ints places, Mask upper) {
    return _mm512_mask_blend_ps(upper, _mm512_permutex2var_ps(table[0], places, table[1]),
                                _mm512_permutex2var_ps(table[2], places, table[3]));
  }

  Floats rises_[4], lows_[4];
};

// clang-format off
#include "model/simd/sdp/sdp_word_vectors.ipp"
#include "model/simd/sets/unit_vectors.ipp"
// clang-format on

bool has_vbmi() noexcept {
  static const bool has = __builtin_cpu_supports("avx512vbmi") != 0;
  return has;
}

void map_bytes(const uint8_t* results, const void* in, size_t count, void* out) {
  (has_vbmi() ? avx512vbmi_map_bytes : loop_sdp_map_bytes)(results, in, count, out);
}

void count_flags(const uint8_t* flags, const void* in, size_t count, uint64_t* counts) {
  (has_vbmi() ? avx512vbmi_count_flags : loop_sdp_count_flags)(flags, in, count, counts);
}

constexpr UnitKernels avx512_units() {
  UnitKernels set = unit_kernels();
  set.sdp_map_bytes = map_bytes;
  set.sdp_count_flags = count_flags;
  set.sdp_words = sdp_words;
  return set;
}

}  // namespace

const UnitKernels kAvx512Units = avx512_units();

}  // namespace nvdla::model
