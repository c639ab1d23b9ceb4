// SPDX-License-Identifier: MIT
//
// An SdpFinish of sums that are in registers, but for its addends, included by translation units
// into an unnamed namespace behind avx512finish.ipp.

template <bool kFactors, bool kElements>
class FinishedRows {
 public:
  // Where the converter changes nothing, a factor of 1 changes nothing either.
  explicit FinishedRows(const SdpFinish& finish)
      : low_(Vector::spread(finish.relu ? 0 : INT32_MIN)),
        half_(Vector::spread(kFloatHalf)),
        scale_(Vector::spread_float(finish.scale == 0 ? 1 : finish.scale)),
        factors_(finish.factors),
        halves_(finish.halves) {}

  // What becomes of a position, in 16 bits: packing works in 128-bit parts, which leaves fours
  // apart.
  [[gnu::always_inline]] __m512i words(__m512i first, __m512i second,
                                       const int32_t* elements) const {
    return _mm512_packs_epi32(finished(first, elements, 0), finished(second, elements, 16));
  }
  // Bytes of two positions are a register.
  [[gnu::always_inline]] static void store_two(int8_t* to, __m512i even, __m512i odd) {
    _mm512_storeu_si512(to, bytes(even, odd));
  }
  [[gnu::always_inline]] static void store_one(int8_t* to, __m512i words) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                        _mm512_castsi512_si256(bytes(words, words)));
  }

 private:
  // 16 kernels of a position.
  [[gnu::always_inline]] __m512i finished(__m512i x, const int32_t* elements, unsigned at) const {
    if constexpr (kFactors)
      x = finish_scale<Vector>(x, Vector::load_floats(factors_ + at), Vector::load(halves_ + at));
    if constexpr (kElements) x = Vector::add(x, Vector::load(elements + at));
    return finish_scale<Vector>(Vector::max(x, low_), scale_, half_);
  }
  [[gnu::always_inline]] static __m512i bytes(__m512i even, __m512i odd) {
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    return _mm512_permutexvar_epi32(order, _mm512_packs_epi16(even, odd));
  }

  __m512i low_, half_;
  __m512 scale_;
  const float* factors_;
  const int32_t* halves_;
};
