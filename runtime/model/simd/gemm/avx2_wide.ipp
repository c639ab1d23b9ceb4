// SPDX-License-Identifier: MIT
//
// int16 in vectors of 256 bits: products by the upper byte of a weight and by the rest of it,
// summed in 32 bits of their own; or by the weight as it is, where 32 bits hold the sum. Included
// by the instruction sets' translation units into an unnamed namespace, behind add_products(),
// which adds to 8 sums of 32 bits the two products of 16 bits of each.

#include "model/simd/gemm/parts.ipp"
#include "model/simd/gemm/wide_place.ipp"

// With two registers of weights, one of activations and one of products: all there are.
constexpr unsigned kPositions = 6;
// Kernels of a register.
constexpr unsigned kRow = 8;

__m256i load(const void* from) { return _mm256_loadu_si256(static_cast<const __m256i*>(from)); }

// sums[0..7] += first + 256 * second, or, if these are 8 more kernels, sums[8..15] += second.
template <bool kUpper>
void add_sums(int64_t* sums, __m256i first, __m256i second) {
  const auto widen = [](__m256i v, int half) {
    return _mm256_cvtepi32_epi64(half == 0 ? _mm256_castsi256_si128(v)
                                           : _mm256_extracti128_si256(v, 1));
  };
  const auto add = [](int64_t* to, __m256i v) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_add_epi64(load(to), v));
  };
#pragma GCC unroll 2
  for (int half = 0; half < 2; ++half) {
    add(sums + 4 * half, widen(first, half));
    const __m256i v = widen(second, half);
    kUpper ? add(sums + 4 * half, _mm256_slli_epi64(v, 8)) : add(sums + kRow + 4 * half, v);
  }
}

// A chunk of steps for `kCount` positions from the `first` on, and for a row of kernels, or two
// where there are no upper bytes.
template <unsigned kCount, bool kUpper>
[[gnu::noinline]] WidePlace wide_chunk(const WideTile& tile, unsigned first, unsigned kernel,
                                       WidePlace at) {
  constexpr size_t kStepWords = size_t{kKr} * kBlock;
  __m256i sums0[kCount], sums1[kCount];
#pragma GCC unroll 6
  for (unsigned p = 0; p < kCount; ++p) sums0[p] = sums1[p] = _mm256_setzero_si256();
  for (unsigned room = tile.chunk; room != 0 && at.in(tile);) {
    const unsigned count = at.together(tile, room);
    const int16_t* weights = tile.weights + at.steps_before(tile) * kStepWords + 2 * kernel;
    const int16_t* data[kCount];
#pragma GCC unroll 6
    for (unsigned p = 0; p < kCount; ++p)
      data[p] = tile.data + tile.bases[first + p] + tile.runs[at.run] + size_t{at.step} * kKr;
    for (size_t i = 0; i < size_t{count} * kKr; i += 2, weights += kStepWords / 2) {
      __m256i w0 = load(weights), w1;
      if constexpr (kUpper) {
        // Saturation: upper_byte() of the greatest.
        w1 = _mm256_srai_epi16(_mm256_adds_epi16(w0, _mm256_set1_epi16(128)), 8);
        w0 = _mm256_sub_epi16(w0, _mm256_slli_epi16(w1, 8));
      } else {
        w1 = load(weights + 2 * kRow);
      }
#pragma GCC unroll 6
      for (unsigned p = 0; p < kCount; ++p) {
        int32_t two;
        __builtin_memcpy(&two, data[p] + i, sizeof(two));
        const __m256i a = _mm256_set1_epi32(two);
        sums0[p] = add_products(sums0[p], w0, a);
        sums1[p] = add_products(sums1[p], w1, a);
      }
    }
    room -= count;
    at.advance(tile, count);
  }
#pragma GCC unroll 6
  for (unsigned p = 0; p < kCount; ++p)
    add_sums<kUpper>(tile.sums + size_t{first + p} * kBlock + kernel, sums0[p], sums1[p]);
  return at;
}

template <unsigned kCount, bool kUpper>
void wide_part(const WideTile& tile, unsigned first) {
  int64_t* const sums = tile.sums + size_t{first} * kBlock;
  for (unsigned i = 0; i < kCount * kBlock; ++i) sums[i] = 0;
  for (unsigned kernel = 0; kernel < kBlock; kernel += kUpper ? kRow : 2 * kRow)
    for (WidePlace at; at.in(tile);) at = wide_chunk<kCount, kUpper>(tile, first, kernel, at);
}

template <bool kUpper>
void wide(const WideTile& tile) {
  constexpr void (*kParts[])(const WideTile&, unsigned) = {
      wide_part<1, kUpper>, wide_part<2, kUpper>, wide_part<3, kUpper>,
      wide_part<4, kUpper>, wide_part<5, kUpper>, wide_part<kPositions, kUpper>};
  in_parts(tile, tile.count, kParts);
}

void wide_tile(const WideTile& tile) {
  tile.upper_weights == nullptr ? wide<false>(tile) : wide<true>(tile);
}
