// SPDX-License-Identifier: MIT
//
// An SdpFinish, or merged steps of an EpilogueBlock, of sums that are in registers, but for its
// addends, included by translation units into an unnamed namespace behind avx512finish.ipp.

// Results of positions come in words whose fours are apart.
struct PackedRows {
  [[gnu::always_inline]] static __m512i bytes(__m512i even, __m512i odd) {
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    return _mm512_permutexvar_epi32(order, _mm512_packs_epi16(even, odd));
  }
  // Bytes of two positions are a register.
  [[gnu::always_inline]] static void store_two(int8_t* to, __m512i even, __m512i odd) {
    _mm512_storeu_si512(to, bytes(even, odd));
  }
  [[gnu::always_inline]] static void store_one(int8_t* to, __m512i words) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                        _mm512_castsi512_si256(bytes(words, words)));
  }
};

// Merged steps of sums: as MergedSteps in epilogue.ipp has them.
template <bool kRelu>
class MergedRows : public PackedRows {
 public:
  explicit MergedRows(const EpilogueBlock& block)
      : block_(block),
        shift_(_mm_cvtsi32_si128(block.shift)),
        offset_(_mm512_set1_epi32(block.offset)) {}

  [[gnu::always_inline]] __m512i words(__m512i first, __m512i second) const {
    return _mm512_packs_epi32(merged(first, 0), merged(second, 16));
  }

 private:
  [[gnu::always_inline]] __m512i merged(__m512i sums, unsigned at) const {
    const __m512i factors = _mm512_loadu_si512(block_.factors + at);
    const __m512i even =
        _mm512_add_epi64(_mm512_mul_epi32(sums, factors), _mm512_loadu_si512(block_.addends + at));
    const __m512i odd = _mm512_add_epi64(
        _mm512_mul_epi32(_mm512_srli_epi64(sums, 32), _mm512_srli_epi64(factors, 32)),
        _mm512_loadu_si512(block_.between + at));
    __m512i upper = _mm512_mask_blend_epi32(0xaaaa, _mm512_srli_epi64(even, 32), odd);
    upper = _mm512_sra_epi32(upper, shift_);
    if constexpr (kRelu) upper = _mm512_max_epi32(upper, _mm512_setzero_si512());
    return _mm512_add_epi32(upper, offset_);
  }

  const EpilogueBlock& block_;
  __m128i shift_;
  __m512i offset_;
};

template <bool kFactors, bool kElements>
class FinishedRows : public PackedRows {
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

 private:
  // 16 kernels of a position.
  [[gnu::always_inline]] __m512i finished(__m512i x, const int32_t* elements, unsigned at) const {
    if constexpr (kFactors)
      x = finish_scale<Vector>(x, Vector::load_floats(factors_ + at), Vector::load(halves_ + at));
    if constexpr (kElements) x = Vector::add(x, Vector::load(elements + at));
    return finish_scale<Vector>(Vector::max(x, low_), scale_, half_);
  }
  __m512i low_, half_;
  __m512 scale_;
  const float* factors_;
  const int32_t* halves_;
};
