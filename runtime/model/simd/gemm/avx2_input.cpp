// SPDX-License-Identifier: MIT
//
// What becomes of int8 input on its way to the multipliers, in AVX2.
#include <immintrin.h>

#include "model/simd/set_loops.hpp"

namespace nvdla::model {
namespace {

#include "model/simd/gemm/pack_atoms.ipp"

constexpr size_t kPart = 32;

// Sixteen bytes, as words.
template <bool kSigned>
__m256i extended(__m128i bytes) {
  return kSigned ? _mm256_cvtepi8_epi16(bytes) : _mm256_cvtepu8_epi16(bytes);
}

class Converter {
 public:
  explicit Converter(const ByteConverter& converter)
      : order_(_mm256_broadcastsi128_si256(_mm_setr_epi8(
            place(converter, 0), place(converter, 1), place(converter, 2), place(converter, 3),
            place(converter, 4), place(converter, 5), place(converter, 6), place(converter, 7),
            place(converter, 8), place(converter, 9), place(converter, 10), place(converter, 11),
            place(converter, 12), place(converter, 13), place(converter, 14),
            place(converter, 15)))),
        lift_(_mm256_set1_epi16(converter.lift)),
        factor_(_mm256_set1_epi16(converter.factor)),
        flip_(_mm256_set1_epi8(static_cast<char>(converter.flip))) {
    int64_t offsets;
    __builtin_memcpy(&offsets, converter.offsets, sizeof(offsets));
    offsets_ = _mm256_set1_epi64x(offsets);
  }

  template <bool kSigned>
  __m256i bytes(__m256i from) const {
    const __m256i ordered = _mm256_shuffle_epi8(from, order_);
    const __m256i low = scaled(extended<kSigned>(_mm256_castsi256_si128(ordered)));
    const __m256i high = scaled(extended<kSigned>(_mm256_extracti128_si256(ordered, 1)));
    // Packing works in halves of a register.
    constexpr int kInOrder = 0xd8;
    const __m256i packed = _mm256_permute4x64_epi64(_mm256_packs_epi16(low, high), kInOrder);
    return _mm256_xor_si256(packed, flip_);
  }

 private:
  static char place(const ByteConverter& converter, unsigned i) {
    return static_cast<char>(i - i % 4 + converter.order[i % 4]);
  }
  // A product rounds half up, which is half away from zero of a magnitude.
  __m256i scaled(__m256i x) const {
    const __m256i distance = _mm256_sub_epi16(x, offsets_);
    const __m256i magnitude = _mm256_mullo_epi16(_mm256_abs_epi16(distance), lift_);
    return _mm256_sign_epi16(_mm256_mulhrs_epi16(magnitude, factor_), distance);
  }

  __m256i order_, lift_, factor_, flip_, offsets_;
};

template <bool kSigned>
void convert(const Converter& converter, const uint8_t* from, size_t size, uint8_t* to) {
  for (; size >= kPart; size -= kPart, from += kPart, to += kPart)
    _mm256_storeu_si256(
        reinterpret_cast<__m256i*>(to),
        converter.bytes<kSigned>(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))));
  if (size == 0) return;
  alignas(kPart) uint8_t rest[kPart] = {};
  __builtin_memcpy(rest, from, size);
  auto* const part = reinterpret_cast<__m256i*>(rest);
  _mm256_store_si256(part, converter.bytes<kSigned>(_mm256_load_si256(part)));
  __builtin_memcpy(to, rest, size);
}

}  // namespace

void avx2_pack_atoms(const FewChannels& line) { pack_atoms(line); }

void avx2_convert_bytes(const ByteConverter& converter, const uint8_t* from, size_t size,
                        uint8_t* to) {
  const Converter vectors(converter);
  converter.sign_extend ? convert<true>(vectors, from, size, to)
                        : convert<false>(vectors, from, size, to);
}

}  // namespace nvdla::model
